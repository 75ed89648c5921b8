"""`Size`: a tensor's shape, a tuple that prints and counts as PyTorch's."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from operator import index
from typing import Any, Self

from tenfold.types import qualified


class Size(tuple[int, ...]):
    """The sizes of a tensor's dimensions.

    >>> import tenfold
    >>> tenfold.Size([2, 3]).numel()
    6
    """

    __slots__ = ()

    def __new__(cls, sizes: Iterable[Any] = ()) -> Self:
        return tuple.__new__(cls, [size if type(size) is int else _integer(size, i) for i, size in enumerate(sizes)])

    def numel(self) -> int:
        """The number of elements of a tensor of this size."""
        return prod(self)

    def __repr__(self) -> str:
        return qualified(f"Size({list(self)})")

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


def _integer(size: Any, item: int) -> int:
    try:
        return index(size)
    except TypeError:
        kind = type(size).__name__
        raise TypeError(f"{qualified('Size')}() takes an iterable of 'int' (item {item} is '{kind}')") from None
