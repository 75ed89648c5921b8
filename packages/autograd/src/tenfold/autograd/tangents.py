"""Forward-mode rules: what an operator does to tangents.

`jvp_rule(op.exp, ELEMENTWISE)` attaches one: a function of (operator, primal values by name, tangents by name) that returns
(result, tangent of the result); only parameters that have a tangent appear, list parameters with a list. Operators
with a gradient rule need none: the derivative of the pullback u -> J*u with respect to u, applied to the tangent, is
J t ("double backward trick", Townsend 2017).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from tenfold import plugins
from tenfold.autograd import engine
from tenfold.autograd.batching import is_elementwise
from tenfold.autograd.gradients import GradientRule, find as find_gradient
from tenfold.autograd.levels import SCOPES, highest, tensors_in
from tenfold.autograd.scopes import Scope
from tenfold.autograd.seen import seen
from tenfold.dispatch.operators import Operator, as_operator, find as find_operator
from tenfold.ops.creation.like import ones_like, zeros_like
from tenfold.tensor.tensor import Tensor

Values = dict[str, Any]
Rule = Callable[[Operator, Values, Values], tuple[Any, Any]]
TANGENTS: dict[str, Rule] = {}
_owners: dict[str, str] = {}


def jvp_rule(target: Any, rule: Rule | None = None) -> Any:
    """Attach a forward-mode rule to an operator (also as a decorator); RuntimeError when it has two owners."""
    if rule is None:
        return lambda function: jvp_rule(target, function)
    operator = as_operator(target)
    owner = plugins.current_owner(rule)
    if operator.name in TANGENTS:
        raise RuntimeError(
            f"operator {operator.name} has two forward-mode rules: from {_owners[operator.name]} and from {owner}; "
            f"uninstall one of the packages"
        )
    TANGENTS[operator.name], _owners[operator.name] = rule, owner
    plugins.on_failure(lambda: TANGENTS.pop(operator.name, None) and None)
    return rule


def jvp_by_name(names: str, rule: Rule) -> None:
    """Attach one rule to those of the named operators that exist."""
    for name in names.split():
        operator = find_operator(name)
        if operator is not None:
            jvp_rule(operator, rule)


def find(operator: Operator) -> Rule | None:
    """The operator's rule, after loading its family's rules of every package."""
    plugins.load_family("tenfold_batching", operator.family)
    found = TANGENTS.get(operator.name)
    return ELEMENTWISE if found is None and is_elementwise(operator) and find_gradient(operator) is not None else found


def draws(operator: Operator) -> bool:
    """Whether its results are random constants: gamma and Dirichlet samples are functions of their parameters."""
    return operator.random and find_gradient(operator) is None


def push(operator: Operator, values: Values, tangents: Values) -> tuple[Any, Any]:
    """The result and its tangent."""
    rule = find(operator)
    if rule is None and find_gradient(operator) is None:
        raise _unsupported(
            operator,
            "the operator has neither a forward-mode rule (tenfold.autograd.tangents.jvp_rule) nor a gradient rule from which to "
            "make one",
        )
    try:
        return (rule or DOUBLE_BACKWARD)(operator, values, tangents)
    except NotImplementedError as error:
        told = str(error)
        raise error if told.startswith(_UNSUPPORTED) else _unsupported(operator, told) from None


_UNSUPPORTED = "Trying to use forward AD with "


def _unsupported(operator: Operator, why: str) -> NotImplementedError:
    return NotImplementedError(
        f"{_UNSUPPORTED}{operator.name} that does not support it because it has not been implemented yet: {why}"
    )


# Rules of whole kinds of operators


def LINEAR(operator: Operator, values: Values, tangents: Values) -> tuple[Any, Any]:
    """Operators linear in all their differentiable tensors together: the same operator on the tangents, zero where none."""
    rule = find_gradient(operator)
    pushed = {name: _with_zeros(values[name], tangents.get(name)) for name in (rule.rules if rule else tangents)}
    return operator.fn(**values), operator.fn(**{**values, **pushed})


def _with_zeros(value: Any, tangent: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_with_zeros(v, t) for v, t in zip(value, tangent or [None] * len(value))]
    if tangent is not None:
        return tangent
    return zeros_like(value) if isinstance(value, Tensor) else 0 if isinstance(value, (int, float, complex)) else value


def MULTILINEAR(operator: Operator, values: Values, tangents: Values) -> tuple[Any, Any]:
    """Products, linear in each tensor alone: the sum of the operator with one factor replaced by its tangent."""
    terms = [operator.fn(**{**values, name: tangent}) for name, tangent in tangents.items()]
    return operator.fn(**values), _sum(terms)


def ELEMENTWISE(operator: Operator, values: Values, tangents: Values) -> tuple[Any, Any]:
    """Elementwise functions: their Jacobian is diagonal, so for real numbers the gradient rule applied to t is J t."""
    rule = find_gradient(operator)
    if rule is None or any(t.is_complex() for t in tensors_in(values.values())):
        return DOUBLE_BACKWARD(operator, values, tangents)
    out = operator.fn(**values)
    terms = []
    for name, tangent in tangents.items():
        if name in rule.rules:
            g = tangent if tangent.shape == out.shape else tangent.expand(out.shape)
            term = _apply_rule(rule, name, g, values, out)
            if term is not None:
                terms.append(term)
    return out, _sum(terms)


def _sum(terms: list[Any]) -> Any:
    total = terms[0] if terms else None
    for term in terms[1:]:
        total = total + term
    return total


def _apply_rule(rule: GradientRule, name: str, g: Tensor, values: Values, out: Tensor) -> Any:
    """What a gradient rule gives for one parameter."""
    function = rule.joint or rule.rules[name]
    given: list[Any] = []
    for wanted in _parameters(function):
        if wanted == "g":
            given.append(g)
        elif wanted == "needs":
            given.append([p == name for p in rule.rules])
        elif wanted == "out":
            given.append(out)
        elif wanted in values:
            given.append(values[wanted])
        else:  # NAME_shape, NAME_dtype
            stem, _, attribute = wanted.rpartition("_")
            given.append(tuple(out.shape) if attribute == "shape" else getattr(values[stem], attribute, ()))
    result = function(*given)
    return result[list(rule.rules).index(name)] if rule.joint else result


@functools.lru_cache(maxsize=4096)
def _parameters(function: Any) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)


def DOUBLE_BACKWARD(operator: Operator, values: Values, tangents: Values) -> tuple[Any, Any]:
    """The tangent through two pullbacks of the gradient rule: right for every differentiable operator."""
    result = operator.fn(**values)
    transform = highest(tensors_in(values.values()))

    def lift(t: Any) -> Any:
        return transform.lift(t) if transform is not None and isinstance(t, Tensor) else t

    scope = Scope(transform)
    with scope:
        started: list[tuple[Tensor, Tensor]] = []
        copies = {}
        for name, value in values.items():
            tangent = tangents.get(name)
            if isinstance(tangent, list):
                copies[name] = [_start(scope, lift(v), t, started) for v, t in zip(value, tangent)]
            else:
                copies[name] = _start(scope, lift(value), tangent, started)
        outputs = operator.fn(**copies)
        outs = [outputs] if isinstance(outputs, Tensor) else list(outputs)
        roots = [t for t in outs if t._node is not None]
        us = [scope.start(lift(ones_like(t))) for t in roots]  # any u would do: some rules are singular at 0
        outer, SCOPES.pushing = SCOPES.pushing, True
        try:
            pulled = _gradients(roots, [x for x, _ in started], us, True)
        finally:
            SCOPES.pushing = outer
    pairs = [(v, t) for v, (_, t) in zip(pulled, started) if v is not None and v._node is not None]
    live = scope.is_live([v for v, _ in pairs]) or any(t._node is not None for _, t in pairs)
    pushed = _gradients([v for v, _ in pairs], us, [t for _, t in pairs], live)
    found = {id(t): None if p is None else scope.cut(p) for t, p in zip(roots, pushed)}
    tangent = tuple(found.get(id(t)) for t in outs)
    return result, tangent[0] if isinstance(outputs, Tensor) else tangent


def _start(scope: Scope, value: Any, tangent: Any, started: list[tuple[Tensor, Tensor]]) -> Any:
    if tangent is None or not isinstance(value, Tensor):
        return value
    copy = scope.start(value)
    started.append((copy, tangent))
    return copy


def _gradients(outputs: list[Tensor], inputs: list[Tensor], cotangents: list[Tensor], create_graph: bool) -> list[Any]:
    """Gradients of the inputs, None for those the outputs do not depend on."""
    captures: dict[Any, Any] = dict.fromkeys([t._node for t in inputs])
    if outputs:
        engine.run([(t._node, g) for t, g in zip(outputs, cotangents)], True, create_graph, captures, accumulate=False)
    return [seen(captures[t._node]) for t in inputs]


__all__ = ["DOUBLE_BACKWARD", "ELEMENTWISE", "LINEAR", "MULTILINEAR", "find", "jvp_by_name", "jvp_rule", "push"]
