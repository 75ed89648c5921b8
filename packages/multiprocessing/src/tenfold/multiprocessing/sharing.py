"""Moving a tensor's memory, with every tensor that lies on it, to where processes share it."""

from __future__ import annotations

import gc
from sys import getrefcount
from typing import Any

from tenfold.multiprocessing.shared import require_shared_memory, shared_array, shared_copy
from tenfold.tensor.memory import placed, span_of
from tenfold.tensor.tensor import Tensor


def share_memory(tensor: Any) -> None:
    """Let a CPU tensor, its views and whatever else lies on its memory lie in shared memory."""
    backend = tensor._key.backend
    if span_of(backend.memory(tensor._array)[0]) is not None:
        return
    require_shared_memory()
    among = [tensor] if _alone(tensor) else _on_same_memory(tensor)
    storages = {id(t._storage): t._storage for t in among if t._storage is not None}
    if not storages:  # nobody has seen the memory around the elements
        array = shared_array(tensor._array, backend)
        for t in among:
            t._array = array
        return
    made = shared_copy(backend.memory_bytes(tensor._array))
    arrays = [placed(t, made) for t in among]
    for storage in storages.values():
        storage.array = made
    for t, array in zip(among, arrays):
        t._array = array


def _alone(tensor: Any) -> bool:
    """Whether no other tensor is on the memory: for sure, though others may be where this says no."""
    if tensor._storage is None:
        return getrefcount(tensor._array) <= 2
    holds = tensor._storage.array is tensor._array
    return tensor._storage.held_once() and getrefcount(tensor._array) <= 2 + holds


def _on_same_memory(tensor: Any) -> list[Any]:
    """The tensors that share the tensor's array (as `.data` does) or its storage. Slow: looks at every object there is."""
    found = [t for t in gc.get_referrers(tensor._array) if isinstance(t, Tensor) and t._array is tensor._array]
    storages = {id(t._storage): t._storage for t in found if t._storage is not None}
    views = [t for t in gc.get_referrers(*storages.values()) if isinstance(t, Tensor)] if storages else []
    return list({id(t): t for t in (*found, *views)}.values())
