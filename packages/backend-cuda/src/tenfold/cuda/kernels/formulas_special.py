"""What the special functions compute: expressions, and calls of the programs beside this file that are longer than one.

A name with a dot is a function of programs/special_*.py (`gamma.zeta` of special_gamma.py); formulas.py makes these rows its own.
"""

from __future__ import annotations

from math import sqrt

UNARY = {
    "lgamma": "math.lgamma(x)",
    "digamma": "gamma.digamma(x)",
    "i0": "bessel.i0(x)",
    "special_i0e": "bessel.i0e(x)",
    "special_i1": "bessel.i1(x)",
    "special_i1e": "bessel.i1e(x)",
    "special_modified_bessel_i0": "bessel.i0(x)",
    "special_modified_bessel_i1": "bessel.i1(x)",
    "special_modified_bessel_k0": "bessel.k0(x, 0)",
    "special_modified_bessel_k1": "bessel.k1(x, 0)",
    "special_scaled_modified_bessel_k0": "bessel.k0(x, 1)",
    "special_scaled_modified_bessel_k1": "bessel.k1(x, 1)",
    "special_bessel_j0": "bessel.j0(x)",
    "special_bessel_j1": "bessel.j1(x)",
    "special_bessel_y0": "bessel.y0(x)",
    "special_bessel_y1": "bessel.y1(x)",
    "special_spherical_bessel_j0": (
        'tl.where(x == 0, 1.0, tl.where(tl.abs(x) == float("inf"), 0.0, math.div_rn(math.sin(x), x)))'
    ),
    "special_airy_ai": "bessel.airy_ai(x)",
    "special_erfcx": "math.erfcx(x)",
    "special_ndtri": "math.normcdfinv(x)",
    "special_ndtr": f"0.5 * math.erfc(x * {-sqrt(0.5)!r})",
    "special_log_ndtr": "gamma.log_ndtr(x)",
    "special_entr": 'tl.where((x > 0) | (x != x), -x * math.log(x), tl.where(x == 0, 0.0, float("-inf")))',
    "mantissa": "gamma.mantissa(x)",
    "exponent": "gamma.exponent(x)",
}
BINARY = {
    "igamma": "gamma.igamma(x, y, 0)",
    "igammac": "gamma.igamma(x, y, 1)",
    "special_zeta": "gamma.zeta(x, y)",
    "ldexp": "x * math.exp2(y)",
    "polar_real": "x * math.cos(y)",
    "polar_imag": "x * math.sin(y)",
    "special_xlog1py": "tl.where((x == 0) & (y == y), 0.0, x * math.log1p(y))",
}
KINDS = ("hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p")
for _kind, _name in enumerate(KINDS):
    BINARY[f"special_{_name}"] = f"polynomials.polynomial(x, y, {_kind})"
for _kind, _letter in enumerate("tuvw"):
    BINARY[f"special_chebyshev_polynomial_{_letter}"] = f"polynomials.chebyshev_polynomial(x, y, {_kind})"
    BINARY[f"special_shifted_chebyshev_polynomial_{_letter}"] = f"polynomials.chebyshev_polynomial(x + x - 1.0, y, {_kind})"

# The operands of each; a and b are numbers: of `polygamma` the order, and (-1)^(order + 1) order!, of `mvlgamma` the dimension.
SPECIAL = {
    **{name: (text, "x") for name, text in UNARY.items()},
    **{name: (text, "xy") for name, text in BINARY.items()},
    "polygamma": ("gamma.polygamma(x, a, b)", "xab"),
    "mvlgamma": ("gamma.mvlgamma(x, a)", "xa"),
}
MODULES = ("gamma", "bessel", "polynomials")  # of programs/, each after "special_"
# Of so many instructions that a thread has two elements only. (zeta in float64 spills 24 bytes yet, of two powers.)
LONG = ("igamma", "igammac", "special_zeta", "polygamma")
