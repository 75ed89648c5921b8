"""Units of layers. Their gradients are those that Tenfold has: an accelerated operator is still the same operator."""

from __future__ import annotations

from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold_cpu_accelerator import functions
from tenfold_cpu_accelerator.arrays import Array, Least, elementwise

LEAST = Least(4096)
FORMS = {"none": functions.gelu, "tanh": functions.gelu_tanh}


def _gelu_suits(input: Array, approximate: str) -> bool:
    return LEAST.suits(input) and approximate in FORMS


@kernel(op.gelu, device="cpu", when=_gelu_suits, note=LEAST.note)
def gelu(input: Array, approximate: str) -> Array:
    return elementwise(FORMS[approximate], input)
