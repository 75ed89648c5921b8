"""Choosing between two arrays element by element without a branch per element, which a processor guesses wrong.

`np.where` takes five times as long for a random mask as for one of long runs. Here a large choice is either a copy with the
other's runs written over it, or arithmetic on bits: b ^ ((a ^ b) & m), with m all ones where the mask is true.
"""

from typing import Any

import numpy as np

from tenfold.cpu.blocks import row_blocks

LARGE = 1 << 15
_SAMPLE, _RUN = 4096, 64  # elements looked at; runs of at least this length, on the average, are written as runs
_WORDS = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}


def choose(condition: Any, a: Any, b: Any) -> Any:
    """a where the condition holds, else b; each has the condition's shape or is 0-d, or whatever `np.where` broadcasts."""
    if condition.size < LARGE or not _simple(condition, a, b):
        return np.where(condition, a, b)
    if _has_long_runs(condition):
        out = np.empty(condition.shape, a.dtype)
        out[...] = b
        np.copyto(out, a, where=condition)
        return out
    return _by_bits(condition, a, b)


def _simple(condition: Any, a: Any, b: Any) -> bool:
    """Whether all are flat in memory and of one dtype that fits a word."""
    if a.dtype != b.dtype or a.dtype.itemsize not in _WORDS or not condition.flags.c_contiguous:
        return False
    return all(not x.ndim or (x.shape == condition.shape and x.flags.c_contiguous) for x in (a, b))


def _has_long_runs(condition: Any) -> bool:
    middle = condition.size // 2
    part = condition.reshape(-1)[middle : middle + _SAMPLE]
    return int(np.count_nonzero(part[1:] != part[:-1])) * _RUN < part.size


def _by_bits(condition: Any, a: Any, b: Any) -> Any:
    out, word = np.empty(condition.shape, a.dtype), _WORDS[a.dtype.itemsize]
    marks, result = condition.reshape(-1), out.reshape(-1).view(word)
    # a 0-d array stays one: it broadcasts in each block
    yes, no = (x.reshape(-1).view(word) if x.ndim else x.reshape(1).view(word) for x in (a, b))
    mask = np.empty(min(len(marks), (1 << 18) // result.itemsize), word)
    for part in row_blocks(len(marks), result.itemsize):
        piece, m = result[part], mask[: len(marks[part])]
        np.copyto(m, marks[part])  # 0 or 1, whatever byte stands for true
        np.negative(m, m)
        other = no if len(no) == 1 else no[part]
        np.bitwise_xor(yes if len(yes) == 1 else yes[part], other, piece)
        np.bitwise_and(piece, m, piece)
        np.bitwise_xor(piece, other, piece)
    return out
