"""Recorded in-place operators whose kernel writes straight into the tensor, with no result to copy into it.

What the graph needs of the value before the write is known once the node is made: a rule that reads it has saved it, and
only then is it copied. A rule that reads the result reads the tensor itself, whose version tells of a later write.
"""

from __future__ import annotations

from typing import Any

from tenfold.autograd.inplace import new, rebase, way_to
from tenfold.autograd.recording import alias
from tenfold.autograd.watch import WATCH
from tenfold.dispatch.full import attach, has_gradient
from tenfold.dispatch.gradmode import no_grad
from tenfold.dispatch.inplace import bump_version
from tenfold.dispatch.operators import TENSOR_ROLES, Operator
from tenfold.tensor.tensor import Tensor


def record_write(operator: Operator, values: dict[str, Any]) -> bool:
    """Carry out and record a write whose arguments were checked; False, with nothing done, where that takes more."""
    base: Any = operator.inplace_of
    names = [p.name for p in base.kernel_params]
    target = values[names[0]]
    if WATCH.active or target._key.level is not None or base.nondifferentiable is not None:
        return False
    if _is_plain(base, values, names) and has_gradient(base):
        return _write(operator, base, values, names[0])
    # By other operators, each of which is recorded: of a primitive's numbers, as `alpha`, where one operator does it all.
    by_others = base.body is not None or (hasattr(base.in_place, "op") and not _is_neutral(base, values))
    return base.in_place is not None and by_others and base.in_place(**values) is not NotImplemented


def _write(operator: Operator, base: Operator, values: dict[str, Any], first: str) -> bool:
    """Make the node, then let the kernel write: what others saved of arguments in this memory is found to be older."""
    target = values[first]
    before, made = _standing_for(target), alias(target)
    attach(base, made, {**values, first: before})
    node, place = made._node, before._node
    if node is None:
        return False
    if getattr(node, "s_" + first, None) is before:
        setattr(node, "s_" + first, _kept(target, place))
    made._storage = made._node = None  # whose memory it is was looked at before
    with no_grad():
        operator.fn(**{**values, first: made})
    made._storage, made._node = None, node  # no name is bound to the storage: `live_views` counts who holds it
    bump_version(target)
    if hasattr(node, "v_out"):
        node.v_out = target._storage.version
    rebase(target, made, False, operator.name)
    return True


def _is_plain(base: Operator, values: dict[str, Any], names: list[str]) -> bool:
    """Whether the kernel gets the arguments as they are: one device, one dtype where they are promoted, no shared memory."""
    target = values[names[0]]
    key, storage = target._key, target._storage
    if base.outputs != 1 or base.random or base.view or values.get("dtype") is not None or not _is_neutral(base, values):
        return False
    for p in base.kernel_params[1:]:
        value = values[p.name]
        if type(value) in (list, tuple):
            if any(isinstance(x, Tensor) for x in value):
                return False
        elif isinstance(value, Tensor):
            apart = value is not target and (storage is None or value._storage is not storage)
            agrees = value._key is key and (base.promote is None or value.dtype is target.dtype)
            if p.role not in TENSOR_ROLES or not (apart and agrees):
                return False
        elif type(value) is complex and not target.dtype.is_complex:
            return False
    return True


def _is_neutral(base: Operator, values: dict[str, Any]) -> bool:
    """Whether the numbers that another operator sees to, such as `alpha`, are those that change nothing."""
    return all(values[name] is neutral or values[name] == neutral for name, neutral in base.neutral.items())


def _standing_for(target: Any) -> Any:
    """A tensor at the target's present place in the graph, whose value is soon overwritten."""
    base = target._base
    before: Any = new(Tensor)
    before._array, before._key, before._storage, before._base = target._array, target._key, None, None
    before._node = target._node if base is None or base._node is None else way_to(base, target)
    return before


def _kept(target: Any, node: Any) -> Any:
    """A copy of the value at that place."""
    with no_grad():
        copy = target.clone()
    copy._node = node
    return copy
