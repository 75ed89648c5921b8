"""NumPy kernels of the view operators; those missing here work through `tenfold.generic.view`."""

from __future__ import annotations

from functools import lru_cache
from operator import index
from typing import Any

import numpy as np

from tenfold.cpu.backend import address, owner_of, strided
from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import op
from tenfold.types.dtypes import dtype

# (:, :, ..., :) of each length: what stands before the dimension that a kernel works on.
LEAD = tuple((slice(None),) * n for n in range(66))


@kernel(op.view, device="cpu")
def view(input: Any, shape: Any) -> Any:
    try:
        made = input.reshape(shape) if input.flags.c_contiguous else input.reshape(shape, copy=False)
    except TypeError:
        if type(shape) is dtype:
            return _reinterpreted(input, shape)
        raise
    if made.shape != shape and min(shape, default=0) < -1:  # which NumPy takes for -1
        raise ValueError
    return made


def _reinterpreted(input: Any, target: Any) -> Any:
    offset = address(input) - address(owner_of(input)) if input.size else 0
    geometry = op.view.shape_rule(Meta(input.shape, input.dtype, input.strides, offset), target)  # its own errors
    return input.view(target.numpy) if input.size else np.empty(geometry.shape, target.numpy)


@kernel(op.permute, device="cpu")
def permute(input: Any, dims: Any) -> Any:
    return input.transpose(dims)


@kernel(op.transpose, device="cpu")
def transpose(input: Any, dim0: int, dim1: int) -> Any:
    return input.swapaxes(dim0, dim1) if input.ndim else _same(input, dim0, dim1)


def _same(input: Any, *dims: int) -> Any:
    """A 0-d array, by dimension 0 or -1."""
    for d in dims:
        if not -1 <= d <= 0:
            raise IndexError(d)
    return input[...]


@kernel(op.unsqueeze, device="cpu")
def unsqueeze(input: Any, dim: int) -> Any:
    if dim == 0:
        return input[None]
    n = input.ndim
    if not -n - 1 <= dim <= n:
        raise IndexError(dim)
    return input[(*LEAD[dim if dim > 0 else dim + n + 1], None)]


@kernel(op.squeeze, device="cpu")
def squeeze(input: Any, dim: Any) -> Any:
    if dim is None:
        return input.squeeze()
    if isinstance(dim, (int, np.integer)):
        if not input.ndim:
            return _same(input, int(dim))
        return input.squeeze(dim) if input.shape[dim] == 1 else input[...]
    n = max(input.ndim, 1)
    if type(next(iter(dim), 0)) is bool or any(not -n <= d < n for d in dim) or len({d % n for d in dim}) != len(dim):
        raise IndexError(dim)
    return input.squeeze(tuple(d for d in {d % n for d in dim} if input.ndim and input.shape[d] == 1))


@kernel(op.select, device="cpu")
def select(input: Any, dim: int, index: int) -> Any:
    if dim == 0:
        return input[index, ...]
    if dim == 1:
        return input[:, index, ...]
    n = input.ndim
    if not -n <= dim < n:
        raise IndexError(dim)
    return input[(*LEAD[dim % n], index, ...)]


@kernel(op.diagonal, device="cpu")
def diagonal(input: Any, offset: int, dim1: int, dim2: int) -> Any:
    result = input.diagonal(offset, dim1, dim2)
    if input.flags.writeable:
        result.flags.writeable = True  # NumPy makes it read-only, against misunderstandings
    return result


@lru_cache(maxsize=1024)
def _expanded(have: tuple[int, ...], strides: tuple[int, ...], size: tuple[int, ...]) -> Any:
    """The shape and strides of an expanded array; ValueError where the shape rule knows what to say."""
    lead = len(size) - len(have)
    if lead < 0 or min(size[:lead], default=0) < 0:
        raise ValueError(size)
    shape, steps = list(size), [0] * lead + list(strides)
    for i, n in enumerate(have, lead):
        if shape[i] == -1:
            shape[i] = n
        elif shape[i] != n:
            if n != 1:
                raise ValueError(size)
            steps[i] = 0
    return tuple(shape), tuple(steps)


@kernel(op.expand, device="cpu")
def expand(input: Any, size: Any) -> Any:
    if type(next(iter(size), 0)) is bool:
        raise TypeError
    shape, strides = _expanded(input.shape, input.strides, tuple(map(index, size)))  # not by what only equals an int
    if input.flags.c_contiguous:
        return np.ndarray(shape, input.dtype, input, 0, strides)
    return strided(input, shape, strides, address(input) - address(owner_of(input)))


@kernel(op.unbind, device="cpu")
def unbind(input: Any, dim: int) -> Any:
    if not input.ndim:
        raise IndexError(dim)
    lead = LEAD[dim % input.ndim]
    return [input[(*lead, i, ...)] for i in range(input.shape[dim])]


@kernel(op.split_with_sizes, device="cpu")
def split_with_sizes(input: Any, split_sizes: Any, dim: int) -> Any:
    n = input.ndim
    if not -n <= dim < n or sum(split_sizes) != input.shape[dim]:
        raise IndexError(dim)
    lead, start, parts = LEAD[dim % n], 0, []
    for size in split_sizes:
        if size < 0:
            raise ValueError(split_sizes)
        parts.append(input[(*lead, slice(start, start + size))])
        start += size
    return parts


@kernel(op.detach, device="cpu")
def detach(input: Any) -> Any:
    return input
