"""Calls of operators inside vmap that need nothing of the full dispatch: positional tensors of this level, known rules.

What binding, promotion and devices would say of such a call, the operator says itself when it is called on the values.
"""

from __future__ import annotations

from typing import Any

from tenfold.autograd.batches import Batch
from tenfold.autograd.batching import PLANS, find
from tenfold.autograd.batching_rules.kinds import pointwise, reduction
from tenfold.autograd.gradients import find as find_gradient
from tenfold.autograd.tangents import find as find_pushforward
from tenfold.dispatch.full import attach
from tenfold.dispatch.operators import Operator
from tenfold.dispatch.runtime import RUNTIME, STATE
from tenfold.tensor.tensor import Tensor

_USUAL = ("add", "sub", "rsub", "mul", "div", "pow")
_ABSENT = object()
_QUIET = (int, float, bool, str, tuple, type(None))


class Plan:
    """What is known of an operator before any call of it."""

    __slots__ = (
        "count", "differentiable", "elementwise", "lean", "names", "neutral", "operator", "others", "promotes", "quiet",
        "reduces", "rule",
    )  # fmt: skip

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.names = [p.name for p in operator.params if not p.keyword_only]
        # Keywords that may be there, if they say nothing; call paths hand on `out`, too.
        self.quiet = {p.name: p.default for p in operator.params} | {"out": None}
        # What the rule gets beside the arguments of a call, and what must be at its neutral value.
        self.others = {p.name: p.default for p in operator.params if p.name != "out"}
        self.count = len(self.others)
        self.neutral = [(name, value) for name, value in operator.neutral.items()]
        self.rule: Any = find(operator)
        self.elementwise = self.rule is pointwise
        self.promotes = operator.promote is not None
        self.differentiable = operator.body is None or find_gradient(operator) is not None
        # The tensors and numbers of calls that `_lean` serves; 0: of none. Of these operators other forms of call begin with
        # a number, or are about bools.
        plain = operator.overload_body is None or operator.name in _USUAL
        known = [p.role for p in operator.kernel_params] in (
            ["tensor"],
            ["tensor", "tensor"],
            ["tensor", "number"],
            ["number"] * 2,
        )
        self.lean = len(operator.kernel_params) if self.elementwise and plain and known and not operator.view else 0
        self.reduces = (
            self.rule is reduction
            and self.names == ["input", "dim", "keepdim"]
            and not (operator.overload_body or operator.view or self.promotes)
        )

    def complete(self, values: dict[str, Any], dims: dict[str, Any]) -> None:
        """Put in the defaults of the parameters that a call leaves out."""
        for name, default in self.others.items():
            if name not in values:
                values[name], dims[name] = default, None


def plan_of(operator: Operator) -> Plan | None:
    """The operator's plan; None where the full dispatch is needed for every call."""
    try:
        return PLANS[operator]  # type: ignore[no-any-return]
    except KeyError:
        ordinary = not (operator.random or operator.inplace_of or operator.mixed)
        roles = {p.role for p in operator.params}
        known = ordinary and operator.outputs == 1 and not roles & {"list", "args"} and find(operator) is not None
        made = PLANS[operator] = Plan(operator) if known else None
        return made


def run(level: Any, operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: C901 - the whole of the path, case by case
    """The call's result, or NotImplemented: the first argument is a tensor of this level."""
    plan = PLANS.get(operator) or plan_of(operator)
    first: Any = args[0]
    if plan is None or level.closed or len(args) > len(plan.names) or type(first) is not Tensor:
        return NotImplemented
    if (plan.lean == len(args) or plan.reduces) and (not kwargs or _say_nothing(kwargs, plan.quiet)):
        made = _lean_reduction(level, plan, *args) if plan.reduces else _lean(level, plan, *args)
        if made is not NotImplemented:
            return made
    home, dtype, dim, n = first._key.device, first._array.dtype, first._array.dim, len(first._array.shape)
    values: dict[str, Any] = {}
    dims: dict[str, Any] = {}
    plain, recording = dim is not None, False
    for name, value in zip(plan.names, args):
        if type(value) is Tensor:
            array, key = value._array, value._key
            if key.device is not home or (plan.promotes and array.dtype is not dtype):
                return NotImplemented
            if key.level is not None and key.transform is level:
                recording = recording or value._node is not None
                plain = plain and array.dim == dim and len(array.shape) == n
                values[name], dims[name] = array.value, array.dim
                continue
            if value._node is not None or (key.level is not None and key.level > level.level):
                return NotImplemented
            plain = False
        elif type(value) not in _QUIET:
            return NotImplemented
        values[name], dims[name] = value, None
    for name, value in kwargs.items():
        if value is not plan.quiet.get(name, value) or isinstance(value, Tensor) or name in values:
            return NotImplemented
    if len(values) != plan.count:
        plan.complete(values, dims)
    if operator.overload_body is not None and operator.overload_body(**bound(operator, values, args, plan)) is not NotImplemented:
        return NotImplemented
    for name, neutral in plan.neutral:
        dims.pop(name, None)
        if values.pop(name) is not neutral:
            return NotImplemented
    recording = recording and STATE.grad_enabled and operator.nondifferentiable is None
    if recording and not plan.differentiable:
        return NotImplemented
    try:
        if plan.elementwise and plain:
            made = level.wrap(operator.fn(**values), dim)
        else:
            made = level.wrap(*_by_rule(level, plan, values, dims))
    except (RuntimeError, IndexError, TypeError, ValueError):
        return NotImplemented  # the full dispatch explains it in the shapes of one example
    if operator.view:
        RUNTIME["share"](made, first)
    if recording:
        given = dict(zip(plan.names, args))
        attach(operator, made, {name: level.lifted(given.get(name, values[name])) for name in values})
    return made


def _say_nothing(kwargs: dict[str, Any], defaults: dict[str, Any]) -> bool:
    for name, value in kwargs.items():  # noqa: SIM110 - all() takes twice the time
        if value is not defaults.get(name, _ABSENT):
            return False
    return True


def _lean(level: Any, plan: Plan, first: Any, other: Any = None) -> Any:
    """The same for elementwise operators of floats whose tensors have the batch at one place, or of one and a number."""
    array, operator = first._array, plan.operator
    dim = array.dim
    if dim is None or array.dtype.kind != "f":
        return NotImplemented
    recording = first._node is not None
    try:
        if plan.lean == 1:
            value = operator.fn(array.value)
        elif type(other) is float or type(other) is int:
            value = operator.fn(array.value, other)
        elif type(other) is not Tensor or other._key is not first._key:
            return NotImplemented
        else:
            second: Any = other._array
            if second.dim != dim or second.dtype is not array.dtype or len(second.shape) != len(array.shape):
                return NotImplemented
            value = operator.fn(array.value, second.value)
            recording = recording or other._node is not None
    except (RuntimeError, IndexError, TypeError, ValueError):
        return NotImplemented  # as in `run`
    if recording and STATE.grad_enabled and operator.nondifferentiable is None:
        if not plan.differentiable:
            return NotImplemented
        made = level.wrap(value, dim)
        operator.calls.attach(made, first) if plan.lean == 1 else operator.calls.attach(made, first, other)
        return made
    return level.wrap(value, dim)


def _lean_reduction(level: Any, plan: Plan, first: Any, dim: Any = None, keepdim: Any = False) -> Any:
    """The same for reductions along one dimension of tensors that have the batch in front."""
    array, operator = first._array, plan.operator
    n = len(array.shape)
    if array.dim != 0:
        return NotImplemented
    if type(dim) is int and -n <= dim < n:
        along = dim % n + 1
    elif dim is None and n == 1:
        along = 1
    else:
        return NotImplemented
    recording = first._node is not None and STATE.grad_enabled and operator.nondifferentiable is None
    if recording and not plan.differentiable:
        return NotImplemented
    try:
        made = level.wrap(operator.fn(array.value, along, keepdim), 0)
    except (RuntimeError, IndexError, TypeError, ValueError):
        return NotImplemented  # as in `run`
    if recording:
        operator.calls.attach(made, first, dim, keepdim)
    return made


def bound(operator: Operator, values: dict[str, Any], args: tuple[Any, ...], plan: Plan) -> dict[str, Any]:
    """All parameters of a call as the operator's other forms are asked about them."""
    made = {**values, **dict(zip(plan.names, args))}
    return {**made, "out": None} if operator.out else made


def _by_rule(level: Any, plan: Plan, values: dict[str, Any], dims: dict[str, Any]) -> Any:
    batch = Batch(plan.operator, values, dims, level.size, level.randomness)
    return plan.rule(batch) if batch.names else (plan.operator.fn(**values), None)


def run_dual(level: Any, operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: C901 - as above
    """The same for a tensor of a level of forward mode: the result with its tangent, or NotImplemented."""
    plan = plan_of(operator)
    if plan is None or level.closed or level.by_hand or operator.overload_body or operator.nondifferentiable is not None:
        return NotImplemented
    first: Any = args[0]
    push = find_pushforward(operator)
    if push is None or len(args) > len(plan.names) or not level.enabled or type(first) is not Tensor:
        return NotImplemented
    home, dtype = first._key.device, first._array.dtype
    values: dict[str, Any] = {}
    tangents: dict[str, Any] = {}
    recording = False
    for name, value in zip(plan.names, args):
        if type(value) is Tensor:
            array, key = value._array, value._key
            if key.device is not home or (plan.promotes and array.dtype is not dtype):
                return NotImplemented
            if key.level is not None and key.transform is level:
                recording = recording or value._node is not None
                values[name] = array.value
                if array.tangent is not None:
                    tangents[name] = array.tangent
                continue
            if value._node is not None or (key.level is not None and key.level > level.level):
                return NotImplemented
        elif type(value) not in _QUIET:
            return NotImplemented
        values[name] = value
    if any(
        value is not plan.quiet.get(name, value) or isinstance(value, Tensor) or name in values for name, value in kwargs.items()
    ):
        return NotImplemented
    for name, default in plan.others.items():
        values.setdefault(name, default)
    if any(values.pop(name) is not neutral for name, neutral in plan.neutral):
        return NotImplemented
    recording = recording and STATE.grad_enabled
    if recording and not plan.differentiable:
        return NotImplemented
    try:
        result, tangent = push(operator, values, tangents) if tangents else (operator.fn(**values), None)
    except (RuntimeError, IndexError, TypeError, ValueError):
        return NotImplemented
    made = level.wrap_results(operator, first, result, tangent)
    if recording:
        given = dict(zip(plan.names, args))
        attach(operator, made, {name: level.lifted(given.get(name, values[name])) for name in values})
    return made
