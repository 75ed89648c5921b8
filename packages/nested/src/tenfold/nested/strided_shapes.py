"""Operators that move the rows of strided nested tensors about, pick from them, pad them or make others like them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.nested.strided import Sizes, StridedNested, packed_strides
from tenfold.nested.strided_table import each
from tenfold.nested.table import STRIDED, dimension, knows

_CONVERSIONS = "to float double half bfloat16 int long short char byte bool cpu cuda type_as"


@knows(STRIDED, *_CONVERSIONS.split())
def convert(func: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
    """The rows in another dtype or on another device."""
    held = func(input._held, *[a._held if isinstance(a, StridedNested) else a for a in args], **kwargs)
    return input if held is input._held else input.like(held)


@knows(STRIDED, "detach")
def detach(func: Any, input: Any) -> StridedNested:
    """The rows outside the graph."""
    made: StridedNested = input.like(input._held.detach())
    return made


@knows(STRIDED, "clone")
def clone(func: Any, input: Any, *, memory_format: Any = None) -> StridedNested:
    """A copy of the rows."""
    if memory_format not in (None, tenfold.preserve_format, tenfold.contiguous_format):
        name = {"channels_last": "ChannelsLast", "channels_last_3d": "ChannelsLast3d"}.get(str(memory_format).split(".")[-1], "")
        raise RuntimeError(
            f"Nested tensor clone supports Preserve and Contiguous memory formats, called clone with memory format: {name}"
        )
    if memory_format is tenfold.contiguous_format and not input._packed():
        return StridedNested.of_rows(input.rows(), input._held)
    made: StridedNested = input.like(func(input._held))
    return made


@knows(STRIDED, "contiguous")
def contiguous(func: Any, input: Any, *, memory_format: Any = None) -> Any:
    """The rows one after the other."""
    return input.packed()


@knows(STRIDED, "zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like", "randint_like")
def alike(func: Any, input: Any, *args: Any, memory_format: Any = None, layout: Any = None, **kwargs: Any) -> StridedNested:
    """Rows of the same sizes with other elements."""
    if memory_format not in (None, tenfold.preserve_format, tenfold.contiguous_format):
        raise RuntimeError(
            f"{func.op.name}: nested tensors support the preserve and contiguous memory formats, got {memory_format}"
        )
    requires_grad = kwargs.pop("requires_grad", False)
    if input._packed() or memory_format is tenfold.contiguous_format:
        held = input._held if input._packed() else input._held.new_empty(input.numel())
        made = StridedNested.of(func(held, *args, **kwargs), input._sizes)
    else:
        made = input.like(func(input._held, *args, **kwargs))
    return made.requires_grad_(requires_grad)


@knows(STRIDED, "unbind")
def unbind(func: Any, input: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """The rows."""
    d = dimension(dim, input.dim())
    if d:
        raise RuntimeError(f"NestedTensor can only be unbound along dimension 0 got dimension {d} instead.")
    return tuple(input.rows())


@knows(STRIDED, "select")
def select(func: Any, input: Any, dim: int, index: int) -> Any:
    """A row, or one place of each row."""
    d = dimension(dim, input.dim())
    if d == 0:
        return input.row(index)
    for size in input._sizes:
        if not -size[d - 1] <= index < size[d - 1]:
            raise IndexError(f"select(): index {index} out of range for a row of size {list(size)} at dimension {d - 1}")
    sizes, strides, begins = [], [], []
    for size, stride, begin in zip(input._sizes, input._strides, input._begins):
        sizes.append(_without(size, d - 1))
        strides.append(_without(stride, d - 1))
        begins.append(begin + (index % size[d - 1]) * stride[d - 1])
    return input.view_of(sizes, strides, begins)


def _without(sizes: Sizes, d: int) -> Sizes:
    return sizes[:d] + sizes[d + 1 :]


@knows(STRIDED, "narrow")
def narrow(func: Any, input: Any, dim: int, start: int, length: int) -> Any:
    """A range of the rows."""
    if dimension(dim, input.dim()):
        raise RuntimeError(f"narrow(): only dim=0 supported for nested tensors, but got dim={dim}")
    if not input._packed():
        raise RuntimeError("narrow(): only contiguous nested tensors supported: call .contiguous() first")
    n = len(input)
    start = start + n if start < 0 else start
    if not 0 <= start <= start + length <= n:
        raise RuntimeError(f"narrow(): start ({start}) + length ({length}) exceeds dimension size ({n})")
    rows = slice(start, start + length)
    return input.view_of(input._sizes[rows], input._strides[rows], input._begins[rows])


@knows(STRIDED, "split_with_sizes")
def split_with_sizes(func: Any, input: Any, split_sizes: Sequence[int], dim: int = 0) -> tuple[Any, ...]:
    """Views of the last dimension in pieces of the given sizes."""
    d, last = dimension(dim, input.dim()), input.dim() - 1
    if d != last:
        raise RuntimeError("split_with_sizes for nested tensors is currently only supported for the last dimension.")
    if not input._packed():
        raise RuntimeError("split_with_sizes expects `self` to be contiguous.: call .contiguous() first")
    size = input.size(-1)
    if sum(split_sizes) != size:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {size}, but got split_sizes={list(split_sizes)}"
        )
    return _pieces(input, split_sizes)


def _pieces(input: Any, lengths: Sequence[int]) -> tuple[Any, ...]:
    pieces, at = [], 0
    for n in lengths:
        sizes = [(*s[:-1], n) for s in input._sizes]
        pieces.append(input.view_of(sizes, list(input._strides), [b + at for b in input._begins]))
        at += n
    return tuple(pieces)


@knows(STRIDED, "split")
def split(func: Any, input: Any, split_size: Any, dim: int = 0) -> tuple[Any, ...]:
    """Views of the last dimension in pieces."""
    if isinstance(split_size, (list, tuple)):
        return split_with_sizes(func, input, split_size, dim)
    size = input.size(-1)
    lengths = [min(split_size, size - at) for at in range(0, size, split_size)]
    return split_with_sizes(func, input, lengths, dim)


@knows(STRIDED, "chunk", "unsafe_chunk")
def chunk(func: Any, input: Any, chunks: int, dim: int = 0) -> tuple[Any, ...]:
    """Views of the last dimension in equal pieces."""
    if dimension(dim, input.dim()) != input.dim() - 1:
        raise RuntimeError("Chunk for nested tensors is currently only supported for the last dimension.")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    if not input._packed():
        raise RuntimeError("chunk expects `self` to be contiguous.: call .contiguous() first")
    size = input.size(-1)
    if size % chunks:
        raise RuntimeError(
            "Chunk for nested tensors is only supported for nested tensors with trailing dimension divisible by chunks. "
            f"Got: {size} % {chunks} != 0"
        )
    return _pieces(input, [size // chunks] * chunks)


@knows(STRIDED, "transpose", "swapaxes", "swapdims")
def transpose(func: Any, input: Any, dim0: int, dim1: int) -> Any:
    """Two dimensions of each row exchanged."""
    a, b = dimension(dim0, input.dim()), dimension(dim1, input.dim())
    if a == b:
        return input
    if 0 in (a, b):
        raise RuntimeError("Nested tensor dimension 0 cannot be transposed")

    def exchanged(sizes: Sizes) -> Sizes:
        moved = list(sizes)
        moved[a - 1], moved[b - 1] = moved[b - 1], moved[a - 1]
        return tuple(moved)

    return input.view_of([exchanged(s) for s in input._sizes], [exchanged(s) for s in input._strides])


@knows(STRIDED, "mT", "mH")
def matrix_transpose(func: Any, input: Any) -> Any:
    """The last two dimensions of each row exchanged."""
    return transpose(func, input, -2, -1)


@knows(STRIDED, "squeeze")
def squeeze(func: Any, input: Any, dim: Any = None) -> Any:
    """A dimension of size 1 left out of each row."""
    if dim is None:
        raise RuntimeError(
            "For nested tensors, squeeze without the dim argument is not supported at the moment, however you can use "
            "squeeze(Tensor self, int dim) instead"
        )
    d = dimension(dim, input.dim())
    if d == 0:
        raise RuntimeError("For nested tensors, squeezing dimension 0 is not supported at the moment")
    if input.dim() == 2:
        raise RuntimeError("For nested tensors, squeezing a nested tensor of singleton tensors is not supported at the moment")
    if input._regular(d) != 1:
        return input
    return input.view_of([_without(s, d - 1) for s in input._sizes], [_without(s, d - 1) for s in input._strides])


@knows(STRIDED, "unsqueeze")
def unsqueeze(func: Any, input: Any, dim: int) -> Any:
    """A dimension of size 1 put into each row."""
    d = dimension(dim, input.dim() + 1)
    if d == 0:
        raise RuntimeError("For nested tensors, unsqueezing dimension 0 is not supported at the moment")
    sizes, strides = [], []
    for size, stride in zip(input._sizes, input._strides):
        step = size[d - 1] * stride[d - 1] if d - 1 < len(size) else 1
        sizes.append((*size[: d - 1], 1, *size[d - 1 :]))
        strides.append((*stride[: d - 1], step, *stride[d - 1 :]))
    return input.view_of(sizes, strides)


@knows(STRIDED, "view", "_unsafe_view")
def view(func: Any, input: Any, *size: Any) -> Any:
    """The rows in other sizes: -1 keeps a dimension, or in a new one is what is left. The first is the batch."""
    sizes = _wanted("view", input, _given(size))
    rows = [row.view(s) for row, s in zip(input.rows(), sizes)]
    return input.view_of(sizes, [tuple(r.stride()) for r in rows])


@knows(STRIDED, "reshape")
def reshape(func: Any, input: Any, *shape: Any) -> Any:
    """`view`, with a copy where the rows do not lie so."""
    sizes = _wanted("reshape", input, _given(shape))
    if input._packed():
        return input.view_of(sizes, [packed_strides(s) for s in sizes])
    return StridedNested.of_rows([row.reshape(s) for row, s in zip(input.rows(), sizes)], input._held)


def _given(size: tuple[Any, ...]) -> list[int]:
    return list(size[0]) if len(size) == 1 and isinstance(size[0], (list, tuple)) else list(size)


def _wanted(name: str, input: Any, given: list[int]) -> list[Sizes]:
    """The sizes of the rows that are asked for."""
    if not given:
        raise RuntimeError(f"shape '[]' is invalid for a nested tensor of {len(input)} rows")
    if not len(input):
        raise RuntimeError("empty nested tensor cannot be reshaped")
    if given[0] != len(input):
        raise RuntimeError(
            f"{name}: For now nested {name} cannot change or infer the implicit batch dimension: it has {len(input)} rows, got "
            f"{given[0]}"
        )
    return [_of_row(size, given[1:], len(input)) for size in input._sizes]


def _of_row(size: Sizes, given: list[int], B: int) -> Sizes:
    """The sizes of a row that are asked for: -1 in place of a dimension that it has keeps it, if there is but one -1."""
    wanted = list(given)
    unknown = [k for k, n in enumerate(given) if n == -1]
    if len(unknown) > 1 or any(n < -1 for n in given):
        raise RuntimeError(f"only one dimension can be inferred, got the sizes {[B, *given]}")
    total = prod(size)
    for k in unknown:
        rest = -prod(given)
        wanted[k] = size[k] if k < len(size) and (not rest or size[k] * rest == total) else total // rest if rest else 0
    if prod(wanted) != total:
        raise RuntimeError(f"shape '{[B, *given]}' is invalid for input of size {total}")
    return tuple(wanted)


@knows(STRIDED, "cat", "concat", "concatenate")
def cat(func: Any, tensors: Sequence[Any], dim: int = 0) -> Any:
    """The rows of several nested tensors, or along another dimension rows of the same number one behind the other."""
    if not all(getattr(x, "is_nested", False) for x in tensors):
        raise RuntimeError("cat(): expected each tensor in given list to be nested")
    first = tensors[0]
    if not all(x._packed() for x in tensors):
        raise RuntimeError("cat(): only contiguous nested tensors are supported for now: call .contiguous() on each")
    d = dimension(dim, first.dim())
    if d == 0:
        return StridedNested.of_rows([r for x in tensors for r in x.rows()], first._held)
    if any(x.dim() != first.dim() or len(x) != len(first) or not _alike_but(x, first, d - 1) for x in tensors):
        raise RuntimeError(
            "cat(): expected all nested tensors to have matching ragged structures outside of the concatenated dim"
        )
    if any(x._regular(k) is None for x in tensors for k in range(2, x.dim())) or d == 1:
        raise RuntimeError("cat(): only nested tensors with a single ragged dim next to the batch dim are supported")
    return StridedNested.of_rows([tenfold.cat(rows, d - 1) for rows in zip(*[x.rows() for x in tensors])])


def _alike_but(x: Any, first: Any, d: int) -> bool:
    return [_without(s, d) for s in x._sizes] == [_without(s, d) for s in first._sizes]


@knows(STRIDED, "copy_")
def copy_(func: Any, input: Any, src: Any, non_blocking: bool = False) -> Any:
    """The rows of another nested tensor of the same sizes."""
    if not getattr(src, "is_nested", False) or input._sizes != src._sizes:
        raise RuntimeError(
            "copy_ only supports tensors that are the same size for Nested implementations, got rows of "
            f"{input._sizes} and {getattr(src, '_sizes', list(src.shape) if not src.is_nested else None)}"
        )
    return input._written(src)


@knows(STRIDED, "fill_", "zero_")
def fill_(func: Any, input: Any, value: Any = 0) -> Any:
    """One number in all rows."""
    if isinstance(value, Tensor) and value.ndim:
        raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions.")
    if input._packed():
        input._held.fill_(value)
    else:
        each(tenfold.Tensor.fill_, input, value)
    return input


@knows(STRIDED, "is_same_size")
def is_same_size(func: Any, input: Any, other: Any) -> bool:
    """Whether the rows have the same sizes."""
    return bool(input.is_same_size(other))
