"""NumPy kernels of the reductions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cpu.quiet import quiet
from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op

add_reduce = quiet(np.add.reduce)
F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
# Up to this many elements a dot product with ones is faster than NumPy's reduction, and as exact.
SMALL = 512
_ONES32 = [np.ones(n, F32) for n in range(SMALL + 1)]
_ONES64 = [np.ones(n, F64) for n in range(SMALL + 1)]
_vdot, _asarray, _ndarray = np.vdot, np.asarray, np.ndarray
# Rows that NumPy may add one after the other into a float32 accumulator before the error shows.
ROWS = 64


def axes(dim: Any, ndim: int) -> Any:
    """NumPy's axis argument; an empty tuple means all dimensions, as in PyTorch."""
    if dim is None or type(dim) is int:
        return None if ndim == 0 and dim in (0, -1) else dim
    return tuple(dim) if len(dim) and ndim else None


def widened(array: Any) -> Any:
    """float16 and bfloat16 arrays as float32, in which they are computed; others as they are."""
    dtype = array.dtype
    return array.astype(np.float32) if dtype.itemsize == 2 and dtype.kind in "fV" else array


def total(input: Any, dim: Any, keepdim: bool) -> Any:
    """Sum of an array with little rounding error: small ones by a dot product, tall ones in blocks of rows."""
    dtype = input.dtype
    if dim is None and not keepdim:
        size = input.size
        if 0 < size <= SMALL:
            if dtype is F32:
                return _asarray(_vdot(input, _ONES32[size]))
            if dtype is F64:
                return _asarray(_vdot(input, _ONES64[size]))
    if dtype.kind in "biu":
        return add_reduce(input, axes(dim, input.ndim), np.int64, None, keepdim)
    axis = axes(dim, input.ndim)
    if dtype.itemsize == 2:
        return add_reduce(input.astype(np.float32), axis, None, None, keepdim).astype(dtype)
    if input.ndim > 1 and axis in (0, -input.ndim) and input.shape[0] > ROWS and input.size and dtype is F32:
        return _in_blocks(input, keepdim)
    return add_reduce(input, axis, None, None, keepdim)


def _in_blocks(input: Any, keepdim: bool) -> Any:
    """Sum over rows, block by block: error grows with the number of blocks, not of rows; narrow rows are joined first."""
    rows, shape = input.shape[0], input.shape[1:]
    width = input.size // rows
    block = max(256 // max(width, 1), 1) if input.flags.c_contiguous else 1
    if block > 1 and rows >= 2 * block:
        whole = rows - rows % block
        joined = _in_blocks(input[:whole].reshape(whole // block, block * width), False)
        parts = np.concatenate([joined.reshape(block, *shape), input[whole:]])
    elif rows > ROWS:
        whole = rows - rows % ROWS
        parts = add_reduce(input[:whole].reshape(whole // ROWS, ROWS, *shape), 1)
        if whole < rows:
            parts = np.concatenate([parts, add_reduce(input[whole:], 0, None, None, True)])
        return _in_blocks(parts, keepdim)
    else:
        parts = input
    return add_reduce(parts, 0, None, None, keepdim)


kernel(op.sum, device="cpu")(total)


@kernel(op.mean, device="cpu")
def mean(input: Any, dim: Any, keepdim: bool) -> Any:
    dtype = input.dtype
    if dtype.kind not in "fcV" or dtype.itemsize < 2 or not input.size:
        return NotImplemented  # the body has the words of the error
    if dtype.itemsize == 2:
        return mean(input.astype(np.float32), dim, keepdim).astype(dtype)
    added = total(input, dim, keepdim)
    count = input.size if dim is None else input.size // added.size
    if type(added) is _ndarray:
        added /= count  # it is ours
        return added
    return added / dtype.type(count)


_multiply = quiet(np.multiply.reduce)


@kernel(op.prod, device="cpu")
def prod(input: Any, dim: Any, keepdim: bool) -> Any:
    dtype = input.dtype
    if dtype.itemsize == 2 and dtype.kind in "fV":
        return _multiply(widened(input), axes(dim, input.ndim), None, None, keepdim).astype(dtype)
    return _multiply(input, axes(dim, input.ndim), np.int64 if dtype.kind in "biu" else None, None, keepdim)


def real_or_float32(input: Any, name: str, bools: bool = True) -> Any:
    """The array where NumPy orders its elements as PyTorch does; ml_dtypes as float32; complex (and bool) is refused."""
    if input.dtype.kind == "V":
        return input.astype(np.float32)
    if input.dtype.kind == "c":
        raise TypeError(f"{name}: complex numbers have no order")
    if input.dtype.kind == "b" and not bools:
        raise TypeError(f"{name} of bool")
    return input


def _extreme(reduce: Any, name: str) -> Any:
    reduce = quiet(reduce)

    def run(input: Any, dim: Any, keepdim: bool) -> Any:
        kind = input.dtype.kind
        if kind == "V" or kind == "c":
            return reduce(real_or_float32(input, name), axes(dim, input.ndim), None, None, keepdim).astype(input.dtype)
        return reduce(input, axes(dim, input.ndim), None, None, keepdim)

    return run


kernel(op.amax, device="cpu")(_extreme(np.maximum.reduce, "amax"))
kernel(op.amin, device="cpu")(_extreme(np.minimum.reduce, "amin"))


def taken(input: Any, positions: Any, dim: int, keepdim: bool) -> tuple[Any, Any]:
    """(values, positions) for positions along a dimension, which they keep with size 1."""
    values = np.take_along_axis(input, positions, dim)
    return (values, positions) if keepdim else (values.squeeze(dim), positions.squeeze(dim))


def located(choose: Any, name: str) -> Any:
    """The kernel of an extreme with its position."""

    def run(input: Any, dim: int, keepdim: bool) -> tuple[Any, Any]:
        comparable = real_or_float32(input, name)
        if not input.ndim:
            axes(dim, 0) is None or np.empty(0)[dim]  # IndexError beyond 0 and -1
            return input.copy(), np.zeros((), np.int64)
        return taken(input, choose(comparable, axis=dim, keepdims=True), dim, keepdim)

    return run


kernel(op.max_dim, device="cpu")(located(np.argmax, "max"))
kernel(op.min_dim, device="cpu")(located(np.argmin, "min"))


def _position(choose: Any, name: str) -> Any:
    def run(input: Any, dim: Any, keepdim: bool) -> Any:
        if input.dtype.kind in "Vcb":
            input = real_or_float32(input, name, bools=False)
        return choose(input, axes(dim, input.ndim), None, keepdims=keepdim)

    return run


kernel(op.argmax, device="cpu")(_position(np.argmax, "argmax"))
kernel(op.argmin, device="cpu")(_position(np.argmin, "argmin"))


def _logical(reduce: Any) -> Any:
    def run(input: Any, dim: Any, keepdim: bool) -> Any:
        truth = input if input.dtype.kind != "V" else input.astype(np.float32)
        result = reduce(truth, axes(dim, input.ndim), None, None, keepdim)
        return result.astype(np.uint8) if input.dtype == np.uint8 else result

    return run


kernel(op.all, device="cpu")(_logical(np.logical_and.reduce))
kernel(op.any, device="cpu")(_logical(np.logical_or.reduce))


@kernel(op.count_nonzero, device="cpu")
def count_nonzero(input: Any, dim: Any) -> Any:
    return add_reduce(input != 0, axes(dim, input.ndim), np.int64)


@kernel(op.logsumexp, device="cpu")
def logsumexp(input: Any, dim: Any, keepdim: bool) -> Any:
    if input.dtype.kind != "f" or input.dtype.itemsize == 2 or not input.size:
        return NotImplemented
    axis = axes(dim, input.ndim)
    greatest = np.maximum.reduce(input, axis, None, None, True)  # type: ignore[call-overload] # by position, which is faster
    with np.errstate(all="ignore"):
        shift = np.where(np.isfinite(greatest), greatest, greatest.dtype.type(0))
        total = np.add.reduce(np.exp(input - shift), axis, None, None, True)  # type: ignore[call-overload] # by position, too
        result = np.log(total) + shift
    return result if keepdim else result.squeeze(axis)
