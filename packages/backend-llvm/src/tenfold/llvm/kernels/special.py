"""Special functions that are products of elementary ones: one row each."""

from __future__ import annotations

from tenfold.llvm import maths, recurrences, trigonometry
from tenfold.llvm.expressions import Expr, constant, equal, is_nan, select
from tenfold.llvm.kernels.attaching import elementwise, led
from tenfold.llvm.loops import Cases


def _entropy(x: Expr) -> Expr:
    """-x log(x); 0 at 0, -inf below."""
    return select((x > 0.0) | is_nan(x), -x * maths.log(x), select(equal(x, 0.0), 0.0, constant(-maths.INF, x.type)))


def _xlog1py(x: Expr, y: Expr) -> Expr:
    return select(is_nan(y), y, select(equal(x, 0.0), 0.0, x * maths.log1p(y)))


def _spherical_bessel(x: Expr) -> Cases:
    """sin(x) / x; 1 at 0, 0 at infinity."""
    sine = trigonometry.sin(x)
    most, every = (
        select(equal(x, 0.0), 1.0, select(equal(abs(x), maths.INF), 0.0, value / x)) for value in (sine.most, sine.every)
    )
    return Cases(most, sine.rare, every)


elementwise("special_entr", _entropy, into=False)
elementwise("special_xlog1py", _xlog1py, "yy", into=False)
elementwise("special_spherical_bessel_j0", _spherical_bessel, into=False)
PATIENCE = 50  # calls: NumPy takes a pass for each degree
for _kind in recurrences.CHAINS:
    _family, _letter = _kind.rsplit("_", 1)
    elementwise(
        f"special_{_family}_polynomial_{_letter}",
        lambda x, n, kind=_kind: recurrences.named(kind, x, n),
        "yy",
        exact=True,
        patience=PATIENCE,
        into=False,
    )
for _letter in "tuvw":
    elementwise(
        f"special_shifted_chebyshev_polynomial_{_letter}",
        lambda x, n, kind=f"chebyshev_{_letter}": recurrences.named(kind, 2.0 * x - 1.0, n),
        "yy",
        exact=True,
        patience=PATIENCE,
        into=False,
    )
# Functions that NumPy or SciPy have in one piece.
led(
    "i0", "special_i0e", "special_i1", "special_i1e", "special_bessel_j0", "special_bessel_j1", "special_bessel_y0",
    "special_bessel_y1", "special_modified_bessel_i0", "special_modified_bessel_i1", "special_modified_bessel_k0",
    "special_modified_bessel_k1", "special_scaled_modified_bessel_k0", "special_scaled_modified_bessel_k1", "lgamma", "digamma",
    "igamma", "igammac", "special_zeta", "special_erfcx", "special_ndtri", "special_log_ndtr", "special_airy_ai", "polygamma",
)  # fmt: skip
