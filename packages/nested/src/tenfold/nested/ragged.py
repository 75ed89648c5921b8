"""The size of a dimension whose length differs from row to row."""

from __future__ import annotations

import itertools
from typing import Any, Self

from tenfold import Tensor

_NUMBERS = itertools.count(1)


class RaggedSize(int):
    """The length of a ragged dimension: equal to another only if the same starts or lengths say it, as PyTorch has it.

    It prints as `j1`, and its multiples as `3*j1`. As a number it is the length of the longest row.
    """

    name: int
    times: int
    is_symbolic = True  # by which it counts as one of `torch.SymInt`

    def __new__(cls, name: int, longest: int, times: int = 1) -> Self:
        made = super().__new__(cls, longest * times)
        made.name, made.times = name, times
        return made

    def __repr__(self) -> str:
        return f"j{self.name}" if self.times == 1 else f"{self.times}*j{self.name}"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RaggedSize) and (self.name, self.times) == (other.name, other.times)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.name, self.times))

    def __mul__(self, other: Any) -> Any:
        return RaggedSize(self.name, int(self) // self.times, self.times * other)

    __rmul__ = __mul__

    def __reduce__(self) -> Any:
        return RaggedSize, (self.name, int(self) // self.times, self.times)


def size_of(says: Tensor, longest: int) -> RaggedSize:
    """The ragged size that a tensor of starts or lengths stands for; the same tensor gives the same size."""
    number: int | None = getattr(says, "_ragged_number", None)
    if number is None:
        number = says._ragged_number = next(_NUMBERS)  # type: ignore[attr-defined]
    return RaggedSize(number, longest)
