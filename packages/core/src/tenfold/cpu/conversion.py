"""NumPy kernels of copies and conversions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cpu.copies import real_part, row_major
from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold.types.dtypes import complex32, float8_e4m3fn
from tenfold.types.memory_format import is_dense, preserve_format
from tenfold.types.narrow import limited, narrowed, widened


@kernel(op.clone, device="cpu")
def clone(input: Any, memory_format: Any) -> Any:
    if memory_format is None or memory_format.order is None:
        if input.flags.forc or is_dense(input):
            return input.copy("K")
        memory_format = preserve_format
    elif not memory_format.order:
        return row_major(input)
    order = memory_format.order_for(input)
    return row_major(input.transpose(order)).transpose(np.argsort(order))


@kernel(op.to_dtype, device="cpu")
def to_dtype(input: Any, dtype: Any) -> Any:
    if dtype is complex32:
        return narrowed(input)
    input = widened(input) if input.dtype.names else input
    order = None if input.flags.forc or is_dense(input) else preserve_format.order_for(input)
    with np.errstate(all="ignore"):
        if input.dtype.kind == "c" and dtype.category in (1, 2):
            input = real_part(input)
        if dtype is float8_e4m3fn:
            input = limited(input)
        if order is None:
            return input.astype(dtype.numpy)
        return input.transpose(order).astype(dtype.numpy, "C").transpose(np.argsort(order))
