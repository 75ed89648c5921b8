"""Random samples, each from its own counter: no state is kept on the device, and every program can start anywhere.

Where PLACED, the seed and what is added to the offset are read from two words on the device.

Philox 4x32 with 10 rounds makes four words of a counter and a seed. Element k * BLOCK + lane of a program is made of word k
of counter `offset + program * BLOCK + lane`, or of two words where it has 64 bits.

Sources: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011; Box and Muller, "A note on the generation of random
normal deviates", 1958.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

import triton
from triton import language as tl


def place_words(words_ptr, seed, offset):
    """What a replay of a graph draws from."""
    tl.store(words_ptr, seed)
    tl.store(words_ptr + 1, offset)


def note_words(out_ptr, words_ptr, seed, offset, PLACED: tl.constexpr):
    """A seed and a first counter for kernels that draw by themselves, some of them later, such as attention's gradients."""
    if PLACED:
        seed = tl.load(words_ptr)
        offset += tl.load(words_ptr + 1)
    tl.store(out_ptr, seed.to(tl.int64))
    tl.store(out_ptr + 1, offset.to(tl.int64))


@triton.jit
def units_of(first, second, third, fourth, k, DOUBLE: tl.constexpr):
    """Numbers in [0, 1): element k of a lane's words, or of its pairs of words."""
    if DOUBLE:
        u = tl.where(k == 0, first[None, :], third[None, :]).to(tl.uint32, bitcast=True).to(tl.uint64)
        v = tl.where(k == 0, second[None, :], fourth[None, :]).to(tl.uint32, bitcast=True).to(tl.uint64)
        return (((u << 32) | v) >> 11).to(tl.float64) * 1.1102230246251565e-16
    else:
        u = tl.where(k < 2, tl.where(k == 0, first[None, :], second[None, :]), tl.where(k == 2, third[None, :], fourth[None, :]))
        return (u.to(tl.uint32, bitcast=True) >> 8).to(tl.float32) * 5.9604644775390625e-08


def draw_samples(
    out_ptr, words_ptr, seed, offset, count, a, b, LAW: tl.constexpr, DOUBLE: tl.constexpr, PLACED: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """LAW 0: uniform in [a, b); 1: normal, mean a, deviation b; 2: 1 with probability a; 3: exponential, rate a; 4: Cauchy,
    median a, scale b; 5: geometric, where a is the logarithm of what a failure's probability is; 6: exponentials of 1.
    """
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    each: tl.constexpr = 2 if DOUBLE else 4
    program = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, BLOCK)
    if PLACED:
        seed = tl.load(words_ptr)
        offset += tl.load(words_ptr + 1)
    first, second, third, fourth = tl.randint4x(seed, offset + (program * BLOCK + lane).to(tl.uint64))
    k = tl.arange(0, each)[:, None]
    unit = units_of(first, second, third, fourth, k, DOUBLE)
    if LAW == 0:
        result = a + unit * (b - a)
        kept = result.to(out_ptr.dtype.element_ty).to(wide)
        result = tl.where(kept >= b, a, result)  # rounding reached the open end
    if LAW == 1 or LAW == 6:
        if DOUBLE:
            u = (first.to(tl.uint32, bitcast=True).to(tl.uint64) << 32) | second.to(tl.uint32, bitcast=True).to(tl.uint64)
            v = (third.to(tl.uint32, bitcast=True).to(tl.uint64) << 32) | fourth.to(tl.uint32, bitcast=True).to(tl.uint64)
            part = ((u >> 11).to(wide) + 0.5)[None, :] * 1.1102230246251565e-16
            turn = (v >> 11).to(wide)[None, :] * 1.1102230246251565e-16
        else:
            u = tl.where(k < 2, first[None, :], third[None, :]).to(tl.uint32, bitcast=True)
            v = tl.where(k < 2, second[None, :], fourth[None, :]).to(tl.uint32, bitcast=True)
            part = (u.to(wide) + 0.5) * 2.3283064365386963e-10
            turn = v.to(wide) * 2.3283064365386963e-10
        # The second of a pair is the sine: the cosine a quarter of a turn later.
        angle = (turn - 0.25 * (k % 2).to(wide)) * 6.283185307179586
        result = a + b * tl.sqrt(-2.0 * tl.log(part)) * tl.cos(angle)
    if LAW == 6:
        result = tl.exp(result)
    if LAW == 2:
        result = (unit < a).to(wide)
    if LAW == 3:
        result = -tl.log(1.0 - unit) / a
    if LAW == 4:  # the tangent by the distance from the nearer pole, which no rounding moves to or beyond it
        least: tl.constexpr = 2.220446049250313e-16 if DOUBLE else 1.1920928955078125e-07
        angle = tl.maximum(tl.where(unit > 0.5, 1.0 - unit, unit), least) * 3.141592653589793
        tangent = tl.cos(angle) / tl.sin(angle)
        result = a + b * tl.where(unit > 0.5, tangent, -tangent)
    if LAW == 5:
        result = tl.maximum(tl.ceil(tl.log(1.0 - unit) / a), 1.0)
    place = program * (each * BLOCK) + k * BLOCK + lane[None, :]
    tl.store(out_ptr + place, result.to(out_ptr.dtype.element_ty), place < count)


def draw_integers(
    out_ptr, words_ptr, seed, offset, count, low, span, WIDE: tl.constexpr, PLACED: tl.constexpr, BLOCK: tl.constexpr
):
    """low + word mod span, of 64-bit words if WIDE; a span of 0 is that of the words."""
    each: tl.constexpr = 2 if WIDE else 4
    program = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, BLOCK)
    if PLACED:
        seed = tl.load(words_ptr)
        offset += tl.load(words_ptr + 1)
    first, second, third, fourth = tl.randint4x(seed, offset + (program * BLOCK + lane).to(tl.uint64))
    k = tl.arange(0, each)[:, None]
    if WIDE:
        u = tl.where(k == 0, first[None, :], third[None, :]).to(tl.uint32, bitcast=True).to(tl.uint64)
        v = tl.where(k == 0, second[None, :], fourth[None, :]).to(tl.uint32, bitcast=True).to(tl.uint64)
        word = (u << 32) | v
    else:
        u = tl.where(k < 2, tl.where(k == 0, first[None, :], second[None, :]), tl.where(k == 2, third[None, :], fourth[None, :]))
        word = u.to(tl.uint32, bitcast=True).to(tl.uint64)
    if span != 0:
        word = word % span
    result = (word + low).to(tl.int64)
    place = program * (each * BLOCK) + k * BLOCK + lane[None, :]
    tl.store(out_ptr + place, result.to(out_ptr.dtype.element_ty), place < count)


def check_weights(report_ptr, weights_ptr, code, width, BLOCK: tl.constexpr):
    """Reports a row with what is no weight: inf, nan, a number below 0, or nothing above it. Program (row)."""
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    wrong = tl.zeros((BLOCK,), tl.int32)
    above = tl.zeros((BLOCK,), tl.int32)
    for first in range(0, width, BLOCK):
        w = tl.load(weights_ptr + row * width + first + c, first + c < width, other=0.0)
        wrong = tl.maximum(wrong, tl.where((w >= 0) & (w < float("inf")), 0, 1))
        above = tl.maximum(above, tl.where(w > 0, 1, 0))
    found = (tl.max(wrong, 0) > 0) | (tl.max(above, 0) == 0)
    tl.store(report_ptr + code, 1, found)  # same value: each row's program writes 1


def draw_by_chances(
    out_ptr, words_ptr, seed, offset, count, chances_ptr, report_ptr, code, DOUBLE: tl.constexpr, PLACED: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """1 with the probability that is at its place, which may be the place of the result, and otherwise 0.

    Reports a number that is no probability: below 0, above 1 or nan.
    """
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    each: tl.constexpr = 2 if DOUBLE else 4
    program = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, BLOCK)
    if PLACED:
        seed = tl.load(words_ptr)
        offset += tl.load(words_ptr + 1)
    first, second, third, fourth = tl.randint4x(seed, offset + (program * BLOCK + lane).to(tl.uint64))
    k = tl.arange(0, each)[:, None]
    place = program * (each * BLOCK) + k * BLOCK + lane[None, :]
    chance = tl.load(chances_ptr + place, place < count, other=0.0).to(wide)
    result = tl.where(units_of(first, second, third, fourth, k, DOUBLE) < chance, 1, 0)
    tl.store(out_ptr + place, result.to(out_ptr.dtype.element_ty), place < count)
    wrong = tl.max(tl.where((chance >= 0) & (chance <= 1), 0, 1))
    tl.store(report_ptr + code, 1, wrong > 0)  # same value: whoever finds one writes 1
