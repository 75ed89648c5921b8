"""Random numbers under vmap: refused, the same for all examples, or others for each, as its `randomness` says."""

from __future__ import annotations

from tenfold.autograd.batching import Batch, Result, Rule, batching_by_name, stacked
from tenfold.autograd.batching_rules.kinds import aligned, padded
from tenfold.ops.creation.factories import empty
from tenfold.ops.view.shapes import expand


def drawing(different: Rule, *, by_shape: bool = True) -> Rule:
    """The rule of an operator that draws; `by_shape`: it depends on its tensors' shapes only."""

    def rule(batch: Batch) -> Result:
        name = batch.operator.name
        _require_allowed(batch)
        if batch.randomness == "different":
            return different(batch)
        by_values = not by_shape and (batch.values.get("p") is None or "p" in batch.names)
        if batch.names and by_values:
            raise _cannot_be_same(name)
        return batch.operator.fn(**batch.example(0)), None

    return rule


def _require_allowed(batch: Batch) -> None:
    if batch.randomness == "error":
        raise RuntimeError(
            f"vmap: called random operation while in randomness error mode, {batch.operator.name}: say with randomness='same' or "
            f"'different' what the examples should get, or draw outside vmap"
        )


def _cannot_be_same(name: str) -> RuntimeError:
    return RuntimeError(
        f"Vmap does not currently support same randomness with a batched tensor input: {name} got an argument that differs "
        f"between the examples; use randomness='different', or draw outside vmap"
    )


def sized(batch: Batch) -> Result:
    """Factories: one dimension more."""
    values = dict(batch.values)
    if batch.operator.name == "randint" and values["size"] is None:  # randint(high, size)
        values["low"], values["high"], values["size"] = 0, values["low"], values["high"]
    size = values["size"]
    values["size"] = (batch.size, *((size,) if isinstance(size, int) else size))
    return batch.operator.fn(**values), 0


def shaped(batch: Batch) -> Result:
    """Elementwise draws: their tensors with the batch in front, repeated where they have none."""
    return batch.call(**aligned(batch, everything=True)), 0


def one_by_one(batch: Batch) -> Result:
    """A draw for each example."""
    return stacked([batch.operator.fn(**batch.example(i)) for i in range(batch.size)])


def rows(batch: Batch) -> Result:
    """`multinomial`: the examples as rows of one matrix, where they are vectors."""
    return (batch.call(input=batch.front("input")), 0) if batch.ndim("input") == 1 else one_by_one(batch)


def bernoulli(batch: Batch) -> Result:
    """With a probability for all examples, the tensor only gives the shape."""
    return drawing(shaped, by_shape=batch.values["p"] is not None and "p" not in batch.names)(batch)


def normal(batch: Batch) -> Result:
    """Two numbers come with a size; tensors among mean and standard deviation give the shape."""
    numbers = not any(hasattr(batch.values[name], "_array") for name in ("mean", "std"))
    return drawing(sized)(batch) if numbers else drawing(shaped, by_shape=False)(batch)


def in_place(batch: Batch) -> Result:
    """Draws that overwrite their tensor."""
    name, target = batch.operator.name, batch.values["input"]
    _require_allowed(batch)
    dim, parameters = batch.dims["input"], [n for n in batch.names if n != "input"]
    if batch.randomness == "same":
        if parameters:
            raise _cannot_be_same(name)
        if dim is None:
            batch.call()
        else:
            one = batch.call(input=empty(batch.shape("input"), dtype=target.dtype, device=target.device))
            target.copy_(expand(one.unsqueeze(dim), target.shape))
    elif dim is None and parameters:
        raise RuntimeError(
            f"vmap: {name} is not possible because there exists a Tensor `other` in extra_args that has more elements than "
            f"`self`: '{parameters[0]}' differs between the examples, which share what is written; use the out-of-place form"
        )
    elif dim is None:
        raise RuntimeError(
            f"vmap: Cannot ask for different inplace randomness on an unbatched tensor: {name} writes one that all examples "
            f"share; use the out-of-place form"
        )
    else:
        n = batch.ndim("input")
        batch.call(input=batch.front("input"), **{p: padded(batch.front(p), n) for p in parameters})
    return target, dim


batching_by_name("rand randn randint", drawing(sized))
batching_by_name("rand_like randn_like", drawing(shaped))
batching_by_name("bernoulli", bernoulli)
batching_by_name("normal", normal)
batching_by_name("multinomial", drawing(rows, by_shape=False))
batching_by_name("randperm", drawing(one_by_one))
batching_by_name("uniform_ normal_ random_ exponential_ bernoulli_", in_place)
