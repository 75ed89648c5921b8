"""The product with a power of two where gradients rule it as a whole: of one floating or complex precision."""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.kernels import kernel, table
from tenfold.dispatch.operators import op


@kernel(op.ldexp, device="cpu")
def ldexp(input: Any, other: Any) -> Any:
    if input.dtype != other.dtype or input.dtype.kind not in "fcV":
        return NotImplemented  # for the body, which knows whole exponents and several precisions
    cpu = table("cpu")
    return cpu.mul(input, cpu.exp2(other))
