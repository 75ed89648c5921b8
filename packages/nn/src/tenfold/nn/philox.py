"""Random bits that are a function of a seed and a place: a gradient finds again what was drawn, and no mask is kept.

Philox 4x32 with 10 rounds makes four words of 32 bits of a counter and a key of 64 bits.

Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, prod

import tenfold as tf
from tenfold.tensor.tensor import Tensor

LOW = 0xFFFFFFFF
MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
WEYL = 0x9E3779B9, 0xBB67AE85
ROUNDS = 10


def words_of(seed: Tensor, counter: Tensor) -> Tensor:
    """The words of counters, integers of 64 bits: (*, 4), of 32 bits each.

    >>> import tenfold
    >>> [hex(word) for word in words_of(tenfold.tensor(0), tenfold.tensor(0)).tolist()]
    ['0x6627e8d5', '0xe169c58d', '0xbc57ac4c', '0x9b00dbd8']
    """
    a, b, c, d = counter & LOW, (counter >> 32) & LOW, tf.zeros_like(counter), tf.zeros_like(counter)
    low, high = seed & LOW, (seed >> 32) & LOW
    for _ in range(ROUNDS):
        (a_high, a_low), (c_high, c_low) = _product(a, MULTIPLIERS[0]), _product(c, MULTIPLIERS[1])
        a, b, c, d = c_high ^ b ^ low, c_low, a_high ^ d ^ high, a_low
        low, high = (low + WEYL[0]) & LOW, (high + WEYL[1]) & LOW
    return tf.stack([a, b, c, d], -1)


def _product(a: Tensor, factor: int) -> tuple[Tensor, Tensor]:
    """The upper and the lower 32 bits of a product of numbers of 32 bits."""
    upper, lower = a * (factor >> 16), a * (factor & 0xFFFF)
    high = (upper + (lower >> 16)) >> 16
    return high, (((upper & 0xFFFF) << 16) + lower) & LOW


def kept(words: Tensor, shape: Sequence[int], p: float) -> Tensor:
    """What dropout multiplies with: 0 with probability p, else 1 / (1 - p); (*, S) by a seed and a first counter.

    Four elements in a row have a counter, and a row begins with one.
    """
    rows, columns = prod(shape[:-1]), shape[-1]
    each = -(-columns // 4)
    counters = words[1] + tf.arange(rows * each, device=words.device)
    bits = words_of(words[0], counters).reshape(rows, 4 * each)[:, :columns].reshape(shape) >> 8
    return (bits >= ceil(p * 2**24)).to(tf.float32) * (0.0 if p >= 1 else 1 / (1 - p))
