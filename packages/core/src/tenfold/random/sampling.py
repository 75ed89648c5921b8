"""Random words to samples of a distribution: NumPy dtypes in, arrays out, in PyTorch's order and with its rounding.

Every function draws from the `Generator` it is given. float64 samples use 53 bits of a 64-bit word, other floats 24 bits of
a 32-bit word, and float16 and bfloat16 are rounded float32. Complex samples are pairs of real ones.

float64 results equal PyTorch's bit for bit with the same C library. Narrower ones take NumPy's vector routines and one
rounding, so that about one sample in 10**8 may differ in its last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from math import cos, log1p, sin, sqrt
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tenfold.random.boxmuller import fma64, libm, pairs32, pairs64, serial64
from tenfold.random.checks import (
    check_interval,
    check_multinomial,
    check_range,
    check_weights,
    floating,
    precision,
    real_floating,
    real_part,
)
from tenfold.random.generator import Generator
from tenfold.random.shuffle import swapped

Array = NDArray[Any]
F64 = NDArray[np.float64]
Shape = int | Sequence[int]

_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)
_LOW24, _ULP24 = np.uint32(2**24 - 1), np.float32(2.0**-24)
_WIDE_RANGE = 1 << 28  # ranges from here on take a 64-bit word, so that the remainder's bias stays small
_WIDE_PERMUTATION = (1 << 32) // 20
TWO_PI = 2 * math.pi
_BLOCK = 16  # normals are made in blocks of 8 pairs
_PIECE = 1 << 15  # what is scaled at once: it takes five times the room


def uniform(generator: Generator, shape: Shape, dtype: DTypeLike = np.float32, low: float = 0.0, high: float = 1.0) -> Array:
    """Uniform samples in [low, high).

    Shape: `shape`. Dtype: any floating point or complex. Raises: RuntimeError if low > high or the difference overflows.

    >>> uniform(Generator().manual_seed(0), 3).tolist()
    [0.49625658988952637, 0.7682217955589294, 0.08847743272781372]
    """
    if low == 0 and high == 1 and dtype in (_F32, _F64):
        count = math.prod(sizes_of(shape))
        if count < _BLOCK:
            units = np.array(generator.few_units64(count)) if dtype == _F64 else generator.few_units32(count)
            return units.reshape(shape)
        return (units64 if dtype == _F64 else _units32)(generator, count).reshape(shape)
    dtype = floating("uniform", dtype)
    if dtype.kind == "c":
        return _complex(uniform(generator, (*sizes_of(shape), 2), real_part(dtype), low, high), dtype)
    check_interval(low, high, dtype)
    count = math.prod(sizes_of(shape))
    wide = dtype == np.float64
    samples = np.empty(count, dtype)
    for start in range(0, count, _PIECE):
        piece = samples[start : start + _PIECE]
        u: Array = units64(generator, piece.size) if wide else _units32(generator, piece.size)
        if (low, high) != (0, 1):
            u = fma64(u, high - low, low) if wide else _scaled32(u, np.float32(high) - np.float32(low), low)
        piece[:] = u
        piece[piece == dtype.type(high)] = low  # rounding reached the open end
    return samples.reshape(sizes_of(shape))


def normal(
    generator: Generator,
    shape: Shape,
    dtype: DTypeLike = np.float32,
    mean: float = 0.0,
    std: float = 1.0,
    *,
    contiguous: bool = True,
) -> Array:
    """Normal samples, by Box and Muller's transform.

    Fewer than 16 samples, and those for memory that is not `contiguous`, come one by one in float64, and the second of a
    pair waits in the generator for the next such call. More come in blocks of 16; where the last block is not full, the
    last 16 samples are drawn anew. A complex sample's parts each have the standard deviation std / sqrt(2).

    Shape: `shape`. Dtype: any floating point or complex. Raises: RuntimeError if std < 0.
    Source: G. Box, M. Muller, "A note on the generation of random normal deviates" (1958).

    >>> normal(Generator().manual_seed(0), 3).tolist()
    [1.5409960746765137, -0.293428897857666, -2.1787893772125244]
    """
    if mean == 0 and std == 1 and dtype in (_F32, _F64):
        count = math.prod(sizes_of(shape))
        if 0 < count < _BLOCK:
            few = generator.few_normals32(count) if dtype == _F32 else None
            return (np.array(few_normals(generator, count), dtype) if few is None else few).reshape(shape)
    dtype = floating("normal", dtype)
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    if dtype.kind == "c":
        parts = normal(generator, (*sizes_of(shape), 2), real_part(dtype), mean, std / math.sqrt(2), contiguous=contiguous)
        return _complex(parts, dtype)
    count = math.prod(sizes_of(shape))
    if count >= _BLOCK and contiguous:
        z = filled(generator, count, dtype)
    else:
        z = serial_normals(generator, count)
    if (mean, std) != (0, 1):
        z = fma64(z, std, mean) if z.dtype == np.float64 else _scaled32(z, np.float32(std), mean)
    return narrowed(z, dtype).reshape(sizes_of(shape))


def memory_order(strides: Sequence[int]) -> tuple[list[int], list[int]]:
    """The dimensions in the order in which elements lie in memory, in which PyTorch draws, and the way back.

    >>> memory_order((4, 8))
    ([1, 0], [1, 0])
    """
    order = sorted(range(len(strides)), key=lambda d: -strides[d])
    return order, [order.index(d) for d in range(len(strides))]


def exponential(generator: Generator, shape: Shape, dtype: DTypeLike = np.float32, rate: float = 1.0) -> Array:
    """Exponential samples: -log(1 - u) / rate.

    Shape: `shape`. Dtype: any floating point. Raises: RuntimeError if rate <= 0.

    >>> exponential(Generator().manual_seed(0), 2, np.float64).round(4).tolist()
    [3.5083, 1.2304]
    """
    dtype = real_floating("exponential", dtype)
    if not rate > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={rate}")
    u = units64(generator, math.prod(sizes_of(shape)))
    logarithm = libm(math.log1p, -u) if dtype == np.float64 else np.log1p(-u)
    return narrowed(-1 / rate * logarithm, dtype).reshape(sizes_of(shape))


def bernoulli(generator: Generator, p: float | Array, shape: Shape | None = None, dtype: DTypeLike | None = None) -> Array:
    """One where u < p, zero elsewhere; p is one probability for all of `shape`, or an array of them.

    A number p, and a float64 array, are compared with 53-bit uniforms, another array with 24-bit ones.

    Shape: `shape`, or that of p. Dtype: any; by default that of p, float32 for a number.
    Raises: RuntimeError if a probability is outside [0, 1].
    Differs from PyTorch, which on Intel processors draws for a number p, as for dropout's masks, by MKL's own generator.

    >>> bernoulli(Generator().manual_seed(0), 0.5, 5).tolist()
    [0.0, 0.0, 1.0, 0.0, 0.0]
    """
    if isinstance(p, np.ndarray):
        if not ((p >= 0) & (p <= 1)).all():
            raise RuntimeError("bernoulli: got a probability outside [0, 1] in the array p; clamp p or apply a sigmoid")
        wide = p.dtype == np.float64
        units: Array = units64(generator, p.size) if wide else _units32(generator, p.size)
        return (units.reshape(p.shape) < (p if wide else p.astype(np.float32))).astype(dtype or p.dtype)
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    sizes = sizes_of(() if shape is None else shape)
    return (units64(generator, math.prod(sizes)) < p).astype(dtype or np.float32).reshape(sizes)


def randint(generator: Generator, low: int, high: int | None, shape: Shape, dtype: DTypeLike = np.int64) -> Array:
    """Uniform integers in [low, high): low + word mod (high - low); `high` None stands for 2**63, int64's whole range.

    Ranges below 2**28 take a 32-bit word, others a 64-bit one.

    Shape: `shape`. Dtype: any real or bool. Raises: RuntimeError if low >= high or an end is outside the dtype's range.

    >>> randint(Generator().manual_seed(0), 0, 10, 5).tolist()
    [4, 9, 3, 0, 3]
    """
    dtype, sizes = np.dtype(dtype), sizes_of(shape)
    end = 2**63 if high is None else high
    if not low < end:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={end}")
    check_range(low, end - 1, dtype)
    count, span = math.prod(sizes), end - low
    if span < _WIDE_RANGE:
        offsets = (generator.words32(count) % np.uint32(span)).astype(np.uint64)
    else:
        offsets = generator.words64(count)
        if span == 2**64:
            return offsets.view(np.int64).astype(dtype).reshape(sizes)
        offsets %= np.uint64(span)
    values = (offsets + np.uint64(low % 2**64)).view(np.int64)  # wraps as two's complement does
    return values.astype(dtype).reshape(sizes)


def greatest_whole(dtype: Any) -> int:
    """The greatest integer of a dtype, or to which a float counts by ones.

    >>> greatest_whole(np.dtype(np.int8))
    127
    """
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return 1
    return int(np.iinfo(dtype).max) if dtype.kind in "iu" else 2 ** precision(dtype)


def random(generator: Generator, shape: Shape, dtype: DTypeLike = np.int64) -> Array:
    """What `Tensor.random_()` fills with: the integers from 0 to the greatest of the dtype, or to which a float is exact.

    Shape: `shape`. Dtype: any real or bool.

    >>> random(Generator().manual_seed(0), 3, np.uint8).tolist()
    [172, 47, 117]
    """
    dtype, count = np.dtype(dtype), math.prod(sizes_of(shape))
    limit = greatest_whole(dtype) + 1
    wide = dtype.itemsize == 8
    words: Array = generator.words64(count) if wide else generator.words32(count)
    return (words if limit >= 2**32 and not wide else words % words.dtype.type(limit)).astype(dtype).reshape(sizes_of(shape))


def randperm(generator: Generator, n: int, dtype: DTypeLike = np.int64) -> Array:
    """A random permutation of 0 to n - 1.

    Below 214748364 items Fisher and Yates' shuffle with 32-bit words, from there on its inside-out form with 64-bit words.

    Shape: (n,). Dtype: any real that holds n - 1. Raises: RuntimeError if n < 0 or too great for the dtype.
    Differs from PyTorch: bfloat16 is refused beyond 257 items, where the numbers would repeat.
    Source: D. Knuth, The Art of Computer Programming 2, algorithm 3.4.2P.

    >>> randperm(Generator().manual_seed(0), 5).tolist()
    [4, 0, 1, 3, 2]
    """
    dtype = np.dtype(dtype)
    if n < 0:
        raise RuntimeError(f"randperm: got n = {n}, n must not be negative")
    if dtype.kind in "iu":
        check_range(0, n - 1, dtype)
    elif n - 1 > 2 ** precision(dtype):
        raise RuntimeError(f"randperm: n cannot be greater than {2 ** precision(dtype) + 1} for {dtype}, but got {n}")
    if n < _WIDE_PERMUTATION:
        steps = np.arange(max(n - 1, 0))
        words = generator.words32(steps.size)
        return swapped(steps + words % (np.uint32(n) - steps.astype(np.uint32)), n).astype(dtype)
    targets = (generator.words64(n) % np.arange(1, n + 1, dtype=np.uint64)).astype(np.int64)
    inverse = np.empty(n, np.int64)  # inside out is the inverse of a shuffle that counts positions from the end
    inverse[swapped(n - 1 - targets[::-1], n)] = np.arange(n)
    return (n - 1 - inverse[::-1]).astype(dtype)


def multinomial(generator: Generator, weights: Array, num_samples: int, replacement: bool = False) -> NDArray[np.int64]:
    """Indices drawn with probabilities proportional to the last dimension of `weights`.

    One sample, and samples without replacement, are the greatest weights / e with e exponential; others
    are looked up in the cumulated weights.

    Shape: (K,) or (N, K) -> (num_samples,) or (N, num_samples). Dtype: any floating point -> int64.
    Raises: RuntimeError for weights that are negative, not finite or sum to zero, and for more samples than weights.
    Source: P. Efraimidis, P. Spirakis, "Weighted random sampling with a reservoir" (2006).

    >>> multinomial(Generator().manual_seed(0), np.array([0.1, 0.2, 0.7]), 4, replacement=True).tolist()
    [2, 2, 2, 2]
    """
    check_multinomial(weights.shape, weights.dtype, num_samples, replacement)
    check_weights(weights)
    if num_samples == 1 or not replacement:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            order, back = memory_order(weights.strides)
            keys = weights / exponential(generator, [weights.shape[d] for d in order], weights.dtype).transpose(back)
        if num_samples == 1:
            return np.asarray(np.argmax(keys, axis=-1, keepdims=True), np.int64)
        return np.argsort(-keys, axis=-1, kind="stable")[..., :num_samples].astype(np.int64, "C")  # no part of all positions
    sums: Any = np.cumsum(weights, -1, _F64 if weights.dtype == _F64 else _F32)
    sums = (sums / sums[..., -1:]).astype(_F64)
    shape = (*weights.shape[:-1], num_samples)
    units = units64(generator, math.prod(shape)).reshape(shape)
    drawn = np.empty(shape, np.int64)
    if weights.shape[-1] * num_samples < 1024:
        return np.sum(sums[..., None, :] < units[..., None], -1, out=drawn)
    for row in np.ndindex(shape[:-1]):
        drawn[row] = sums[row].searchsorted(units[row])
    return drawn


def sizes_of(shape: Shape) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def units64(generator: Generator, count: int) -> F64:
    """Uniforms in [0, 1) of 53 bits."""
    bits = generator.words64(count)
    bits &= np.uint64(2**53 - 1)
    return np.multiply(bits.view(np.int64), 2.0**-53, dtype=np.float64)


def _units32(generator: Generator, count: int) -> NDArray[np.float32]:
    """Uniforms in [0, 1) of 24 bits."""
    bits = generator.words32(count)
    np.bitwise_and(bits, _LOW24, bits)
    # Signed integers convert faster, but only many of them pay for the view.
    units: NDArray[np.float32] = (bits.view(np.int32) if count > 64 else bits).astype(np.float32)
    np.multiply(units, _ULP24, units)
    return units


def _scaled32(x: NDArray[np.float32], factor: np.float32, offset: float) -> NDArray[np.float32]:
    """x * factor + offset in float32 with one rounding."""
    return (x.astype(np.float64) * factor + np.float32(offset)).astype(np.float32)


def narrowed(samples: Array, dtype: np.dtype[Any]) -> Array:
    """Samples as PyTorch casts them: to 16-bit floats by way of float32, to integers by way of int64."""
    with np.errstate(over="ignore", invalid="ignore"):
        if dtype.kind in "iu":
            samples = samples.astype(np.int64)
        elif dtype.itemsize == 2:
            samples = samples.astype(np.float32, copy=False)
        return samples.astype(dtype, copy=False)


def serial_normals(generator: Generator, count: int) -> F64:
    """The normals that PyTorch draws one at a time; the generator keeps the second of a pair that is not used up."""
    if not count:
        return np.empty(0)
    if count < _BLOCK:
        return np.array(few_normals(generator, count))
    kept = [] if generator.normal_sample is None else [generator.normal_sample]
    units = units64(generator, 2 * ((count - len(kept) + 1) // 2))
    samples = np.concatenate([kept, serial64(units[0::2], units[1::2])])
    generator.normal_sample = float(samples[count]) if samples.size > count else None
    return samples[:count]


def few_normals(generator: Generator, count: int) -> list[float]:
    """Normals one by one; the second of a pair that is not used up stays in the generator."""
    made = [] if generator.normal_sample is None else [generator.normal_sample]
    units = generator.few_units64(2 * ((count - len(made) + 1) // 2))
    for turn, height in zip(units[0::2], units[1::2]):
        radius, angle = sqrt(-2 * log1p(-height)), TWO_PI * turn
        made += (radius * cos(angle), radius * sin(angle))
    generator.normal_sample = made.pop() if len(made) > count else None
    return made


def filled(generator: Generator, count: int, dtype: np.dtype[Any]) -> Array:
    """At least 16 normals in blocks of 16; of a last block that is not full, the last 16 are drawn anew."""
    whole = count - count % _BLOCK
    draw: Callable[..., Array]
    pairs: Callable[..., tuple[Array, Array]]
    draw, pairs = (units64, pairs64) if dtype == np.float64 else (_units32, pairs32)
    units: Array = draw(generator, whole if dtype.itemsize == 2 else count)  # 16-bit floats skip what is drawn anew
    first, second = pairs(*_halves(units[:whole]))
    z = np.empty(count, units.dtype)
    blocks = z[:whole].reshape(-1, 2, _BLOCK // 2)
    blocks[:, 0], blocks[:, 1] = first.reshape(-1, _BLOCK // 2), second.reshape(-1, _BLOCK // 2)
    if whole < count:
        z[-_BLOCK:] = np.concatenate(pairs(*_halves(draw(generator, _BLOCK))))
    return z


def _halves(units: Array) -> tuple[Array, Array]:
    """The first and the second uniform of every pair: the halves of the blocks of 16."""
    blocks = units.reshape(-1, 2, _BLOCK // 2)
    return blocks[:, 0].ravel(), blocks[:, 1].ravel()


def _complex(parts: Array, dtype: np.dtype[Any]) -> Array:
    return parts.view(dtype).reshape(parts.shape[:-1])
