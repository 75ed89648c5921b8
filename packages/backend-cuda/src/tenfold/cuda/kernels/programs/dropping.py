"""Dropout in one pass: the mask is drawn, kept for the gradient, and used at once.

As in draws.py each program has counters of its own; element k * BLOCK + lane of a program has word k of the lane's counter.

Sources: Srivastava et al., "Dropout", 2014; Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

import triton
from triton import language as tl


@triton.jit
def _drop_piece(out_ptr, mask_ptr, x_ptr, word, place, count, kept, scale, shift, rest, SHIFTED: tl.constexpr):
    inside = place < count
    keep = (word.to(tl.uint32, bitcast=True) >> 8).to(tl.float32) * 5.9604644775390625e-08 < kept
    x = tl.load(x_ptr + place, inside)
    wide: tl.constexpr = tl.float64 if x_ptr.dtype.element_ty == tl.float64 else tl.float32
    result = x.to(wide) * tl.where(keep, scale, 0.0)
    if SHIFTED:
        result = result + tl.where(keep, shift, rest)
    tl.store(out_ptr + place, result.to(out_ptr.dtype.element_ty), inside)
    tl.store(mask_ptr + place, keep, inside)


def drop_samples(
    out_ptr, mask_ptr, x_ptr, words_ptr, seed, offset, count, kept, scale, shift, rest, SHIFTED: tl.constexpr,
    DOUBLE: tl.constexpr, PLACED: tl.constexpr, BIG: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """x * scale (+ shift) with probability `kept`, else x * 0 (+ rest); and which it was."""
    program = tl.program_id(0)
    lane = tl.arange(0, BLOCK)
    if PLACED:
        seed = tl.load(words_ptr)
        offset += tl.load(words_ptr + 1)
    first, second, third, fourth = tl.randint4x(seed, offset + (program.to(tl.int64) * BLOCK + lane).to(tl.uint64))
    place = program.to(tl.int64 if BIG else tl.int32) * (4 * BLOCK) + lane
    _drop_piece(out_ptr, mask_ptr, x_ptr, first, place, count, kept, scale, shift, rest, SHIFTED)
    _drop_piece(out_ptr, mask_ptr, x_ptr, second, place + BLOCK, count, kept, scale, shift, rest, SHIFTED)
    _drop_piece(out_ptr, mask_ptr, x_ptr, third, place + 2 * BLOCK, count, kept, scale, shift, rest, SHIFTED)
    _drop_piece(out_ptr, mask_ptr, x_ptr, fourth, place + 3 * BLOCK, count, kept, scale, shift, rest, SHIFTED)
