"""Indexing, gathering and joining under vmap and forward mode."""

from __future__ import annotations

from tenfold import op
from tenfold.autograd.batching import Batch, Result, batching, batching_by_name, loop
from tenfold.autograd.batching_rules.kinds import along, joined, shifted, shifting
from tenfold.autograd.tangents import LINEAR, jvp_by_name
from tenfold.operators import find
from tenfold.ops.view import expand, unsqueeze
from tenfold.tensor import Tensor

batching_by_name("gather", along("index"))
batching_by_name("scatter scatter_add scatter_reduce", along("index", "src"))
batching_by_name("cat", joined)
batching_by_name("tril triu", shifting())


@batching(op.getitem)
def getitem(batch: Batch) -> Result:
    index = batch.values["index"]
    index = index if isinstance(index, tuple) else (index,)
    if any(isinstance(i, (Tensor, list)) for i in index):
        return loop(batch)
    return batch.call(input=batch.front("input"), index=(slice(None), *index)), 0


def index_select(batch: Batch) -> Result:
    n = batch.ndim("input")
    if n == 0 or batch.ndim("index") != 1:
        return loop(batch)
    dim = shifted(batch.values["dim"], n)
    if batch.names == ["input"]:
        return batch.call(input=batch.front("input"), dim=dim), 0
    # Each example has its own index: the same as gathering with the index repeated along the other dimensions.
    index = batch.front("index")
    for _ in range(dim - 1):
        index = unsqueeze(index, 1)
    for _ in range(n - dim):
        index = unsqueeze(index, -1)
    shape = list(batch.shape("input"))
    shape[dim - 1] = index.shape[dim]
    return op.gather(batch.front("input"), dim, expand(index, (batch.size, *shape))), 0


if find("gather") is not None:
    batching_by_name("index_select", index_select)
jvp_by_name("getitem gather index_select cat tril triu", LINEAR)
