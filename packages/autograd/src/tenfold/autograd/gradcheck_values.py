"""Tensors as flat arrays of real numbers, as `gradcheck` varies and compares them; complex elements count as pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tenfold.ops.creation.sequences import arange
from tenfold.tensor.holding import Holding
from tenfold.tensor.tensor import host, wrap


def numbers(x: Any) -> Any:
    """The tensor whose elements are varied: of one of another layout the values that it holds."""
    return x._held if isinstance(x, Holding) else x


def filled(x: Any) -> Any:
    """A tensor of another layout with all of its elements stored, zeros too."""
    dense = x.detach().to_dense()
    blocksize = x._held.shape[x._places.ndim : x._places.ndim + 2] if "bs" in x.layout.name else None
    places = arange(1, dense.numel() + 1, device=dense.device).reshape(dense.shape)
    full: Any = places.to_sparse(x.sparse_dim()) if x.is_sparse else places.to_sparse(layout=x.layout, blocksize=blocksize)
    values = dense.reshape(-1)[full._held - 1]
    return full._gradient(values.requires_grad_(x.requires_grad))


def zeros(like: Any) -> Any:
    return tensor_like(like, np.zeros(tuple(like.shape)))


def flat(tensor: Any) -> Any:
    """The values as a flat float64 array, complex ones as pairs."""
    return real(host(numbers(tensor).detach()))


def real(array: Any) -> Any:
    flat = np.array(array, order="C").reshape(-1)
    return flat.astype(np.complex128).view(np.float64) if flat.dtype.kind == "c" else flat.astype(np.float64)


def joined(tensors: Sequence[Any]) -> Any:
    return np.concatenate([flat(t) for t in tensors]) if tensors else np.empty(0)


def joined_arrays(arrays: Sequence[Any]) -> Any:
    return np.concatenate([real(a) for a in arrays]) if arrays else np.empty(0)


def shaped(flat: Any, like: Any) -> Any:
    """A flat array of real numbers in the shape (and as the complex numbers) of a tensor."""
    values = np.ascontiguousarray(flat).view(np.complex128) if like.is_complex() else flat
    return values.reshape(tuple(like.shape))


def tensor_like(like: Any, array: Any) -> Any:
    """A tensor of these values with the dtype and device of another."""
    key = like._key.device
    return wrap(key.backend.from_numpy(np.asarray(array).astype(like.dtype.numpy), key.index), key)


def random_values(rng: Any, like: Any) -> Any:
    """Values of both signs, none close to zero."""
    shape = tuple(like.shape)
    values = rng.uniform(0.5, 1.5, shape) * rng.choice([-1.0, 1.0], shape)
    return values + 1j * rng.uniform(0.5, 1.5, shape) if like.is_complex() else values
