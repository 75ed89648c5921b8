"""What a place between elements is made of, for a vector of places: taps, weights, and how weights change, as LLVM IR.

The formulas are those of tenfold-nn's `ops/resize/sampling.py`, along one dimension.
"""

from __future__ import annotations

from dataclasses import dataclass

from tenfold.llvm.storage import Stored
from tenfold.llvm.writer import Function, Vectors, registers

KEYS = -0.75  # the constant of the cubic kernel


@dataclass(frozen=True)
class Tap:
    """Vectors: where an element is (whole numbers as floats), its weight, and how that changes with the place."""

    place: str
    weight: str
    change: str


@dataclass(frozen=True)
class Sampling:
    """A dtype, how many dimensions a place has, and the options of `grid_sample`."""

    stored: Stored
    ndim: int
    mode: str
    padding: str
    align: bool


class Places:
    """Vectors of places in a function."""

    def __init__(self, function: Function, how: Sampling) -> None:
        self.f, self.how = function, how
        self.v = Vectors(function, how.stored, registers().lanes(how.stored))
        self.type, self.flags = self.v.type, f"<{self.v.lanes} x i1>"
        self.one, self.zero = self.v.constant(1.0), self.v.constant(0.0)

    def do(self, name: str, a: str, b: str) -> str:
        return self.f.let(f"{name} {self.type} {a}, {b}")

    def times(self, a: str, number: float) -> str:
        return self.do("fmul", a, self.v.constant(number))

    def plus(self, a: str, number: float) -> str:
        return self.do("fadd", a, self.v.constant(number))

    def call(self, name: str, a: str) -> str:
        return self.f.let(f"call {self.type} @llvm.{name}.{self.v.suffix}({self.type} {a})")

    def choose(self, condition: str, a: str, b: str) -> str:
        return self.f.let(f"select {self.flags} {condition}, {self.type} {a}, {self.type} {b}")

    def compare(self, how: str, a: str, b: str) -> str:
        return self.f.let(f"fcmp {how} {self.type} {a}, {b}")

    def both(self, a: str, b: str) -> str:
        return self.f.let(f"and {self.flags} {a}, {b}")

    def number(self, size: str) -> str:
        """A whole number in every lane."""
        return self.v.splat(self.f.let(f"sitofp i64 {size} to {self.v.element}"))

    def unnormalized(self, x: str, size: str) -> str:
        """A place from -1 to 1 in elements."""
        shifted = self.plus(x, 1.0)
        if self.how.align:
            return self.do("fmul", shifted, self.times(self.plus(size, -1.0), 0.5))
        return self.times(self.plus(self.do("fmul", shifted, size), -1.0), 0.5)

    def _fold(self, size: str) -> tuple[str, str]:
        """Where the mirrors of a reflection begin, and how far they lie apart."""
        return (self.zero, self.plus(size, -1.0)) if self.how.align else (self.v.constant(-0.5), size)

    def _folds(self, x: str, low: str, span: str) -> tuple[str, str, str]:
        """The distance from the first mirror, how often it was folded, and whether that is even."""
        distance = self.call("fabs", self.do("fsub", x, low))
        flips = self.call("floor", self.do("fdiv", distance, span))
        half = self.times(flips, 0.5)
        return distance, flips, self.compare("oeq", half, self.call("floor", half))

    def _reflected(self, x: str, size: str) -> str:
        low, span = self._fold(size)
        distance, flips, even = self._folds(x, low, span)
        extra = self.do("fsub", distance, self.do("fmul", flips, span))
        folded = self.do("fadd", self.choose(even, extra, self.do("fsub", span, extra)), low)
        return self.choose(self.compare("oeq", span, self.zero), self.zero, folded)

    def inside(self, x: str, size: str) -> str:
        """The place that stands for one outside; for what is no number the first one, of volumes the last one."""
        if self.how.padding == "zeros":
            return x
        if self.how.padding == "reflection":
            x = self._reflected(x, size)
        last = self.plus(size, -1.0)
        if self.how.ndim == 3:
            x = self.choose(self.compare("ord", x, x), x, last)
        x = self.choose(self.compare("ogt", x, self.zero), x, self.zero)
        return self.choose(self.compare("olt", x, last), x, last)

    def slope_inside(self, x: str, size: str) -> str:
        """The derivative of `inside`."""
        if self.how.padding == "zeros":
            return self.one
        sign, span = self.one, ""
        if self.how.padding == "reflection":
            low, span = self._fold(size)
            even = self._folds(x, low, span)[2]
            minus = self.v.constant(-1.0)
            before = self.choose(self.compare("olt", x, low), minus, self.one)
            sign = self.do("fmul", self.choose(even, self.one, minus), before)
            x = self._reflected(x, size)
        within = self.both(self.compare("ogt", x, self.zero), self.compare("olt", x, self.plus(size, -1.0)))
        slope = self.choose(within, sign, self.zero)
        return self.choose(self.compare("oeq", span, self.zero), self.zero, slope) if span else slope

    def placed(self, at: str, size: str) -> str:
        """A place in elements, by the padding where a place is what is padded."""
        if self.how.mode == "bicubic":
            return at
        if self.how.padding == "zeros" and self.how.ndim == 3:
            finite = self.compare("olt", self.call("fabs", at), self.v.constant(float("inf")))
            at = self.choose(finite, at, self.v.constant(-100.0))
        return self.inside(at, size)

    def _cubic(self, x: str, i: int) -> tuple[str, str]:
        """Keys's kernel at x - i, x in [0, 1), and its derivative."""
        moved = self.plus(x, -float(i))
        d = self.call("fabs", moved)
        square = self.do("fmul", d, d)
        if i in (0, 1):
            weight = self.do("fmul", self.plus(self.times(d, KEYS + 2), -(KEYS + 3)), square)
            weight = self.plus(weight, 1.0)
            slope = self.do("fmul", self.plus(self.times(d, 3 * (KEYS + 2)), -2 * (KEYS + 3)), d)
        else:
            weight = self.do("fmul", self.plus(self.do("fmul", self.plus(d, -5.0), d), 8.0), d)
            weight = self.plus(self.times(weight, KEYS), -4 * KEYS)
            slope = self.times(self.plus(self.do("fmul", self.plus(self.times(d, 3.0), -10.0), d), 8.0), KEYS)
        return weight, slope if i < 1 else self.f.let(f"fneg {self.type} {slope}")

    def taps(self, at: str, size: str) -> list[Tap]:
        """The elements along a dimension that a place in elements is made of."""
        if self.how.mode == "nearest":
            return [Tap(self.call("rint", at), "", "")]
        base = self.call("floor", at)
        t = self.do("fsub", at, base)
        if self.how.mode == "bilinear":
            minus = self.v.constant(-1.0)
            after = self.plus(base, 1.0)
            return [Tap(base, self.do("fsub", self.one, t), minus), Tap(after, t, self.one)]
        return [Tap(self.inside(self.plus(base, float(i)), size), *self._cubic(t, i)) for i in (-1, 0, 1, 2)]

    def within(self, place: str, size: str) -> tuple[str, str]:
        """Whether there is an element, and its number, 0 where there is none."""
        ok = self.both(self.compare("oge", place, self.zero), self.compare("ole", place, self.plus(size, -1.0)))
        whole = f"<{self.v.lanes} x i32>"
        return ok, self.f.let(f"fptosi {self.type} {self.choose(ok, place, self.zero)} to {whole}")

    def declarations(self) -> str:
        v = self.v
        pointers = f"<{v.lanes} x ptr>"
        lines = [f"declare {v.type} @llvm.{name}.{v.suffix}({v.type})" for name in ("floor", "fabs", "rint")]
        lines.append(f"declare {v.type} @llvm.masked.gather.{v.suffix}.v{v.lanes}p0({pointers}, i32, {self.flags}, {v.type})")
        return v.declarations() + "\n".join(lines) + "\n"
