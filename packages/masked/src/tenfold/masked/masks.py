"""Masks: which elements of a tensor count, and what stands in the place of those that do not."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan
from typing import Any

import tenfold
from tenfold import Tensor

Dims = int | Sequence[int] | None

# What leaves a reduction as it is, of floating-point numbers; integers have the ends of their range for infinities.
NEUTRAL: dict[str, float] = {
    "sum": 0, "cumsum": 0, "prod": 1, "cumprod": 1, "mean": 0, "norm": 0, "normalize": 0, "var": 0, "std": 0,
    "amax": -inf, "argmax": -inf, "softmax": -inf, "log_softmax": -inf, "logsumexp": -inf, "logaddexp": -inf,
    "amin": inf, "argmin": inf, "softmin": inf, "median": nan,
}  # fmt: skip
LINEWISE = ("softmax", "log_softmax", "softmin", "normalize", "cumsum", "cumprod")  # one result for each element


def neutral(name: str, dtype: Any) -> Any:
    """What stands for an element that does not count."""
    value = NEUTRAL[name]
    if abs(value) != inf or dtype.is_floating_point or dtype.is_complex:
        return value
    if dtype is tenfold.bool:
        return value > 0
    ends = tenfold.iinfo(dtype)
    return ends.max if value > 0 else ends.min


def dims_of(dim: Dims, ndim: int) -> tuple[int, ...]:
    """The dimensions, counted from the front and in order; all of them for None and ()."""
    if dim is None or dim == ():
        return tuple(range(ndim))
    found: list[int] = []
    for d in (dim,) if isinstance(dim, int) else dim:
        n = max(ndim, 1)
        if not -n <= d < n:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {d})")
        if d % n in found:
            raise RuntimeError(f"dim={d % n} appears multiple times in the list of dims")
        found.append(d % n)
    return tuple(sorted(found))


def input_mask(input: Any, *args: Any, mask: Any = None, **kwargs: Any) -> Any:
    """The mask in the shape and layout of the input, as bool; ValueError without one, IndexError if it has more dimensions."""
    if mask is None:
        raise ValueError("_input_mask requires explicit mask")
    if mask.ndim > input.ndim:
        raise IndexError("_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)")
    if mask.shape != input.shape:
        mask = mask.to_dense().expand(tuple(input.shape))
    mask = mask.to(tenfold.bool)
    if mask.layout != input.layout:
        mask = mask.to_dense()
        mask = mask if input.layout is tenfold.strided else mask.to_sparse(layout=input.layout)
    return mask.coalesce() if mask.layout is tenfold.sparse_coo else mask


def output_mask(op: Any, input: Any, *args: Any, **kwargs: Any) -> Tensor:
    """Where a reduction or normalization of the masked input has a result: at least one element counts."""
    name = op if isinstance(op, str) else op.__name__
    if name not in NEUTRAL:
        raise ValueError(f"_output_mask expected masked operation (got callable {op})")
    mask: Tensor = input_mask(input, mask=kwargs.get("mask"))
    if name in LINEWISE:
        return mask
    position = 1 if name == "norm" else 0
    default = -1 if name == "median" else None
    dim = kwargs["dim"] if "dim" in kwargs else args[position] if len(args) > position else default
    return any_along(mask, dims_of(dim, input.ndim), bool(kwargs.get("keepdim", False)))


def any_along(mask: Tensor, dims: tuple[int, ...], keepdim: bool) -> Tensor:
    """Whether an element counts, along dimensions."""
    return tenfold.any(mask.to_dense(), dims, keepdim) if dims else mask.to_dense()


def where(mask: Any, input: Any, fill_value: Any) -> Any:
    """The elements that count, and the fill value; a sparse input keeps the coordinates that the mask has."""
    if mask.layout is tenfold.strided:
        return tenfold.where(mask, input, fill_value)
    if mask.layout is tenfold.sparse_coo:
        mask = mask.coalesce()
    stored = input.sparse_mask(mask)
    held, counts = stored.values(), mask.values()
    if counts.ndim > 1:  # slices are dense: among their elements are some that do not count
        return tenfold.sparse_coo_tensor(
            stored.indices(), tenfold.where(counts, held, fill_value), tuple(input.shape), is_coalesced=True
        )
    if mask.layout is tenfold.sparse_coo:
        at = stored.indices()[:, counts]
        return tenfold.sparse_coo_tensor(at, held[counts], tuple(input.shape), is_coalesced=True)
    dense = tenfold.sparse_coo_tensor(
        tenfold.stack(_coordinates(mask))[:, counts], held[counts], tuple(input.shape), is_coalesced=True
    )
    return dense.to_sparse(layout=mask.layout)


def _coordinates(mask: Any) -> tuple[Tensor, Tensor]:
    """Row and column of each stored element of a CSR matrix."""
    starts, columns = mask.crow_indices(), mask.col_indices()
    rows = tenfold.arange(len(starts) - 1, device=starts.device).repeat_interleave(starts[1:] - starts[:-1])
    return rows, columns


def filled(name: str, input: Tensor, mask: Tensor | None) -> Tensor:
    """The input with what does not count replaced by the operator's neutral element."""
    if mask is None:
        return input
    value = tenfold.full((), neutral(name, input.dtype), dtype=input.dtype, device=input.device)
    return tenfold.where(input_mask(input, mask=mask), input, value)


def combined(op: Any, input: Tensor, mask: Tensor | None) -> Tensor:
    """The same for an operator's function."""
    return filled(op if isinstance(op, str) else op.__name__, input, mask)
