"""The operators that this device has kernels of its own for: what its conformance tests run."""

from __future__ import annotations

from tenfold.operators import op
from tenfold_reference.kernels import activation, matmul, pointwise, reduction

TABLES = (pointwise.TABLE, activation.ELEMENTWISE, activation.ALONG, reduction.TABLE, matmul.TABLE)
CLAIMS = tuple(name for table in TABLES for name in table if hasattr(op, name))
