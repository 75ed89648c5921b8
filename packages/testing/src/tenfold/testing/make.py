"""Makes the tensors of samples: seeded NumPy arrays, put on any device in any memory layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, prod
from typing import Any

import numpy as np

import tenfold
from tenfold.dispatch import devices
from tenfold.dispatch.meta import contiguous_strides
from tenfold.ops.creation.factories import tensor
from tenfold.tensor.tensor import wrap

LAYOUTS = ("contiguous", "transposed", "strided", "expanded", "flipped")


@dataclass(frozen=True, slots=True)
class Domain:
    """Where an operator's arguments lie: an interval, and points from which they keep a distance (kinks, poles)."""

    low: float = -2.0
    high: float = 2.0
    away: tuple[float, ...] = ()
    margin: float = 0.1


ANY = Domain()
POSITIVE = Domain(0.2, 4.0)
NONZERO = Domain(-3.0, 3.0, away=(0.0,), margin=0.3)
UNIT = Domain(-0.9, 0.9)
PROBABILITY = Domain(0.05, 0.95)


class Make:
    """Makes tensors of one dtype on one device; two of the same seed make the same values on two devices.

    >>> from tenfold.testing.samples import Make
    >>> make = Make(seed=1)
    >>> make(2, 3, layout="transposed").stride()
    (1, 2)
    """

    def __init__(self, device: Any = "cpu", dtype: Any = tenfold.float32, seed: int = 0) -> None:
        self.key: Any = devices.located(device)
        self.dtype = dtype
        self.rng = np.random.default_rng(seed)

    @property
    def device(self) -> Any:
        return self.key

    def __call__(
        self, *shape: int, domain: Domain = ANY, low: float | None = None, high: float | None = None, dtype: Any = None,
        layout: str = "contiguous", distinct: bool = False,
    ) -> Any:  # fmt: skip
        """A tensor of random values from a domain (or between low and high).

        `distinct` gives values with gaps between them, for operators that compare (max, sort).
        """
        if low is not None or high is not None:
            domain = Domain(domain.low if low is None else low, domain.high if high is None else high, domain.away)
        dtype = dtype or self.dtype
        drawn = shape if layout != "expanded" or not shape or not shape[0] else (1, *shape[1:])
        array = self._distinct(drawn, dtype, domain) if distinct else self._values(drawn, dtype, domain)
        return self.place(array.astype(dtype.numpy), layout, shape)

    def ints(self, *shape: int, low: int, high: int, dtype: Any = tenfold.int64, layout: str = "contiguous") -> Any:
        """Integers from low up to, not including, high: indices and the like."""
        return self.place(self.rng.integers(low, high, shape).astype(dtype.numpy), layout, shape)

    def bools(self, *shape: int, layout: str = "contiguous") -> Any:
        """Truth values: masks and conditions."""
        return self.place(self.rng.integers(0, 2, shape).astype(bool), layout, shape)

    def of(self, data: Any, dtype: Any = None) -> Any:
        """These values, in the dtype of the samples or another one."""
        return self.place(np.array(data).astype((dtype or self.dtype).numpy))

    # Values

    def _values(self, shape: Sequence[int], dtype: Any, domain: Domain) -> Any:
        if dtype.category == 0:
            return self.rng.integers(0, 2, shape).astype(bool)
        if dtype.category == 1:
            return self._integers(shape, dtype, domain)
        values = self._floats(shape, domain)
        return values + 1j * self._floats(shape, domain) if dtype.category == 3 else values

    def _floats(self, shape: Sequence[int], domain: Domain) -> Any:
        values = self.rng.uniform(domain.low, domain.high, shape)
        for point in domain.away:
            near = np.abs(values - point) < domain.margin
            values = np.where(near, point + np.where(values < point, -domain.margin, domain.margin) * 1.5, values)
        return values

    def _integers(self, shape: Sequence[int], dtype: Any, domain: Domain) -> Any:
        low, high = ceil(domain.low), floor(domain.high)
        if not dtype.is_signed:
            low, high = max(low, 0), max(high, 1)
        values = self.rng.integers(low, max(low, high) + 1, shape)
        for point in domain.away:
            values = np.where(values == point, int(point) + 1, values)
        return values

    def _distinct(self, shape: Sequence[int], dtype: Any, domain: Domain) -> Any:
        count = prod(shape)
        if dtype.category == 0:
            return self._values(shape, dtype, domain)
        if dtype.category == 1:
            return (self.rng.permutation(count) - (count // 2 if dtype.is_signed else 0)).reshape(shape)
        values = self.rng.permutation(np.linspace(domain.low, domain.high, count)).reshape(shape)
        return values + 1j * self.rng.permutation(values.reshape(-1)).reshape(shape) if dtype.category == 3 else values

    # Memory

    def place(self, array: Any, layout: str = "contiguous", shape: Sequence[int] | None = None) -> Any:
        """The values on the device, in a memory layout.

        "transposed": dimensions in reverse order; "strided": every second element, from the second on;
        "expanded": the first dimension repeats without memory; "flipped": copied from an array of negative strides.
        """
        shape = array.shape if shape is None else tuple(shape)
        if layout == "contiguous" or (layout == "expanded" and (not shape or not shape[0])):
            return self._view(np.ascontiguousarray(array).reshape(array.shape))
        if layout == "transposed":
            size = tuple(reversed(shape))
            return self._view(np.ascontiguousarray(array.T).reshape(size), shape, tuple(reversed(contiguous_strides(size))), 0)
        if layout == "strided":
            buffer = np.zeros(2 * array.size + 1, array.dtype)
            buffer[1::2] = array.reshape(-1)
            return self._view(buffer, shape, tuple(2 * s for s in contiguous_strides(shape)), 1)
        if layout == "expanded":
            return self._view(np.ascontiguousarray(array), shape, (0, *contiguous_strides(array.shape)[1:]), 0)
        if layout == "flipped":
            reverse = tuple(slice(None, None, -1) for _ in shape)
            source = np.ascontiguousarray(array[reverse]).reshape(shape)[reverse]
            return tensor(source, dtype=tenfold.types.dtypes.FROM_NUMPY[array.dtype], device=self.key)
        raise ValueError(f"Make: layout is one of {', '.join(LAYOUTS)}, got {layout!r}")

    def _view(self, array: Any, shape: Any = None, strides: Any = None, offset: int = 0) -> Any:
        backend = self.key.backend
        made = backend.from_numpy(np.array(array), self.key.index)
        if shape is not None:
            made = backend.as_strided(made, shape, strides, offset)
        placed = wrap(made, self.key)
        if shape is not None:
            placed.untyped_storage()  # what does not lie row by row has one: operators look there before they look at strides
        return placed
