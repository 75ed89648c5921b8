"""The rectifier and its gradient."""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold.llvm.elementwise import Operator
from tenfold.llvm.expressions import Expr, select
from tenfold.llvm.gates import gated
from tenfold.llvm.kernels.attaching import elementwise
from tenfold.llvm.kernels.halves import HALVES, LEAST
from tenfold.llvm.storage import FLOAT32, FLOAT64


def relu(x: Expr) -> Expr:
    """0 where x < 0, so that NaN stays NaN."""
    return select(x < 0.0, 0.0, x)


elementwise("relu", relu, exact=True)


def _passed_on(g: Expr, x: Expr, limit: Expr) -> Expr:
    return select(x <= limit, 0.0, g)


def _of_halves(grad_output: Any, input: Any, threshold: Any) -> Any:
    """In half precision the limit is rounded before it is compared."""
    return _HALVES(grad_output, input, float(input.dtype.type(threshold)))


elementwise("threshold_backward", _passed_on, "xxn", exact=True, dtypes=(FLOAT32, FLOAT64))
_HALVES = Operator("threshold_backward", _passed_on, "xxn", exact=True, dtypes=HALVES).wrap(lambda *_: NotImplemented)
kernel(op.threshold_backward, device="cpu", wrap=True, note="float16 and bfloat16")(gated(_of_halves, 3, LEAST, HALVES))
