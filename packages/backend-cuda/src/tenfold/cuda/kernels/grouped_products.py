"""Products of slices of matrices, one launch each: an operator of tenfold-nn, as layers of experts multiply.

Where slices end stays on the device: a program finds its slice itself, and there are as many programs as any slices could need.
"""

from __future__ import annotations

from typing import Any

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.handwritten import F32, Handwritten, contiguous, start
from tenfold.cuda.precision import products_in_tf32, switches
from tenfold.dispatch.operators import op

MOST = 2**31 - 2**16
MANY = 4096  # slices that a program looks through
MATRIX = 2  # dimensions
# (rows, columns, summed at a time, warps, stages), by how many rows a slice has on average. Not measured on a GPU yet.
TILES = ((16, 128, 64, 4, 3), (32, 128, 64, 4, 3), (64, 128, 64, 4, 3), (128, 128, 64, 8, 3))
SINGLE = (64, 64, 32, 4, 2)  # of float32


def tile(rows: int, single: bool) -> tuple[int, int, int, int, int]:
    """What a program works on where slices have so many rows on average.

    >>> tile(20, False)[:2], tile(5000, False)[:2]
    ((32, 128), (128, 128))
    """
    return SINGLE if single else next((t for t in TILES if t[0] >= rows), TILES[-1])


def program(name: str, shape: tuple[int, int, int, int, int], precision: str, **flags: int) -> Handwritten:
    """The kernel `grouped_rows` or `grouped_sums` for tiles of a shape."""
    rows, columns, inner, warps, stages = shape
    sizes = ("ROWS", rows), ("COLUMNS", columns), ("INNER", inner)
    return Handwritten(name, (*flags.items(), ("PRECISION", precision), *sizes), warps, stages, by_address=True)


def _unit(x: Any, inner: int, outer: int) -> int:
    """Which dimension's neighbours are neighbours in memory: 1 the one that is summed over, 2 the other, 0 none."""
    size = x.dtype.itemsize
    return 1 if x.strides[inner] == size else 2 if x.strides[outer] == size else 0


def _steps(x: Any) -> tuple[int, ...]:
    return tuple(s // x.dtype.itemsize for s in x.strides)


def _aligned(sizes: tuple[int, int], steps: tuple[int, ...]) -> int:
    """Whether sizes and steps are multiples of 16, but for the steps of neighbours in memory."""
    return int(not any(n % 16 for n in sizes) and all(s % 16 == 0 or s == 1 for s in steps))


def _precision(dtype: Any) -> str:
    return "tf32" if dtype == F32 and products_in_tf32() else "ieee"


@kernel(op._grouped_mm, device="cuda", plays=switches, over=(op.bmm,))
def _grouped_mm(input: Any, mat2: Any, offs: Any, bias: Any, out_dtype: Any) -> Any:
    op._grouped_mm.shape_rule(input, mat2, offs, bias, out_dtype)
    if offs is None or not input.size or not mat2.size or not 0 < offs.size < MANY or max(input.size, mat2.size) > MOST:
        return NotImplemented
    offs = contiguous(offs)
    if input.ndim == mat2.ndim:
        return _sums(input, mat2, offs)
    now, index = runtime.current(), runtime.current().index_of(input)
    out = now.empty((input.shape[-2], mat2.shape[-1]), input.dtype, index)
    if input.ndim == MATRIX:
        _rows(out, input, mat2, offs, index)
    else:  # slices of columns are rows of what is transposed
        _rows(out.T, mat2.T, input.swapaxes(1, 2), offs, index)
    return out


def _rows(out: Any, a: Any, b: Any, offs: Any, index: int) -> None:
    (M, K), (G, _, N) = a.shape, b.shape
    shape = tile(-(-M // G), a.dtype == F32)
    units = {"A_UNIT": _unit(a, 1, 0), "B_UNIT": _unit(b, 1, 2), "O_UNIT": _unit(out, 1, 0)}
    steps = (*_steps(a), *_steps(b), *_steps(out))
    flags = {**units, "ALIGNED": _aligned((K, N), steps), "GROUPS": 1 << G.bit_length()}
    found = program("grouped_rows", shape, _precision(a.dtype), **flags)
    grid = (M // shape[0] + G + 1, -(-N // shape[1]))
    start(found, grid, (out, a, b, offs, G, M, K, N, *steps), index)


def _sums(a: Any, b: Any, offs: Any) -> Any:
    (M, K), N, G = a.shape, b.shape[1], offs.size
    now, index = runtime.current(), runtime.current().index_of(a)
    out = now.empty((G, M, N), a.dtype, index)
    shape = tile(M, a.dtype == F32)
    steps = (*_steps(a), *_steps(b))
    flags = {"A_UNIT": _unit(a, 1, 0), "B_UNIT": _unit(b, 0, 1), "ALIGNED": _aligned((M, N), steps)}
    found = program("grouped_sums", shape, _precision(a.dtype), **flags)
    grid = (-(-M // shape[0]), -(-N // shape[1]), G)
    start(found, grid, (out, a, b, offs, M, K, N, *steps), index)
    return out
