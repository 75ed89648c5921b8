"""Indexing, gathering, scattering and joining under vmap and forward mode."""

from __future__ import annotations

from typing import Any

from tenfold.autograd.batches import move
from tenfold.autograd.batching import Batch, Result, batching, batching_by_name, examples
from tenfold.autograd.batching_rules.kinds import along, joined, padded, shifted, shifting
from tenfold.autograd.tangents import LINEAR, jvp_by_name
from tenfold.dispatch.operators import op
from tenfold.ops.creation.sequences import arange
from tenfold.ops.view.shapes import expand, permute, reshape

batching(op.gather)(along("index"))
batching_by_name("scatter_set scatter_add scatter_reduce", along("index", "src"))
batching(op.cat, op.stack)(joined)
batching(op.tril, op.triu)(shifting())
batching(op.flip)(shifting("dims"))


def _of_unknown_size(batch: Batch) -> Result:
    name = batch.operator.name
    called = "aten::where with a condition alone, or nonzero" if name == "nonzero" else name
    raise RuntimeError(
        f"vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over {called}, whose "
        f"result is as large as the examples' values say; use tenfold.where with both values or a mask instead, or call {name} "
        f"outside"
    )


batching_by_name("nonzero masked_select unique_parts repeat_places bincount", _of_unknown_size)


@batching(op.roll)
def roll(batch: Batch) -> Result:
    x, dims = batch.front("input"), batch.values["dims"]
    if dims is None or dims == ():
        return reshape(batch.call(input=reshape(x, (batch.size, -1)), dims=(1,)), x.shape), 0
    return batch.call(input=x, dims=shifted(dims, batch.ndim("input"))), 0


@batching(op.getitem)
def getitem(batch: Batch) -> Result:
    index = batch.values["index"]
    return batch.call(input=batch.front("input"), index=(slice(None), *(index if isinstance(index, tuple) else (index,)))), 0


@batching(op.strided_sum)
def strided_sum(batch: Batch) -> Result:
    shape, size = batch.values["shape"], batch.values["size"]
    changed = {"shape": (batch.size, *shape), "size": (batch.size, *size), "stride": (_count(shape), *batch.values["stride"])}
    return batch.call(input=batch.front("input"), **changed), 0


@batching(op.strided_set)
def strided_set(batch: Batch) -> Result:
    size = (batch.size, *batch.values["size"])
    stride = (_count(batch.shape("input")), *batch.values["stride"])
    src = expand(padded(batch.front("src"), len(size) - 1), size)
    offset = batch.values["storage_offset"] or 0
    return batch.call(input=batch.front("input"), src=src, size=size, stride=stride, storage_offset=offset), 0


def _count(shape: Any) -> int:
    count = 1
    for n in shape:
        count *= n
    return count


# Index tensors


def _gathered(batch: Batch) -> tuple[list[Any], int, int] | None:
    """Index lists with the batch's own positions first: (indices, their dimensions r, where the r dimensions belong).

    None when there are masks, whose number of places may differ between the examples.
    """
    indices, dims = batch.values["indices"], batch.dims["indices"] or [None] * len(batch.values["indices"])
    places = [d for d, i in enumerate(indices) if i is not None]
    if any(indices[d].dtype.category == 0 for d in places):
        return None
    r = max([indices[d].dim() - (dims[d] is not None) for d in places], default=0)
    first = indices[places[0]] if places else batch.values["input"]
    rows = padded(arange(batch.size, device=first.device), r)
    made = [
        None if i is None else i if d is None and i.dim() < r + 1 else padded(move(i, d, 0, batch.size), r)
        for i, d in zip(indices, dims)
    ]
    at = places[0] if places and places[-1] - places[0] + 1 == len(places) else 0
    return [rows, *made], r, at


def _is_plain(batch: Batch) -> bool:
    """Whether the indices are the same for all examples and neighbours, so that a batch in front changes nothing."""
    places = [d for d, i in enumerate(batch.values["indices"]) if i is not None]
    return "indices" not in batch.names and bool(places) and places[-1] - places[0] + 1 == len(places)


@batching(op.index)
def index(batch: Batch) -> Result:
    if _is_plain(batch):
        return batch.call(input=batch.front("input"), indices=[None, *batch.values["indices"]]), 0
    found = _gathered(batch)
    if found is None:
        return examples(batch)
    indices, r, at = found
    result = batch.call(input=batch.front("input"), indices=indices)  # (B, *index, *rest)
    if at:
        order = [0, *range(r + 1, r + 1 + at), *range(1, r + 1), *range(r + 1 + at, result.dim())]
        result = permute(result, order)
    return result, 0


@batching(op.index_put)
def index_put(batch: Batch) -> Result:
    x, values = batch.front("input"), batch.front("values")
    if _is_plain(batch):
        n = _region(batch)
        if n is not None:
            return batch.call(input=x, indices=[None, *batch.values["indices"]], values=padded(values, n)), 0
    found = _gathered(batch)
    if found is None:
        return examples(batch)
    indices, r, at = found
    if at:  # the region lies as (B, *index, *rest), the values as (B, *rest before, *index, *rest after)
        used = sum(i is not None for i in indices) - 1
        values = padded(values, r + batch.ndim("input") - used)
        order = [0, *range(at + 1, at + r + 1), *range(1, at + 1), *range(at + r + 1, values.dim())]
        values = permute(values, order)
    else:
        values = padded(values, r + batch.ndim("input") - (sum(i is not None for i in indices) - 1))
    return batch.call(input=x, indices=indices, values=values), 0


def _region(batch: Batch) -> int | None:
    """Dimensions of the written region; None for masks together with other indices."""
    given = [i for i in batch.values["indices"] if i is not None]
    masks = [i for i in given if i.dtype.category == 0]
    if masks and len(given) > 1:
        return None
    n = batch.ndim("input")
    return int(n - masks[0].dim() + 1 if masks else n - len(given) + max(i.dim() for i in given))


jvp_by_name(
    "getitem gather index index_put scatter_set scatter_add cat stack tril triu flip roll strided_sum strided_set", LINEAR
)
