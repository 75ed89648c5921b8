"""Operators of tenfold-scientific: Fourier transforms by cuFFT, linear algebra and special functions on the host."""

from __future__ import annotations

from typing import Any

from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.host import through_host
from tenfold.cuda.runtime import xp
from tenfold.dispatch.operators import op

# The array module's name for a divisor depends on the direction: "backward" leaves the forward transform as it is.
FORWARD = {"none": "backward", "root": "ortho", "count": "forward"}
BACKWARD = {"none": "forward", "root": "ortho", "count": "backward"}
LINALG = (
    "qr_pair", "svd_triple", "eigh_pair", "eig_pair", "cholesky_pair", "cholesky_inverted", "cholesky_solution", "inverse_pair",
    "solve_pair", "triangular_solution", "determinant", "log_determinant", "pseudo_inverse", "lu_packed", "pivot_order",
    "geqrf_pair", "ldl_packed", "linalg_ldl_solve",
)  # fmt: skip
SPECIAL = (
    "i0", "lgamma", "digamma", "polygamma", "igamma", "igammac", "mantissa_exponent",
    *[f"special_{name}" for name in (
        "i0e", "i1", "i1e", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "modified_bessel_i0", "modified_bessel_i1",
        "modified_bessel_k0", "modified_bessel_k1", "scaled_modified_bessel_k0", "scaled_modified_bessel_k1",
        "spherical_bessel_j0", "airy_ai", "zeta", "erfcx", "ndtri", "log_ndtr", "entr", "xlog1py",
        "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p",
    )],
    *[f"special_{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "tuvw"],
)  # fmt: skip


@kernel(op.complex_transform, device="cuda")
def complex_transform(input: Any, dim: Any, forward: bool, divisor: str) -> Any:
    transform, norm = (xp.fft.fft, FORWARD[divisor]) if forward else (xp.fft.ifft, BACKWARD[divisor])
    for d in reversed(dim):
        input = transform(input, axis=d, norm=norm)
    return input if dim else input.astype("c16" if input.dtype.itemsize * (1 + (input.dtype.kind != "c")) == 16 else "c8")


@kernel(op.real_transform, device="cuda")
def real_transform(input: Any, dim: int, divisor: str) -> Any:
    return xp.fft.rfft(input, axis=dim, norm=FORWARD[divisor])


@kernel(op.real_inverse_transform, device="cuda")
def real_inverse_transform(input: Any, dim: int, size: int, divisor: str) -> Any:
    return xp.fft.irfft(input, size, axis=dim, norm=BACKWARD[divisor])


OTHERS = (
    "median_value", "median_dim", "mode_pair", "histc", "reduced_segments", "logcumsumexp", "cummax_pair", "cummin_pair",
)  # fmt: skip
for _name in (*LINALG, *SPECIAL, *OTHERS):
    kernel(getattr(op, _name), device="cuda", note="computed on the host")(through_host(_name))
