"""Samples of the factories. They are asked for the device of the check, and make the dtype of the samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import tenfold
from tenfold.testing.samples import ErrorSample, Make, Sample, error_samples, samples

UNINITIALISED = "its values are whatever the memory held"
SIZES: tuple[tuple[int, ...], ...] = ((), (3,), (2, 3), (0,), (2, 0))


def _sized(*first: Any) -> Any:
    def generate(make: Make) -> Iterator[Sample]:
        for size in SIZES:
            yield Sample(size, *first, dtype=make.dtype, device=make.device, note=f"{len(size)}-d")
        if not first:
            yield Sample(2, 3, dtype=make.dtype, device=make.device, note="sizes one by one")
            yield Sample(size=(2, 3), dtype=make.dtype, device=make.device, note="size=")

    return generate


def _zeros(*size: Any, dtype: Any = None, device: Any = None, **keyword: Any) -> Any:
    size = keyword.get("size", size)
    return np.zeros(size[0] if size and isinstance(size[0], tuple) else size)


samples("zeros", reference=_zeros)(_sized())
samples("ones", reference=lambda *size, **keyword: _zeros(*size, **keyword) + 1)(_sized())
samples("empty", no_value=UNINITIALISED)(_sized())
samples("full", reference=lambda size, fill_value, **keyword: np.full(size, fill_value))(_sized(1))


def _negative_size(*first: Any) -> Any:
    def generate(make: Make) -> Iterator[ErrorSample]:
        yield ErrorSample((-1,), *first, error=RuntimeError, match="negative dimension")

    return generate


for _name in ("zeros", "ones", "empty", "full"):
    error_samples(_name)(_negative_size(*((1,) if _name == "full" else ())))


def _like(*first: Any) -> Any:
    def generate(make: Make) -> Iterator[Sample]:
        for shape in SIZES:
            yield Sample(make(*shape), *first, note=f"{len(shape)}-d")
        yield Sample(make(2, 3, layout="transposed"), *first, note="transposed")
        yield Sample(make(2, 3), *first, dtype=tenfold.int64, note="dtype")

    return generate


samples("zeros_like", reference=lambda input, dtype=None: np.zeros(input.shape))(_like())
samples("ones_like", reference=lambda input, dtype=None: np.ones(input.shape))(_like())
samples("empty_like", no_value=UNINITIALISED)(_like())
samples("full_like", reference=lambda input, fill_value, dtype=None: np.full(input.shape, fill_value))(_like(1))


def _not_like(*first: Any) -> Any:
    def generate(make: Make) -> Iterator[ErrorSample]:
        yield ErrorSample([1.0], *first, error=TypeError, match="must be Tensor")

    return generate


for _name in ("zeros_like", "ones_like", "empty_like", "full_like"):
    error_samples(_name)(_not_like(*((1,) if _name == "full_like" else ())))

REVERSED = np.arange(6).reshape(2, 3)[:, ::-1]
DATA: tuple[Any, ...] = (1, 2.5, True, [1, 2], [[1.0], [2.0]], [], (1, 2.5), [True, False], REVERSED, np.float64(0.5))


def _from_data(make: Make) -> Iterator[Sample]:
    for data in DATA:
        yield Sample(data, device=make.device, note=type(data).__name__)
    yield Sample([0, 1], dtype=make.dtype, device=make.device, note="dtype")


samples("tensor")(_from_data)
samples("as_tensor")(lambda make: (s for s in _from_data(make) if s.args[0] is not REVERSED))  # it would share a negative stride


@error_samples("tensor")
def _tensor_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample([[1], [2, 3]], error=ValueError, match="")
    yield ErrorSample(object(), error=RuntimeError, match="Could not infer dtype of object")


@samples("from_numpy")
def _from_numpy(make: Make) -> Iterator[Sample]:
    if make.device.type == "cpu":
        for shape in SIZES:
            yield Sample(np.ones(shape, make.dtype.numpy), note=f"{len(shape)}-d")
        yield Sample(np.ones((3, 4), make.dtype.numpy).T, note="transposed")


@error_samples("from_numpy")
def _from_numpy_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample([1.0], error=TypeError, match="expected np.ndarray")


@samples("arange")
def _arange(make: Make) -> Iterator[Sample]:
    for arguments in ((4,), (1, 4), (0, 7, 2), (5, 0, -2), (0.5, 2.0, 0.25), (0,), (2.5,)):
        yield Sample(*arguments, device=make.device, note=f"{arguments}")
    if make.dtype.category and not make.dtype.is_complex:
        yield Sample(4, dtype=make.dtype, device=make.device, note="dtype")


@error_samples("arange")
def _arange_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(1, 5, 0, error=RuntimeError, match="step must be nonzero")
    yield ErrorSample(1, 5, -1, error=RuntimeError, match="inconsistent with step sign")
    yield ErrorSample(4, dtype=tenfold.complex64, error=NotImplementedError, match="not implemented for 'ComplexFloat'")


@samples("empty_permuted", no_value=UNINITIALISED)
def _empty_permuted(make: Make) -> Iterator[Sample]:
    for size, order in (((2, 3), (1, 0)), ((2, 3, 4), (2, 0, 1)), ((0, 3), (0, 1)), ((), ())):
        yield Sample(size, order, dtype=make.dtype, device=make.device, note=f"{size}, {order}")


@error_samples("empty_permuted")
def _empty_permuted_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample((2, 3), (0,), error=RuntimeError, match="length of the physical_layout")
    yield ErrorSample((2, 3), (0, 0), error=RuntimeError, match="each dimension once")


@samples("range")
def _range(make: Make) -> Iterator[Sample]:
    for arguments in ((4,), (1, 4), (0, 7, 2), (5, 0, -2), (0.5, 2.0, 0.25), (0,)):
        yield Sample(*arguments, device=make.device, note=f"{arguments}")


@error_samples("range")
def _range_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(1, 5, 0, error=RuntimeError, match="step must be nonzero")
    yield ErrorSample(1, 5, -1, error=RuntimeError, match="inconsistent with step sign")
    yield ErrorSample(4, dtype=tenfold.complex64, error=NotImplementedError, match="not implemented for 'ComplexFloat'")


@samples("linspace", reference=lambda start, end, steps, **keyword: np.linspace(start, end, steps))
def _linspace(make: Make) -> Iterator[Sample]:
    for arguments in ((0, 1, 5), (1.0, -1.0, 4), (2, 2, 1), (0, 1, 0)):
        yield Sample(*arguments, device=make.device, note=f"{arguments}")


@samples("eye", reference=lambda n, m=None, **keyword: np.eye(n, m))
def _eye(make: Make) -> Iterator[Sample]:
    for arguments in ((3,), (2, 3), (3, 2), (0,)):
        yield Sample(*arguments, dtype=make.dtype, device=make.device, note=f"{arguments}")
