"""Constraints: sets of values that parameters and samples are checked against, and that transforms map from and to.

`check(value)` is true for each element, or for each event of the last `event_dim` dimensions, that lies in the set. The names
in lower case are what one writes: `positive`, `interval(0, 1)`, `independent(real, 1)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import tenfold
from tenfold.distributions.constraint_base import (
    Constraint,
    MixtureSameFamilyConstraint,
    _Dependent,
    _DependentProperty,
    _IndependentConstraint,
    is_dependent,
)

__all__ = [
    "Constraint", "MixtureSameFamilyConstraint", "boolean", "cat", "corr_cholesky", "dependent", "dependent_property",
    "greater_than", "greater_than_eq", "half_open_interval", "independent", "integer_interval", "interval", "is_dependent",
    "less_than", "lower_cholesky", "lower_triangular", "multinomial", "nonnegative", "nonnegative_integer", "one_hot", "positive",
    "positive_definite", "positive_integer", "positive_semidefinite", "real", "real_vector", "simplex", "square", "stack",
    "symmetric", "unit_interval",
]  # fmt: skip


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value == 0) | (value == 1)


class _OneHot(Constraint):
    is_discrete = True
    event_dim = 1

    def check(self, value: Any) -> Any:
        return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


class _Bounded(Constraint):
    """What has a lower bound, an upper one, or both; its text names them."""

    lower_bound: Any
    upper_bound: Any

    def __init__(self, **bounds: Any) -> None:
        self.__dict__.update(bounds)
        super().__init__()

    def __repr__(self) -> str:
        bounds = [f"{name}={self.__dict__[name]}" for name in ("lower_bound", "upper_bound") if name in self.__dict__]
        return f"{self.__class__.__name__[1:]}({', '.join(bounds)})"


class _IntegerInterval(_Bounded):
    is_discrete = True

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        super().__init__(lower_bound=lower_bound, upper_bound=upper_bound)

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (self.lower_bound <= value) & (value <= self.upper_bound)


class _IntegerLessThan(_Bounded):
    is_discrete = True

    def __init__(self, upper_bound: Any) -> None:
        super().__init__(upper_bound=upper_bound)

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (value <= self.upper_bound)


class _IntegerGreaterThan(_Bounded):
    is_discrete = True

    def __init__(self, lower_bound: Any) -> None:
        super().__init__(lower_bound=lower_bound)

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (value >= self.lower_bound)


class _Real(Constraint):
    def check(self, value: Any) -> Any:
        return value == value  # false for NaN


class _GreaterThan(_Bounded):
    def __init__(self, lower_bound: Any) -> None:
        super().__init__(lower_bound=lower_bound)

    def check(self, value: Any) -> Any:
        return self.lower_bound < value


class _GreaterThanEq(_Bounded):
    def __init__(self, lower_bound: Any) -> None:
        super().__init__(lower_bound=lower_bound)

    def check(self, value: Any) -> Any:
        return self.lower_bound <= value


class _LessThan(_Bounded):
    def __init__(self, upper_bound: Any) -> None:
        super().__init__(upper_bound=upper_bound)

    def check(self, value: Any) -> Any:
        return value < self.upper_bound


class _Interval(_Bounded):
    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        super().__init__(lower_bound=lower_bound, upper_bound=upper_bound)

    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Bounded):
    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        super().__init__(lower_bound=lower_bound, upper_bound=upper_bound)

    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value < self.upper_bound)


class _Simplex(Constraint):
    """Vectors of numbers that are not negative and sum to one, up to 1e-6."""

    event_dim = 1

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    """Counts that sum to at most `upper_bound`: a sample of fewer trials is accepted, as in PyTorch."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value: Any) -> Any:
        return (value.tril() == value).flatten(-2).all(-1)


class _LowerCholesky(_LowerTriangular):
    """Lower triangular matrices with a positive diagonal."""

    def check(self, value: Any) -> Any:
        return super().check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(_LowerCholesky):
    """Those whose rows have length one: Cholesky factors of correlation matrices."""

    def check(self, value: Any) -> Any:
        tolerance = tenfold.finfo(value.dtype).eps * value.size(-1) * 10  # rounding of a row's sum
        lengths = value.detach().square().sum(-1)
        return super().check(value) & ((lengths - 1).abs() <= tolerance).all(-1)


class _Square(Constraint):
    event_dim = 2

    def check(self, value: Any) -> Any:
        return tenfold.full(value.shape[:-2], value.shape[-2] == value.shape[-1], dtype=tenfold.bool, device=value.device)


class _Symmetric(_Square):
    """Symmetric up to 1e-6."""

    def check(self, value: Any) -> Any:
        square = super().check(value)
        if not square.all():
            return square
        return tenfold.isclose(value, value.mT, atol=1e-6).all(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    def check(self, value: Any) -> Any:
        symmetric = super().check(value)
        if not symmetric.all():
            return symmetric
        return tenfold.linalg.eigvalsh(value).ge(0).all(-1)


class _PositiveDefinite(_Symmetric):
    def check(self, value: Any) -> Any:
        symmetric = super().check(value)
        if not symmetric.all():
            return symmetric
        return tenfold.linalg.cholesky_ex(value).info.eq(0)


class _Joined(Constraint):
    """Constraints for the parts of a tensor along a dimension."""

    cseq: list[Any]
    dim: int

    @property
    def is_discrete(self) -> bool:
        return any(c.is_discrete for c in self.cseq)


class _Cat(_Joined):
    """One constraint for each of several stretches along a dimension."""

    def __init__(self, cseq: Iterable[Any], dim: int = 0, lengths: Sequence[int] | None = None) -> None:
        self.cseq = list(cseq)
        assert all(isinstance(c, Constraint) for c in self.cseq)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        assert len(self.lengths) == len(self.cseq)
        self.dim = dim
        super().__init__()

    @property
    def event_dim(self) -> int:
        return max(c.event_dim for c in self.cseq)

    def check(self, value: Any) -> Any:
        assert -value.dim() <= self.dim < value.dim()
        checks, start = [], 0
        for constraint, length in zip(self.cseq, self.lengths):
            checks.append(constraint.check(value.narrow(self.dim, start, length)))
            start += length
        return tenfold.cat(checks, self.dim)


class _Stack(_Joined):
    """One constraint for each index of a dimension."""

    def __init__(self, cseq: Iterable[Any], dim: int = 0) -> None:
        self.cseq = list(cseq)
        assert all(isinstance(c, Constraint) for c in self.cseq)
        self.dim = dim
        super().__init__()

    @property
    def event_dim(self) -> int:
        dim = max(c.event_dim for c in self.cseq)
        return dim + 1 if self.dim + dim < 0 else dim

    def check(self, value: Any) -> Any:
        assert -value.dim() <= self.dim < value.dim()
        parts = [value.select(self.dim, i) for i in range(value.size(self.dim))]
        return tenfold.stack([constraint.check(part) for part, constraint in zip(parts, self.cseq)], self.dim)


dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack
