"""How modes and tensor classes are asked beneath the gradient tape: PyTorch's `__torch_dispatch__` protocol.

A mode that a thread has entered, or a class among the arguments, is handed `func`, an operator by PyTorch's internal name
such as `aten.add.Tensor`, with gradients switched off; the tape records around it. Operators that PyTorch makes of others
come as those (internal_forms.py). Whether somebody is asked is core's to see, in dispatch/beneath.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold.dispatch.beneath import BeneathKey
from tenfold.dispatch.inplace import any_node, bump_version, check_writable, snapshot
from tenfold.dispatch.operators import OPERATORS, Operator
from tenfold.dispatch.runtime import RUNTIME, STATE, count_active
from tenfold.dispatch.services import SERVICES


def enter(mode: Any) -> None:
    """Ask this mode first, in this thread, until `leave`."""
    STATE.beneath = (*STATE.beneath, mode)
    count_active(1)


def leave(mode: Any) -> None:
    """Ask the innermost mode no more; RuntimeError if it is another one."""
    if not STATE.beneath or STATE.beneath[-1] is not mode:
        raise RuntimeError(f"{type(mode).__name__}: dispatch modes must be left in the reverse order of entering")
    STATE.beneath = STATE.beneath[:-1]
    count_active(-1)


def ask_beneath(operator: Operator, values: dict[str, Any], tensors: list[Any]) -> Any:
    """Carry a call out that somebody wants to see; NotImplemented: as ever, in pieces that they see."""
    if operator.inplace_of is not None:
        return _call_inplace(operator, values, tensors)
    recording = STATE.grad_enabled and operator.nondifferentiable is None and any_node([values[p.name] for p in operator.params])
    form = SERVICES.internal_form(operator, values)
    differentiable = operator.name in _RECORDED_AS or not recording or RUNTIME["has_gradient"](operator)
    if form is None or not differentiable:
        result = SERVICES.in_parts(operator, values) if form is None else NotImplemented
        return RUNTIME["in_pieces"](operator, values) if result is NotImplemented else result
    if not recording:
        return _ask(form, tensors)
    noted, named = _RECORDED_AS.get(operator.name, (operator.name, dict))
    values = named(values)
    result = _ask(form, tensors)
    given = {id(t) for t in tensors}
    result = tuple(_fresh(r, given) for r in result) if isinstance(result, (tuple, list)) else _fresh(result, given)
    RUNTIME["attach"](OPERATORS[noted], result, values)
    return result


# Operators without a gradient rule of their own, the one that the tape notes in their place, and its arguments.
_RECORDED_AS: dict[str, tuple[str, Callable[[dict[str, Any]], dict[str, Any]]]] = {
    "t": ("transpose", lambda values: {"input": values["input"], "dim0": -1, "dim1": -2}),
    "mv": ("matmul", lambda values: {"input": values["input"], "other": values["vec"]}),
}


def _call_inplace(operator: Operator, values: dict[str, Any], tensors: list[Any]) -> Any:
    """A write: it is done by who is asked, the tape notes it as it does any other."""
    base = operator.inplace_of
    assert base is not None
    form, first = SERVICES.internal_form(operator, values), base.params[0].name
    target = values[first]
    recording = STATE.grad_enabled and any_node([values[p.name] for p in operator.params]) and target.dtype.category > 1
    if form is None or (recording and not RUNTIME["has_gradient"](base)):
        return NotImplemented
    check_writable(operator.name, target, recording, False, base.name)
    if recording:
        with Suspended():
            values[first] = snapshot(target)
    _ask(form, tensors)
    if recording:
        result = _renamed(target)
        RUNTIME["attach"](base, result, values)
        bump_version(target)
        SERVICES.autograd().rebase(target, result, False)
    return target


class Suspended:
    """Run a block with none of this thread's dispatch modes."""

    def __enter__(self) -> None:
        self._modes = STATE.beneath
        STATE.beneath = ()

    def __exit__(self, *exc: object) -> None:
        STATE.beneath = self._modes


def _ask(form: Any, tensors: list[Any]) -> Any:
    """Ask the modes, innermost first, then the classes, subclasses first, until one answers."""
    func, args, kwargs, *which = form
    if which:
        return _ask(form[:3], tensors)[which[0]]
    types = _asking_types(tensors)
    modes = STATE.beneath
    with RUNTIME["no_grad"]():
        try:
            for n in range(len(modes) - 1, -1, -1):
                STATE.beneath = modes[:n]
                result = modes[n].__torch_dispatch__(func, types, args, kwargs)
                if result is not NotImplemented:
                    return result
            for cls in types:
                result = cls.__torch_dispatch__(func, types, args, kwargs)
                if result is not NotImplemented:
                    return result
        finally:
            STATE.beneath = modes
    names = ", ".join([*(type(m).__name__ for m in modes), *(cls.__name__ for cls in types)])
    raise TypeError(f"Multiple dispatch failed for '{func}'; all __torch_dispatch__ handlers returned NotImplemented: {names}")


def _asking_types(tensors: list[Any]) -> tuple[Any, ...]:
    """The classes among the tensors' that ask, each before those that it is derived from."""
    types: list[Any] = []
    for t in tensors:
        cls = type(t)
        if type(t._key) is BeneathKey and cls not in types:
            place = next((i for i, known in enumerate(types) if issubclass(cls, known)), len(types))
            types.insert(place, cls)
    return tuple(types)


def _fresh(result: Any, given: set[int]) -> Any:
    """A result that the tape may give a node: one that has another place in the graph is shared under a new name."""
    if not hasattr(result, "_array") or (result._node is None and id(result) not in given):
        return result
    return _renamed(result)


def _renamed(tensor: Any) -> Any:
    """The same value outside the gradient graph: what a wrapper wraps only its class knows, which is asked."""
    with Suspended(), RUNTIME["no_grad"]():
        return tensor.detach() if type(tensor._key) is BeneathKey else tensor._make_subclass(type(tensor), tensor)
