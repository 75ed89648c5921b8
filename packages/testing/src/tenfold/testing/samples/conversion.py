"""Samples of copies and conversions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tenfold
from tenfold.testing.generators import unary_tensors
from tenfold.testing.samples import Domain, ErrorSample, Make, Sample, error_samples, samples
from tenfold.types.memory_format import channels_last, contiguous_format

POSITIVE = Domain(0.0, 5.0)  # a negative number has no unsigned integer


def _same(input: Any, *arguments: Any, **keywords: Any) -> Any:
    return input


@samples("clone", reference=_same)
def _clone(make: Make) -> Iterator[Sample]:
    for note, x in unary_tensors(make, POSITIVE):
        yield Sample(x, note=note)
    yield Sample(make(2, 3, layout="transposed"), memory_format=contiguous_format, note="to row-major")
    yield Sample(make(2, 3, 4, 5), memory_format=channels_last, note="to channels_last")


@samples("contiguous", reference=_same)
def _contiguous(make: Make) -> Iterator[Sample]:
    for note, x in unary_tensors(make, POSITIVE):
        yield Sample(x, note=note)
    yield Sample(make(2, 3, 4, 5), memory_format=channels_last, note="to channels_last")


def _targets(make: Make) -> tuple[Any, ...]:
    return (
        make.dtype,
        tenfold.float64,
        tenfold.float16,
        tenfold.int64,
        tenfold.bool_ if hasattr(tenfold, "bool_") else tenfold.types.dtypes.bool_,
    )


@samples("to_dtype")
def _to_dtype(make: Make) -> Iterator[Sample]:
    for dtype in _targets(make):
        if make.dtype.category < 3:
            yield Sample(make(2, 3, domain=POSITIVE), dtype, note=dtype.name)
            yield Sample(make(2, 3, domain=POSITIVE, layout="transposed"), dtype, note=f"{dtype.name}, transposed")
    yield Sample(make(2, domain=POSITIVE), tenfold.complex128, note="to complex")
    yield Sample(make(0, 2), tenfold.float64, note="empty")


@samples("to_device", reference=_same, data_dependent="the meta device holds no data to copy")
def _to_device(make: Make) -> Iterator[Sample]:
    for layout in ("contiguous", "transposed", "strided"):
        yield Sample(make(2, 3, layout=layout), make.device, note=layout)
    yield Sample(make(), make.device, note="0-d")
    yield Sample(make(0, 2), make.device, note="empty")


@samples("to")
def _to(make: Make) -> Iterator[Sample]:
    yield Sample(make(2, 3), make.dtype, note="nothing to do")
    yield Sample(make(2, 3), make.dtype, copy=True, note="copy")
    if make.dtype.category < 3:
        yield Sample(make(2, 3, domain=POSITIVE), tenfold.float64, note="a dtype")
        yield Sample(make(2, 3, domain=POSITIVE), dtype=tenfold.int32, note="dtype=")
        yield Sample(make(2, 3, domain=POSITIVE), make.device, tenfold.float32, note="device and dtype")
        yield Sample(make(2, 3, domain=POSITIVE), make.ints(1, low=0, high=2), note="another tensor's")
    yield Sample(make(), make.device, note="a device")
    yield Sample(make(2, 3, 4, 5), memory_format=channels_last, note="memory format")


@samples("type_as")
def _type_as(make: Make) -> Iterator[Sample]:
    if make.dtype.category < 3:
        yield Sample(make(2, 3, domain=POSITIVE), make.ints(1, low=0, high=2))
    yield Sample(make(2, 3), make(0))
    yield Sample(make(2, layout="strided"), make(0), note="strided")


@samples("cpu", data_dependent="the meta device holds no data to copy")
def _cpu(make: Make) -> Iterator[Sample]:
    for shape in ((), (2, 3), (0,)):
        yield Sample(make(*shape))


@samples("cuda", data_dependent="the meta device holds no data to copy")
def _cuda(make: Make) -> Iterator[Sample]:
    if make.device.type == "cuda":  # elsewhere there may be no CUDA device to copy to
        yield from _cpu(make)


@error_samples("cuda")
def _no_cuda_device(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2), "cpu", error=RuntimeError, match="must be cuda device")


def no_tensor(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample([1.0], error=TypeError, match="must be Tensor")


for _name in ("clone", "contiguous", "cpu"):
    error_samples(_name)(no_tensor)


@error_samples("to")
@error_samples("type_as")
def _bad_target(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2), {}, error=TypeError, match="")


@error_samples("to_dtype")
@error_samples("to_device")
def _no_tensor_with_target(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample([1.0], make.dtype, error=TypeError, match="must be Tensor")
