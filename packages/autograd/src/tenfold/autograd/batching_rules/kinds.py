"""Batching rules of whole kinds of operators, by what they do with dimensions."""

from __future__ import annotations

from typing import Any

from tenfold.autograd.batches import Batch, Result, Rule, examples
from tenfold.dispatch.shape_rules import wrap_dim, wrap_dims
from tenfold.ops.view.shapes import reshape, unsqueeze
from tenfold.tensor.tensor import Tensor


def keep(batch: Batch) -> Result:
    """Operators of one tensor that treat every element alike: the batch stays where it is."""
    (name,) = batch.names
    return batch.call(), batch.dims[name]


def pointwise(batch: Batch) -> Result:
    """Elementwise operators: align the examples' dimensions at the end, as broadcasting does, with the batch in front."""
    tensors = [name for name, value in batch.values.items() if isinstance(value, Tensor)]
    dim = batch.dims[tensors[0]]
    if len(tensors) == 1 or (dim is not None and _agree(batch, tensors, dim)):
        return batch.call(), dim
    return batch.call(**aligned(batch)), 0


def _agree(batch: Batch, tensors: list[str], dim: int) -> bool:
    n = batch.ndim(tensors[0])
    return all(batch.dims[name] == dim and batch.ndim(name) == n for name in tensors)


def aligned(batch: Batch, everything: bool = False) -> dict[str, Tensor]:
    """The tensors with the batch in front of as many dimensions as broadcasting gives; without `everything` only those
    that have a batch."""
    tensors = [name for name, value in batch.values.items() if isinstance(value, Tensor)]
    n = max([batch.ndim(name) for name in tensors], default=0)
    return {name: padded(batch.front(name), n) for name in (tensors if everything else batch.names)}


def padded(value: Tensor, n: int) -> Tensor:
    """The batch first, then ones, then the example's own dimensions, n of them in all."""
    for _ in range(n + 1 - value.dim()):
        value = unsqueeze(value, 1)
    return value


def shifting(*names: str, on: str = "input") -> Rule:
    """Operators whose parameters `names` count dimensions of one tensor: put the batch in front and count one further."""

    def rule(batch: Batch) -> Result:
        n = batch.ndim(on)
        if n == 0 or batch.names != [on]:
            return examples(batch)
        changed: dict[str, Any] = {name: shifted(batch.values[name], n) for name in names}
        return batch.call(**{on: batch.front(on)}, **changed), 0

    return rule


def shifted(dims: Any, n: int) -> Any:
    """Dimensions of an example as dimensions of the batch; all of an example's for None."""
    if dims is None:
        return tuple(range(1, n + 1))
    if isinstance(dims, int):
        return wrap_dim(dims, n) + 1
    return tuple(wrap_dim(d, n) + 1 for d in dims)


def reduction(batch: Batch) -> Result:
    """Operators along `dim` (an int, several, or None for all elements), with or without `keepdim`."""
    if batch.names != ["input"]:
        return examples(batch)
    x, n = batch.front("input"), batch.ndim("input")
    dim, keepdim = batch.values.get("dim"), batch.values.get("keepdim", False)
    if dim in ((), []) and batch.operator.name in ("any", "all"):  # of each element, where others reduce over all
        return batch.call(input=x, dim=()), 0
    if n == 0:
        wrap_dims(dim, 0, batch.operator.name)
        whole = dim if dim is None or isinstance(dim, int) else (1,) if dim else None
        return _each(batch.call(input=unsqueeze(x, 1), dim=whole if isinstance(whole, tuple) else 1), (batch.size,)), 0
    if dim is None and n == 1:
        return batch.call(input=x, dim=1), 0
    if dim is None or (not isinstance(dim, int) and not dim):
        flat = reshape(x, (batch.size, _numel(batch.shape("input"))))
        shape = (batch.size,) + (1,) * (n if keepdim else 0)
        return _each(batch.call(input=flat, dim=1 if dim is None else (1,)), shape), 0
    return batch.call(input=x, dim=shifted(dim, n)), 0


def _numel(shape: tuple[int, ...]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


def _each(results: Any, shape: tuple[int, ...]) -> Any:
    if isinstance(results, Tensor):
        return reshape(results, shape)
    return tuple(reshape(r, shape) for r in results)


def along(*others: str) -> Rule:
    """Operators with `dim` and further tensors of as many dimensions as the input (gather, scatter): all with a batch."""

    def rule(batch: Batch) -> Result:
        n = batch.ndim("input")
        given = [name for name in others if isinstance(batch.values.get(name), Tensor)]
        if n == 0 or any(batch.ndim(name) != n for name in given):
            return examples(batch)
        changed = {name: batch.front(name) for name in ("input", *given)}
        return batch.call(dim=shifted(batch.values["dim"], n), **changed), 0

    return rule


def joined(batch: Batch) -> Result:
    """Operators on a list of tensors along `dim`: cat, and stack, which counts one dimension more."""
    tensors = batch.fronts("tensors")
    n = max(t.dim() for t in tensors)
    if batch.operator.name == "cat":
        tensors = [t for t in tensors if t.dim() == n or tuple(t.shape[1:]) != (0,)]  # empty vectors join anything
        n -= 1
    return batch.call(tensors=tensors, dim=shifted(batch.values["dim"], n)), 0


def like(batch: Batch) -> Result:
    """Factories that follow another tensor's shape: one for each example."""
    return batch.call(), batch.dims["input"]
