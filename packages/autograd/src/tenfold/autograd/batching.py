"""Batching rules: what an operator does when some arguments have a batch dimension more (used by vmap).

`@batching(op.sum)` attaches a rule. It gets a `Batch`, calls operators on its values, and returns (result, batch dimension
of the result); several results come as a tuple with one dimension for all or a tuple of dimensions. Factories in
`batching_rules/` make the rules of whole kinds of operators. An operator without a rule runs in a loop over the
examples, which is right but slow, and says so once.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from tenfold import plugins
from tenfold.autograd.batch_level import move
from tenfold.dispatch import shape_rules as rules
from tenfold.dispatch.operators import Operator, as_operator, find as find_operator
from tenfold.ops.indexing.joining import stack as join
from tenfold.tensor.tensor import Tensor

Result = tuple[Any, Any]
Rule = Callable[["Batch"], Result]
BATCHING: dict[str, Rule] = {}
_owners: dict[str, str] = {}


class Batch:
    """One operator call on batched values: the arguments, and for each the batch dimension or None."""

    __slots__ = ("dims", "names", "operator", "randomness", "size", "values")

    def __init__(self, operator: Operator, values: dict[str, Any], dims: dict[str, Any], size: int, randomness: str) -> None:
        self.operator, self.values, self.dims, self.size, self.randomness = operator, values, dims, size, randomness
        self.names = [name for name, dim in dims.items() if _has_batch(dim)]

    def call(self, **changed: Any) -> Any:
        """The operator on these values, some of them changed."""
        return self.operator.fn(**{**self.values, **changed})

    def front(self, name: str) -> Tensor:
        """A tensor argument with the batch dimension first; repeated without memory if it had none."""
        return move(self.values[name], self.dims[name], 0, self.size)

    def fronts(self, name: str) -> list[Tensor]:
        """Likewise for a list of tensors."""
        dims = self.dims[name] or [None] * len(self.values[name])
        return [move(v, d, 0, self.size) for v, d in zip(self.values[name], dims)]

    def ndim(self, name: str) -> int:
        """Dimensions of one example of an argument."""
        return int(self.values[name].dim()) - (self.dims[name] is not None)

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of one example of an argument."""
        shape, dim = tuple(self.values[name].shape), self.dims[name]
        return shape if dim is None else shape[:dim] + shape[dim + 1 :]

    def example(self, index: int) -> dict[str, Any]:
        """The arguments of one example."""
        return {name: _pick(value, self.dims[name], index) for name, value in self.values.items()}


def _has_batch(dim: Any) -> bool:
    return any(d is not None for d in dim) if isinstance(dim, (list, tuple)) else dim is not None


def _pick(value: Any, dim: Any, index: int) -> Any:
    if isinstance(dim, list):
        return [_pick(v, d, index) for v, d in zip(value, dim)]
    return value if dim is None else value[(slice(None),) * dim + (index,)]


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
    plugins.on_failure(lambda: BATCHING.pop(operator.name, None) and None)


def find(operator: Operator) -> Rule | None:
    """The operator's rule, after loading its family's rules of every package."""
    plugins.load_family("tenfold_batching", operator.family)
    found = BATCHING.get(operator.name)
    if found is None and is_elementwise(operator):
        from tenfold.autograd.batching_rules.kinds import pointwise

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


_warned: set[str] = set()


def loop(batch: Batch) -> Result:
    """Run the operator once for each example and stack the results."""
    name = batch.operator.name
    if name not in _warned:
        _warned.add(name)
        warnings.warn(
            f"vmap: there is no batching rule for {name}, so it runs in a loop over the examples, which is slow; "
            f"a package attaches one with @batching(op.{name})",
            UserWarning,
            stacklevel=2,
        )
    if batch.size == 0:
        raise RuntimeError(f"vmap: {name} has no batching rule and the batch is empty; its result's shape cannot be known")
    return stacked([batch.operator.fn(**batch.example(i)) for i in range(batch.size)])


def stacked(results: list[Any]) -> Result:
    """The results of the examples as one, batch first."""
    first = results[0]
    if isinstance(first, Tensor):
        return stack(results), 0
    made = tuple([stack(list(column)) for column in zip(*results)])
    return (type(first)(*made) if hasattr(first, "_fields") else made), 0


def stack(tensors: list[Tensor]) -> Tensor:
    """Examples' results of one shape, along a new first dimension."""
    shape = tensors[0].shape
    if any(t.shape != shape for t in tensors):
        raise RuntimeError(
            f"vmap: the examples give results of different shapes ({', '.join(str(list(t.shape)) for t in tensors)}), "
            f"which cannot be one tensor"
        )
    return join(tensors)
