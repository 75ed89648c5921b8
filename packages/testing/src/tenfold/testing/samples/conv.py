"""Samples of the convolutions and of the gradients that they are made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tenfold
from tenfold.testing.samples import ErrorSample, Make, Sample, error_samples, samples

DTYPES = tuple(
    tenfold.types.dtypes.BY_NAME[n] for n in ("float32", "float64", "float16", "bfloat16", "complex64", "complex128", "int64")
)
# The larger of the sizes of one, two and three dimensions: S spatial, K kernel.
S, K = (7, 5, 4), (3, 2, 2)

# Keywords of a call: input channels, output channels, and what the operator takes.
PLAIN: list[tuple[int, int, dict[str, Any]]] = [
    (1, 2, {}),
    (2, 3, {"bias": True}),
    (2, 2, {"stride": 2, "padding": 1}),
    (2, 2, {"dilation": 2, "padding": 2}),
    (4, 4, {"groups": 2, "bias": True}),
    (3, 3, {"groups": 3}),
    (2, 2, {"padding": "same"}),
    (1, 2, {"padding": "valid", "bias": True}),
]
TRANSPOSED: list[tuple[int, int, dict[str, Any]]] = [
    (1, 2, {}),
    (2, 3, {"bias": True}),
    (2, 2, {"stride": 2, "padding": 1, "output_padding": 1}),
    (2, 2, {"dilation": 2, "padding": 1}),
    (4, 4, {"groups": 2, "bias": True}),
    (2, 1, {"stride": 3, "dilation": 2, "output_padding": 2}),
]


def _with_bias(make: Make, channels: int, keywords: dict[str, Any]) -> dict[str, Any]:
    return {k: make(channels) if k == "bias" else v for k, v in keywords.items()}


def _weight(make: Make, n: int, C: int, O: int, groups: int, transposed: bool, layout: str = "contiguous") -> Any:
    shape = (C, O // groups) if transposed else (O, C // groups)
    return make(*shape, *K[-n:], layout=layout)


def convolutions(n: int, transposed: bool) -> Any:
    """Samples of a convolution over n dimensions."""

    def generate(make: Make) -> Iterator[Sample]:
        size = S[-n:]
        for C, O, keywords in TRANSPOSED if transposed else PLAIN:
            weight = _weight(make, n, C, O, keywords.get("groups", 1), transposed)
            note = ", ".join(f"{k}={v}" for k, v in keywords.items()) or "plain"
            yield Sample(make(2, C, *size), weight, note=note, **_with_bias(make, O, keywords))
        yield Sample(make(2, *size), _weight(make, n, 2, 2, 1, transposed), make(2), note="unbatched")
        yield Sample(make(0, 2, *size), _weight(make, n, 2, 2, 1, transposed), note="empty batch")
        yield Sample(
            make(1, 2, *size, layout="transposed"),
            _weight(make, n, 2, 2, 1, transposed, "strided"),
            make(2, layout="flipped"),
            note="strided memory",
        )
        if n > 1:
            steps, pads = (2, 1, 1)[:n], (1, 0, 0)[:n]
            yield Sample(make(1, 2, *size), _weight(make, n, 2, 2, 1, transposed), None, steps, pads, note="sizes per dimension")

    return generate


def convolution_errors(n: int, transposed: bool) -> Any:
    """Calls that a convolution over n dimensions refuses."""

    def generate(make: Make) -> Iterator[ErrorSample]:
        x, size = make(1, 2, *S[-n:]), S[-n:]
        weight = _weight(make, n, 2, 2, 1, transposed)
        yield ErrorSample(make(1, 3, *size), weight, error=RuntimeError, match="3 channels")
        yield ErrorSample(x, weight, make(5), error=RuntimeError, match="bias")
        yield ErrorSample(x, make(2, 2), error=RuntimeError, match="")
        yield ErrorSample(make(*size[1:]), weight, error=RuntimeError, match="unbatched")
        yield ErrorSample(x, weight, stride=0, error=RuntimeError, match="stride")
        yield ErrorSample(x, weight, padding=-1, error=RuntimeError, match="padding")
        yield ErrorSample(x, weight, dilation=0, error=RuntimeError, match="dilation")
        yield ErrorSample(x, weight, groups=0, error=RuntimeError, match="groups")
        yield ErrorSample(x, weight, stride=(1,) * (n + 1), error=RuntimeError, match="stride")
        yield ErrorSample(x, make.ints(*weight.shape, low=0, high=3), error=RuntimeError, match="dtype")
        if transposed:
            yield ErrorSample(x, weight, output_padding=1, error=RuntimeError, match="output padding")
        else:
            yield ErrorSample(make(1, 2, *[1] * n), weight, error=RuntimeError, match="Kernel size")
            yield ErrorSample(x, weight, stride=2, padding="same", error=RuntimeError, match="strided")
            yield ErrorSample(x, weight, padding="full", error=RuntimeError, match="padding")

    return generate


for _n in (1, 2, 3):
    for _name, _transposed in ((f"conv{_n}d", False), (f"conv_transpose{_n}d", True)):
        samples(_name, dtypes=DTYPES)(convolutions(_n, _transposed))
        error_samples(_name)(convolution_errors(_n, _transposed))


# The general operator: stride, padding, dilation, transposed, output padding, groups; sizes of input and weight that fit.
Steps = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], bool, tuple[int, ...], int]
GENERAL: list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], Steps]] = [
    # input, weight, result, steps
    ((2, 2, 5), (3, 2, 2), (2, 3, 4), ((1,), (0,), (1,), False, (0,), 1)),
    ((1, 4, 6), (4, 2, 3), (1, 4, 3), ((2,), (1,), (1,), False, (0,), 2)),
    ((1, 2, 4), (2, 3, 2), (1, 3, 8), ((2,), (0,), (1,), True, (0,), 1)),
    ((2, 4, 4), (1, 2, 2, 2), (1, 3, 3), ((1, 1), (0, 0), (1, 1), False, (0, 0), 1)),
    ((1, 2, 5, 4), (2, 2, 2, 3), (1, 2, 5, 2), ((1, 2), (1, 1), (2, 1), False, (0, 0), 1)),
    ((1, 2, 3, 2), (2, 1, 2, 2), (1, 2, 8, 4), ((3, 2), (0, 1), (1, 2), True, (0, 1), 2)),
    ((1, 1, 3, 3), (2, 1, 1, 1), (1, 2, 3, 3), ((1, 1), (0, 0), (1, 1), False, (0, 0), 1)),
    ((1, 3, 4, 4), (3, 1, 3, 3), (1, 3, 4, 4), ((1, 1), (1, 1), (1, 1), False, (0, 0), 3)),
    ((1, 1, 3, 3, 3), (1, 1, 2, 2, 2), (1, 1, 2, 2, 2), ((1,) * 3, (0,) * 3, (1,) * 3, False, (0,) * 3, 1)),
    ((0, 2, 5), (3, 2, 2), (0, 3, 4), ((1,), (0,), (1,), False, (0,), 1)),
]


@samples("convolution", dtypes=DTYPES)
def _convolution(make: Make) -> Iterator[Sample]:
    for input, weight, out, steps in GENERAL:
        channels = out[-len(steps[0]) - 1]
        yield Sample(make(*input), make(*weight), make(channels), *steps, note="empty" if 0 in input else "")
    input, weight, _, steps = GENERAL[1]
    yield Sample(make(*input, layout="strided"), make(*weight, layout="transposed"), None, *steps, note="strided memory")


@samples("convolution_input_grad", dtypes=DTYPES)
def _input_grad(make: Make) -> Iterator[Sample]:
    for input, weight, out, steps in GENERAL:
        yield Sample(make(*out), make(*weight), input, *steps, note="empty" if 0 in input else "")
    input, weight, out, steps = GENERAL[1]
    yield Sample(make(*out, layout="strided"), make(*weight, layout="transposed"), input, *steps, note="strided memory")


@samples("convolution_weight_grad", dtypes=DTYPES)
def _weight_grad(make: Make) -> Iterator[Sample]:
    for input, weight, out, steps in GENERAL:
        yield Sample(make(*out), make(*input), weight, *steps, note="empty" if 0 in input else "")
    input, weight, out, steps = GENERAL[1]
    yield Sample(make(*out, layout="strided"), make(*input, layout="transposed"), weight, *steps, note="strided memory")


@error_samples("convolution")
def _convolution_errors(make: Make) -> Iterator[ErrorSample]:
    steps = GENERAL[0][-1]
    yield ErrorSample(make(1, 3, 5), make(3, 2, 2), None, *steps, error=RuntimeError, match="3 channels")
    yield ErrorSample(make(1, 2, 1), make(3, 2, 2), None, *steps, error=RuntimeError, match="Kernel size")


@error_samples("convolution_input_grad")
def _input_grad_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(1, 2, 4), make(3, 2, 2), (1, 2, 5), *GENERAL[0][-1], error=RuntimeError, match="channels")


@error_samples("convolution_weight_grad")
def _weight_grad_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(
        make(1, 3, 4), make.ints(1, 2, 5, low=0, high=3), (3, 2, 2), *GENERAL[0][-1], error=RuntimeError, match="dtype"
    )


@samples("conv_tbc", dtypes=DTYPES[:4])
def _conv_tbc(make: Make) -> Iterator[Sample]:
    yield Sample(make(5, 2, 3), make(2, 3, 4), make(4), note="plain")
    yield Sample(make(5, 2, 3), make(3, 3, 4), make(4), 2, note="padded")
    yield Sample(make(5, 0, 3), make(2, 3, 4), make(4), note="empty batch")


@error_samples("conv_tbc")
def _conv_tbc_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(5, 3), make(2, 3, 4), make(4), error=RuntimeError, match="expected input")
