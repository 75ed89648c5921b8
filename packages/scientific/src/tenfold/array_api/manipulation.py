"""Other shapes and orders of elements."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.array_api.data_types import together


def broadcast_arrays(*arrays: Tensor) -> tuple[Tensor, ...]:
    """Arrays in the one shape that they are broadcast to."""
    return tuple(tenfold.broadcast_tensors(*arrays))


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that shapes are broadcast to; ValueError where there is none."""
    try:
        return tuple(tenfold.broadcast_shapes(*shapes))
    except RuntimeError as error:
        raise ValueError(str(error)) from error


def broadcast_to(x: Tensor, /, shape: tuple[int, ...]) -> Tensor:
    """An array shown in a larger shape."""
    return tenfold.broadcast_to(x, tuple(shape))


def concat(arrays: Any, /, *, axis: int | None = 0) -> Tensor:
    """Arrays one behind the other; flattened where there is no axis."""
    parts = together(*arrays)
    return tenfold.cat([x.flatten() for x in parts] if axis is None else parts, 0 if axis is None else axis)


def expand_dims(x: Tensor, /, axis: Any) -> Tensor:
    """Axes of size 1 more, at these places of the result."""
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    n = x.ndim + len(axes)
    for a in axes:
        if not -n <= a < n:
            raise IndexError(f"expand_dims: axis {a} is out of range for a result of {n} dimensions")
    places = sorted(a % n for a in axes)
    if len(set(places)) != len(places):
        raise ValueError(f"expand_dims: repeated axis in {axes}")
    for a in places:
        x = x.unsqueeze(a)
    return x


def flip(x: Tensor, /, *, axis: Any = None) -> Tensor:
    """Elements in reverse order along axes, all of them by default."""
    axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    return tenfold.flip(x, tuple(axes))


def moveaxis(x: Tensor, source: Any, destination: Any, /) -> Tensor:
    """Axes at other places, the others in their order."""
    return tenfold.movedim(x, source, destination)


def permute_dims(x: Tensor, /, axes: tuple[int, ...]) -> Tensor:
    """The axes in another order."""
    return tenfold.permute(x, tuple(axes))


def repeat(x: Tensor, repeats: Any, /, *, axis: int | None = None) -> Tensor:
    """Each element, or each index of an axis, several times."""
    return tenfold.repeat_interleave(x, repeats, axis)


def reshape(x: Tensor, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Tensor:
    """The same elements in another shape; ValueError where `copy=False` and memory does not allow it."""
    if copy is False:
        try:
            return x.view(tuple(shape))
        except RuntimeError as error:
            raise ValueError(f"reshape: {list(x.shape)} cannot be seen as {list(shape)} without a copy") from error
    return tenfold.reshape(x.clone() if copy else x, tuple(shape))


def roll(x: Tensor, /, shift: Any, *, axis: Any = None) -> Tensor:
    """Elements moved along axes, those beyond the end back at the start."""
    if axis is None:
        return tenfold.roll(x, shift)
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    shifts = (shift,) * len(axes) if isinstance(shift, int) else tuple(shift)
    return tenfold.roll(x, shifts, axes)


def squeeze(x: Tensor, /, axis: Any) -> Tensor:
    """Without axes of size 1; ValueError for one of another size."""
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    for a in axes:
        if x.size(a) != 1:
            raise ValueError(f"squeeze: axis {a} has size {x.size(a)}, not 1")
    return tenfold.squeeze(x, axes) if axes else x


def stack(arrays: Any, /, *, axis: int = 0) -> Tensor:
    """Arrays along a new axis."""
    return tenfold.stack(together(*arrays), axis)


def tile(x: Tensor, repetitions: tuple[int, ...], /) -> Tensor:
    """The whole array several times along each axis."""
    return tenfold.tile(x, tuple(repetitions))


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """The arrays along an axis."""
    return tuple(tenfold.unbind(x, axis))
