"""Convolution over one to three dimensions and its gradients: the operators of tenfold-nn."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.llvm.convolution import Weights, correlate, input_gradient, weight_gradient
from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.planes import Window, forward
from tenfold.llvm.programs import suitable
from tenfold.llvm.storage import FLOAT32, FLOAT64
from tenfold.settings.threads import get_num_threads
from tenfold.types.memory_format import suggested_format

Array = np.ndarray[Any, Any]
Sizes = tuple[int, ...]

NOTE = "float32 and float64 in one piece, channels first"


def _ready(n: int, *arrays: Any) -> bool:
    """Whether arrays lie in one piece, have n dimensions and elements, and are of one dtype that products are made for."""
    if any(a.ndim != n or not a.size for a in arrays):
        return False
    return suitable(*arrays) in (FLOAT32, FLOAT64)


def _channels_last(x: Array) -> bool:
    """Whether an array in one piece says channels last by the strides of its sizes of 1: the result lies so then."""
    return x.strides[1] <= x.strides[-1] and bool(suggested_format(x).order)


def _result(value: Array | None) -> Any:
    return NotImplemented if value is None else value


def _forward(
    input: Array,
    weight: Array,
    bias: Array | None,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    output_padding: Sizes,
    groups: int,
) -> Any:
    kernel = weight.shape[2:]
    read, written = (weight.shape[0], weight.shape[1] * groups) if transposed else (weight.shape[1] * groups, weight.shape[0])
    if not _ready(len(kernel) + 2, input, weight) or input.shape[1] != read or weight.shape[0] % groups:
        return NotImplemented  # the body says what is wrong
    if _channels_last(input) or _channels_last(weight):
        return NotImplemented
    if bias is not None and (bias.shape != (written,) or bias.dtype != input.dtype or not bias.flags.carray):
        return NotImplemented
    inputs = input.shape[2:]
    if transposed:
        steps = zip(inputs, kernel, stride, padding, dilation, output_padding, strict=True)
        wide = tuple((i - 1) * s - 2 * p + d * (k - 1) + o + 1 for i, k, s, p, d, o in steps)
        window = Window(kernel, tuple(stride), tuple(padding), tuple(dilation), wide, inputs)
        out = _input_gradient(input, weight, window, groups)
        if out is not None and bias is not None:
            out += bias.reshape(-1, *[1] * len(kernel))
        return _result(out)
    steps = zip(inputs, kernel, stride, padding, dilation, strict=True)
    outputs = tuple((i + 2 * p - d * (k - 1) - 1) // s + 1 for i, k, s, p, d in steps)
    if min(outputs) < 1:
        return NotImplemented
    window = Window(kernel, tuple(stride), tuple(padding), tuple(dilation), inputs, outputs)
    return _result(_correlate(input, weight, bias, window, groups))


def _correlate(x: Array, weight: Array, bias: Array | None, window: Window, groups: int) -> Array | None:
    kernels = weight.reshape(*weight.shape[:2], -1)
    return correlate(x, Weights(kernels, groups), bias, forward(window), get_num_threads())


def _input_gradient(grad: Array, weight: Array, window: Window, groups: int) -> Array | None:
    if min(window.inputs) < 1:
        return None
    return input_gradient(grad, weight, window, groups, get_num_threads())


def _agree(wide: Sizes, narrow: Sizes, weight: Sizes, window: Window, groups: int) -> bool:
    """Whether images, the result of their convolution, and weights have sizes that belong together."""
    steps = zip(window.inputs, window.kernel, window.stride, window.padding, window.dilation, strict=True)
    outputs = tuple((i + 2 * p - d * (k - 1) - 1) // s + 1 for i, k, s, p, d in steps)
    channels = wide[1] == weight[1] * groups and narrow[1] == weight[0] and weight[0] % groups == 0
    return channels and wide[0] == narrow[0] and outputs == window.outputs


def _for_input(
    grad: Array,
    weight: Array,
    input_shape: Sizes,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    output_padding: Sizes,
    groups: int,
) -> Any:
    n = weight.ndim
    if not _ready(n, grad, weight):
        return NotImplemented
    wide, narrow = (grad.shape, tuple(input_shape)) if transposed else (tuple(input_shape), grad.shape)
    window = Window(weight.shape[2:], *map(tuple, (stride, padding, dilation, wide[2:], narrow[2:])))
    if len(input_shape) != n or not _agree(wide, narrow, weight.shape, window, groups):
        return NotImplemented
    if not transposed:
        return _result(_input_gradient(grad, weight, window, groups))
    return _result(_correlate(grad, weight, None, window, groups))


def _for_weight(
    grad: Array,
    input: Array,
    weight_shape: Sizes,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    output_padding: Sizes,
    groups: int,
) -> Any:
    if not _ready(len(weight_shape), grad, input):
        return NotImplemented
    wide, narrow = (grad, input) if transposed else (input, grad)
    window = Window(*map(tuple, (weight_shape[2:], stride, padding, dilation, wide.shape[2:], narrow.shape[2:])))
    if not _agree(wide.shape, narrow.shape, tuple(weight_shape), window, groups):
        return NotImplemented
    return _result(weight_gradient(wide, narrow, window, groups, get_num_threads()))


for _name, _serve in (
    ("convolution", _forward),
    ("convolution_input_grad", _for_input),
    ("convolution_weight_grad", _for_weight),
):
    chosen(_name, _serve, 9, NOTE)
