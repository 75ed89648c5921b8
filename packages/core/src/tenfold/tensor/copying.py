"""Deep copies and pickles of tensors: memory that tensors and storages share stays shared, strides and attributes are kept."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold.dispatch import devices
from tenfold.dispatch.services import SERVICES
from tenfold.tensor.storage import Storage
from tenfold.tensor.tensor import Tensor, host, share, wrap
from tenfold.types.dtypes import FROM_NUMPY


def on_memory(storage: Storage, dtype: Any, size: Any, stride: Any, offset: int) -> Any:
    """A tensor on a storage's memory; the caller answers for the bounds."""
    base = wrap(storage.array, storage.key.device)
    base._storage = storage
    if base.dtype is not dtype or base.dim() != 1 or base.numel() * base.itemsize != storage.nbytes():
        base = storage._bytes()
        base = base[: storage.nbytes() // dtype.itemsize * dtype.itemsize].view(dtype)
        base._storage = storage
    made = base.as_strided(tuple(size), tuple(stride), offset).detach()
    made._base = None
    share(made, base, differentiable=False)
    return made


# Attributes


def slots_of(cls: type) -> list[str]:
    """The slots that a subclass of Tensor adds."""
    own = [c for c in cls.__mro__ if c not in Tensor.__mro__]
    found = [c.__dict__.get("__slots__", ()) for c in own]
    names = [name for slots in found for name in ([slots] if isinstance(slots, str) else slots)]
    return [name for name in names if name not in ("__dict__", "__weakref__")]


def state_of(tensor: Any) -> Any:
    """A tensor's attributes: what its class's __getstate__ says, else a dict, or (dict, slots) where it has slots; or None."""
    own = getattr(type(tensor), "__getstate__", None)
    if own is not None and own is not getattr(Tensor, "__getstate__", None):
        return own(tensor)
    slots = {name: getattr(tensor, name) for name in slots_of(type(tensor)) if hasattr(tensor, name)}
    return (dict(tensor.__dict__), slots) if slots else dict(tensor.__dict__) or None


def set_state(tensor: Any, state: Any) -> None:
    """The inverse of `state_of`; TypeError for another kind of state, or a slot that is not the subclass's own."""
    attributes, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    if not all(isinstance(part or {}, dict) and all(type(name) is str for name in part or {}) for part in (attributes, slots)):
        raise TypeError(f"the state of a tensor is a dict of its attributes, got {type(state).__name__}")
    for name, value in (slots or {}).items():
        if name not in slots_of(type(tensor)):
            raise TypeError(f"{type(tensor).__name__} has no slot {name!r} of its own")
        setattr(tensor, name, value)
    tensor.__dict__.update(attributes or {})


def restore(tensor: Any, state: Any) -> None:
    """Give a tensor its attributes, through its class's __setstate__ if it has one."""
    own = getattr(type(tensor), "__setstate__", None)
    if own is None:
        set_state(tensor, state)
    else:
        own(tensor, state)


# Deep copies


def deep_copy(tensor: Any, memo: dict[int, Any]) -> Any:
    """`copy.deepcopy(tensor)`: leaves only, as in PyTorch; views of one memory stay views of one memory."""
    if id(tensor) in memo:
        return memo[id(tensor)]
    if not tensor.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment. "
            "If you were attempting to deepcopy a module, this may be because of a tensor computed in its forward."
        )
    made = _copied(tensor, memo)
    if tensor.requires_grad:
        made.requires_grad_(True)
    memo[id(tensor)] = made
    if tensor.grad is not None:
        made._grad = copy.deepcopy(tensor.grad, memo)
    for name in slots_of(type(tensor)):
        if hasattr(tensor, name):
            setattr(made, name, copy.deepcopy(getattr(tensor, name), memo))
    made.__dict__.update(copy.deepcopy(tensor.__dict__, memo))
    return made


def _copied(tensor: Any, memo: dict[int, Any]) -> Any:
    if type(tensor) is not Tensor and tensor.is_meta:  # a wrapper, whose memory is elsewhere: it knows how to copy itself
        made = tensor.clone()
        if type(made) is type(tensor):
            return made.detach() if made.requires_grad and not made.is_leaf else made
    made = _copy_memory(tensor, memo)
    return made if type(tensor) is Tensor else tensor._make_subclass(type(tensor), made)


def _copy_memory(tensor: Any, memo: dict[int, Any]) -> Any:
    if tensor._storage is None or tensor.is_meta:
        return tensor.detach().clone()
    storage, array = tensor._storage, tensor._array
    if id(storage) not in memo and array is storage.array and _is_whole(array):
        made = tensor.detach().clone()
        memo[id(storage)] = made.untyped_storage()
        return made
    known = copy.deepcopy(storage, memo)
    return on_memory(known, tensor.dtype, tensor.shape, tensor.stride(), tensor.storage_offset())


def _is_whole(array: Any) -> bool:
    """Whether a row-major array is all of its memory."""
    return type(array) is np.ndarray and array.base is None and array.flags.c_contiguous


def copy_storage(storage: Storage, memo: dict[int, Any]) -> Storage:
    """`copy.deepcopy(storage)`: once for all tensors on it."""
    if id(storage) not in memo:
        memo[id(storage)] = storage.clone()
    return memo[id(storage)]  # type: ignore[no-any-return]


# Pickles

# Classes whose instances travel between processes as plain tensors do, and who has to know of new ones.
SENT_AS_TENSORS: list[type] = [Tensor]
LISTENERS: list[Callable[[type], None]] = []


def send_as_tensor(cls: type) -> None:
    """Let instances of a subclass travel between processes as handles without attributes, not as they are pickled to files."""
    SENT_AS_TENSORS.append(cls)
    for tell in LISTENERS:
        tell(cls)


def _unregistered(frame: Any) -> bool:
    """Whether it is `multiprocessing`'s pickler that called, and nobody told it of tensors before it began.

    Importing `tenfold.multiprocessing` does; but programs that use Python's own queues need not import that, nor do
    processes that were started with one.
    """
    reduction: Any = sys.modules.get("multiprocessing.reduction")
    if reduction is None or frame is None:
        return False
    return frame.f_code in (reduction.ForkingPickler.dumps.__func__.__code__, reduction.dump.__code__)


def reduce(tensor: Any) -> Any:
    """For pickle: the memory, which pickle writes once for all tensors on it, and the place in it."""
    if _unregistered(sys._getframe(2)):
        return SERVICES.reduce_sent_tensor(tensor)
    plain = Tensor._make_subclass(Tensor, tensor.detach())
    if plain.is_meta:
        memory = None
    else:
        plain = plain.contiguous() if min(plain.stride(), default=0) < 0 else plain
        memory = plain.untyped_storage()
        if plain._array is tensor._array:
            memory = tensor.untyped_storage()
    place = (plain.dtype, tuple(plain.shape), plain.stride(), plain.storage_offset() if memory else 0)
    return rebuild, (type(tensor), memory, *place, tensor.requires_grad, state_of(tensor))


def rebuild(cls: Any, storage: Any, dtype: Any, size: Any, stride: Any, offset: int, requires_grad: bool, state: Any) -> Any:
    """The inverse of `reduce`."""
    if storage is None:
        made = SERVICES.empty_strided(size, stride, dtype=dtype, device="meta")
    elif 0 in size:
        made = wrap(np.empty(size, dtype.numpy), devices.located(devices.CPU)).to(storage.device)
    else:
        made = on_memory(storage, dtype, size, stride, offset)
    if cls is not Tensor:
        made = Tensor._make_subclass(cls, made)
    if requires_grad:
        made.requires_grad_(True)
    if state is not None:
        restore(made, state)
    return made


def reduce_storage(storage: Storage) -> Any:
    """For pickle: the bytes, the type under which the device holds them, and the device."""
    if _unregistered(sys._getframe(2)):
        return SERVICES.reduce_sent_storage(storage)
    dtype = FROM_NUMPY.get(storage.array.dtype) if len(storage.array.shape) == 1 else None
    return rebuild_storage, (host(storage._bytes()).tobytes(), dtype, str(storage.device))


def rebuild_storage(data: bytes, dtype: Any, device: str) -> Storage:
    """The inverse of `reduce_storage`."""
    array = np.frombuffer(bytearray(data), np.uint8)
    array = array if dtype is None or array.size % dtype.itemsize else array.view(dtype.numpy)
    storage: Storage = wrap(array, devices.located(devices.CPU)).to(device).untyped_storage()
    return storage
