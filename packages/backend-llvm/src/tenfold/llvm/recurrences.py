"""Orthogonal polynomials by their recurrences, as LLVM IR: a function of a number and a degree for each, which loops call.

From P_0 = 1 and P_1 each degree's value follows from the two before, in single steps as NumPy takes them; degrees are cut to
whole numbers, and below 0 the value is 0.
"""

from __future__ import annotations

from collections.abc import Callable

from tenfold.llvm.expressions import Expr

Lower = Callable[
    [Expr, str], tuple[str, str]
]  # the lines that compute a formula of what stands under names, and the result's name
Chain = tuple[Callable[[Expr], Expr], Callable[[Expr, Expr, Expr, Expr], Expr]]


def _chebyshev(x: Expr, value: Expr, before: Expr, k: Expr) -> Expr:
    return 2.0 * x * value - before


# The value of degree 1; x, the value of degree k and that before: the value of degree k + 1.
CHAINS: dict[str, Chain] = {
    "chebyshev_t": (lambda x: x, _chebyshev),
    "chebyshev_u": (lambda x: 2.0 * x, _chebyshev),
    "chebyshev_v": (lambda x: 2.0 * x - 1.0, _chebyshev),
    "chebyshev_w": (lambda x: 2.0 * x + 1.0, _chebyshev),
    "hermite_h": (lambda x: 2.0 * x, lambda x, value, before, k: 2.0 * (x * value - k * before)),
    "hermite_he": (lambda x: x, lambda x, value, before, k: x * value - k * before),
    "laguerre_l": (lambda x: 1.0 - x, lambda x, value, before, k: ((2.0 * k + 1.0 - x) * value - k * before) / (k + 1.0)),
    "legendre_p": (lambda x: x, lambda x, value, before, k: ((2.0 * k + 1.0) * x * value - k * before) / (k + 1.0)),
}
_MOST = 2.0**62  # as degrees go


def named(kind: str, x: Expr, degree: Expr) -> Expr:
    """The polynomial of a degree."""
    return Expr(f"degree_{kind}", x.type, (x, degree))


def is_one(op: str) -> bool:
    """Whether an expression is one of these polynomials."""
    return op.startswith("degree_")


def call(op: str, type: str, args: list[str]) -> str:
    """The call of its function."""
    return f"call {type} @{op}_{type}({type} {args[0]}, {type} {args[1]})"


def _function(kind: str, type: str, lower: Lower) -> str:
    first, step = CHAINS[kind]
    x, value, before, k = (Expr("leaf", type, (), name) for name in ("x", "value", "before", "k"))
    start, begun = lower(first(x), "s")
    lines, following = lower(step(x, value, before, k), "v")
    suffix = "f32" if type == "float" else "f64"
    return f"""
define internal {type} @degree_{kind}_{type}({type} %x, {type} %n) nounwind memory(none) {{
entry:
  %whole = call {type} @llvm.trunc.{suffix}({type} %n)
  %above = fcmp oge {type} %whole, 0.0
  %below = fcmp olt {type} %whole, {_MOST:.1f}
  %finite = and i1 %above, %below
  br i1 %finite, label %some, label %none
none:
  ret {type} 0.0
some:
  %degree = fptosi {type} %whole to i64
  %constant = icmp eq i64 %degree, 0
  br i1 %constant, label %one, label %begin
one:
  ret {type} 1.0
begin:
{start}
  br label %look
look:
  %i = phi i64 [1, %begin], [%next, %go]
  %value = phi {type} [{begun}, %begin], [{following}, %go]
  %before = phi {type} [1.0, %begin], [%value, %go]
  %more = icmp slt i64 %i, %degree
  br i1 %more, label %go, label %done
go:
  %k = sitofp i64 %i to {type}
{lines}
  %next = add i64 %i, 1
  br label %look
done:
  ret {type} %value
}}
"""


def definitions(text: str, lower: Lower) -> str:
    """The functions that a module calls."""
    return "".join(
        _function(kind, type, lower) for kind in CHAINS for type in ("float", "double") if f"@degree_{kind}_{type}(" in text
    )
