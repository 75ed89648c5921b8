"""The rectifier and its gradient."""

from __future__ import annotations

from tenfold.llvm.expressions import Expr, select
from tenfold.llvm.kernels.attaching import elementwise
from tenfold.llvm.storage import FLOAT32, FLOAT64


def relu(x: Expr) -> Expr:
    """0 where x < 0, so that NaN stays NaN."""
    return select(x < 0.0, 0.0, x)


elementwise("relu", relu, exact=True)
# In half precision the limit is rounded before it is compared, which NumPy does.
elementwise("threshold_backward", lambda g, x, limit: select(x <= limit, 0.0, g), "xxn", exact=True, dtypes=(FLOAT32, FLOAT64))
