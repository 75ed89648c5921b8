"""The transpose of a convolution whose weights are not all finite: pixels that a tap does not reach have nothing of it.

The ways of conv.py multiply some weights by the zeros of padding and of pixels that no window reads, and leave them out only
afterwards, or never: which is the same as long as zero times a weight is zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.nn.window import Window

Array = np.ndarray[Any, Any]


def finite(result: Array, weight: Array) -> bool:
    """Whether no weight can have spoilt a pixel: the smaller array is looked at, and the weights where it is not finite."""
    return (result.size < weight.size and _finite(result)) or _finite(weight)


def _finite(x: Array) -> bool:
    elements = x.ravel("K")
    return bool(np.isfinite(np.dot(elements, elements)))  # squares that leave the range only make the call slower


def spread_within(grad: Array, weight: Array, window: Window, groups: int) -> Array:
    """The images of which `grad` (N, O, *P) is the convolution's change, a tap at a time, each within what it reads."""
    N, O = grad.shape[:2]
    C = weight.shape[1] * groups
    out = np.zeros((N, C, *window.inputs), grad.dtype)
    kernels = weight.reshape(groups, O // groups, -1).swapaxes(1, 2)  # (G, C / G * taps, O / G)
    for image, row in zip(out, grad):
        columns = np.matmul(kernels, row.reshape(groups, O // groups, -1)).reshape(C, window.taps, *window.outputs)
        for tap, offset in enumerate(window.offsets()):
            met = [window.overlap(axis, o) for axis, o in enumerate(offset)]
            if None not in met:
                read, pixels = zip(*met)
                image[(..., *pixels)] += columns[(slice(None), tap, *read)]
    return out
