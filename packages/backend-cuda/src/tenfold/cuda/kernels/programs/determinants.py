"""Determinants by a matrix's factors L and U and its exchanges of rows, as LAPACK leaves them: a program for each matrix."""

# mypy: disable-error-code="no-untyped-def"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

from triton import language as tl

from tenfold.cuda.kernels.programs.folding import multiply, multiply_pairs


def determinants(
    out_ptr, size_ptr, lu_ptr, pivots_ptr, info_ptr, steps, PAIRED: tl.constexpr, LOG: tl.constexpr, BLOCK: tl.constexpr
):
    """out = the product of U's diagonal, negative for an odd number of exchanges, 0 where info says that U has a zero there.

    LOG: out is that product of what has absolute value 1 instead, and size the sum of the logarithms of the absolute values.
    PAIRED: numbers are complex, a real part and an imaginary one.
    """
    matrix = tl.program_id(0).to(tl.int64)
    dtype = lu_ptr.dtype.element_ty
    each = 2 if PAIRED else 1
    diagonal = lu_ptr + matrix * steps * steps * each
    pivots = pivots_ptr + matrix * steps
    lanes = tl.arange(0, BLOCK)
    real = tl.full([BLOCK], 1.0, dtype)
    imaginary = tl.zeros([BLOCK], dtype)
    logarithms = tl.zeros([BLOCK], dtype)
    exchanged = tl.zeros([BLOCK], tl.int32)
    for start in range(0, steps, BLOCK):
        i = start + lanes
        mask = i < steps
        place = diagonal + i.to(tl.int64) * (steps + 1) * each
        a = tl.load(place, mask, other=1.0)
        exchanged += tl.load(pivots + i, mask, other=i + 1) != i + 1
        if PAIRED:
            b = tl.load(place + 1, mask, other=0.0)
            if LOG:
                large = tl.maximum(tl.abs(a), tl.abs(b), propagate_nan=tl.PropagateNan.ALL)
                scale = tl.where(large == 0, 1.0, large).to(dtype)
                size = large * tl.sqrt((a / scale) * (a / scale) + (b / scale) * (b / scale))
                size = tl.where(large == float("inf"), large, size)
                logarithms += tl.log(size)
                a, b = a / size, b / size
            real, imaginary = real * a - imaginary * b, real * b + imaginary * a
        else:
            if LOG:
                logarithms += tl.log(tl.abs(a))
                a = tl.where(a > 0, 1.0, tl.where(a < 0, -1.0, 0.0)).to(dtype)
            real *= a
    odd = tl.sum(exchanged, 0) % 2 == 1
    singular = tl.load(info_ptr + matrix) > 0
    if PAIRED:
        found, other = tl.reduce((real, imaginary), 0, multiply_pairs)
        other = tl.where(singular, 0.0, tl.where(odd, -other, other)).to(dtype)
        tl.store(out_ptr + matrix * 2 + 1, other)
    else:
        found = tl.reduce(real, 0, multiply)
    tl.store(out_ptr + matrix * each, tl.where(singular, 0.0, tl.where(odd, -found, found)).to(dtype))
    if LOG:
        tl.store(size_ptr + matrix, tl.where(singular, float("-inf"), tl.sum(logarithms, 0)).to(dtype))
