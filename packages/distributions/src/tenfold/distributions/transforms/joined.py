"""Transforms side by side: one for each stretch, or for each index, of a dimension."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tenfold
from tenfold.distributions import constraints
from tenfold.distributions.transforms.base import Transform
from tenfold.distributions.utils import _sum_rightmost


class CatTransform(Transform):
    """Transforms of several stretches of a dimension, each of a length.

    >>> from tenfold.distributions import CatTransform, ExpTransform, identity_transform
    >>> CatTransform([ExpTransform(), identity_transform], lengths=[1, 2])(tenfold.zeros(3))
    tensor([1., 0., 0.])
    """

    def __init__(
        self, tseq: Sequence[Transform], dim: int = 0, lengths: Sequence[int] | None = None, cache_size: int = 0
    ) -> None:
        assert all(isinstance(t, Transform) for t in tseq)
        if cache_size:
            tseq = [t.with_cache(cache_size) for t in tseq]
        super().__init__(cache_size=cache_size)
        self.transforms = list(tseq)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        assert len(self.lengths) == len(self.transforms)
        self.dim = dim

    @property
    def event_dim(self) -> int:
        return max(t.event_dim for t in self.transforms)

    @property
    def length(self) -> int:
        """The size of the dimension."""
        return sum(self.lengths)

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if self._cache_size == cache_size else CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _parts(self, value: Any) -> list[Any]:
        assert -value.dim() <= self.dim < value.dim()
        assert value.size(self.dim) == self.length
        return list(value.split(self.lengths, self.dim))

    def _call(self, x: Any) -> Any:
        return tenfold.cat([t(part) for t, part in zip(self.transforms, self._parts(x))], dim=self.dim)

    def _inverse(self, y: Any) -> Any:
        return tenfold.cat([t.inv(part) for t, part in zip(self.transforms, self._parts(y))], dim=self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        event_dim = self.event_dim
        logs = [
            _sum_rightmost(t.log_abs_det_jacobian(a, b), event_dim - t.event_dim)
            for t, a, b in zip(self.transforms, self._parts(x), self._parts(y))
        ]
        dim = (self.dim if self.dim < 0 else self.dim - x.dim()) + event_dim
        return tenfold.cat(logs, dim=dim) if dim < 0 else sum(logs)

    @property
    def bijective(self) -> Any:
        return all(t.bijective for t in self.transforms)

    @property
    def domain(self) -> Any:
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @property
    def codomain(self) -> Any:
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(Transform):
    """A transform for each index of a dimension.

    >>> from tenfold.distributions import ExpTransform, StackTransform, identity_transform
    >>> StackTransform([ExpTransform(), identity_transform])(tenfold.zeros(2))
    tensor([1., 0.])
    """

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        assert all(isinstance(t, Transform) for t in tseq)
        if cache_size:
            tseq = [t.with_cache(cache_size) for t in tseq]
        super().__init__(cache_size=cache_size)
        self.transforms = list(tseq)
        self.dim = dim

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if self._cache_size == cache_size else StackTransform(self.transforms, self.dim, cache_size)

    def _stacked(self, function: Callable[..., Any], *values: Any) -> Any:
        for value in values:
            assert -value.dim() <= self.dim < value.dim()
            assert value.size(self.dim) == len(self.transforms)
        parts = zip(self.transforms, *(value.unbind(self.dim) for value in values))
        return tenfold.stack([function(*part) for part in parts], dim=self.dim)

    def _call(self, x: Any) -> Any:
        return self._stacked(lambda t, part: t(part), x)

    def _inverse(self, y: Any) -> Any:
        return self._stacked(lambda t, part: t.inv(part), y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return self._stacked(lambda t, a, b: t.log_abs_det_jacobian(a, b), x, y)

    @property
    def bijective(self) -> Any:
        return all(t.bijective for t in self.transforms)

    @property
    def domain(self) -> Any:
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @property
    def codomain(self) -> Any:
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
