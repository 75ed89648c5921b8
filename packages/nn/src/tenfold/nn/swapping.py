"""Two tensors that change places: each name stands for what the other was."""

from __future__ import annotations

from sys import getrefcount
from typing import Any
from weakref import getweakrefs, ref

from tenfold.dispatch.services import SERVICES
from tenfold.tensor.copying import slots_of
from tenfold.tensor.tensor import Tensor

_SLOTS = ("_array", "_base", "_grad", "_key", "_node", "_origin", "_storage")
_UNSET = object()


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Exchange two tensors: values, gradients, hooks, attributes and classes; whoever holds one then sees the other.

    What was recorded of a tensor before refers to what it was, so a backward pass that comes through it raises RuntimeError.
    Raises RuntimeError for a tensor with weak references or views, and for classes with different slots.

    >>> import tenfold
    >>> a, b = tenfold.zeros(1), tenfold.ones(2)
    >>> swap_tensors(a, b)
    >>> a, b
    (tensor([1., 1.]), tensor([0.]))
    """
    for name, tensor in (("t1", t1), ("t2", t2)):
        if _has_weak_references(tensor):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
    if set(slots_of(type(t1))) != set(slots_of(type(t2))):
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots")
    for name, tensor in (("t1", t1), ("t2", t2)):
        _refuse_views(name, tensor)
    _outdate(t1, t2)
    for slot in (*_SLOTS, *slots_of(type(t1))):
        _swap_slot(t1, t2, slot)
    t1.__dict__, t2.__dict__ = t2.__dict__, t1.__dict__
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    for tensor, other in ((t1, t2), (t2, t1)):
        _list_anew(tensor, other)
        if tensor._node is not None:
            tensor._node = SERVICES.autograd().handed_over(tensor._node, tensor)


def _own_weak_references(tensor: Tensor) -> list[Any]:
    """The weak references that the graph and the list of views hold."""
    node, storage = tensor._node, tensor._storage
    own = [] if node is None else [getattr(node, "ref", None), (node._extra or {}).get("retain")]
    own.append(None if storage is None else storage.views.get(id(tensor)))
    return [r for r in own if isinstance(r, ref) and r() is tensor]


def _has_weak_references(tensor: Tensor) -> bool:
    """Whether anyone but Tenfold refers to the tensor weakly; Python has one object for all who do so without a callback."""
    own = _own_weak_references(tensor)
    found = getweakrefs(tensor)
    return len(found) > 1 or (len(found) == 1 and (not own or getrefcount(found[0]) > len(own) * 2 + 2))


def _refuse_views(name: str, tensor: Tensor) -> None:
    """A view names its base, which would be another tensor then."""
    if tensor._base is None and tensor._storage is not None:
        views = sum(view._base is tensor for view in tensor._storage.live_views(tensor))
        if views:
            raise RuntimeError(
                f"Expected use_count of {name} to be 1 or 2 with an AccumulateGrad node but got {views + 1} make sure you are "
                f"not holding references to the tensor in other places. swap_tensors: {name} has {views} views that are alive."
            )


def _outdate(t1: Tensor, t2: Tensor) -> None:
    """Give both memories a version that neither had, so that what saved one of the tensors notices."""
    first, second = t1.untyped_storage(), t2.untyped_storage()
    if not first.inference and not second.inference:
        first.version = second.version = max(first.version, second.version) + 1


def _swap_slot(t1: Tensor, t2: Tensor, slot: str) -> None:
    values = getattr(t1, slot, _UNSET), getattr(t2, slot, _UNSET)
    for tensor, value in zip((t2, t1), values):
        if value is not _UNSET:
            setattr(tensor, slot, value)
        elif hasattr(tensor, slot):
            delattr(tensor, slot)


def _list_anew(tensor: Tensor, other: Tensor) -> None:
    """A storage lists its views by their addresses."""
    storage = tensor._storage
    if storage is not None and storage.views.pop(id(other), None) is not None:
        storage.views[id(tensor)] = ref(tensor)
