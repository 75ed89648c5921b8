"""What an in-place write does to the graph: the written tensor, its base and the other views get new nodes.

After `v.mul_(w)` on a view v of b, b is "b with the region of v replaced": its gradient flows to the old b outside the
region and to the product inside. Every view of b, v too, then reads its gradient from the new b.
"""

from __future__ import annotations

from sys import getrefcount
from typing import Any

from tenfold.autograd.captures import check_captured
from tenfold.autograd.geometry import extent, through_memory
from tenfold.autograd.levels import SCOPES
from tenfold.autograd.missing import without_derivative
from tenfold.autograd.nodes import NUMBERS, RELEASED, ROOM, Node
from tenfold.autograd.recording import second_time
from tenfold.dispatch.devices import CPU
from tenfold.dispatch.inplace import forbidden
from tenfold.dispatch.operators import Operator
from tenfold.dispatch.runtime import STATE
from tenfold.ops.creation.factories import zeros
from tenfold.ops.indexing.strided import strided_set, strided_sum
from tenfold.ops.pointwise.complex_numbers import view_as_complex, view_as_real
from tenfold.ops.pointwise.several import where
from tenfold.ops.view.shapes import as_strided
from tenfold.types.dtypes import bool_

new = object.__new__


class _Region(Node):
    """A node that knows where a view lies in its base: `geometry` of both, complex elements as pairs where they differ."""

    __slots__ = ("base_geometry", "geometry", "pairs")
    base_geometry: Any  # shape, strides and offset, as those of the view
    geometry: Any
    pairs: tuple[bool, bool]  # whether base and view are complex tensors described as pairs of real numbers

    def locate(self, base: Any, view: Any, origin: int) -> None:
        """Note the geometries; offsets count from the base's first element, whose place is `origin`."""
        mixed = base.itemsize != view.itemsize
        self.pairs = (mixed and base.is_complex(), mixed and view.is_complex())
        unit = view.itemsize // 2 if self.pairs[1] else view.itemsize
        self.base_geometry = _geometry(base, 0, self.pairs[0])
        self.geometry = _geometry(view, (_place(view) - origin) // unit, self.pairs[1])


def _place(t: Any) -> int:
    """Where the first element lies, in bytes: of the CPU's memory an address, which costs a fifth of an offset in a storage."""
    array = t._array
    if t._key is CPU:
        return int(array.__array_interface__["data"][0])
    return int(t.storage_offset() * t.itemsize)


def _geometry(t: Any, offset: int, pairs: bool) -> tuple[Any, Any, int]:
    array = t._array  # its strides are in bytes; that of a single element, which may be any, takes no one anywhere
    itemsize = array.dtype.itemsize
    shape, strides = array.shape, tuple([s // itemsize for s in array.strides])
    return ((*shape, 2), (*(2 * s for s in strides), 1), offset) if pairs else (shape, strides, offset)


def _opened(g: Any, pairs: bool) -> Any:
    return view_as_real(g) if pairs else g


def _closed(g: Any, pairs: bool) -> Any:
    return view_as_complex(g.contiguous()) if pairs else g


class CopySlices(_Region):
    """A base tensor after an in-place write to a view of it."""

    __slots__ = ()
    _room = ROOM

    def release(self) -> None:
        self.geometry = RELEASED

    def apply(self, g: Any, wanted: tuple[Any, ...]) -> Any:
        if self.geometry is RELEASED:
            raise second_time(self)
        (shape, strides, start), (size, steps, offset) = self.base_geometry, self.geometry
        first = min(start, offset)
        length = max(start + extent(shape, strides), offset + extent(size, steps)) - first
        block = strided_sum(_opened(g, self.pairs[0]), (length,), shape, strides, start - first)
        region = as_strided(block, size, steps, offset - first)
        once = STATE.grad_enabled or g._key.level is not None  # nobody follows this, and the block is nobody else's
        inside = None if wanted[1] is None else _closed(_once(region if once else region.clone(), steps), self.pairs[1])
        if wanted[0] is None:
            return None, inside
        if once:
            block = strided_set(block, zeros((), dtype=block.dtype, device=g.device), size, steps, offset - first)
        else:
            region.zero_()
        old = _closed(as_strided(block, shape, strides, start - first), self.pairs[0])
        return old, inside


def _once(g: Any, steps: Any) -> Any:
    """Gradients of an expanded view's elements, zeros but for the first of those that share a place."""
    repeated = [d for d, step in enumerate(steps) if step == 0 and g.shape[d] > 1]
    if not repeated:
        return g
    counted = zeros(g.shape, dtype=bool_, device=g.device)
    first = counted
    for d in repeated:
        first = first.narrow(d, 0, 1)
    first.fill_(True)
    return where(counted, g, 0)


class AsStridedBackward0(_Region):
    """A view of a base, read back from the base's present value."""

    __slots__ = ()

    def apply(self, g: Any, wanted: tuple[Any, ...]) -> Any:
        base, view = self.pairs
        return (_closed(through_memory(_opened(g, view), self.base_geometry, *self.geometry), base),)


class Written(Node):
    """A tensor after another one's value was written over all of it."""

    __slots__ = ()
    _room = ROOM

    def apply(self, g: Any, wanted: tuple[Any, ...]) -> Any:
        return (g,)


Written.__name__ = "CopyBackwards"
_OF_MEMORY = AsStridedBackward0.__name__  # also of the operator's


class Overwritten(Node):
    """A tensor after constants were written over all of it: it still requires gradients, and what it was gets zeros."""

    __slots__ = ()
    _room = ROOM

    def apply(self, g: Any, wanted: tuple[Any, ...]) -> Any:
        return (zeros(g.shape, dtype=g.dtype, device=g.device),)


Overwritten.__name__ = "CopyBackwards"


class Copied(Node):
    """A tensor after another one's value was written over all of it: the second edge is what it was, which gets zeros."""

    __slots__ = ()
    _room = ROOM

    def apply(self, g: Any, wanted: tuple[Any, ...]) -> Any:
        return g, None if wanted[1] is None else zeros(g.shape, dtype=g.dtype, device=g.device)


Copied.__name__ = "CopyBackwards"


class Forbidden(Node):
    """Stands for the gradient of a view whose memory was written where no gradient can follow: whoever asks is told so."""

    __slots__ = ("message",)
    message: str

    def refuse(self) -> Any:
        raise RuntimeError(self.message)

    _next = property(refuse)  # the engine asks for it first
    shown = property(refuse)  # `grad_fn`

    @property
    def _title(self) -> str:
        return "Invalid"


def rebase(target: Any, result: Any, shared: bool = False, by: str | Operator = "") -> None:
    """Give `target`, just overwritten with the value of `result`, the place of `result` in the graph.

    `shared`: whether the result is somebody's tensor, whose node stays its own. `by`: the name of the operator that has
    written, or itself where it has no derivative.
    """
    old, base = target._node, target._base
    if isinstance(by, Operator):
        if result._node is None:
            result._node = _follow(without_derivative(by), old, target)
        elif old is not None:
            result._node._next += (old,)
    if SCOPES.depth and old is None and result._node is not None:
        check_captured("an in-place operation", target if base is None else base, SCOPES.open[-1].function)
    origin = None
    if base is None:
        base = target
        if result._node is None:
            target._node = _follow(Overwritten, old, target)
        elif by == "copy_":
            target._node = _follow(Copied, result._node, target)
            target._node._next += (old,)
        else:
            target._node = _own_node(result, shared)
    else:
        node: Any = new(CopySlices)
        node._next, node._shape, node._extra = (base._node, result._node), base._array.shape, None
        node._number = next(NUMBERS)
        origin = _place(base)
        node.locate(base, target, origin)
        before, base._node = base._node, node
        _move_retained(base, before)
        _reattach(target, base, origin, like=node)
    _move_retained(target, old)
    # No name is bound to the storage: `live_views` counts who holds it, and searches all objects where it is one too many.
    if base._storage is not None and (base._storage.views or base._storage.unlisted):
        _reattach_others(target, base, _place(base) if origin is None else origin)


def _own_node(result: Any, shared: bool) -> Any:
    """The node of a result; one that was copied stays the only tensor with its node."""
    node = result._node
    if node is None or not (node.is_leaf or shared):
        return node
    return _follow(Written, node, result)


def _follow(kind: type[Node], node: Any, tensor: Any) -> Any:
    """A node of its own after another one, for a tensor."""
    copied: Any = new(kind)
    copied._next, copied._shape, copied._extra, copied._number = (node,), tensor._array.shape, None, next(NUMBERS)
    return copied


def _move_retained(tensor: Any, old: Any) -> None:
    """What `retain_grad` asked for is the gradient of the tensor as it is, not of its value before the write."""
    if old is None or old._extra is None or "retain" not in old._extra or tensor._node is None or tensor._node is old:
        return
    if old._extra["retain"]() is tensor:
        tensor._node.extras()["retain"] = old._extra.pop("retain")


def way_to(base: Any, view: Any) -> Any:
    """The node by which a view's value before a write depends on its base: hooks on the views in between are for no write.

    Nor is what a view in between shows of the base all that one of its memory (`as_strided`) may show.
    """
    node = view._node
    while node is not None and node is not base._node and not node._extra:
        after = node._next[0] if node._next else None
        if type(node).__name__ == _OF_MEMORY and after is not base._node:
            break
        node = after
    if node is None or node is base._node:
        return view._node
    made: Any = new(AsStridedBackward0)
    made._extra, made._shape, made._next, made._number = None, view._array.shape, (base._node,), next(NUMBERS)
    made.locate(base, view, _place(base))
    return made


def _reattach(view: Any, base: Any, origin: int, moved: bool = False, like: Any = None) -> None:
    """Let a view read its gradient from what its base is now; `like` is a node of the same two tensors."""
    node = view._node
    # A node that nobody but the view holds can be turned to the new base, if that one lies as the former did.
    if moved or type(node) is not AsStridedBackward0 or getrefcount(node) > _HELD_ONCE or node._extra is not None:
        node = new(AsStridedBackward0)
        node._extra, node._shape = None, view._array.shape
        if like is None:
            node.locate(base, view, origin)
        else:
            node.pairs, node.base_geometry, node.geometry = like.pairs, like.base_geometry, like.geometry
        before, view._node = view._node, node
        _move_retained(view, before)
    node._next, node._number = (base._node,), next(NUMBERS)


def _reattach_others(target: Any, base: Any, start: int, moved: bool = False) -> None:
    """The other live views of the base see the write too; detached tensors on the memory stay outside the graph."""
    for view in base._storage.live_views(base, target):
        if view is target or view._base is not base or view.dtype.category < 2 or not (view._node or base._node):
            continue
        origin = getattr(view, "_origin", None)
        if origin is not None:
            _forbid(view, origin)
        else:
            _reattach(view, base, start, moved)


def reshaped(tensor: Any) -> None:
    """After a change of a base outside the graph, or of its geometry: its views read their gradients from what it is now."""
    if tensor._node is not None and tensor._node.is_leaf:
        tensor._node.reshaped(tensor._array.shape)
    elif STATE.grad_enabled and tensor._storage is not None:
        base = tensor if tensor._base is None else tensor._base
        _reattach_others(tensor, base, _place(base), moved=True)


def _forbid(view: Any, origin: str) -> None:
    if type(view._node) is Forbidden:  # by an earlier write
        return
    message = forbidden(view, origin, "its base or another view of its base has been modified inplace")
    node: Any = new(Forbidden)
    node.message, node._extra, node._shape = message, None, view._array.shape
    view._node = node


def _held_once() -> int:
    """What getrefcount says of a local variable's object that one attribute holds, too."""

    class Holder:
        held = object()

    node = Holder.held
    return getrefcount(node)


_HELD_ONCE = _held_once()
