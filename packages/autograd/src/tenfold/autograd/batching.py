"""Batching rules: what an operator does when some arguments have a batch dimension more (used by vmap).

`@batching(op.sum)` attaches a rule. It gets a `Batch`, calls operators on its values, and returns (result, batch dimension
of the result); several results come as a tuple with one dimension for all or a tuple of dimensions. Factories in
`batching_rules/` make the rules of whole kinds of operators. An operator without a rule runs in a loop over the
examples, which is right but slow, and says so once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold import plugins
from tenfold.autograd.batches import (
    Batch,
    Result,
    Rule,
    examples,
    loop,
    stack,
    stacked,
)
from tenfold.autograd.batching_rules.kinds import pointwise
from tenfold.dispatch import shape_rules as rules
from tenfold.dispatch.operators import Operator, as_operator, find as find_operator

__all__ = [
    "BATCHING", "Batch", "Result", "Rule", "batching", "batching_by_name", "examples", "find", "is_elementwise", "loop",
    "rule_for", "stack", "stacked",
]  # fmt: skip

BATCHING: dict[str, Rule] = {}
PLANS: dict[Operator, Any] = {}  # what quick_calls.py has made of the rules
_owners: dict[str, str] = {}


def batching(*targets: Any) -> Callable[[Any], Any]:
    """Decorator: the batching rule of one or more operators; RuntimeError when one has two owners."""

    def register(rule: Rule) -> Rule:
        for target in targets:
            _register(as_operator(target), rule)
        return rule

    return register


def batching_by_name(names: str, rule: Rule) -> None:
    """Attach one rule to those of the named operators that exist."""
    for name in names.split():
        operator = find_operator(name)
        if operator is not None:
            _register(operator, rule)


def _register(operator: Operator, rule: Rule) -> None:
    owner = plugins.current_owner(rule)
    if operator.name in BATCHING:
        raise RuntimeError(
            f"operator {operator.name} has two batching rules: from {_owners[operator.name]} and from {owner}; "
            f"uninstall one of the packages"
        )
    BATCHING[operator.name], _owners[operator.name] = rule, owner
    PLANS.clear()
    plugins.on_failure(lambda: BATCHING.pop(operator.name, None) and None)


def find(operator: Operator) -> Rule | None:
    """The operator's rule, after loading its family's rules of every package."""
    plugins.load_family("tenfold_batching", operator.family)
    found = BATCHING.get(operator.name)
    if found is None and is_elementwise(operator):
        return pointwise
    return found


def is_elementwise(operator: Operator) -> bool:
    """Whether a primitive computes each element of its one result from the elements at its place."""
    if operator.body is not None or operator.outputs != 1:
        return False
    return operator.family == "pointwise" or operator.shape_rule in (rules.pointwise, rules.pointwise_bool)


def rule_for(operator: Operator) -> Rule:
    """The operator's rule, or the loop over the examples."""
    return find(operator) or loop
