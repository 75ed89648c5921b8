"""Samples of factories that start from a tensor, from Python data in other forms, or from index ranges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tenfold.testing.samples import ErrorSample, Make, Sample, error_samples, samples

UNINITIALISED = "its values are whatever the memory held"


def _new(*first: Any) -> Any:
    def generate(make: Make) -> Iterator[Sample]:
        for size in ((), (3,), (2, 3), (0,)):
            yield Sample(make(2), size, *first, note=f"{len(size)}-d")

    return generate


def _negative(*first: Any) -> Any:
    return lambda make: [ErrorSample(make(2), (-1,), *first, error=RuntimeError, match="negative dimension")]


for _name, _first, _value in (
    ("new_zeros", (), ""), ("new_ones", (), ""), ("new_full", (1,), ""), ("new_empty", (), UNINITIALISED),
):  # fmt: skip
    samples(_name, no_value=_value)(_new(*_first))
    error_samples(_name)(_negative(*_first))


@samples("new_tensor")
def _new_tensor(make: Make) -> Iterator[Sample]:
    for data in ([1, 0], 1, [[1.0]], []):
        yield Sample(make(2), data)


error_samples("new_tensor")(lambda make: [ErrorSample(make(2), [[1], [2, 3]], error=ValueError, match="")])


@samples("new_empty_strided", no_value=UNINITIALISED)
def _new_empty_strided(make: Make) -> Iterator[Sample]:
    yield Sample(make(2), (2, 3), (1, 2))


@samples("empty_strided", no_value=UNINITIALISED)
def _empty_strided(make: Make) -> Iterator[Sample]:
    for size, stride in (((2, 3), (1, 2)), ((), ()), ((0, 2), (2, 1))):
        yield Sample(size, stride, dtype=make.dtype, device=make.device)


error_samples("new_empty_strided")(lambda make: [ErrorSample(make(2), (2, 3), (1,), error=RuntimeError, match="")])


@samples("asarray")
def _asarray(make: Make) -> Iterator[Sample]:
    for data in (1, [1, 2], [[0.5]], []):
        yield Sample(data, device=make.device)
    yield Sample([0, 1], dtype=make.dtype, device=make.device, note="dtype")


@samples("scalar_tensor")
def _scalar_tensor(make: Make) -> Iterator[Sample]:
    yield Sample(1, dtype=make.dtype, device=make.device)


@samples("frombuffer")
def _frombuffer(make: Make) -> Iterator[Sample]:
    if make.device.type == "cpu":
        yield Sample(bytearray(np.ones(4, make.dtype.numpy).tobytes()), dtype=make.dtype)


for _name in ("tril_indices", "triu_indices"):
    samples(_name)(
        lambda make: [Sample(*a, device=make.device, note=f"{a}") for a in ((3, 3), (2, 4), (3, 2, 1), (3, 3, -1), (0, 2))]
    )


@samples("meshgrid")
def _meshgrid(make: Make) -> Iterator[Sample]:
    yield Sample(make(2), make(3), indexing="ij")
    yield Sample(make(2), make(3), indexing="xy", note="xy")
    yield Sample(make(2), make(), indexing="ij", note="0-d")
