"""How tensors and storages travel between processes: as handles of shared memory, which `multiprocessing`'s pickler writes."""

from __future__ import annotations

import warnings
from multiprocessing.reduction import ForkingPickler
from typing import Any
from weakref import WeakValueDictionary

from tenfold.dispatch.devices import located
from tenfold.multiprocessing import transit
from tenfold.multiprocessing.shared import AVAILABLE, Segment, on_span
from tenfold.multiprocessing.sharing import share_memory
from tenfold.tensor.copying import LISTENERS, SENT_AS_TENSORS, rebuild
from tenfold.tensor.memory import span_of
from tenfold.tensor.storage import InferenceStorage, UntypedStorage

# The storages of this process on shared memory, by segment and place: what comes twice is one storage.
shared_cache: WeakValueDictionary[tuple[Any, ...], UntypedStorage] = WeakValueDictionary()


def reduce_tensor(tensor: Any) -> Any:
    """For pickle: the handle of the tensor's memory, which is moved to shared memory, and the tensor's place in it.

    Gradients, hooks and attributes do not travel. Raises: RuntimeError for a tensor that operators made and gradients flow
    through.
    """
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support crossing "
            "process boundaries.  If you just want to transfer the data, call detach() on the tensor before serializing "
            "(e.g., putting it on the queue)."
        )
    _warn_of_hooks(tensor)
    if not _can_share(tensor):
        return tensor.__reduce_ex__(2)
    share_memory(tensor)
    place = (tuple(tensor.shape), tensor.stride(), tensor.storage_offset())
    return rebuild_tensor, (type(tensor), tensor.untyped_storage(), tensor.dtype, *place, tensor.requires_grad)


def rebuild_tensor(
    cls: Any, storage: Any, dtype: Any, size: Any, stride: Any, storage_offset: int, requires_grad: bool
) -> Any:  # fmt: skip
    """The inverse of `reduce_tensor`."""
    return rebuild(cls, storage, dtype, size, stride, storage_offset, requires_grad, None)


def _can_share(tensor: Any) -> bool:
    return AVAILABLE and tensor._key.level is None and tensor.device.type == "cpu"


def _warn_of_hooks(tensor: Any) -> None:
    extra = getattr(tensor._node, "_extra", None) or {}
    for hook in extra.get("tensor", {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the function "
                f"with @torch.utils.hooks.unserializable_hook to suppress this warning",
                UserWarning,
                stacklevel=2,
            )


def reduce_storage(storage: Any) -> Any:
    """For pickle: the handle of the storage's memory, which is moved to shared memory."""
    if not AVAILABLE or storage.device.type != "cpu":
        return storage.__reduce_ex__(2)
    if not storage.nbytes():
        return rebuild_storage_empty, (UntypedStorage,)
    storage.share_memory_()
    span: Any = span_of(storage.key.backend.memory(storage.array)[0])
    shared_cache[span.segment.identity, span.offset] = storage
    return rebuild_storage, (transit.send(span.segment), span.offset, span.size)


def rebuild_storage(handle: Any, offset: int, size: int) -> Any:
    """The inverse of `reduce_storage`: this process's storage on the memory, if it has one."""
    segment = transit.receive(transit.Handle(*handle))
    return storage_on(segment, offset, size)


def storage_on(segment: Segment, offset: int, size: int) -> Any:
    """The one storage on this part of a segment."""
    place = (segment.identity, offset)
    storage = shared_cache.get(place)
    if storage is None:
        storage = shared_cache[place] = UntypedStorage(on_span(segment, offset, size), located("cpu"))
    return storage


def rebuild_storage_empty(cls: Any) -> Any:
    """A storage of no bytes."""
    return cls(0)


def reduce_sent_tensor(tensor: Any) -> Any:
    """`reduce_tensor` for a pickler that does not know of tensors; what is not sent as one is pickled as to a file."""
    return reduce_tensor(tensor) if type(tensor) in SENT_AS_TENSORS else tensor.__reduce_ex__(2)


def reduce_sent_storage(storage: Any) -> Any:
    """`reduce_storage` for a pickler that does not know of storages."""
    return reduce_storage(storage)


def _register(cls: type) -> None:
    ForkingPickler.register(cls, reduce_tensor)


def init_reductions() -> None:
    """Let every queue and pipe of `multiprocessing` send tensors as handles; importing `tenfold.multiprocessing` does it."""
    for cls in SENT_AS_TENSORS:
        _register(cls)
    if _register not in LISTENERS:
        LISTENERS.append(_register)
    ForkingPickler.register(UntypedStorage, reduce_storage)
    ForkingPickler.register(InferenceStorage, reduce_storage)
