"""Indexing by Triton kernels (places.py); masks, and indices in more dimensions than those have, by the array module.

An index that is out of bounds is found on the device, which reads and writes nothing for it, and told later (reports.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cpu.places import shape_of
from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels import adjoints, array_indexing, joining, places as at, scattering, strided, sums, view  # noqa: F401 - attach kernels
from tenfold.cuda.kernels.conversion import may_share
from tenfold.cuda.kernels.elementwise import largest, run
from tenfold.cuda.kernels.sums import row, target
from tenfold.dispatch.operators import op
from tenfold.dispatch.runtime import STATE
from tenfold.ops.indexing.selection import check_values
from tenfold.settings.determinism import are_deterministic_algorithms_enabled
from tenfold.tensor.tensor import Tensor


@kernel(op.index, device="cuda", plays=True, recycles=True)
def index(input: Any, indices: Any) -> Any:
    if not input.size:
        shape_of(input, indices, told=True)  # refuses places where there are none
    places = at.selected(input.shape, indices)
    found = NotImplemented if places is None else at.take("index", input, places)
    return array_indexing.index(input, indices) if found is NotImplemented else found


@kernel(op.index_put, device="cuda", into=True, plays=are_deterministic_algorithms_enabled)
def index_put(input: Any, indices: Any, values: Any, accumulate: bool, out: Any = None) -> Any:
    if out is input and (values is out or any(place is out for place in indices)):
        return NotImplemented  # the full path refuses it
    if values.size == 1 and not accumulate and input.size and input.dtype == values.dtype:
        filled = _filled(input, indices, values, out)
        if filled is not None:
            return filled
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


def _filled(input: Any, indices: Any, value: Any, out: Any) -> Any:
    """One value where a mask holds: how many places those are need not be known. None for other indices."""
    given = [(d, i) for d, i in enumerate(indices) if i is not None]
    if len(given) != 1 or given[0][1].dtype.kind != "b" or not given[0][1].ndim or input.dtype.kind == "b":
        return None  # a mask may share memory with other bools
    (lead, mask), now = given[0], runtime.current()
    end = lead + mask.ndim
    if mask.shape != input.shape[lead:end]:
        return None
    behind = input.ndim - end
    mask = now.view(mask, (*mask.shape, *(1,) * behind), (*mask.strides, *(0,) * behind), now.memory(mask)[2], mask.dtype)
    made = now.empty(input.shape, input.dtype, now.index_of(input)) if out is None else out
    return None if run("where", mask, value.reshape(()), input, out=made) is NotImplemented else made


def _fits(input: Any, dim: int, index: Any, source: Any) -> bool:
    """Whether slices of `source` go to positions of a dimension: what else may be asked for, the operator's body knows."""
    if not -input.ndim <= dim < input.ndim or index.ndim != 1 or index.dtype != sums.I64 or input.dtype != source.dtype:
        return False
    dim %= input.ndim
    return bool(source.shape == (*input.shape[:dim], index.size, *input.shape[dim + 1 :]))


def _at_dim(input: Any, dim: int, index: Any) -> list[Any]:
    return [*(None,) * (dim % input.ndim), index]


@kernel(op.index_copy, device="cuda", into=True, plays=True)
def index_copy(input: Any, dim: int, index: Any, source: Any, out: Any = None) -> Any:
    if not input.size or not _fits(input, dim, index, source):
        return NotImplemented
    return index_put(input, _at_dim(input, dim, index), source, False, out)


@kernel(op.index_add, device="cuda", into=True, plays=are_deterministic_algorithms_enabled)
def index_add(input: Any, dim: int, index: Any, source: Any, alpha: Any, out: Any = None) -> Any:
    if alpha != 1 or not input.size or not _fits(input, dim, index, source):
        return NotImplemented
    return index_put(input, _at_dim(input, dim, index), source, True, out)


@kernel(op.scatter, device="cuda", into=True)
def scatter(input: Any, dim: int, index: Any, src: Any, value: Any, reduce: Any, out: Any = None) -> Any:
    """Without a reduction, of places and values that fit. In place a tensor of values comes as it is, not as its array."""
    given = src if value is None else value
    if out is not None and isinstance(given, Tensor):
        own = given._key.level is None and given._key.device.type == "cuda" and (given._node is None or not STATE.grad_enabled)
        if not own or given._key.index != runtime.current().index_of(out) or may_share(given._array, out):
            return NotImplemented
        given = given._array
    if reduce is not None or index.dtype != sums.I64 or not -input.ndim <= dim < input.ndim or index.ndim != input.ndim:
        return NotImplemented
    dim, values = dim % input.ndim, isinstance(given, runtime.current().array_type)
    if any(m > n for d, (m, n) in enumerate(zip(index.shape, input.shape)) if d != dim) or index is out or given is out:
        return NotImplemented
    if values and (
        given.dtype != input.dtype or given.ndim != index.ndim or any(m > n for m, n in zip(index.shape, given.shape))
    ):
        return NotImplemented
    return scattering.put(input, dim, index, given, out) if values or _held(input.dtype, given) else NotImplemented


def _held(dtype: Any, number: Any) -> bool:
    """Whether a dtype has a number, as far as that is told soon."""
    if dtype.kind in "fV":
        return type(number) in (int, float) and not largest(dtype) < abs(number) < float("inf")
    return dtype.kind in "iu" and type(number) is int and np.iinfo(dtype).min <= number <= np.iinfo(dtype).max


@kernel(op.gather, device="cuda", plays=True, recycles=True)
def gather(input: Any, dim: int, index: Any, sparse_grad: bool) -> Any:
    rows, positions = row(input), row(index)
    now = runtime.current()
    if not positions.size:
        return now.empty(index.shape, input.dtype, now.index_of(input))
    found = at.take("gather", rows, at.along(positions, dim, rows.shape))
    return array_indexing.gather(input, dim, index) if found is NotImplemented else found.reshape(index.shape)
