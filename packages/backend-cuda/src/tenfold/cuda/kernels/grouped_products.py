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
BYTES = (128, 64, 64, 8, 3)  # of 8-bit floats in long slices, which are converted in registers


def tile(rows: int, single: bool, eight: bool = False) -> tuple[int, int, int, int, int]:
    """What a program works on where slices have so many rows on average; `single`: of float32, `eight`: of bytes.

    >>> tile(20, False)[:2], tile(5000, False)[:2]
    ((32, 128), (128, 128))
    """
    return SINGLE if single else next((t for t in TILES[: -1 if eight else None] if t[0] >= rows), BYTES if eight else TILES[-1])


def program(name: str, shape: tuple[int, int, int, int, int], precision: str, **flags: int) -> Handwritten:
    """The kernel `grouped_rows` or `grouped_sums` for tiles of a shape."""
    rows, columns, inner, warps, stages = shape
    sizes = ("ROWS", rows), ("COLUMNS", columns), ("INNER", inner)
    return Handwritten(name, (*flags.items(), ("PRECISION", precision), *sizes), warps, stages, by_address=True)


def unit(x: Any, inner: int, outer: int) -> int:
    """Which dimension's neighbours are neighbours in memory: 1 the one that is summed over, 2 the other, 0 none."""
    size = x.dtype.itemsize
    return 1 if x.strides[inner] == size else 2 if x.strides[outer] == size else 0


def steps_of(x: Any) -> tuple[int, ...]:
    return tuple(s // x.dtype.itemsize for s in x.strides)


def aligned(sizes: tuple[int, int], steps: tuple[int, ...]) -> int:
    """Whether sizes and steps are multiples of 16, but for the steps of neighbours in memory."""
    return int(not any(n % 16 for n in sizes) and all(s % 16 == 0 or s == 1 for s in steps))


def _precision(dtype: Any) -> str:
    return "tf32" if dtype == F32 and products_in_tf32() else "ieee"


@kernel(op._grouped_mm, device="cuda", plays=switches, over=(op.bmm,))
def _grouped_mm(input: Any, mat2: Any, offs: Any, bias: Any, out_dtype: Any) -> Any:
    op._grouped_mm.shape_rule(input, mat2, offs, bias, out_dtype)
    if offs is None or not served(input, mat2, offs):
        return NotImplemented
    return products_of_slices(input, mat2, contiguous(offs), input.dtype)


def served(input: Any, mat2: Any, offs: Any) -> bool:
    """Whether the kernels multiply arrays of these sizes."""
    return bool(input.size and mat2.size and 0 < offs.size < MANY and max(input.size, mat2.size) <= MOST)


def products_of_slices(input: Any, mat2: Any, offs: Any, dtype: Any, scales: tuple[Any, Any] | None = None) -> Any:
    """The products; of bytes with their scales, those of `input` first."""
    now, index = runtime.current(), runtime.current().index_of(input)
    if input.ndim == mat2.ndim:
        out = now.empty((offs.size, input.shape[0], mat2.shape[1]), dtype, index)
        _sums(out, input, mat2, offs, scales, index)
        return out
    out = now.empty((input.shape[-2], mat2.shape[-1]), dtype, index)
    if input.ndim == MATRIX:
        _rows(out, input, mat2, offs, scales, index)
    else:  # slices of columns are rows of what is transposed
        _rows(out.T, mat2.T, input.swapaxes(1, 2), offs, scales and scales[::-1], index)
    return out


def _rows(out: Any, a: Any, b: Any, offs: Any, scales: tuple[Any, Any] | None, index: int) -> None:
    (M, K), (G, _, N) = a.shape, b.shape
    shape = tile(-(-M // G), a.dtype == F32, scales is not None)
    units = {"A_UNIT": unit(a, 1, 0), "B_UNIT": unit(b, 1, 2), "O_UNIT": unit(out, 1, 0)}
    steps = (*steps_of(a), *steps_of(b), *steps_of(out))
    flags = {**units, "ALIGNED": aligned((K, N), steps), "EIGHT": int(scales is not None), "GROUPS": 1 << G.bit_length()}
    found = program("grouped_rows", shape, _precision(a.dtype), **flags)
    grid = ((M // shape[0] + G + 1) * -(-N // shape[1]),)
    start(found, grid, (out, a, b, offs, *(scales or (out, out)), G, M, K, N, *steps), index)


def _sums(out: Any, a: Any, b: Any, offs: Any, scales: tuple[Any, Any] | None, index: int) -> None:
    (M, K), N, G = a.shape, b.shape[1], offs.size
    shape = tile(M, a.dtype == F32, scales is not None)
    steps = (*steps_of(a), *steps_of(b))
    flags = {
        "A_UNIT": unit(a, 1, 0),
        "B_UNIT": unit(b, 0, 1),
        "ALIGNED": aligned((M, N), steps),
        "EIGHT": int(scales is not None),
    }
    found = program("grouped_sums", shape, _precision(a.dtype), **flags)
    grid = (-(-M // shape[0]) * -(-N // shape[1]), G)
    start(found, grid, (out, a, b, offs, *(scales or (out, out)), M, K, N, *steps), index)
