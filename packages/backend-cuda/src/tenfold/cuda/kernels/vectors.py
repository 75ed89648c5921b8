"""Vector products."""

from __future__ import annotations

from typing import Any

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.elementwise import run
from tenfold.cuda.kernels.geometry import broadcast
from tenfold.dispatch.operators import op


@kernel(op.linalg_cross, device="cuda", plays=True)
def linalg_cross(input: Any, other: Any, dim: int) -> Any:
    """Each component in a launch of its own, of real floating numbers."""
    n = input.ndim
    if n != other.ndim or not -n <= dim < n or input.dtype != other.dtype or input.dtype.kind not in "fV":
        return NotImplemented
    d = dim % n
    if input.shape[d] != 3 or other.shape[d] != 3 or not input.size or not other.size:
        return NotImplemented
    try:
        shape = broadcast([input.shape, other.shape])
    except ValueError:  # the body has the words
        return NotImplemented
    now = runtime.current()
    out = now.empty(shape, input.dtype, now.index_of(input))
    of, a, b = ([x[(*(slice(None),) * d, slice(k, k + 1))] for k in range(3)] for x in (out, input, other))
    for k, i, j in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        run("cross_component", a[i], b[j], a[j], b[i], out=of[k])
    return out
