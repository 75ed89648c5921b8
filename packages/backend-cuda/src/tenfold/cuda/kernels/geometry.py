"""How the elements of several arrays lie with respect to a result's: broadcasting, and dimensions merged where possible."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod

from tenfold.types.memory_format import propagated_order

Strides = tuple[int, ...]
TILED = (16, 64)  # indices along each side of a tile, at least and at most


def broadcast(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The common shape; ValueError where there is none.

    >>> broadcast([(3, 1), (4,)])
    (3, 4)
    """
    ndim = max(map(len, shapes), default=0)
    result = [1] * ndim
    for shape in shapes:
        for i, n in enumerate(shape, ndim - len(shape)):
            if n != 1 and result[i] not in (1, n):
                raise ValueError(f"shapes {', '.join(map(str, shapes))} do not broadcast")
            result[i] = n if n != 1 else result[i]
    return tuple(result)


def dense_order(shape: tuple[int, ...], strides: Strides) -> tuple[int, ...]:
    """The dimensions by falling stride: the order in which a result of this array is laid out, as PyTorch keeps it.

    >>> dense_order((2, 3), (4, 8))
    (1, 0)
    """
    return tuple(sorted(range(len(shape)), key=lambda d: (-abs(strides[d]) if shape[d] > 1 else 0, d)))


def repeats(shape: tuple[int, ...], strides: Strides) -> bool:
    """Whether the strides alone do not say how the dimensions lie: some are repeated, or are equal.

    >>> repeats((2, 3), (0, 8)), repeats((2, 3), (24, 8)), repeats((2, 1), (8, 8))
    (True, False, False)
    """
    steps = [s for n, s in zip(shape, strides) if n > 1]
    return 0 in steps or len(set(steps)) < len(steps)


def common_order(shape: tuple[int, ...], arrays: Sequence[tuple[tuple[int, ...], Strides, int]]) -> tuple[int, ...]:
    """The order of a result of arrays of which some are repeated along dimensions: the first with a step along both of two says.

    An array is (shape, strides in bytes, item size).

    >>> common_order((2, 3), [((3,), (8,), 8), ((2, 3), (8, 16), 8)])
    (1, 0)
    """
    return propagated_order(shape, [_spread(shape, *array) for array in arrays])


@lru_cache(maxsize=4096)
def merged(
    shape: tuple[int, ...], arrays: tuple[tuple[tuple[int, ...], Strides, int], ...]
) -> tuple[Strides, tuple[Strides, ...]]:
    """(sizes, strides of each array in elements) of an equal walk over all arrays in as few dimensions as possible.

    An array is (shape, strides in bytes, item size); the first one decides the order of the walk.
    """
    strides = [_spread(shape, *array) for array in arrays]
    order = sorted((d for d, n in enumerate(shape) if n != 1), key=lambda d: (-abs(strides[0][d]), d))
    sizes: list[int] = []
    steps: list[list[int]] = [[] for _ in arrays]
    for d in order:
        if sizes and all(own[-1] == s[d] * shape[d] for own, s in zip(steps, strides)):
            sizes[-1] *= shape[d]
            for own, s in zip(steps, strides):
                own[-1] = s[d]
            continue
        sizes.append(shape[d])
        for own, s in zip(steps, strides):
            own.append(s[d])
    return tuple(sizes), tuple(map(tuple, steps))


def _spread(shape: tuple[int, ...], own: tuple[int, ...], strides: Strides, itemsize: int) -> Strides:
    """An array's strides, in elements, on the common shape: 0 where it is broadcast."""
    lead = len(shape) - len(own)
    return (0,) * lead + tuple(0 if n == 1 else s // itemsize for n, s in zip(own, strides))


def reading(sizes: Strides, strides: Strides) -> str:
    """How a kernel reads an array of these strides (see generation.py)."""
    if not any(strides):
        return "point"
    if strides == _row_major(sizes):
        return "linear"
    return {0: "even", 1: "unit"}.get(strides[-1], "strided")


def tiled(sizes: Strides, strides: Sequence[Strides], reads: Sequence[str]) -> tuple[int, int, int]:
    """(the other dimension of a tile, indices along it and along the last one); 0s where there is nothing to exchange.

    >>> tiled((3, 100, 20), [(2000, 20, 1), (2000, 1, 100)], ["linear", "strided"])
    (1, 64, 32)
    """
    last = len(sizes) - 1
    for own, read in zip(strides, reads):
        if read == "strided" and last > 0 and 1 in own[:-1]:
            other = own.index(1)
            if min(sizes[other], sizes[last]) >= TILED[0]:
                down, across = (min(TILED[1], 1 << (n - 1).bit_length()) for n in (sizes[other], sizes[last]))
                return other, down, across
    return 0, 0, 0


def _row_major(sizes: Strides) -> Strides:
    return tuple(prod(sizes[d + 1 :]) for d in range(len(sizes)))
