"""The matrices of Winograd's minimal filtering, and small matrices applied to vectors in registers.

m neighbouring results of a filter of r taps are A' [(G g) * (B' d)], for m + r - 1 neighbouring inputs d: one multiplication for
each input in place of m r (Winograd, "Arithmetic Complexity of Computations", 1980). For planes the matrices are applied to
columns and to rows (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015, equations 8 and 12).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import prod

from tenfold.llvm.writer import Function, Vectors

Matrix = tuple[tuple[Fraction, ...], ...]

TAPS = 3
# Where the polynomials are evaluated, beside infinity. For 4, errors are a fourth of those of 1, -1, 2 and -2.
POINTS = {2: (Fraction(0), Fraction(1), Fraction(-1)), 4: (Fraction(0), *(s * Fraction(3, k) for k in (4, 2) for s in (1, -1)))}


@dataclass(frozen=True)
class Forms:
    """`inputs` is B' (n, n), `taps` G (n, r), `results` A' (m, n), for n = m + r - 1."""

    inputs: Matrix
    taps: Matrix
    results: Matrix


@cache
def forms(m: int) -> Forms:
    """The matrices for m results: Toom and Cook's multiplication of polynomials, transposed."""
    points = POINTS[m]
    n = len(points) + 1
    others = [[b for b in points if b != a] for a in points]
    scales = [prod((a - b for b in rest), start=Fraction(1)) for a, rest in zip(points, others, strict=True)]
    last = (Fraction(0),) * (TAPS - 1) + (Fraction(1),)
    taps = [tuple(a**j / scale for j in range(TAPS)) for a, scale in zip(points, scales, strict=True)]
    results = [(*(a**i for a in points), Fraction(int(i == m - 1))) for i in range(m)]
    return Forms(tuple(_polynomial(rest, n) for rest in (*others, points)), (*taps, last), tuple(results))


def _polynomial(roots: Sequence[Fraction], length: int) -> tuple[Fraction, ...]:
    """The coefficients of the product of (x - root), the constant first."""
    found = [Fraction(1)]
    for root in roots:
        found = [up - root * here for up, here in zip([Fraction(0), *found], [*found, Fraction(0)], strict=True)]
    return (*found, *[Fraction(0)] * (length - len(found)))


def applied(f: Function, v: Vectors, matrix: Matrix, column: list[str]) -> list[str]:
    """matrix @ column for vectors in registers; of rows of points a and -a the even and the odd terms are summed once."""
    found: list[str] = []
    while len(found) < len(matrix):
        row = matrix[len(found)]
        below = matrix[len(found) + 1] if len(found) + 1 < len(matrix) else ()
        even = tuple(c if below and c == d else Fraction(0) for c, d in zip(row, below or row, strict=True))
        odd = tuple(c - e for c, e in zip(row, even, strict=True))
        if below and any(even) and any(odd) and all(o == -d + e for o, d, e in zip(odd, below, even, strict=True)):
            pair = _dot(f, v, even, column), _dot(f, v, odd, column)
            found += [f.let(f"{what} {v.type} {pair[0]}, {pair[1]}") for what in ("fadd", "fsub")]
        else:
            found.append(_dot(f, v, row, column))
    return found


def _dot(f: Function, v: Vectors, row: tuple[Fraction, ...], column: list[str]) -> str:
    """The sum of the column's vectors times the row's numbers, those that are 1 first."""
    terms = sorted(((c, x) for c, x in zip(row, column, strict=True) if c), key=lambda term: (abs(term[0]) != 1, term[0] < 0))
    total = ""
    for c, x in terms:
        if not total:
            total = x if c == 1 else f.let(f"fmul {v.type} {x}, {v.constant(float(c))}")
        elif abs(c) == 1:
            total = f.let(f"{'fadd' if c > 0 else 'fsub'} {v.type} {total}, {x}")
        else:
            total = v.fma(x, v.constant(float(c)), total)
    return total
