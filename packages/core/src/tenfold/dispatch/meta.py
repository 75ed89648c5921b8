"""Shapes without data: the array of the "meta" device, and what shape rules take and return."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from tenfold.dispatch.devices import Backend
from tenfold.dispatch.kernels import TABLES
from tenfold.dispatch.operators import find


def contiguous_strides(shape: Sequence[int], itemsize: int = 1) -> tuple[int, ...]:
    """Row-major strides, counted in elements (or bytes, with an item's size)."""
    strides, step = [], itemsize
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


class Meta:
    """An array's shape, dtype and strides (in bytes), with no memory behind it."""

    __slots__ = ("dtype", "offset", "shape", "strides")

    def __init__(self, shape: Sequence[int], dtype: Any, strides: Sequence[int] | None = None, offset: int = 0) -> None:
        self.shape = tuple(shape)
        self.dtype = dtype if type(dtype) is np.dtype else np.dtype(dtype)
        self.strides = contiguous_strides(self.shape, self.dtype.itemsize) if strides is None else tuple(strides)
        self.offset = offset

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return prod(self.shape)

    def __repr__(self) -> str:
        return f"Meta({self.shape}, {self.dtype})"


class DataDependent(NotImplementedError):
    """What a shape rule raises when the result's shape depends on data, which a meta tensor does not have."""


class RuleTable:
    """The meta device's kernels: an operator's shape rule, or nothing, which means the operator's body."""

    def __getattr__(self, name: str) -> Any:
        operator = find(name)
        kernel = None if operator is None else operator.shape_rule
        setattr(self, name, kernel)
        return kernel


class MetaBackend(Backend):
    """The device "meta": every operator runs its shape rule (or its body) and nothing else."""

    name = "meta"
    array_type = Meta
    indexed = False

    def empty(self, shape: Sequence[int], dtype: Any, index: int | None) -> Meta:
        return Meta(shape, dtype)

    def from_numpy(self, array: Any, index: int | None) -> Meta:
        return Meta(array.shape, array.dtype)

    def to_numpy(self, array: Meta) -> Any:
        raise RuntimeError("a meta tensor has no data to copy out; create it on another device, or use to_empty()")

    def as_strided(self, array: Meta, shape: Sequence[int], strides: Sequence[int], offset: int) -> Meta:
        itemsize = array.dtype.itemsize
        return Meta(shape, array.dtype, [s * itemsize for s in strides], offset * itemsize)

    def write(self, destination: Meta, source: Any) -> None:
        """There is nothing to copy."""

    def memory(self, array: Meta) -> tuple[Any, int, int]:
        extent = sum((n - 1) * s for n, s in zip(array.shape, array.strides)) + array.dtype.itemsize if array.size else 0
        return None, array.offset + extent, array.offset


TABLES[MetaBackend.name] = RuleTable()
