"""Shape and dtype rules that many operators share: `Meta` arrays (or Python numbers) in, `Meta` out."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from tenfold.dispatch.meta import Meta


def broadcast_shapes(name: str, shapes: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The shape that all of them broadcast to; RuntimeError with PyTorch's words otherwise."""
    result: list[int] = []
    for shape in shapes:
        if len(shape) > len(result):
            result = [1] * (len(shape) - len(result)) + result
        for i in range(1, len(shape) + 1):
            have, want = result[-i], shape[-i]
            if have != want and 1 not in (have, want):
                prefix = f"{name}: " if name else ""
                raise RuntimeError(
                    f"{prefix}The size of tensor a ({have}) must match the size of tensor b ({want}) at non-singleton "
                    f"dimension {len(result) - i}; got shapes {', '.join(str(list(s)) for s in shapes)}"
                )
            if have == 1:
                result[-i] = want
    return tuple(result)


def broadcast(name: str, *arrays: Any) -> tuple[int, ...]:
    """The common shape of arrays; Python numbers have none."""
    return broadcast_shapes(name, [a.shape for a in arrays if isinstance(a, Meta)])


def pointwise(*arrays: Any) -> Meta:
    """Elementwise with the (already promoted) dtype of the arrays."""
    first = next(a for a in arrays if isinstance(a, Meta))
    return Meta(first.shape if len(arrays) == 1 else broadcast("", *arrays), first.dtype)


def pointwise_bool(*arrays: Any) -> Meta:
    """Elementwise with a bool result."""
    return Meta(broadcast("", *arrays), np.bool_)


def wrap_dim(dim: int, ndim: int, name: str = "") -> int:
    """A dimension counted from the front; IndexError with PyTorch's words when there is none such."""
    size = max(ndim, 1)
    if not -size <= dim < size:
        prefix = f"{name}: " if name else ""
        raise IndexError(f"{prefix}Dimension out of range (expected to be in range of [{-size}, {size - 1}], but got {dim})")
    return dim % size


def wrap_dims(dims: int | Sequence[int] | None, ndim: int, name: str = "") -> tuple[int, ...]:
    """Dimensions counted from the front; None and () mean all."""
    if dims is None:
        return tuple(range(ndim))
    if isinstance(dims, (int, np.integer)):
        dims = (dims,)
    if type(next(iter(dims), None)) is bool:  # which PyTorch asks of the first alone
        raise TypeError(f"{name}(): argument 'dims' must be tuple of ints, but found element of type bool at pos 0")
    wrapped = tuple(wrap_dim(index(d), ndim, name) for d in dims)
    if len(set(wrapped)) != len(wrapped):
        raise RuntimeError(
            f"{name}: dim {next(d for d in wrapped if wrapped.count(d) > 1)} appears multiple times in the list of dims"
        )
    return wrapped or tuple(range(ndim))


def reduced_shape(shape: Sequence[int], dims: Sequence[int], keepdim: bool) -> tuple[int, ...]:
    """The shape after reducing the (wrapped) dimensions."""
    if keepdim:
        return tuple(1 if i in dims else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in dims)
