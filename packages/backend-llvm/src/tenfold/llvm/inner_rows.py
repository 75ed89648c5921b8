"""Softmax and the like along a dimension behind which others lie, as LLVM IR: what stands side by side is computed in vectors.

A block of neighbours goes down the dimension two or three times: for their maxima, for the sums of their terms, which are
float64's, and for the results. Maxima and sums wait on the stack.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tenfold.llvm import maths
from tenfold.llvm.expressions import Expr, convert, load
from tenfold.llvm.loops import METADATA, TAGS, counted
from tenfold.llvm.lowering import Lowering, declarations, literal
from tenfold.llvm.products import HEAD
from tenfold.llvm.storage import FLOAT64, Stored
from tenfold.llvm.writer import Function

BLOCK = 256  # neighbours that go down together


@dataclass(frozen=True)
class Inner:
    """An operator of one or two arrays: what is summed, what a result is made of the sum, and each element's result.

    Each is a formula of the arrays' elements, the largest of the first one's (if `largest`), the sum or what was made of it.
    `kept`: the term is written to the result and read again from there, as the last argument.
    """

    arrays: int
    largest: bool
    term: Callable[..., Expr]
    of_sum: Callable[[Expr], Expr]
    result: Callable[..., Expr]
    kept: bool = False


SOFTMAX = Inner(1, True, lambda x, top: maths.exp_of_negative(x - top), lambda s: 1.0 / s, lambda x, top, s, e: e * s, kept=True)
WIDE_SOFTMAX = Inner(  # of half precision, whose terms would be rounded
    1, True, SOFTMAX.term, SOFTMAX.of_sum, lambda x, top, s: maths.exp_of_negative(x - top) * s
)
LOG_SOFTMAX = Inner(1, True, SOFTMAX.term, maths.log, lambda x, top, s: x - top - s)
SOFTMAX_GRADIENT = Inner(2, False, lambda g, out, top: g * out, lambda s: s, lambda g, out, top, s: (g - s) * out)
LOG_SOFTMAX_GRADIENT = Inner(2, False, lambda g, out, top: g, lambda s: s, lambda g, out, top, s: g - maths.exp(out) * s)
BY_NAME = {
    "softmax": SOFTMAX,
    "log_softmax": LOG_SOFTMAX,
    "softmax_backward": SOFTMAX_GRADIENT,
    "log_softmax_backward": LOG_SOFTMAX_GRADIENT,
}


def program(stored: Stored, name: str) -> str:
    """Items are (outer, block of neighbours). Context: result, arrays; length of the dimension, elements behind it, blocks."""
    what = WIDE_SOFTMAX if name == "softmax" and stored.size == 2 else BY_NAME[name]
    f = Function(HEAD)
    given = [f"*{i}" for i in range(what.arrays)]
    out, *words = f.words(["*out", *given, "length", "inner", "blocks"])
    arrays, (length, inner, blocks) = words[: what.arrays], words[what.arrays :]
    type = stored.computed
    tops, sums, made = (f.variable(f"[{BLOCK} x {t}]") for t in (type, "double", type))
    with f.loop("%lo", "%hi") as item:
        outer, block = f.split(item, blocks)
        begin = f.mul(block, BLOCK)
        count = f.least(BLOCK, f.sub(inner, begin))
        first = f.add(f.mul(outer, f.mul(length, inner)), begin)
        f.do(f"call void @begin(ptr {tops}, ptr {sums}, i64 {count})")

        def pass_of(function: str, *more: str) -> None:
            with f.loop(0, length) as k:
                place = f.add(first, f.mul(k, inner))
                places = [f.at(a, place, stored.memory) for a in (out, *arrays)]
                f.do(f"call void @{function}({', '.join(f'ptr {p}' for p in (*more, *places))}, i64 {count})")

        if what.largest:
            pass_of("tops", tops)
        pass_of("terms", tops, sums)
        f.do(f"call void @made(ptr {made}, ptr {sums}, i64 {count})")
        pass_of("results", tops, made)
    text = "declare i64 @llvm.smin.i64(i64, i64)\n" + "\n".join([*_loops(stored, what), f.text()])
    return f"{declarations(text)}\n{text}{METADATA}"


def _loops(stored: Stored, what: Inner) -> list[str]:
    """The functions for the neighbours at one place of the dimension."""
    type, suffix = stored.computed, "f32" if stored.computed == "float" else "f64"
    given = {f"x{i}": stored for i in range(what.arrays)}
    places = ["out", *given]
    values = [load(i, type) for i in range(what.arrays)]
    top, total = load(len(values), type), load(len(values) + 1, "double")
    kept, of_sum = load(len(values) + 2, type), load(len(values) + 3, type)
    names = {top: "top", total: "sum", kept: "out", of_sum: "made", **{v: f"x{i}" for i, v in enumerate(values)}}

    def loop(name: str, pointers: list[str], result: Expr, goal: str, to: Stored | None, *, adds: str = "") -> str:
        """out[j] = result, and sum[j] += adds, for all j."""
        lowering: Lowering

        def leaf(e: Expr) -> str | None:
            if e not in names:
                return None
            source = names[e]
            lowering.lines.append(f"%{source}.p = getelementptr {_memory(source, stored)}, ptr %{source}, i64 %j")
            if source in ("out", *given):
                lowering.lines.extend(stored.read(f"%{source}.p", f"%{source}.v", 1, TAGS))
            else:
                lowering.lines.append(f"%{source}.v = load {e.type}, ptr %{source}.p{TAGS}")
            return f"%{source}.v"

        lowering = Lowering(leaf)
        value = lowering.name(to.rounded(result) if to is not None else result)
        lines = lowering.lines
        if adds:
            wide = value if type == "double" else "%wide"
            lines += [f"%wide = fpext float {value} to double"] * (type != "double")
            lines += ["%s.p = getelementptr double, ptr %sum, i64 %j", f"%s.v = load double, ptr %s.p{TAGS}"]
            lines += [f"%s.n = fadd double %s.v, {wide}", f"store double %s.n, ptr %s.p{TAGS}"]
        if goal:
            lines.append(f"%goal.p = getelementptr {_memory(goal, stored)}, ptr %{goal}, i64 %j")
            lines += (
                to.write(value, "%goal.p", 1, TAGS) if to is not None else [f"store {result.type} {value}, ptr %goal.p{TAGS}"]
            )
        return _function(name, pointers, lines)

    first = ["%t.p = getelementptr {0}, ptr %top, i64 %j", "store {0} {1}, ptr %t.p{2}"]
    begin = [line.format(type, literal(float("-inf"), type), TAGS) for line in first]
    begin += ["%s.p = getelementptr double, ptr %sum, i64 %j", f"store double 0.0, ptr %s.p{TAGS}"]
    found = [_function("begin", ["top", "sum"], begin)]
    if what.largest:
        lines = [f"%x.p = getelementptr {stored.memory}, ptr %x0, i64 %j", *stored.read("%x.p", "%x.v", 1, TAGS)]
        lines += [f"%t.p = getelementptr {type}, ptr %top, i64 %j", f"%t.v = load {type}, ptr %t.p{TAGS}"]
        lines += [
            f"%t.n = call nsz {type} @llvm.maximum.{suffix}({type} %t.v, {type} %x.v)",
            f"store {type} %t.n, ptr %t.p{TAGS}",
        ]
        found.append(_function("tops", ["top", *places], lines))
    term = what.term(*values, top)
    found.append(
        loop("terms", ["top", "sum", *places], term, "out" if what.kept else "", stored if what.kept else None, adds="sum")
    )
    found.append(loop("made", ["made", "sum"], convert(what.of_sum(total), type), "made", None))
    last = what.result(*values, top, of_sum, *([kept] if what.kept else []))
    found.append(loop("results", ["top", "made", *places], last, "out", stored))
    return found


def _memory(source: str, stored: Stored) -> str:
    """The type of an array's elements in memory."""
    if source == "sum":
        return FLOAT64.memory
    return stored.computed if source in ("top", "made") else stored.memory


def _function(name: str, pointers: list[str], lines: list[str]) -> str:
    return counted(name, ", ".join(f"ptr noalias %{p}" for p in pointers), lines)
