"""Copies and conversions on any device, through its backend."""

from typing import Any

import numpy as np

from tenfold.dispatch import devices
from tenfold.dispatch.kernels import ANY_DEVICE, kernel
from tenfold.dispatch.operators import op


@kernel(op.to_device, device=ANY_DEVICE)
def to_device(backend: Any, input: Any, device: Any, non_blocking: bool) -> Any:
    host = backend.to_numpy(input)
    if device is devices.CPU and backend.name == "cpu":
        host = np.array(host)
    backend = device.backend
    receive = getattr(backend, "from_numpy_later" if non_blocking else "from_numpy", backend.from_numpy)
    return receive(host, device.index), device


@kernel(op.clone, device=ANY_DEVICE)
def clone(backend: Any, input: Any, memory_format: Any) -> Any:
    geometry = op.clone.shape_rule(input, memory_format)
    itemsize = input.dtype.itemsize
    block = backend.empty((max(geometry.size, 1),), input.dtype, backend.index_of(input))
    copy = backend.as_strided(block, geometry.shape, [s // itemsize for s in geometry.strides], 0)
    backend.write(copy, input)
    return copy


@kernel(op.to_dtype, device=ANY_DEVICE)
def to_dtype(backend: Any, input: Any, dtype: Any) -> Any:
    copy = backend.empty(input.shape, dtype.numpy, backend.index_of(input))
    backend.write(copy, input)
    return copy
