"""Small matrix products and affine maps; larger ones are the kernels' of tenfold-core and tenfold-nn, on BLAS.

Those do the work of `mm` and `matmul` themselves, and step aside where somebody accelerates these: so the gates here are made
around them, unless it is somebody else.
"""

from __future__ import annotations

from typing import Any

from tenfold.cpu import matmul as products
from tenfold.dispatch.kernels import KERNELS, kernel
from tenfold.dispatch.operators import op
from tenfold.dispatch.registration import current_owner
from tenfold.llvm.kernels.attaching import lead
from tenfold.llvm.little_products import product_gated


def only_ours(*names: str) -> bool:
    """Whether nobody else accelerates the operators whose work is done here."""
    return all(not k.accelerates or k.owner == OWNER for name in names for k in KERNELS.get((name, "cpu"), ()))


OWNER = current_owner(only_ours)  # while this is imported


def mm(beneath: Any) -> Any:
    lead("mm", strided=True)
    return product_gated(beneath, 2, False)


def matmul(beneath: Any) -> Any:
    if not only_ours("mm", "bmm"):
        return beneath
    lead("matmul", strided=True)
    return product_gated(products.matmul, 2, False)


def addmm(beneath: Any) -> Any:
    return products.addmm if only_ours("mm") else beneath


for _name, _wrap in (("mm", mm), ("matmul", matmul), ("addmm", addmm)):
    kernel(getattr(op, _name), device="cpu", wrap=True, note="small products of float32 and float64")(_wrap)
