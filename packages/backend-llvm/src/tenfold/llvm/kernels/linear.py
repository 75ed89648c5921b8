"""The affine map of few rows, in one call."""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold.llvm.kernels.attaching import lead
from tenfold.llvm.kernels.matmul import only_ours
from tenfold.llvm.little_products import product_gated


def linear(beneath: Any) -> Any:
    from tenfold.nn.cpu.linear import linear as of_any_size  # of an optional package, which declares the operator

    if not only_ours("mm", "bmm", "matmul"):
        return beneath
    lead("linear", strided=True)
    return product_gated(of_any_size, 3, True)


kernel(op.linear, device="cpu", wrap=True, note="small products of float32 and float64")(linear)
