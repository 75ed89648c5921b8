"""Special functions under vmap and forward mode: all of them treat every element alike."""

from __future__ import annotations

from tenfold.autograd.batching import Batch, Result, batching_by_name
from tenfold.autograd.batching_rules.kinds import pointwise
from tenfold.autograd.tangents import ELEMENTWISE, jvp_by_name

DIFFERENTIABLE = (
    "lgamma digamma polygamma igamma igammac i0 special_i0e special_i1 special_i1e special_erfcx special_ndtri special_log_ndtr "
    "special_entr special_xlog1py special_zeta"
)
_CHEBYSHEV = " ".join(f"special_{shift}chebyshev_polynomial_{kind}" for shift in ("", "shifted_") for kind in "tuvw")
WITHOUT_DERIVATIVE = (
    "special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 special_modified_bessel_i0 "
    "special_modified_bessel_i1 special_modified_bessel_k0 special_modified_bessel_k1 special_scaled_modified_bessel_k0 "
    "special_scaled_modified_bessel_k1 special_spherical_bessel_j0 special_airy_ai special_hermite_polynomial_h "
    "special_hermite_polynomial_he special_laguerre_polynomial_l special_legendre_polynomial_p " + _CHEBYSHEV
)


def keep(batch: Batch) -> Result:
    """Operators of one tensor with several results of its shape."""
    return batch.call(), batch.dims["input"]


batching_by_name(f"{DIFFERENTIABLE} {WITHOUT_DERIVATIVE}", pointwise)
batching_by_name("mantissa_exponent", keep)
jvp_by_name(DIFFERENTIABLE, ELEMENTWISE)
