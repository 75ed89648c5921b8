"""What an in-place write does to the graph: the written tensor, its base and the other views get new nodes.

After `v.mul_(w)` on a view v of b, b is "b with the region of v replaced": its gradient flows to the old b outside the
region and to the product inside. Every view of b, v too, then reads its gradient from the new b.
"""

from __future__ import annotations

from sys import getrefcount
from typing import Any

from tenfold.autograd.geometry import extent, through_memory
from tenfold.autograd.nodes import Node
from tenfold.ops.creation.factories import zeros
from tenfold.ops.indexing.strided import as_strided_scatter, strided_sum
from tenfold.ops.view.shapes import as_strided

new = object.__new__


class CopySlices(Node):
    """A base tensor after an in-place write to a view of it."""

    __slots__ = ("base_geometry", "geometry")
    base_geometry: Any  # shape, strides and offset, as those of the view
    geometry: Any

    def apply(self, g: Any, wanted: tuple[Any, ...]) -> Any:
        (shape, strides, start), (size, steps, offset) = self.base_geometry, self.geometry
        first = min(start, offset)
        length = max(start + extent(shape, strides), offset + extent(size, steps)) - first
        block = strided_sum(g, (length,), shape, strides, start - first)
        old = inside = None
        if wanted[0] is not None:
            outside = as_strided_scatter(block, zeros((), dtype=g.dtype, device=g.device), size, steps, offset - first)
            old = as_strided(outside, shape, strides, start - first)
        if wanted[1] is not None:
            inside = as_strided(block, size, steps, offset - first)
        return old, inside


class AsStridedBackward0(Node):
    """A view of a base, read back from the base's present value."""

    __slots__ = ("base_geometry", "geometry")
    base_geometry: Any
    geometry: Any

    def apply(self, g: Any, wanted: tuple[Any, ...]) -> Any:
        return (through_memory(g, self.base_geometry, *self.geometry),)


class Written(Node):
    """A tensor after another one's value was written over all of it."""

    __slots__ = ()

    def apply(self, g: Any, wanted: tuple[Any, ...]) -> Any:
        return (g,)


Written.__name__ = "CopyBackwards"


def _geometry(t: Any, origin: int = 0) -> tuple[Any, Any, int]:
    return tuple(t.shape), tuple(t.stride()), t.storage_offset() - origin


def rebase(target: Any, result: Any) -> None:
    """Give `target`, just overwritten with the value of `result`, the place of `result` in the graph."""
    base = target._base
    if base is None:
        target._node = _own_node(result)
        base = target
    else:
        origin = base.storage_offset()
        node: Any = new(CopySlices)
        node.next, node.shape, node.extra = (base._node, result._node), base._array.shape, None
        node.base_geometry, node.geometry = _geometry(base, origin), _geometry(target, origin)
        base._node = node
        _reattach(target, base, origin)
    _reattach_others(target, base)


def _own_node(result: Any) -> Any:
    """The node of a result; a leaf that was copied stays the only tensor with its accumulator."""
    node = result._node
    if node is None or not node.is_leaf:
        return node
    copied: Any = new(Written)
    copied.next, copied.shape, copied.extra = (node,), result._array.shape, None
    return copied


def _reattach(view: Any, base: Any, origin: int) -> None:
    node: Any = new(AsStridedBackward0)
    node.next, node.shape, node.extra = (base._node,), view._array.shape, None
    node.base_geometry, node.geometry = _geometry(base, origin), _geometry(view, origin)
    view._node = node


def _reattach_others(target: Any, base: Any) -> None:
    """The other live views of the base see the write too; detached tensors on the memory stay outside the graph."""
    storage = base._storage
    # Each tensor on the memory holds one reference; what this function itself holds differs between interpreters.
    known = 2 if target is not base else 1
    if storage is None or getrefcount(storage) - _OWN_REFERENCES <= known:
        return
    origin = base.storage_offset()
    for view in storage.sharers():
        if view is not target and view is not base and view._base is base and (view._node is None or not view._node.is_leaf):
            _reattach(view, base, origin)


def _own_references() -> int:
    """What getrefcount says of an object that only one local variable holds."""
    storage = object()
    return getrefcount(storage)


_OWN_REFERENCES = _own_references()
