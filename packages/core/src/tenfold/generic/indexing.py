"""Indexing on any device by writes to strided regions: joined tensors, and what gradients of views need."""

from typing import Any

import numpy as np

from tenfold.cpu.indexing import independent
from tenfold.dispatch.kernels import ANY_DEVICE, kernel, table
from tenfold.dispatch.meta import Meta, contiguous_strides
from tenfold.dispatch.operators import op
from tenfold.generic import view
from tenfold.types.memory_format import refuse_negative

restride = view.restride


@kernel(op.strided_sum, device=ANY_DEVICE)
def strided_sum(backend: Any, input: Any, shape: Any, size: Any, stride: Any, storage_offset: int) -> Any:
    result = backend.from_numpy(np.zeros(shape, input.dtype), backend.index_of(input))
    kept, shared = independent(size, stride)
    itemsize = input.dtype.itemsize
    sizes = [size[d] for d in kept]
    steps = [s // itemsize for s in input.strides]
    origin = backend.memory(input)[2] // itemsize
    add = table(backend.name).add
    for place in np.ndindex(*(size[d] for d in shared)) if 0 not in size else ():
        ahead = [sum(i * s[d] for i, d in zip(place, shared)) for s in (stride, steps)]
        region = backend.as_strided(result, sizes, [stride[d] for d in kept], storage_offset + ahead[0])
        terms = backend.as_strided(input, sizes, [steps[d] for d in kept], origin + ahead[1])
        backend.write(region, add(region, terms) if shared else terms)
    return result


@kernel(op.strided_set, device=ANY_DEVICE)
def strided_set(backend: Any, input: Any, src: Any, size: Any, stride: Any, storage_offset: int | None) -> Any:
    refuse_negative(stride)
    result = backend.empty(input.shape, input.dtype, backend.index_of(input))
    backend.write(result, input)
    region = backend.as_strided(result, size, stride, storage_offset or 0)
    backend.write(region, src)
    return result


@kernel(op.cat, device=ANY_DEVICE)
def cat(backend: Any, tensors: Any, dim: int) -> Any:
    geometry = op.cat.shape_rule([Meta(a.shape, a.dtype) for a in tensors], dim)
    result = backend.empty(geometry.shape, geometry.dtype, backend.index_of(tensors[0]))
    d, start = dim % len(geometry.shape), 0
    steps = contiguous_strides(geometry.shape)
    for a in tensors:
        if a.shape != (0,):
            backend.write(backend.as_strided(result, a.shape, steps, start * steps[d]), a)
            start += a.shape[d]
    return result


@kernel(op.stack, device=ANY_DEVICE)
def stack(backend: Any, tensors: Any, dim: int) -> Any:
    geometry = op.stack.shape_rule([Meta(a.shape, a.dtype) for a in tensors], dim)
    result = backend.empty(geometry.shape, geometry.dtype, backend.index_of(tensors[0]))
    d = dim % len(geometry.shape)
    steps = contiguous_strides(geometry.shape)
    for i, a in enumerate(tensors):
        backend.write(backend.as_strided(result, a.shape, (*steps[:d], *steps[d + 1 :]), i * steps[d]), a)
    return result
