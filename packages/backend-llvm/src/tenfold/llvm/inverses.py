"""The inverse of the error function, as an expression of float32.

With w = -log(1 - x**2) its quotient by x is smooth, and by a square root it is so to the ends. Source of the form: M. Giles,
"Approximating the erfinv function", GPU Computing Gems (2011); the polynomials were fitted as those of maths.py.
"""

from __future__ import annotations

from tenfold.llvm.expressions import Expr, constant, copysign, equal, select, sqrt
from tenfold.llvm.maths import INF, log, polynomial

BORDER = 5.0
CENTER, ROOT_CENTER = 2.5, 3.0
# erfinv(x) / x in w - CENTER for w <= BORDER
CENTRAL = (1.501409360450329, 0.24664027905463662, -0.004177392875203149, -0.001252726391773229, 0.00021834938623976644,
           -4.9724196894547514e-06, -3.4639852676333717e-06, 4.6813134805534123e-07, 2.3335967195708108e-08,
           -8.931925970244222e-09)  # fmt: skip
# The same in sqrt(w) - ROOT_CENTER beyond, up to the last number below 1
OUTER = (2.8329768011588836, 1.0016752853175022, 0.009445322998191417, -0.0076437457320701185, 0.005687687558257992,
         -0.0035616784594681124, 0.0014737455981858327, -0.00013131994271710926, -0.0002722671058703768, 0.00016854158453274745,
         -3.457579213452002e-05)  # fmt: skip


def erfinv(x: Expr) -> Expr:
    """The y with erf(y) = x: infinite at -1 and 1, NaN beyond; 3 ulp."""
    w = -log((1.0 - x) * (x + 1.0))
    inner = polynomial(w - CENTER, CENTRAL)
    outer = polynomial(sqrt(w) - ROOT_CENTER, OUTER)
    value = x * select(w > BORDER, outer, inner)
    return select(equal(abs(x), 1.0), copysign(constant(INF, x.type), x), value)
