"""What an in-place write does to the graph: the written tensor, its base and the other views get new nodes.

After `v.mul_(w)` on a view v of b, b is "b with the region of v replaced": its gradient flows to the old b outside the
region and to the product inside. Every view of b, v too, then reads its gradient from the new b.
"""

from __future__ import annotations

from typing import Any

from tenfold.autograd.nodes import Node
from tenfold.ops.view import as_strided

new = object.__new__


class CopySlices(Node):
    """A base tensor after an in-place write to a view of it."""

    __slots__ = ("base_geometry", "geometry")

    def apply(self, g: Any, wanted: tuple[Any, ...]) -> Any:
        whole = laid_out_as(g, self.base_geometry)
        old = None
        if wanted[0] is not None:
            old = whole.clone()
            as_strided(old, *self.geometry).zero_()
        inside = as_strided(whole, *self.geometry).clone() if wanted[1] is not None else None
        return old, inside


class AsStridedBackward0(Node):
    """A view of a base, read back from the base's present value."""

    __slots__ = ("base_geometry", "geometry")

    def apply(self, g: Any, wanted: tuple[Any, ...]) -> Any:
        from tenfold.ops.creation import zeros

        shape, strides, _ = self.base_geometry
        block = zeros(_extent(shape, strides), dtype=g.dtype, device=g.device)
        as_strided(block, *self.geometry).copy_(g)
        return (as_strided(block, shape, strides, 0),)


def laid_out_as(g: Any, geometry: Any) -> Any:
    """A copy of g in memory that starts at 0 and has the base's strides, so that the view's geometry fits it."""
    from tenfold.ops.creation import zeros

    shape, strides, _ = geometry
    block = zeros(_extent(shape, strides), dtype=g.dtype, device=g.device)
    whole = as_strided(block, shape, strides, 0)
    whole.copy_(g)
    return whole


def _extent(shape: Any, strides: Any) -> int:
    return 1 + sum((n - 1) * s for n, s in zip(shape, strides)) if all(shape) else 0


def _geometry(t: Any, origin: int = 0) -> tuple[Any, Any, int]:
    return tuple(t.shape), tuple(t.stride()), t.storage_offset() - origin


def rebase(target: Any, result: Any) -> None:
    """Give `target`, just overwritten with the value of `result`, the place of `result` in the graph."""
    base = target._base
    if base is None:
        target._node = result._node
        base = target
    else:
        origin = base.storage_offset()
        node: Any = new(CopySlices)
        node.next, node.shape, node.extra = (base._node, result._node), base._array.shape, None
        node.base_geometry, node.geometry = _geometry(base, origin), _geometry(target, origin)
        base._node = node
        _reattach(target, base, origin)
    _reattach_others(target, base)


def _reattach(view: Any, base: Any, origin: int) -> None:
    node: Any = new(AsStridedBackward0)
    node.next, node.shape, node.extra = (base._node,), view._array.shape, None
    node.base_geometry, node.geometry = _geometry(base, origin), _geometry(view, origin)
    view._node = node


def _reattach_others(target: Any, base: Any) -> None:
    """The other live views of the base see the write too; detached tensors on the memory stay outside the graph."""
    from sys import getrefcount

    storage = base._storage
    # Each tensor on the memory holds one reference; besides there are `storage` here and getrefcount's argument.
    known = 2 if target is not base else 1
    if storage is None or getrefcount(storage) - 2 <= known:
        return
    origin = base.storage_offset()
    for view in storage.sharers():
        if view is not target and view is not base and view._base is base and (view._node is None or not view._node.is_leaf):
            _reattach(view, base, origin)
