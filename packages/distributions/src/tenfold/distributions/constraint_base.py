"""What every constraint is, and those made of others: dependent on parameters, of several dimensions, of a mixture.

The sets of values themselves are in constraints.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Constraint:
    """A set of values, of scalars (`event_dim` 0) or of arrays of `event_dim` dimensions.

    >>> import tenfold
    >>> from tenfold.distributions import constraints
    >>> constraints.positive.check(tenfold.tensor([-1.0, 2.0]))
    tensor([False,  True])
    """

    is_discrete: Any = False
    event_dim: Any = 0

    def check(self, value: Any) -> Any:
        """Which events of a value are in the set. Shape: (..., event) -> (...). Dtype: bool."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.__class__.__name__.removeprefix("_") + "()"


class _Dependent(Constraint):
    """What depends on other parameters: it cannot be checked before they are known."""

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        self._is_discrete, self._event_dim = is_discrete, event_dim
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        if self._is_discrete is NotImplemented:
            raise NotImplementedError(".is_discrete cannot be determined statically")
        return bool(self._is_discrete)

    @property
    def event_dim(self) -> int:
        if self._event_dim is NotImplemented:
            raise NotImplementedError(".event_dim cannot be determined statically")
        return int(self._event_dim)

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> _Dependent:
        """The same with `is_discrete` and `event_dim`, where they are known."""
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, value: Any) -> Any:
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint: Any) -> bool:
    """Whether a constraint depends on other parameters."""
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property that computes the constraint from an object's parameters; on the class it is a dependent constraint."""

    def __init__(
        self, fn: Callable[..., Any] | None = None, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented
    ) -> None:
        property.__init__(self, fn)
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def __call__(self, fn: Any) -> _DependentProperty:  # type: ignore[override]  # as a decorator with arguments
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


class _IndependentConstraint(Constraint):
    """The last `reinterpreted_batch_ndims` batch dimensions belong to the event: all of them have to be in the set."""

    def __init__(self, base_constraint: Any, reinterpreted_batch_ndims: int) -> None:
        assert isinstance(base_constraint, Constraint)
        assert isinstance(reinterpreted_batch_ndims, int)
        assert reinterpreted_batch_ndims >= 0
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, reinterpreted_batch_ndims
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        return bool(self.base_constraint.is_discrete)

    @property
    def event_dim(self) -> int:
        return int(self.base_constraint.event_dim) + self.reinterpreted_batch_ndims

    def check(self, value: Any) -> Any:
        result = self.base_constraint.check(value)
        if result.dim() < self.reinterpreted_batch_ndims:
            expected = self.base_constraint.event_dim + self.reinterpreted_batch_ndims
            raise ValueError(f"Expected value.dim() >= {expected} but got {value.dim()}")
        return result.reshape((*result.shape[: result.dim() - self.reinterpreted_batch_ndims], -1)).all(-1)

    def __repr__(self) -> str:
        return f"{self.__class__.__name__[1:]}({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """The support of a mixture: a value that lies in that of each component. The components' dimension is left of the event.

    Shape: (..., event) -> (...).
    """

    def __init__(self, base_constraint: Any) -> None:
        assert isinstance(base_constraint, Constraint)
        self.base_constraint = base_constraint
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        return bool(self.base_constraint.is_discrete)

    @property
    def event_dim(self) -> int:
        return int(self.base_constraint.event_dim)

    def check(self, value: Any) -> Any:
        result = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        if value.dim() < self.event_dim:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        events = value.dim() - self.event_dim
        return result.reshape((*result.shape[:events], -1)).all(-1)

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({self.base_constraint!r})"
