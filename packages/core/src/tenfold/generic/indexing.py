"""Indexing on any device: views by their shape rules, and what gradients of views need, by writes to strided regions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cpu.indexing import independent
from tenfold.generic import view
from tenfold.kernels import ANY_DEVICE, kernel, table
from tenfold.operators import op

restride = view.restride


@kernel(op.strided_sum, device=ANY_DEVICE)
def strided_sum(backend: Any, input: Any, shape: Any, size: Any, stride: Any, storage_offset: int) -> Any:
    result = backend.from_numpy(np.zeros(shape, input.dtype), None)
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


@kernel(op.as_strided_scatter, device=ANY_DEVICE)
def as_strided_scatter(backend: Any, input: Any, src: Any, size: Any, stride: Any, storage_offset: int | None) -> Any:
    result = backend.empty(input.shape, input.dtype, None)
    backend.write(result, input)
    backend.write(backend.as_strided(result, size, stride, storage_offset or 0), src)
    return result
