"""Which dtypes an operator's tensors may have, as its declaration says it, and the errors for the others."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

from tenfold.types import dtypes

CATEGORIES = ("bool", "integer", "floating", "complex")


class Only(NamedTuple):
    """The dtypes that are accepted, by category or name ("integer float32"), and how the others are refused."""

    kinds: str
    error: type[Exception] = NotImplementedError
    words: str = ""  # may name {name} and {dtype}; by default which dtypes are accepted
    comes_first: bool = False  # whether it is asked before a dimension that is not there is told

    def refuses(self, found: dtypes.dtype) -> bool:
        kinds = self.kinds.split()
        return CATEGORIES[found.category] not in kinds and found.name not in kinds

    def refusal(self, name: str, found: dtypes.dtype) -> Exception:
        if self.words:
            return self.error(self.words.format(name=name, dtype=found.name))
        *but_last, last = self.kinds.split()
        listed = f"{', '.join(but_last)} and {last}" if but_last else last
        return self.error(
            f"\"{name}\" not implemented for '{dtypes.type_name(found)}': got {found.name}, accepted are {listed} dtypes"
        )


class Accepted:
    """What one parameter accepts: dtypes that satisfy each `Only`; the first that does not raises its error."""

    def __init__(self, *demands: str | Only) -> None:
        self.demands = tuple(Only(d) if isinstance(d, str) else d for d in demands)

    @cached_property
    def accepted(self) -> tuple[dtypes.dtype, ...]:
        return tuple(d for d in dtypes.ALL if not any(demand.refuses(d) for demand in self.demands))

    @cached_property
    def met(self) -> set[Any]:
        """Accepted dtypes as arrays have them, which the generated code asks: NumPy's, and those that came by."""
        return {d.numpy for d in self.accepted if d not in dtypes.LATE}

    @cached_property
    def categories(self) -> frozenset[int]:
        return frozenset(d.category for d in self.accepted)

    def check(self, name: str, found: dtypes.dtype) -> None:
        """Raise the error for a dtype that is not accepted."""
        for demand in self.demands:
            if demand.refuses(found):
                raise demand.refusal(name, found)
        self.met.add(found.numpy)
