"""Regular numbers: equal steps, ones on the diagonal, one number everywhere."""

# mypy: disable-error-code="no-untyped-def"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

from triton import language as tl


def ranges(
    out_ptr, count, half, first, step, later_first, later_step, factor, added, later_factor, later_added, WHOLE: tl.constexpr,
    DOUBLE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """added + (first + i * step) * factor of the first `half`, from there on by the later ones; WHOLE: no factor, no sum."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    late = i >= half
    place = tl.where(late, i - half, i)
    number = tl.where(late, later_first + place * later_step, first + place * step)
    if WHOLE:
        result = number
    else:
        wide = number.to(tl.float64)
        result = tl.where(late, later_added + wide * later_factor, added + wide * factor)
        if not out_ptr.dtype.element_ty.is_floating():
            result = result.to(tl.int64)  # what lies outside of the dtype wraps around, as on the CPU
    tl.store(out_ptr + i, result.to(out_ptr.dtype.element_ty), i < count)


def identity(out_ptr, count, columns, BLOCK: tl.constexpr):
    """Ones where the row is the column."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    row = i // columns
    tl.store(out_ptr + i, (row == i - row * columns).to(out_ptr.dtype.element_ty), i < count)


def filled(out_ptr, count, bits, BLOCK: tl.constexpr):
    """One number, by its bits."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, bits.to(out_ptr.dtype.element_ty), i < count)
