"""The operators that this device has kernels of its own for: what its conformance tests run."""

from __future__ import annotations

from tenfold.dispatch.operators import op
from tenfold_reference.kernels import activation, indexing, matmul, pointwise, reduction

TABLES = (
    pointwise.TABLE,
    activation.ELEMENTWISE,
    activation.ALONG,
    reduction.TABLE,
    reduction.ALONG,
    matmul.TABLE,
    indexing.TABLE,
)
# This device interpolates bool where the CPU refuses to, so lerp is served and not claimed.
CLAIMS = tuple(name for table in TABLES for name in table if hasattr(op, name) and name != "lerp")
