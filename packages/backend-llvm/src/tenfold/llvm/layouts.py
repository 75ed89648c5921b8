"""Layouts that an elementwise operator's arguments had before: what was found out of them then, so that it is asked once.

Of arrays that are strided or broadcast NumPy's iterator finds the order in which to go through them, and the layout of their
result. That depends on shapes, strides and dtypes alone, and takes longer than a loop over a few thousand elements.
"""

from __future__ import annotations

from functools import lru_cache
from math import inf, prod
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
MOST = 4096  # layouts of an operator
LARGEST_INT = 2**53  # whole numbers up to it are numbers of float64


class Layouts:
    """An operator's calls with new results: a plan for each layout of its arguments."""

    def __init__(self, launch: Any, grain: int) -> None:
        self._launch, self._grain = launch, grain
        self._plans: dict[Any, Any] = {}

    def call(self, arguments: tuple[Any, ...]) -> Any:
        """The result of a call whose layout was seen before, or NotImplemented."""
        key: list[Any] = []
        arrays: list[Any] = []
        numbers: list[float] = []
        for value in arguments:
            if type(value) is np.ndarray:
                key += value.shape, value.strides, value.dtype
                arrays.append(value)
            elif type(value) is float or (type(value) is int and -LARGEST_INT <= value <= LARGEST_INT):
                key.append(None)
                numbers.append(float(value))
            else:
                return NotImplemented
        plan = self._plans.get(tuple(key))
        if plan is None:
            return NotImplemented
        address, make, shape, dtype, back, size, geometry, highest = plan
        for number in numbers:
            if highest < abs(number) < inf:
                return NotImplemented
        for array in arrays:
            if not array.flags.aligned:
                return NotImplemented
        made = make(shape, dtype)
        self._launch(address, size, self._grain, made, *arrays, *numbers, *geometry)
        return made if back is None else made.transpose(back)

    def note(self, arguments: tuple[Any, ...], address: int, make: Any, made: Array, geometry: Any, highest: float) -> None:
        """Keep what served a call; arrays that count backwards begin elsewhere than they lie, and are seen anew."""
        key: list[Any] = []
        for value in arguments:
            if type(value) is np.ndarray:
                if min(value.strides, default=0) < 0:
                    return
                key += value.shape, value.strides, value.dtype
            else:
                key.append(None)
        order = sorted(range(made.ndim), key=lambda d: -made.strides[d])
        turned = made.transpose(order)
        if len(self._plans) < MOST and turned.flags.c_contiguous:
            back = None if made.flags.c_contiguous else tuple(np.argsort(order).tolist())
            shape = made.shape if back is None else turned.shape
            self._plans[tuple(key)] = address, make, shape, made.dtype, back, made.size, tuple(geometry), highest


def order_of(arrays: list[Array]) -> tuple[int, ...] | None:
    """The order of the dimensions, from the outermost on, in which arrays of one shape lie in one piece, where not row by row."""
    first = arrays[0]
    if first.flags.c_contiguous or any(a.shape != first.shape for a in arrays):
        return None
    order = tuple(sorted(range(first.ndim), key=lambda d: -first.strides[d]))
    turned = first.transpose(order)
    if not turned.flags.c_contiguous:
        return None
    step = first.itemsize
    for n, stride in zip(reversed(turned.shape), reversed(turned.strides), strict=True):
        if stride != step:  # of a dimension of one place, which lies as it happens to
            return None
        step *= n
    return order


@lru_cache(maxsize=4096)
def spread(
    shapes: tuple[tuple[int, ...], ...], sizes: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[str, ...], tuple[int, ...]] | None:
    """Shape, steps and geometry of the result of arrays in one piece that are broadcast; None: an iterator has to see.

    `sizes`: bytes of an element of the result and of each array.
    """
    ndim = max(map(len, shapes))
    full = tuple(map(max, zip(*((1,) * (ndim - len(shape)) + shape for shape in shapes))))
    if not prod(full) or any(n not in (1, full[i - len(shape)]) for shape in shapes for i, n in enumerate(shape)):
        return None
    dims: list[list[int]] = []  # the innermost first: its length, and the step of the result and of each array
    steps_in = list(sizes)
    for d in range(1, len(full) + 1):
        if full[-d] == 1:
            continue
        own = [True, *(len(shape) >= d and shape[-d] > 1 for shape in shapes)]
        strides = [step if moves else 0 for step, moves in zip(steps_in, own, strict=True)]
        steps_in = [step * full[-d] if moves else step for step, moves in zip(steps_in, own, strict=True)]
        if dims and all(stride == dims[-1][0] * inner for stride, inner in zip(strides, dims[-1][1:], strict=True)):
            dims[-1][0] *= full[-d]
        else:
            dims.append([full[-d], *strides])
    length, *inner = dims[0] if dims else [1, *sizes]
    steps = tuple("next" if step == size else "same" for step, size in zip(inner, sizes, strict=True))
    return full, steps, (length, *inner, max(0, len(dims) - 1), *(n for dim in dims[1:] for n in dim))


def step_of(view: Array) -> str:
    stride = view.strides[-1] if view.ndim else 0
    return "next" if stride == view.itemsize else "same" if stride == 0 else "far"


def geometry_of(views: Any) -> list[int]:
    """The innermost length, each array's step there, the outer dimensions, each with its steps; as loops.strided reads them."""
    first = views[0]
    if not first.ndim:
        return [1, *[0] * len(views), 0]
    strides = [v.strides for v in views]
    geometry = [first.shape[-1], *(s[-1] for s in strides), first.ndim - 1]
    for d in range(first.ndim - 2, -1, -1):
        geometry.append(first.shape[d])
        geometry += [s[d] for s in strides]
    return geometry
