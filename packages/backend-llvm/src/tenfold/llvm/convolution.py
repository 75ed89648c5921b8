"""Convolutions of images (N, C, *inputs) that lie in one piece, and the gradients of the images: plans for known sizes.

A plan is a function of images, weights and bias, which gives None where there is no code for it.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from math import prod
from typing import Any

import numpy as np

from tenfold.llvm import channels, winograd_calls
from tenfold.llvm.direct import Convolution, Direct, Form
from tenfold.llvm.formats import in_one_piece
from tenfold.llvm.planes import Kept, Reading, Sizes, Window, backward, forward
from tenfold.llvm.programs import allocator
from tenfold.llvm.storage import FLOAT32, Stored

Array = np.ndarray[Any, Any]


def _planned(reading: Reading, N: int, form: Form, stored: Stored, filtered: int, threads: int) -> Convolution:
    """`filtered`: the largest tile of minimal filtering."""
    direct = Direct(reading, N, form, stored, threads)
    if form.groups == 1 and form.taps == 1:
        return _mixed(reading, form, direct)
    m = winograd_calls.tile_for(filtered, N, form, reading, stored)
    return _filtered(reading, form, m, threads, direct) if m else direct


def _mixed(reading: Reading, form: Form, direct: Convolution) -> Convolution:
    """Of one tap: a product of matrices, where channels are enough."""

    def run(x: Array, weight: Array, bias: Array | None) -> Array | None:
        found = channels.correlate(x, weight.reshape(weight.shape[:2]), bias, form.backward, reading)
        return direct(x, weight, bias) if found is None else found

    return run


def _filtered(reading: Reading, form: Form, m: int, threads: int, direct: Convolution) -> Convolution:
    """By minimal filtering, but images whose results are no finite numbers."""

    def run(x: Array, weight: Array, bias: Array | None) -> Array | None:
        found = winograd_calls.correlate(x, weight, form, bias, reading, m, threads)
        if found is None:
            return direct(x, weight, bias)
        out, strange = found
        if strange.all():
            return direct(x, weight, bias)
        if strange.any():
            some = np.ascontiguousarray(x[strange])
            again = Direct(reading, len(some), form, FLOAT32, threads)(some, weight, bias)
            if again is None:
                return None
            out[strange] = again
        return out

    return run


@Kept
def correlation(window: Window, N: int, C: int, O: int, groups: int, stored: Stored, filtered: int, threads: int) -> Convolution:
    """The convolution of N images with weights (O, C / groups, *K)."""
    form = Form(O // groups, C // groups, prod(window.kernel), groups)
    return _planned(forward(window), N, form, stored, filtered, threads)


@Kept
def input_gradient(
    window: Window, N: int, C: int, O: int, groups: int, stored: Stored, filtered: int, threads: int
) -> Convolution:
    """The gradient of images (N, C, *inputs): for each phase of the stride, a convolution with the taps that meet it.

    A bias is that of the transposed convolution, which this is.
    """
    sizes = (window, N, C, O, groups, stored, filtered, threads)
    return _spread(*sizes) if side_by_side(window, groups) else _phases(*sizes)


def _phases(window: Window, N: int, C: int, O: int, groups: int, stored: Stored, filtered: int, threads: int) -> Convolution:
    taps, ones = prod(window.kernel), (1,) * len(window.kernel)
    order, parts = _by_phase(window)
    shape, new = (N, C, *window.inputs), allocator(N * C * prod(window.inputs) * stored.size)
    plans: list[tuple[Any, Convolution | None]] = []
    for phase, part, reading in parts:
        target = (..., *[slice(p, None, s) for p, s in zip(phase, window.stride, strict=True)])
        form = Form(C // groups, O // groups, len(order), groups, True, part.start, part.stop - part.start)
        plans.append((target, _planned(reading, N, form, stored, filtered, threads) if reading else None))
    if prod(window.stride) == 1:
        assert plans[0][1] is not None
        return plans[0][1]

    def run(grad: Array, weight: Array, bias: Array | None) -> Array | None:
        out: Array = new(shape, stored.dtype)
        kernels = weight.reshape(O, C // groups, taps).take(order, 2)
        for target, plan in plans:
            if plan is None:
                out[target] = 0 if bias is None else bias.reshape(-1, *ones)
                continue
            found = plan(grad, kernels, bias)
            if found is None:
                return None
            out[target] = found
        return out

    return run


def side_by_side(window: Window, groups: int) -> bool:
    """Whether windows of several taps cover the images, and no two of them overlap."""
    taps = window.kernel
    if groups > 1 or window.stride != taps or prod(taps) == 1 or any(window.padding):
        return False
    if any(d > 1 and k > 1 for d, k in zip(window.dilation, taps, strict=True)):
        return False
    return window.inputs == tuple(o * k for o, k in zip(window.outputs, taps, strict=True))


def _spread(window: Window, N: int, C: int, O: int, *others: Any) -> Convolution:
    """Where windows lie side by side: one product of matrices gives all taps, which are then put where they belong."""
    n, sizes, taps = len(window.kernel), window.outputs, window.kernel
    ones, zeros = (1,) * n, (0,) * n
    reading = forward(Window(ones, ones, zeros, ones, sizes, sizes))
    shape, goal = (N, C, *taps, *sizes), (N, C, *window.inputs)
    order = (0, 1, *(d for k in range(n) for d in (2 + n + k, 2 + k)))  # of each dimension the windows, then their taps
    phases = cache(lambda: _phases(window, N, C, O, *others))  # hundreds for large windows, which are seldom needed

    def run(grad: Array, weight: Array, bias: Array | None) -> Array | None:
        found = channels.correlate(grad, weight.reshape(O, -1), None, True, reading)
        if found is None:
            return phases()(grad, weight, bias)
        whole = in_one_piece(found.reshape(shape).transpose(order)).reshape(goal)
        if bias is not None:
            whole += bias.reshape(-1, *ones)
        return whole

    return run


def _by_phase(window: Window) -> tuple[Array, list[tuple[Sizes, slice, Reading | None]]]:
    """The taps in the order of the phases that they serve; of each phase its taps in that order, and what it reads."""
    taps = np.arange(prod(window.kernel)).reshape(window.kernel)
    order: list[int] = []
    parts = []
    for phase in product(*[range(min(s, i)) for s, i in zip(window.stride, window.inputs, strict=True)]):
        met, reading = backward(window, phase)
        first = len(order)
        if reading is not None:
            order += taps[met].reshape(-1).tolist()
        parts.append((phase, slice(first, len(order)), reading))
    return np.array(order, np.intp), parts
