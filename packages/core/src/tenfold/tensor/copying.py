"""Deep copies and pickles of tensors: memory that tensors share stays shared."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from tenfold.dispatch import devices
from tenfold.tensor.tensor import Tensor, host, wrap


def deep_copy(tensor: Any, memo: dict[int, Any]) -> Any:
    """`copy.deepcopy(tensor)`: leaves only, as in PyTorch; views of one memory stay views of one memory."""
    if id(tensor) in memo:
        return memo[id(tensor)]
    if not tensor.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment. "
            "If you were attempting to deepcopy a module, this may be because of a tensor computed in its forward."
        )
    made = _copy_memory(tensor, memo)
    if type(tensor) is not Tensor:
        made = tensor._make_subclass(type(tensor), made)
    if tensor.requires_grad:
        made.requires_grad_(True)
    memo[id(tensor)] = made
    if tensor.grad is not None:
        made._grad = copy.deepcopy(tensor.grad, memo)
    made.__dict__.update(copy.deepcopy(tensor.__dict__, memo))
    return made


def _copy_memory(tensor: Any, memo: dict[int, Any]) -> Any:
    storage = tensor._storage
    if storage is None:
        return tensor.detach().clone()
    key = ("storage", id(storage))
    known = memo.get(key)  # type: ignore[call-overload]
    if known is None:
        known = memo[key] = wrap(storage.key.backend.memory_bytes(storage.array), storage.key.device).clone()  # type: ignore[index]
    whole = known.view(tensor.dtype) if tensor.itemsize > 1 or tensor.dtype is not known.dtype else known
    return whole.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset()).detach()


def reduce(tensor: Any) -> Any:
    """For pickle: the elements as NumPy bytes with dtype, shape and strides."""
    if not tensor.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) can be pickled; use .detach() for a computed one"
        )
    array = np.ascontiguousarray(host(tensor.detach()))
    state = (array.tobytes(), tensor.dtype, tuple(tensor.shape), str(tensor.device), tensor.requires_grad)
    return rebuild, (type(tensor), *state, tensor.__dict__ or None)


def rebuild(cls: Any, data: bytes, dtype: Any, shape: tuple[int, ...], device: str, requires_grad: bool, attributes: Any) -> Any:
    """The inverse of `reduce`."""
    array = np.frombuffer(bytearray(data), dtype.numpy).reshape(shape)
    key = devices.located(device)
    made = wrap(key.backend.from_numpy(array, key.index), key)
    if cls is not Tensor:
        made = Tensor._make_subclass(cls, made)
    if requires_grad:
        made.requires_grad_(True)
    if attributes:
        made.__dict__.update(attributes)
    return made
