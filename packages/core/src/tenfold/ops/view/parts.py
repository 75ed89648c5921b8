"""Views of a tensor's parts: split, chunk, unbind and their forms."""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import composite, primitive
from tenfold.dispatch.shape_rules import wrap_dim
from tenfold.dispatch.spellings import as_int
from tenfold.tensor.tensor import Tensor


def _part(input: Meta, dim: int, start: int, length: int) -> Meta:
    shape = [*input.shape[:dim], length, *input.shape[dim + 1 :]]
    return Meta(shape, input.dtype, input.strides, input.offset + start * input.strides[dim])


@primitive("view", view=True)
def split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Consecutive parts of a dimension with the given sizes, which add up to the dimension's.

    >>> import tenfold
    >>> tenfold.arange(3).split_with_sizes([1, 2])
    (tensor([0]), tensor([1, 2]))
    """


@split_with_sizes.rule
def _(input: Any, split_sizes: Any, dim: int) -> list[Meta]:
    if not input.shape:
        raise RuntimeError("split_with_sizes: split expects at least a 1-dimensional tensor")
    dim = wrap_dim(dim, len(input.shape), "split_with_sizes")
    sizes = list(split_sizes)
    if any(n < 0 for n in sizes):
        raise RuntimeError(f"split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={sizes}")
    if sum(sizes) != input.shape[dim]:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {input.shape[dim]} (input tensor's size at dimension "
            f"{dim}), but got split_sizes={sizes}"
        )
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    return [_part(input, dim, start, n) for start, n in zip(starts, sizes)]


@primitive("view", view=True)
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The slices along a dimension, which is left out.

    >>> import tenfold
    >>> tenfold.arange(4).view(2, 2).unbind(1)
    (tensor([0, 2]), tensor([1, 3]))
    """


@unbind.rule
def _(input: Any, dim: int) -> list[Meta]:
    if not input.shape:
        raise IndexError("unbind: Dimension specified as 0 but tensor has no dimensions")
    dim = wrap_dim(dim, len(input.shape), "unbind")
    shape, strides = list(input.shape), list(input.strides)
    n, step = shape.pop(dim), strides.pop(dim)
    return [Meta(shape, input.dtype, strides, input.offset + i * step) for i in range(n)]


@composite("view", method=None)
def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Parts of a dimension: all of one size (the last may be smaller), or of the listed sizes.

    >>> import tenfold
    >>> tenfold.split(tenfold.arange(3), 2)
    (tensor([0, 1]), tensor([2]))
    """
    if isinstance(split_size_or_sections, (list, tuple)) or not hasattr(split_size_or_sections, "__int__"):
        return split_with_sizes(tensor, split_size_or_sections, dim)
    if not tensor.dim():
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    size = as_int(split_size_or_sections, "split", "split_size_or_sections")
    if size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={size}")
    have = tensor.size(dim)
    if size == 0 and have:
        raise RuntimeError(f"split expects split_size be positive, but got split_size={size}")
    if not have:
        return split_with_sizes(tensor, [0], dim)
    return split_with_sizes(tensor, [min(size, have - start) for start in range(0, have, size)], dim)


def _split_method(self: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Parts of a dimension: see `tenfold.split`."""
    return split(self, split_size, dim)


Tensor.split = _split_method  # type: ignore[method-assign, assignment]


@composite("view")
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most `chunks` parts of a dimension, of equal size but for the last.

    >>> import tenfold
    >>> [len(c) for c in tenfold.arange(5).chunk(3)]
    [2, 2, 1]
    """
    if not input.dim():
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    have = input.size(dim)
    if not have:
        return split_with_sizes(input, [0] * chunks, dim)
    return split(input, -(-have // int(chunks)), dim)
