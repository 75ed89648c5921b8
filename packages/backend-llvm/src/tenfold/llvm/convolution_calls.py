"""Calls of convolutions and their gradients on arrays that lie row by row: of sizes met before it is known what to run.

`forward_call` and its like give the plan for some sizes, or None where the call has to be looked at more closely.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from tenfold.llvm import winograd_calls
from tenfold.llvm.convolution import correlation, input_gradient
from tenfold.llvm.direct import Convolution
from tenfold.llvm.formats import order_of
from tenfold.llvm.planes import Sizes, Window, is_large
from tenfold.llvm.storage import BY_DTYPE, FLOAT32, FLOAT64
from tenfold.llvm.weight_gradients import Gradient, weight_gradient
from tenfold.settings.threads import get_num_threads

Array = np.ndarray[Any, Any]
Steps = tuple[Sizes, Sizes, Sizes, bool, Sizes, int]  # stride, padding, dilation, transposed, output_padding, groups

DTYPES = (FLOAT32.dtype, FLOAT64.dtype)


def plain(a: Any, b: Any) -> bool:
    """Whether arrays lie row by row, have a dtype that products are made for, and suggest no other order."""
    if type(a) is not np.ndarray or type(b) is not np.ndarray or a.dtype is not b.dtype or a.dtype not in DTYPES:
        return False
    return a.flags.carray and b.flags.carray and not order_of(a, b)


def settings() -> tuple[int, int]:
    """What plans depend on besides sizes."""
    return winograd_calls.get_tile(), get_num_threads()


def windows(inputs: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, beyond: Sizes | None) -> Window | None:
    """The window of a convolution, or of the one whose images' gradient a transposed convolution is (`beyond`: its padding)."""
    given = tuple(stride), tuple(padding), tuple(dilation)
    if beyond is not None:
        steps = zip(inputs, kernel, *given, beyond, strict=True)
        wide = tuple((i - 1) * s - 2 * p + d * (k - 1) + o + 1 for i, k, s, p, d, o in steps)
        return Window(kernel, *given, wide, inputs)
    outputs = tuple((i + 2 * p - d * (k - 1) - 1) // s + 1 for i, k, s, p, d in zip(inputs, kernel, *given, strict=True))
    return Window(kernel, *given, inputs, outputs) if min(outputs) > 0 else None


def agree(wide: Sizes, narrow: Sizes, weight: Sizes, window: Window, groups: int) -> bool:
    """Whether images, the result of their convolution, and weights have sizes that belong together."""
    steps = zip(window.inputs, window.kernel, window.stride, window.padding, window.dilation, strict=True)
    outputs = tuple((i + 2 * p - d * (k - 1) - 1) // s + 1 for i, k, s, p, d in steps)
    channels = wide[1] == weight[1] * groups and narrow[1] == weight[0] and weight[0] % groups == 0
    return channels and wide[0] == narrow[0] and outputs == window.outputs


def _plan(wide: Sizes, narrow: Sizes, window: Window, groups: int, back: bool, dtype: Any, *given: int) -> Convolution | None:
    """The convolution, or, `back`, the gradient of its images."""
    if not prod(wide) or not prod(narrow) or is_large(window):  # whose plan is small beside the work, and kept elsewhere
        return None
    make = input_gradient if back else correlation
    return make(window, wide[0], wide[1], narrow[1], groups, BY_DTYPE[dtype], *given)


@lru_cache(maxsize=512)
def forward_call(x: Sizes, weight: Sizes, bias: Sizes | None, steps: Steps, dtype: Any, *given: int) -> Convolution | None:
    """The plan of a convolution; sizes that do not fit are the operator's business."""
    stride, padding, dilation, transposed, beyond, groups = steps
    read, written = (weight[0], weight[1] * groups) if transposed else (weight[1] * groups, weight[0])
    if len(x) != len(weight) or x[1] != read or weight[0] % groups or bias not in (None, (written,)) or not prod(weight):
        return None
    window = windows(x[2:], weight[2:], stride, padding, dilation, beyond if transposed else None)
    if window is None:
        return None
    other = (x[0], written, *(window.inputs if transposed else window.outputs))
    wide, narrow = (other, x) if transposed else (x, other)
    return None if min(other) < 1 else _plan(wide, narrow, window, groups, transposed, dtype, *given)


@lru_cache(maxsize=512)
def input_call(grad: Sizes, weight: Sizes, x: Sizes, steps: Steps, dtype: Any, *given: int) -> Convolution | None:
    """The plan of the images' gradient."""
    stride, padding, dilation, transposed, _, groups = steps
    if not len(grad) == len(weight) == len(x) or not prod(weight):
        return None
    wide, narrow = (grad, x) if transposed else (x, grad)
    window = Window(weight[2:], stride, padding, dilation, wide[2:], narrow[2:])
    if not agree(wide, narrow, weight, window, groups):
        return None
    return _plan(wide, narrow, window, groups, not transposed, dtype, *given)


@lru_cache(maxsize=512)
def weight_call(grad: Sizes, x: Sizes, weight: Sizes, steps: Steps, dtype: Any, threads: int) -> Gradient | None:
    """The plan of the weights' gradient."""
    stride, padding, dilation, transposed, _, groups = steps
    if not len(grad) == len(weight) == len(x) or not prod(grad) or not prod(x):
        return None
    wide, narrow = (grad, x) if transposed else (x, grad)
    window = Window(weight[2:], stride, padding, dilation, wide[2:], narrow[2:])
    if not agree(wide, narrow, weight, window, groups):
        return None
    if is_large(window):
        return None
    plan = weight_gradient(window, wide[0], wide[1], narrow[1], groups, BY_DTYPE[dtype], threads)
    return plan if transposed else lambda grad, x: plan(x, grad)


def known_forward(x: Array, weight: Array, bias: Array | None, steps: Steps) -> Array | None:
    """The convolution by the plan of its sizes; None where the call has to be looked at more closely."""
    if not plain(x, weight) or (bias is not None and not (bias.dtype is x.dtype and bias.flags.carray)):
        return None
    sizes = (x.shape, weight.shape, None if bias is None else bias.shape)
    plan = forward_call(*sizes, steps, x.dtype, *settings())
    return None if plan is None else plan(x, weight, bias)


def known_for_input(grad: Array, weight: Array, x: Sizes, steps: Steps) -> Array | None:
    """The same of the images' gradient."""
    plan = input_call(grad.shape, weight.shape, x, steps, grad.dtype, *settings()) if plain(grad, weight) else None
    return None if plan is None else plan(grad, weight, None)


def known_for_weight(grad: Array, x: Array, weight: Sizes, steps: Steps) -> Array | None:
    """The same of the weights' gradient."""
    plan = weight_call(grad.shape, x.shape, weight, steps, grad.dtype, get_num_threads()) if plain(grad, x) else None
    return None if plan is None else plan(grad, x)
