"""How many programs a launch may have: CUDA's limits (CUDA programming guide, "Compute Capabilities"), told by the kernel's name.

A driver says of a grid that is too large only that a value is invalid; so it is asked why after it has refused.
"""

from __future__ import annotations

from collections.abc import Sequence

MOST = 2**31 - 1, 65535, 65535


def too_large(grid: Sequence[int]) -> bool:
    """Whether a dimension has more programs than a GPU takes.

    >>> too_large((2**31 - 1, 65535)), too_large((1, 65536))
    (False, True)
    """
    return any(n > most for n, most in zip(grid, MOST))


def empty(grid: Sequence[int]) -> bool:
    """Whether there is no program at all, which a driver refuses, too: an array without elements is not to be launched for.

    >>> empty((3, 0)), empty((1,))
    (True, False)
    """
    return not all(grid)


def refusal(name: str, grid: Sequence[int]) -> RuntimeError:
    """The error of such a launch."""
    if empty(grid):
        return RuntimeError(f"{name}: a launch of {' x '.join(map(str, grid))} programs, of which there are none; report this")
    return RuntimeError(
        f"{name}: a launch of {' x '.join(map(str, grid))} programs is larger than a GPU takes, which is "
        f"{' x '.join(map(str, MOST))}; divide the work among several calls, and report this size to Tenfold"
    )
