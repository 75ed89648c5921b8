"""NumPy kernels of the reductions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cpu.half import rounded, widened
from tenfold.cpu.places import taken_along
from tenfold.cpu.quiet import quiet
from tenfold.cpu.reduction.sums import add_reduce, axes, total
from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op

_ndarray = np.ndarray


kernel(op.sum, device="cpu")(total)


@kernel(op.mean, device="cpu")
def mean(input: Any, dim: Any, keepdim: bool) -> Any:
    dtype = input.dtype
    if dtype.kind not in "fcV" or dtype.itemsize < 2 or not input.size:
        return NotImplemented  # the body has the words of the error
    if dtype.itemsize == 2:
        return rounded(mean(input.astype(np.float32), dim, keepdim), dtype)
    added = total(input, dim, keepdim)
    count = input.size if dim is None else input.size // added.size
    if dtype.kind == "c":
        return _divide(added, dtype.type(count))
    if type(added) is _ndarray:
        added /= count  # it is ours
        return added
    return added / dtype.type(count)


_multiply, _divide = quiet(np.multiply.reduce), quiet(np.divide)


@kernel(op.prod, device="cpu")
def prod(input: Any, dim: Any, keepdim: bool) -> Any:
    return _multiply(input, axes(dim, input.ndim), np.int64 if input.dtype.kind in "biu" else None, None, keepdim)


def orderable(input: Any) -> Any:
    """The array where NumPy orders its elements as PyTorch does: those of ml_dtypes as float32."""
    return input.astype(np.float32) if input.dtype.kind == "V" else input


def _extreme(reduce: Any) -> Any:
    reduce = quiet(reduce)

    def run(input: Any, dim: Any, keepdim: bool) -> Any:
        if input.dtype.kind == "V":
            return reduce(orderable(input), axes(dim, input.ndim), None, None, keepdim).astype(input.dtype)
        return reduce(input, axes(dim, input.ndim), None, None, keepdim)

    return run


kernel(op.amax, device="cpu")(_extreme(np.maximum.reduce))
kernel(op.amin, device="cpu")(_extreme(np.minimum.reduce))


def taken(input: Any, positions: Any, dim: int, keepdim: bool) -> tuple[Any, Any]:
    """(values, positions) for positions along a dimension, which they keep with size 1."""
    values, positions = taken_along(input, positions, dim), np.asarray(positions, order="C")
    return (values, positions) if keepdim else (values.squeeze(dim), positions.squeeze(dim))


def located(choose: Any) -> Any:
    """The kernel of an extreme with its position."""

    def run(input: Any, dim: int, keepdim: bool) -> tuple[Any, Any]:
        comparable = orderable(input)
        if not input.ndim:
            axes(dim, 0) is None or np.empty(0)[dim]  # IndexError beyond 0 and -1
            return input.copy(), np.zeros((), np.int64)
        return taken(input, choose(comparable, axis=dim, keepdims=True), dim, keepdim)

    return run


kernel(op.max_dim, device="cpu")(located(np.argmax))
kernel(op.min_dim, device="cpu")(located(np.argmin))


def _position(choose: Any) -> Any:
    def run(input: Any, dim: Any, keepdim: bool) -> Any:
        return choose(orderable(input), axes(dim, input.ndim), None, keepdims=keepdim)

    return run


kernel(op.argmax, device="cpu")(_position(np.argmax))
kernel(op.argmin, device="cpu")(_position(np.argmin))


def _logical(reduce: Any) -> Any:
    def run(input: Any, dim: Any, keepdim: bool) -> Any:
        truth = input if input.dtype.kind != "V" else input.astype(np.float32)
        result = reduce(truth, () if dim in ((), []) else axes(dim, input.ndim), None, None, keepdim)
        return result.astype(np.uint8) if input.dtype == np.uint8 else result

    return run


kernel(op.all, device="cpu")(_logical(np.logical_and.reduce))
kernel(op.any, device="cpu")(_logical(np.logical_or.reduce))


@kernel(op.count_nonzero, device="cpu")
def count_nonzero(input: Any, dim: Any) -> Any:
    return add_reduce(input != 0, axes(dim, input.ndim), np.int64)


@kernel(op.logsumexp, device="cpu")
@widened
@quiet
def logsumexp(input: Any, dim: Any, keepdim: bool) -> Any:
    if input.dtype.kind != "f" or not input.size:
        return NotImplemented
    axis = axes(dim, input.ndim)
    greatest = np.maximum.reduce(input, axis, None, None, True)  # type: ignore[call-overload] # by position, which is faster
    shift = np.where(np.isfinite(greatest), greatest, greatest.dtype.type(0))
    result = np.log(total(np.exp(input - shift), axis, True)) + shift
    return result if keepdim else result.squeeze(axis)


def _scan(accumulate: Any) -> Any:
    """Accumulation in float64 for floats, as PyTorch does, in int64 for integers."""

    def run(input: Any, dim: int) -> Any:
        kind = input.dtype.kind
        wide = np.int64 if kind in "biu" else np.complex128 if kind == "c" else np.float64
        if not input.ndim:
            np.empty(1)[dim]  # IndexError beyond 0 and -1
            return input.astype(wide if kind in "biu" else input.dtype)
        with np.errstate(all="ignore"):
            result = accumulate(input.astype(wide) if kind == "V" else input, dim, wide)
            return result if kind in "biu" else result.astype(input.dtype, copy=False)

    return run


kernel(op.cumsum, device="cpu")(_scan(np.add.accumulate))
kernel(op.cumprod, device="cpu")(_scan(np.multiply.accumulate))
