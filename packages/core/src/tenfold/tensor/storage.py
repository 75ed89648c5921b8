"""Storage: the memory that a tensor and its views share, with the version counter that in-place writes advance.

A tensor gets its Storage object when someone asks for one (a view, an in-place write, `untyped_storage()`); a result
that nobody aliases has none and counts as version 0. Results made in inference mode have one that keeps no version.
"""

from __future__ import annotations

import gc
from sys import getrefcount
from typing import Any
from weakref import ref

from tenfold.dispatch.devices import located
from tenfold.dispatch.inplace import repeats
from tenfold.dispatch.runtime import RUNTIME, STATE
from tenfold.dispatch.services import SERVICES
from tenfold.tensor.memory import Memory, allocated
from tenfold.types.dtypes import type_name


class UntypedStorage(Memory):
    """Bytes on a device, shared by every tensor that views them.

    >>> UntypedStorage([1, 2, 3]).tolist()
    [1, 2, 3]
    """

    # views: weak references to the differentiable views by address; one that lies where a dead one was takes its entry.
    # Those of what has no gradient are listed once someone asks for them (`listing`); `unlisted`: there may be some.
    # marked: some view has an `_origin`, which views of it inherit. noting: new views are looked at, to list or mark them.
    # guarded: a write must be looked at first: some view is marked or repeats elements, or this is inference mode's.
    # lent: a NumPy array is on this memory, which stays where it is.
    # detached: how often its tensor left the graph in place, which `version` counts and `_version` does not; unset in all others.
    # shown: it has been asked for by `.data`, whose writes `version` does not count; unset in all others.
    __slots__ = (
        "array", "detached", "guarded", "key", "lent", "listing", "marked", "noting", "shown", "unlisted", "version", "views",
    )  # fmt: skip
    inference = False
    detached: int
    shown: bool
    version: int

    def __init__(self, array: Any = 0, key: Any = None, *, device: Any = None) -> None:
        if key is None:  # as users call it: a number of bytes, or their values
            key = located(device)
            array = allocated(array, key)
        self.array = array  # any array on the memory: keeps it alive
        self.key = key
        self.version = 0
        self.views: dict[int, Any] = {}
        self.guarded = self.lent = self.marked = self.listing = self.noting = self.unlisted = False

    def live_views(self, *holders: Any) -> list[Any]:
        """The differentiable views of this memory; `holders` are tensors on it that the caller knows."""
        found = [view for entry in self.views.values() if (view := entry()) is not None]
        if self.unlisted:
            # Each tensor on it holds one reference: for more, new objects are searched first.
            known = {id(t) for t in (*found, *holders)}
            for age in 0, 1, 2:
                if getrefcount(self) - _OWN_REFERENCES <= len(known):
                    break
                for t in gc.get_referrers(self) if age > 1 else gc.get_objects(age):
                    if RUNTIME["Tensor"] in type(t).__mro__ and t._storage is self and id(t) not in known:
                        known.add(id(t))
                        found += [t] * (t._base is not None)
            self.unlisted = False
        self.listing = self.noting = True
        self.views = {id(view): ref(view) for view in (*found, *(t for t in holders if t._base is not None))}
        return found

    def held_once(self) -> bool:
        """Whether nothing holds this but the attribute of the one tensor through which it is called."""
        return getrefcount(self) - _OWN_REFERENCES <= 1

    def mark(self) -> None:
        """Note that some view has an origin, so that writes and further views are looked at."""
        self.marked = self.noting = self.guarded = True

    def __deepcopy__(self, memo: dict[int, Any]) -> Storage:
        return SERVICES.copy_storage(self, memo)  # type: ignore[no-any-return]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return SERVICES.reduce_storage(self)


Storage = UntypedStorage


def _own_references() -> int:
    """What getrefcount says inside a method called on an object that one attribute holds, less that attribute's one."""

    class Holder:
        __slots__ = ("held",)

    class Held:
        def count(self) -> int:
            return getrefcount(self)

    holder = Holder()
    holder.held = Held()  # type: ignore[attr-defined]
    return holder.held.count() - 1  # type: ignore[attr-defined, no-any-return]


_OWN_REFERENCES = _own_references()


class InferenceStorage(Storage):
    """Memory of a tensor made in inference mode, whose writes nobody counts: no graph may depend on it."""

    __slots__ = ()
    inference = True

    def __init__(self, array: Any, key: Any) -> None:
        super().__init__(array, key)
        self.guarded = True

    @property
    def version(self) -> int:
        if STATE.inference:
            return 0
        raise RuntimeError(
            "Inference tensors cannot be saved for backward. Make a clone to get a normal tensor and use it in autograd, or "
            "use tenfold.no_grad() instead of tenfold.inference_mode()"
        )

    @version.setter
    def version(self, value: int) -> None:
        pass


def settle(tensor: Any) -> None:
    """Give a new result of a thread that is in inference mode the storage that says so."""
    if STATE.inference and tensor._storage is None:
        tensor._storage = InferenceStorage(tensor._array, tensor._key)


def note_view(view: Any, source: Any) -> None:
    """Let the storage know of a new view of `source`, and the view of where it came about, as far as anyone may ask."""
    storage = source._storage
    if source._node is not None or storage.listing:
        storage.views[id(view)] = ref(view)
        storage.unlisted = storage.unlisted and not storage.listing
    else:
        storage.unlisted = True
    if storage.marked or RUNTIME["GRAD_OFF"]:
        mark_view(view, source)


def mark_view(view: Any, source: Any) -> None:
    """Note on a view that it came about where a write to it cannot be recorded, or is a view of one that did."""
    if STATE.grad_enabled:
        origin = getattr(source, "_origin", None)
    else:
        own = source._storage.inference  # whose views never are of a graph
        origin = "inference" if STATE.inference and not own else "no_grad"
        if source._node is not None and view._node is None and not own:
            view._node = SERVICES.autograd().of_base(view)
    if origin is not None:
        view._origin = origin
        view._storage.mark()


def refused(tensor: Any) -> bool:
    """Whether a tensor on guarded memory must not be written just so."""
    if tensor._storage.inference:
        return not STATE.inference
    if STATE.grad_enabled and hasattr(tensor._storage, "detached"):
        return True
    if STATE.grad_enabled and tensor._base is not None:
        return getattr(tensor, "_origin", None) is not None or tensor._base._node is not None or repeats(tensor._array)
    return repeats(tensor._array)


RUNTIME.update(Storage=Storage, settle=settle, note_view=note_view, refused=refused)


def on_storage(storage: Any, kind: Any) -> Any:
    """A 1-D tensor on a storage's memory; a typed storage (they are tenfold-checkpoint's) must have the dtype."""
    if hasattr(storage, "_untyped_storage"):
        if storage._dtype is not kind:
            raise RuntimeError(
                f"Expected a Storage of type {type_name(kind)} or an UntypedStorage, but got type "
                f"{type_name(storage._dtype)} for argument 1 'storage'"
            )
        storage = storage._untyped_storage
    made = storage.view(kind)
    made._storage, made._base = storage, None
    return made
