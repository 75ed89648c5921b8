"""Private helpers of torchvision's `transforms.transforms` that transforms of other libraries are written with."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Number
from typing import Any

__all__: list[str] = []


def _setup_size(size: Any, error_msg: str) -> Any:
    """A height and a width for one number, or a sequence of one; two are returned as they are. Raises: ValueError for more.

    >>> _setup_size(3, "two at most"), _setup_size([3], "two at most"), _setup_size((3, 4), "two at most")
    ((3, 3), (3, 3), (3, 4))
    """
    if isinstance(size, Number):
        return int(size), int(size)  # type: ignore[call-overload]
    if isinstance(size, Sequence) and len(size) == 1:
        return size[0], size[0]
    if len(size) != 2:
        raise ValueError(error_msg)
    return size


def _check_sequence_input(x: Any, name: str, req_sizes: Sequence[int]) -> None:
    """Raises: TypeError for what is no sequence, ValueError for one of another length than `req_sizes` has."""
    lengths = " or ".join(map(str, req_sizes))
    if not isinstance(x, Sequence):
        raise TypeError(f"{name} should be a sequence of length {lengths}.")
    if len(x) not in req_sizes:
        raise ValueError(f"{name} should be a sequence of length {lengths}.")
