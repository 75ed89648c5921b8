"""Nested tensors as one tensor, with a number where a row has no elements."""

from __future__ import annotations

from math import prod
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.nested.strided import packed_strides


def to_padded_tensor(input: Any, padding: float, output_size: Any = None, out: Tensor | None = None) -> Tensor:
    """One tensor (B, the largest sizes of rows) of a nested tensor, with `padding` where a row has no elements.

    `output_size` gives larger sizes. Raises RuntimeError where it is too small, or rows do not lie one after the other.

    >>> import tenfold
    >>> tenfold.nested.to_padded_tensor(tenfold.nested.nested_tensor([[1.0, 2.0], [3.0]]), 0.0)
    tensor([[1., 2.],
            [3., 0.]])
    """
    padded = _jagged(input, padding, output_size) if input.layout is tenfold.jagged else _strided(input, padding, output_size)
    return padded if out is None else out.copy_(padded)


def _strided(input: Any, padding: float, output_size: Any) -> Tensor:
    if not len(input):
        empty: Tensor = input._held
        return empty
    if not input._packed():
        raise RuntimeError("for now to_padded_tensor only supports contiguous nested tensor: call .contiguous() first")
    if not input.numel():
        raise RuntimeError("to_padded_tensor: at least one constituent tensor should have non-zero numel")
    size = (len(input), *[max(s[d] for s in input._sizes) for d in range(input.dim() - 1)])
    size = _checked(size, output_size)
    at = [_places(s, packed_strides(size[1:])) + i * prod(size[1:]) for i, s in enumerate(input._sizes)]
    filled = input._held.new_full((prod(size),), padding)
    padded: Tensor = filled.index_copy(0, tenfold.cat(at).to(filled.device), input._held).reshape(size)
    return padded


def _places(size: tuple[int, ...], strides: tuple[int, ...]) -> Tensor:
    """For each element of a row of a size its place in a larger one of these strides, on the CPU."""
    at = tenfold.zeros((), dtype=tenfold.int64, device="cpu")  # one copy to the device is less than launches for each row
    for n, step in zip(size, strides):
        at = at.unsqueeze(-1) + tenfold.arange(n, device="cpu") * step
    return at.reshape(-1)


def _checked(size: tuple[int, ...], output_size: Any) -> tuple[int, ...]:
    if output_size is None:
        return size
    wanted = tuple(output_size)
    if len(wanted) != len(size):
        raise RuntimeError(
            f"Length of output_size does not match NestedTensor dims. Broadcasting is not supported: {wanted}, {size}"
        )
    if any(w < n for w, n in zip(wanted, size)):
        raise RuntimeError(
            f"Value in output_size is less than NestedTensor padded size. Truncation is not supported: {wanted}, {size}"
        )
    return wanted


def _jagged(input: Any, padding: float, output_size: Any) -> Tensor:
    x = input.packed()
    r, B = x._ragged_idx, len(x)
    values = x._held.movedim(r - 1, 0)
    longest = max(x.bounds()[1], default=0)
    if output_size is not None:
        given = tuple(output_size)
        longest = _checked((B, *[longest if d == r else n for d, n in enumerate(x.shape) if d]), given)[r]
    row = x.row_of_place()
    at = row * longest + tenfold.arange(len(row), device=row.device) - x._offsets[:-1].to(row.dtype)[row]
    if not values.ndim - 1 and values.dtype is tenfold.bool:
        padding = bool(padding)
    filled = values.new_full((B * longest, *values.shape[1:]), padding)
    padded: Tensor = filled.index_copy(0, at, values).reshape(B, longest, *values.shape[1:]).movedim(1, r)
    return padded
