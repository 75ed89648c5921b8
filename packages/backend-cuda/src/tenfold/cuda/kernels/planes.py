"""Arrays (N, C, *S) as kernels see them: sizes and strides, windows over them, and how their work is shared out."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

from tenfold.cuda import runtime
from tenfold.cuda.kernels.folds import sum_of_parts

PROGRAMS = 256  # that a gradient of windows is shared out to, so that all of a GPU takes part
FEWEST = 512  # positions of a share of it


class Planes(NamedTuple):
    """An array (N, C, *S) as five sizes and strides in elements."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]


def planes(array: Any) -> Planes:
    """The array's geometry, dimensions of size 1 in front of its spatial ones."""
    missing = (0,) * (5 - array.ndim)
    own = tuple(0 if n == 1 else s // array.dtype.itemsize for n, s in zip(array.shape, array.strides))
    ones = (1,) * len(missing)
    return Planes((*array.shape[:2], *ones, *array.shape[2:]), (*own[:2], *missing, *own[2:]))


def _three(values: Any, default: int) -> tuple[int, ...]:
    return (*(default,) * (3 - len(values)), *map(int, values))


def window_constants(kernel_size: Any, stride: Any, padding: Any, dilation: Any) -> tuple[tuple[str, int], ...]:
    """The constants of a window, by the names that the programs give them."""
    found = []
    for letter, values, default in (("K", kernel_size, 1), ("S", stride, 1), ("P", padding, 0), ("D", dilation, 1)):
        found += [(letter + axis, n) for axis, n in zip("DHW", _three(values, default))]
    return tuple(found)


def power(n: int, least: int, most: int) -> int:
    """The power of 2 that is not less than n, within limits that are such powers."""
    return max(least, min(most, 1 << max(n - 1, 0).bit_length()))


def channels_last(x: Any) -> bool:
    """Whether an array (N, C, *S) lies channels last in memory, and in no other way."""
    return bool(x.ndim > 2 and x.shape[1] > 1 and prod(x.shape[2:]) > 1 and x.strides[1] == x.dtype.itemsize)


def allocated(shape: tuple[int, ...], like: Any, index: int, last: bool | None = None, dtype: Any = None) -> Any:
    """An array (N, C, *S) of the dtype of another, or a given one; channels last in memory if those of `like` are."""
    now, dtype = runtime.current(), like.dtype if dtype is None else dtype
    if not (channels_last(like) if last is None else last):
        return now.empty(shape, dtype, index)
    block = now.empty((shape[0], *shape[2:], shape[1]), dtype, index)
    return block.transpose((0, len(shape) - 1, *range(1, len(shape) - 1)))


def shared(positions: int, blocks: int, inner: int) -> tuple[int, int]:
    """(shares that positions are dealt out in where there are so many blocks, the positions of one)."""
    shares = max(1, min(PROGRAMS // blocks, positions // FEWEST))
    share = -(-positions // (shares * inner)) * inner
    return -(-positions // share), share


def summed(parts: Any, dtype: Any) -> Any:
    """The sum over the shares, in a dtype."""
    return parts[0] if len(parts) == 1 else sum_of_parts(parts, dtype)
