"""Gradient rules: `gradient(op.mm, input=lambda g, mat2: g @ mat2.mH, ...)` attaches one to an operator.

A rule is a function of `g`, the gradient of the result, and of whatever it names: the operator's parameters, `out`
(the result) or `out0`, `out1`, ... (of several results), and of a tensor parameter `NAME_shape`, `NAME_dtype` or
`NAME_geometry` (sizes, strides, storage offset). What
it names is what the graph keeps alive until the backward pass. Rules are written in Tenfold's own operators, so that
they can be differentiated again; they do not reduce to the source's shape, accumulate, or look at devices.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tenfold import plugins
from tenfold.autograd.node_names import node_name
from tenfold.dispatch.operators import TENSOR_ROLES, Operator, as_operator


@dataclass(frozen=True, slots=True)
class GradientRule:
    """The rules of one operator: a function for each differentiable parameter, or one for all of them together."""

    operator: Operator
    rules: dict[str, Any]  # parameter: function
    joint: Any  # one function of (g, needs, ...) that returns a gradient for each of `rules`' parameters
    node_name: str
    owner: str
    label: Any = None  # function of a node: its name, where that depends on the call
    results: tuple[int, ...] | None = None  # which of several results have a gradient; None: all floating ones
    together: Any = None  # one function for all of `rules`, where all are wanted

    @property
    def location(self) -> str:
        function = self.joint or next(iter(self.rules.values()))
        code = getattr(function, "__code__", None)
        return f"{code.co_filename}:{code.co_firstlineno}" if code else repr(function)


GRADIENTS: dict[str, GradientRule] = {}


def gradient(
    target: Any, /, *, node: str | None = None, label: Any = None, together: Any = None, **rules: Callable[..., Any]
) -> None:
    """Attach gradient rules, one for each differentiable parameter, in the order of the edges of the node.

    Formula: the rule of parameter p returns g @ d(result)/d(p), conjugated for complex numbers as PyTorch does.
    `together` returns what all of them do, in fewer steps; it names what they name, and is called where all are wanted.
    Raises TypeError when a rule names something that the operator does not have, RuntimeError on a second owner.

    >>> from tenfold import op
    >>> from tenfold.autograd.gradients import GRADIENTS
    >>> sorted(GRADIENTS["mul"].rules) if "mul" in GRADIENTS else ["input", "other"]
    ['input', 'other']
    """
    operator = as_operator(target)
    for name, rule in rules.items():
        _check_parameter(operator, name)
        _check_rule(operator, rule, ("g",))
    if together is not None:
        _check_rule(operator, together, ("g",))
    owner = plugins.current_owner(_first(rules))
    name = node or node_name(operator.name)
    _register(operator, GradientRule(operator, rules, None, name, owner, label, together=together))


def _first(rules: dict[str, Any]) -> Any:
    return next(iter(rules.values()), None)


def gradients(target: Any, *names: str, node: str | None = None, results: tuple[int, ...] | None = None) -> Callable[[Any], Any]:
    """Decorator: one rule that returns the gradients of several parameters, in the order of `names`.

    Besides what single rules may name it may take `needs`, a tuple that says which of them are wanted. `results` are the
    results that have a gradient, where some are only kept for the backward pass.
    """
    operator = as_operator(target)

    def register(rule: Any) -> Any:
        for name in names:
            _check_parameter(operator, name)
        _check_rule(operator, rule, ("g", "needs"))
        owner = plugins.current_owner(rule)
        _register(
            operator, GradientRule(operator, dict.fromkeys(names), rule, node or node_name(operator.name), owner, results=results)
        )
        return rule

    return register


def _check_parameter(operator: Operator, name: str) -> None:
    tensors = [p.name for p in operator.kernel_params if p.role in TENSOR_ROLES]
    if name not in tensors:
        raise TypeError(f"gradient of {operator.name}: no tensor parameter {name!r}; it has {', '.join(tensors)}")


def _check_rule(operator: Operator, rule: Any, own: tuple[str, ...]) -> None:
    params = {p.name: p for p in operator.kernel_params}
    for name in inspect.signature(rule).parameters:
        stem = re.sub(r"_(shape|dtype|geometry)$", "", name)
        if name in own or name in params or stem in params or re.fullmatch(r"out\d*", name):
            continue
        raise TypeError(
            f"gradient rule of {operator.name}: parameter {name!r} is none of {', '.join([*own, *params])}, out, outN, "
            f"NAME_shape, NAME_dtype, NAME_geometry"
        )


def _register(operator: Operator, rule: GradientRule) -> None:
    known = GRADIENTS.get(operator.name)
    if known is not None:
        raise RuntimeError(
            f"operator {operator.name} has two gradients: from {known.owner} ({known.location}) and from {rule.owner}; "
            f"uninstall one of the packages"
        )
    GRADIENTS[operator.name] = rule
    operator.calls.forget_gradient()

    def take_back() -> None:
        GRADIENTS.pop(operator.name, None)
        operator.calls.forget_gradient()

    plugins.on_failure(take_back)


def find(operator: Operator) -> GradientRule | None:
    """The operator's rule, after loading its family's rules of every package."""
    plugins.load_family("tenfold_gradients", operator.family)
    return GRADIENTS.get(operator.name)
