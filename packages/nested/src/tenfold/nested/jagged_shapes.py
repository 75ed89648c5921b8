"""Operators that move the dimensions of jagged nested tensors about, pick from them, or make others like them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.nested.jagged import NestedTensor
from tenfold.nested.ragged import RaggedSize
from tenfold.nested.table import JAGGED, dimension, knows

_CONVERSIONS = "to float double half bfloat16 int long short char byte bool cpu cuda type_as"


def inner(x: Any, dim: int, name: str) -> int:
    """The dimension of the values that is the tensor's `dim`, which must be neither the batch nor the ragged one."""
    d = dimension(dim, x.dim())
    if d == 0 or d == x._ragged_idx:
        raise RuntimeError(
            f"{name}(): not supported for NestedTensor on dim={d}: it is the {'ragged' if d else 'batch'} dimension"
        )
    return d - 1


@knows(JAGGED, *_CONVERSIONS.split())
def convert(func: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
    """The rows in another dtype or on another device."""
    held = func(input._held, *[a._held if isinstance(a, NestedTensor) else a for a in args], **kwargs)
    if held is input._held:
        return input
    made = input.like(held)
    if held.device != input._offsets.device:
        made._offsets = input._offsets.to(held.device)
    return made


@knows(JAGGED, "detach")
def detach(func: Any, input: Any) -> NestedTensor:
    """The rows outside the graph."""
    made: NestedTensor = input.like(input._held.detach())
    return made


@knows(JAGGED, "clone")
def clone(func: Any, input: Any, *, memory_format: Any = None) -> Any:
    """A copy of the rows, without the gaps in the contiguous format."""
    if memory_format is tenfold.contiguous_format and input._lengths is not None:
        return input.packed()
    return input.like(func(input._held, memory_format=memory_format or tenfold.preserve_format))


@knows(JAGGED, "contiguous")
def contiguous(func: Any, input: Any, *, memory_format: Any = None) -> Any:
    """The rows one behind the other."""
    if input.is_contiguous():
        return input
    x = input.packed()
    return x.like(func(x._held))


@knows(JAGGED, "zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like", "randint_like")
def alike(func: Any, input: Any, *args: Any, layout: Any = None, requires_grad: bool = False, **kwargs: Any) -> NestedTensor:
    """Rows of the same sizes with other elements."""
    made: NestedTensor = input.like(func(input._held.detach(), *args, **kwargs))
    return made.requires_grad_(requires_grad)


@knows(JAGGED, "unbind")
def unbind(func: Any, input: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """The rows."""
    if dimension(dim, input.dim()):
        raise RuntimeError("unbind(): only supported for NestedTensor on dim=0")
    return tuple(input.rows())


@knows(JAGGED, "select")
def select(func: Any, input: Any, dim: int, index: int) -> Any:
    """A row, or one place of a dimension that is not ragged."""
    d, r = dimension(dim, input.dim()), input._ragged_idx
    if d == 0:
        rows = input.rows()
        if not -len(rows) <= index < len(rows):
            raise IndexError(f"index {index} is out of bounds for dimension 0 with size {len(rows)}")
        return rows[index]
    if d == r:
        raise RuntimeError("select(): not supported for NestedTensor on ragged dim")
    return input.view_of(func(input._held, d - 1, index), r - (d < r))


@knows(JAGGED, "__getitem__")
def item(x: Any, index: tuple[Any, ...]) -> Any:
    """What indices name: of the batch an integer, of the dimensions that are not ragged anything but a tensor."""
    kept = [i for i in index if i is not Ellipsis and i is not None]
    if any(i is Ellipsis for i in index):
        at = next(k for k, i in enumerate(index) if i is Ellipsis)
        index = (*index[:at], *[slice(None)] * (x.dim() - len(kept)), *index[at + 1 :])
    found, d = x, 0
    for k, i in enumerate(index):
        if isinstance(i, int) and not isinstance(i, bool):
            found = found.select(d, i)
            if d == 0 and not isinstance(found, NestedTensor):
                rest = index[k + 1 :]
                return found[rest] if rest else found
        elif isinstance(i, slice):
            found = found if i == slice(None) else _sliced(found, d, i)
            d += 1
        elif i is None:
            found, d = found.unsqueeze(d), d + 1
        else:
            raise RuntimeError(f"index(): a jagged NestedTensor takes integers, slices, None and '...', got {i!r}")
    return found


def _sliced(x: Any, d: int, part: slice) -> Any:
    if d in (0, x._ragged_idx):
        raise RuntimeError(f"slice(): not supported for NestedTensor on dim={d}")
    return x.view_of(x._held[(slice(None),) * (d - 1) + (part,)])


@knows(JAGGED, "narrow", "slice")
def narrow(func: Any, input: Any, dim: int, start: Any, length: Any) -> Any:
    """A range of a dimension that is not ragged."""
    return input.view_of(func(input._held, inner(input, dim, "narrow"), start, length))


@knows(JAGGED, "split")
def split(func: Any, input: Any, split_size: Any, dim: int = 0) -> tuple[Any, ...]:
    """Pieces of a dimension that is not ragged."""
    name = "split_with_sizes" if isinstance(split_size, (list, tuple)) else "split"
    return tuple(input.view_of(v) for v in func(input._held, split_size, inner(input, dim, name)))


@knows(JAGGED, "split_with_sizes")
def split_with_sizes(func: Any, input: Any, split_sizes: Any, dim: int = 0) -> tuple[Any, ...]:
    """Pieces of the given sizes of a dimension that is not ragged."""
    return tuple(input.view_of(v) for v in func(input._held, split_sizes, inner(input, dim, "split_with_sizes")))


@knows(JAGGED, "chunk", "unsafe_chunk")
def chunk(func: Any, input: Any, chunks: int, dim: int = 0) -> tuple[Any, ...]:
    """Equal pieces of a dimension that is not ragged, or of the rows."""
    d = dimension(dim, input.dim())
    if d:
        return tuple(input.view_of(v) for v in func(input._held, chunks, inner(input, dim, "chunk")))
    x, B = input.packed(), len(input)
    each = -(-B // chunks)
    bounds = [(b, min(b + each, B)) for b in range(0, B, each)]
    ends = x._offsets.tolist()
    parts = x._held.split([ends[b] - ends[a] for a, b in bounds], x._ragged_idx - 1)
    return tuple(NestedTensor(v, x._offsets[a : b + 1] - ends[a], _ragged_idx=x._ragged_idx) for v, (a, b) in zip(parts, bounds))


@knows(JAGGED, "transpose", "swapaxes", "swapdims")
def transpose(func: Any, input: Any, dim0: int, dim1: int) -> Any:
    """Two dimensions but the batch exchanged."""
    a, b, r = dimension(dim0, input.dim()), dimension(dim1, input.dim()), input._ragged_idx
    if a == b:
        return input
    if 0 in (a, b):
        raise ValueError("Transpose is not supported on the batch dimension for jagged NT")
    ragged = b if r == a else a if r == b else r
    return input.view_of(func(input._held, a - 1, b - 1), ragged)


@knows(JAGGED, "mT", "mH")
def matrix_transpose(func: Any, input: Any) -> Any:
    """The last two dimensions exchanged."""
    return input.transpose(-2, -1)


@knows(JAGGED, "T", "H", "t")
def reversed_dimensions(func: Any, input: Any) -> Any:
    """Not with a batch."""
    raise ValueError("Permute is not supported on the batch dimension for jagged NT")


@knows(JAGGED, "permute")
def permute(func: Any, input: Any, *dims: Any) -> Any:
    """The dimensions in another order, the batch first."""
    order = dims[0] if len(dims) == 1 and isinstance(dims[0], (list, tuple)) else dims
    places = [dimension(d, input.dim()) for d in order]
    if sorted(places) != list(range(input.dim())):
        raise RuntimeError(f"permute(dims): {list(order)} is not an order of the dimensions of a tensor of {input.dim()}")
    if places[0] != 0:
        raise ValueError("Permute is not supported on the batch dimension for jagged NT")
    return input.view_of(input._held.permute([p - 1 for p in places[1:]]), places.index(input._ragged_idx))


@knows(JAGGED, "squeeze")
def squeeze(func: Any, input: Any, dim: Any = None) -> Any:
    """A dimension of size 1 that is not ragged left out."""
    if dim is None:
        dims = [d for d in range(1, input.dim()) if d != input._ragged_idx and input._held.shape[d - 1] == 1]
        for d in reversed(dims):
            input = squeeze(func, input, d)
        return input
    d = inner(input, dim, "squeeze")
    out = func(input._held, d)
    return input.view_of(out, input._ragged_idx - (out.ndim < input._held.ndim and d + 1 < input._ragged_idx))


@knows(JAGGED, "unsqueeze")
def unsqueeze(func: Any, input: Any, dim: int) -> Any:
    """A new dimension of size 1."""
    d, r = dimension(dim, input.dim() + 1), input._ragged_idx
    if d == 0:
        raise RuntimeError("unsqueeze(): not supported for NestedTensor on dim=0")
    return input.view_of(func(input._held, d - 1), r + (d <= r))


@knows(JAGGED, "view", "_unsafe_view", "reshape")
def view(func: Any, input: Any, *size: Any) -> Any:
    """Other sizes of the dimensions that are not ragged. -1 keeps the batch, the ragged size, or a dimension before it."""
    given = list(size[0]) if len(size) == 1 and isinstance(size[0], (list, tuple)) else list(size)
    name, r = func.op.name, input._ragged_idx
    sizes = list(input.shape)
    for d in range(min(r + 1, len(given))):
        if given[d] == -1:
            given[d] = sizes[d]
    if given[: r + 1] != sizes[: r + 1]:
        ragged = next((k for k, n in enumerate(given) if isinstance(n, RaggedSize) and n == sizes[r]), None)
        if ragged is None or given[0] != sizes[0]:
            raise RuntimeError(
                f"{name}(): cannot view shape {tuple(sizes)} as {tuple(given)}: the batch and the ragged size stay"
            )
    places = [k for k, n in enumerate(given) if isinstance(n, RaggedSize)]
    if len(places) != 1:
        raise RuntimeError(f"{name}(): cannot view shape {tuple(sizes)} as {tuple(given)}: there has to be one ragged size")
    inside = [input._held.shape[r - 1] if k == places[0] else n for k, n in enumerate(given)][1:]
    return input.view_of(func(input._held, inside), places[0])


@knows(JAGGED, "unflatten")
def unflatten(func: Any, input: Any, dim: int, sizes: Any) -> Any:
    """A dimension that is not ragged as several."""
    d = inner(input, dim, "unflatten")
    out = func(input._held, d, sizes)
    grown = out.ndim - input._held.ndim
    return input.view_of(out, input._ragged_idx + (grown if d + 1 < input._ragged_idx else 0))


@knows(JAGGED, "flatten")
def flatten(func: Any, input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """Dimensions that are not ragged as one."""
    a, b, r = dimension(start_dim, input.dim()), dimension(end_dim, input.dim()), input._ragged_idx
    if a == b:
        return input
    if a == 0:
        raise RuntimeError("flatten(): not supported for NestedTensor on batch dim")
    if a <= r <= b:
        raise RuntimeError("flatten(): not supported for NestedTensor on ragged dim")
    return input.view_of(func(input._held, a - 1, b - 1), r - (b - a) if b < r else r)


@knows(JAGGED, "expand", "expand_as")
def expand(func: Any, input: Any, *size: Any, implicit: bool = False) -> Any:
    """Dimensions of size 1 repeated."""
    if func.op.name == "expand_as":
        size = tuple(size[0].shape)
    given = list(size[0]) if len(size) == 1 and isinstance(size[0], (list, tuple)) else list(size)
    sizes, r = list(input.shape), input._ragged_idx
    if len(given) != len(sizes) or any(given[d] not in (-1, sizes[d]) for d in (0, r)):
        raise RuntimeError(f"expand(): cannot expand shape {tuple(sizes)} -> {tuple(given)}")
    return input.view_of(input._held.expand([-1 if d == r else n for d, n in enumerate(given)][1:]))


@knows(JAGGED, "cat", "concat", "concatenate")
def cat(func: Any, tensors: Sequence[Any], dim: int = 0) -> Any:
    """Nested tensors of one ragged size one behind the other along a dimension that is not ragged."""
    first = next(x for x in tensors if getattr(x, "is_nested", False))
    d = inner(first, dim, "cat")
    return first.like(func([_agreeing(first, x, "cat") for x in tensors], d))


@knows(JAGGED, "stack")
def stack(func: Any, tensors: Sequence[Any], dim: int = 0) -> Any:
    """Nested tensors of one ragged size along a new dimension."""
    first = next(x for x in tensors if getattr(x, "is_nested", False))
    d, r = dimension(dim, first.dim() + 1), first._ragged_idx
    if d == 0:
        raise RuntimeError("stack(): not supported for NestedTensor on dim=0")
    return first.like(func([_agreeing(first, x, "stack") for x in tensors], d - 1), r + (d <= r))


def _agreeing(first: Any, x: Any, name: str) -> Tensor:
    if not isinstance(x, NestedTensor):
        raise RuntimeError(f"{name}(): expected each tensor in given list to be nested, got a dense one of {list(x.shape)}")
    if x._ragged_idx != first._ragged_idx or x.ragged_size != first.ragged_size:
        raise RuntimeError(
            f"{name}(): expected all nested tensors to have matching ragged structures outside of the concatenated dim, got "
            f"{tuple(first.shape)} and {tuple(x.shape)}"
        )
    return x._held


@knows(JAGGED, "copy_")
def copy_(func: Any, input: Any, src: Any, non_blocking: bool = False) -> Any:
    """The elements of another nested tensor of the same sizes."""
    if not isinstance(src, NestedTensor) or input._held.shape != src._held.shape:
        raise RuntimeError(
            f"copy_ only supports Nested Tensors that have same size and offset, got {tuple(input.shape)} and {tuple(src.shape)}"
        )
    input._held.copy_(src._held)
    return input


@knows(JAGGED, "fill_", "zero_", "normal_", "uniform_", "random_", "bernoulli_", "exponential_")
def fill_(func: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
    """Numbers in all places."""
    func(input._held, *args, **kwargs)
    return input


@knows(JAGGED, "is_same_size")
def is_same_size(func: Any, input: Any, other: Any) -> bool:
    """Whether the sizes are the same."""
    return bool(input.is_same_size(other))


@knows(JAGGED, "equal")
def equal(func: Any, input: Any, other: Any) -> bool:
    """Whether sizes and elements are the same."""
    return bool(input.is_same_size(other)) and bool(tenfold.equal(input._held, other._held))
