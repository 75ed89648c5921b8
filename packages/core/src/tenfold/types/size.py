"""`Size`: a tensor's shape, a tuple that prints and counts as PyTorch's."""

from __future__ import annotations

from math import prod
from typing import Any


class Size(tuple[int, ...]):
    """The sizes of a tensor's dimensions.

    >>> import tenfold
    >>> tenfold.Size([2, 3]).numel()
    6
    """

    __slots__ = ()

    def numel(self) -> int:
        """The number of elements of a tensor of this size."""
        return prod(self)

    def __repr__(self) -> str:
        return f"tenfold.Size({list(self)})"

    def __getitem__(self, index: Any) -> Any:
        item = tuple.__getitem__(self, index)
        return Size(item) if type(index) is slice else item

    def __add__(self, other: Any) -> Size:
        return Size(tuple.__add__(self, tuple(other)))

    def __radd__(self, other: Any) -> Size:
        return Size((*other, *self))

    def __mul__(self, times: Any) -> Size:
        return Size(tuple.__mul__(self, times))

    __rmul__ = __mul__

    def __reduce__(self) -> Any:
        return Size, (tuple(self),)
