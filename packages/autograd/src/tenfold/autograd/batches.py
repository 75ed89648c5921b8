"""One operator call on a batch, and what can be done with it whatever the operator: loop over the examples."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from tenfold.dispatch.operators import Operator
from tenfold.ops.indexing.joining import stack as join
from tenfold.ops.view.shapes import expand, permute, unsqueeze
from tenfold.tensor.tensor import Tensor

Result = tuple[Any, Any]
Rule = Callable[["Batch"], Result]


class NotBatched(RuntimeError):
    """A call that vmap does not carry out, whatever one example's shape has to say of it."""


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


_warned: set[str] = set()


def loop(batch: Batch) -> Result:
    """What an operator without a rule does: each example by itself, and a warning once."""
    name = batch.operator.name
    if name not in _warned:
        _warned.add(name)
        warnings.warn(
            f"vmap: there is no batching rule for {name}, so it runs in a loop over the examples, which is slow; "
            f"a package attaches one with @batching(op.{name})",
            UserWarning,
            stacklevel=2,
        )
    return examples(batch)


def examples(batch: Batch) -> Result:
    """Run the operator once for each example and stack the results: what rules leave rare cases to."""
    if batch.size == 0:
        name = batch.operator.name
        raise RuntimeError(f"vmap: {name} runs once for each example and the batch is empty; its result's shape cannot be known")
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


# Placing the batch dimension; these work on values, that is on tensors of a lower level


def move(value: Tensor, dim: int | None, to: int, size: int) -> Tensor:
    """The value with its batch dimension at `to`; one without gets it by repetition, without memory."""
    if dim is None:
        return expand(unsqueeze(value, to), (*value._array.shape[:to], size, *value._array.shape[to:]))
    if dim == to:
        return value
    order = [i for i in range(value.dim()) if i != dim]
    order.insert(to, dim)
    return permute(value, order)
