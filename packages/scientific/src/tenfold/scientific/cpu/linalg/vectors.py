"""NumPy kernel of the cross product."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cpu.quiet import quiet
from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op


@kernel(op.linalg_cross, device="cpu")
@quiet
def linalg_cross(input: Any, other: Any, dim: int) -> Any:
    """Numbers of NumPy's, of one shape; the body has the rest, and the words of all errors."""
    shape, ndim = input.shape, input.ndim
    if shape != other.shape or input.dtype is not other.dtype or input.dtype.kind not in "fiu" or input.itemsize < 4:
        return NotImplemented
    if not -ndim <= dim < ndim or shape[dim] != 3 or not input.size:
        return NotImplemented
    made = np.empty(shape, input.dtype)
    before = (slice(None),) * (dim % ndim)
    (a, b, c), (x, y, z) = ([array[(*before, k, ...)] for k in range(3)] for array in (input, other))
    for k, p, q, r, s in ((0, b, z, c, y), (1, c, x, a, z), (2, a, y, b, x)):
        part = made[(*before, k, ...)]
        np.multiply(p, q, part)
        np.subtract(part, r * s, part)
    return made
