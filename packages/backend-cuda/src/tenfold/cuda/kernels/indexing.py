"""Indexing by Triton kernels (places.py); masks, and indices in more dimensions than those have, by the array module.

An index that is out of bounds is found on the device, which reads and writes nothing for it, and told later (reports.py).
"""

from __future__ import annotations

from typing import Any

from tenfold.cpu.places import shape_of
from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels import array_indexing, joining, places as at, scattering, sums, view  # noqa: F401 - attach kernels
from tenfold.cuda.kernels.sums import row, target
from tenfold.dispatch.operators import op
from tenfold.ops.indexing.selection import check_values


@kernel(op.index, device="cuda", plays=True, recycles=True)
def index(input: Any, indices: Any) -> Any:
    if not input.size:
        shape_of(input, indices, told=True)  # refuses places where there are none
    places = at.selected(input.shape, indices)
    found = NotImplemented if places is None else at.take("index", input, places)
    return array_indexing.index(input, indices) if found is NotImplemented else found


@kernel(op.index_put, device="cuda", into=True)
def index_put(input: Any, indices: Any, values: Any, accumulate: bool, out: Any = None) -> Any:
    if out is input and (values is out or any(place is out for place in indices)):
        return NotImplemented  # the full path refuses it
    indices, masked = array_indexing.without_masks(indices) if values.size != 1 else (indices, False)
    if masked or input.dtype != values.dtype or not input.size:
        check_values(values, shape_of(input, indices, told=True) or (), input.dtype)
    places = at.selected(input.shape, indices)
    if places is not None:
        strides = at.spread(places.shape, values)
        if accumulate:
            found = sums.added("index_put", input, out, places, values, strides)
            if found is not None:
                return found
        else:
            out = target(input, out)
            if at.run("set", "index_put", values, strides, out, places):
                return out
    return array_indexing.index_put(target(input, out), indices, values, accumulate)


@kernel(op.gather, device="cuda", plays=True, recycles=True)
def gather(input: Any, dim: int, index: Any, sparse_grad: bool) -> Any:
    rows, positions = row(input), row(index)
    now = runtime.current()
    if not positions.size:
        return now.empty(index.shape, input.dtype, now.index_of(input))
    found = at.take("gather", rows, at.along(positions, dim, rows.shape))
    return array_indexing.gather(input, dim, index) if found is NotImplemented else found.reshape(index.shape)
