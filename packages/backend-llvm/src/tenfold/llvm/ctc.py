"""Connectionist temporal classification as LLVM IR: a sample's alpha step by step, and its beta with the gradient back again.

Logs of sums are computed down a whole row of the path at a time, in loops that LLVM makes vectors of. Rows have two places of
-inf in front (behind, for beta), and begin with one that nothing was written to yet: 0 where alignments begin (end), -inf
elsewhere. The first step has two places only: what is no number elsewhere is no alignment's.
Source: Graves et al., "Connectionist Temporal Classification", 2006, equations 6 to 10 and 16.
"""

from __future__ import annotations

from math import inf

from tenfold.llvm import maths
from tenfold.llvm.expressions import Expr, equal, load, parameter, select
from tenfold.llvm.loops import TAGS, with_loops
from tenfold.llvm.lowering import Lowering, indented
from tenfold.llvm.products import HEAD
from tenfold.llvm.recurrence import CELL, METADATA
from tenfold.llvm.storage import Stored
from tenfold.llvm.writer import Function

BORDER = 2


def _log_sum(*terms: Expr) -> Expr:
    """log(e**a + e**b + e**c), -inf where all terms are."""
    top = maths.maximum(maths.maximum(terms[0], terms[1]), terms[2])
    top = select(equal(top, -inf), 0.0, top)
    a, b, c = (maths.exp_of_negative(term - top) for term in terms)
    return maths.log(a + b + c) + top


def _alpha(stored: Stored) -> list[Expr]:
    """Of the places at the step before: this one, the one before and the one two before; whether that may come; the score."""
    here, before, two, skip, score = (load(k, stored.computed) for k in range(5))
    return [_log_sum(here, before, select(equal(skip, 0.0), two, -inf)) + score]


def _beta(stored: Stored) -> list[Expr]:
    """The same of the step after; and, from alpha and the loss, the posterior of the place."""
    here, after, two, skip, score, alpha = (load(k, stored.computed) for k in range(6))
    beta = _log_sum(here, after, select(equal(skip, 0.0), two, -inf)) + score
    never = equal(alpha, -inf) | equal(beta, -inf)
    return [beta, select(never, 0.0, maths.exp(alpha + beta - score + parameter(0, stored.computed)))]


def _whole(stored: Stored) -> list[Expr]:
    return [maths.exp(load(0, stored.computed)) * parameter(0, stored.computed)]


def _row(name: str, stored: Stored, inputs: int, results: list[Expr]) -> str:
    """A function that computes a row of each result from as many of inputs; a number comes last."""
    lines, stores = [], []
    for k in range(inputs):
        lines.append(f"%p{k} = getelementptr {stored.memory}, ptr %a{k}, i64 %i")
        lines += stored.read(f"%p{k}", f"%l{k}", stored.size, TAGS)
    lowering = Lowering(lambda e: {"load": f"%l{e.value}", "parameter": "%number"}.get(e.op))
    for k, value in enumerate([lowering.name(e) for e in results]):
        stores.append(f"%q{k} = getelementptr {stored.memory}, ptr %b{k}, i64 %i")
        stores += stored.write(value, f"%q{k}", stored.size, TAGS)
    given = [*(f"ptr %a{k}" for k in range(inputs)), *(f"ptr %b{k}" for k in range(len(results))), f"{stored.memory} %number"]
    return CELL.replace("@cell", f"@{name}").format(", ".join(given), indented([*lines, *lowering.lines, *stores]))


class _Writer:
    """What both directions share: a sample's sizes, rows of scratch, and the scores of its path at a step."""

    def __init__(self, stored: Stored, addresses: list[str], numbers: list[str]) -> None:
        self.stored, self.f = stored, Function(HEAD)
        found = self.f.words([*(f"*{name}" for name in addresses), *numbers])
        self.of = dict(zip([*addresses, *numbers], found, strict=True))

    def place(self, address: str, *terms: str | int) -> str:
        """The address of an element, at the sum of some distances."""
        total = terms[0]
        for term in terms[1:]:
            total = self.f.add(total, term)
        return self.f.at(address, total, self.stored.memory)

    def sample(self, n: str) -> tuple[str, str, str, str]:
        """A sample's steps, the length of its path, its path, and its scratch: two rows with borders, two without."""
        f, of = self.f, self.of
        steps, length = f.whole(of["inputs"], n), f.add(f.mul(f.whole(of["lengths"], n), 2), 1)
        scratch = self.place(of["scratch"], f.mul(f.add(f.mul(of["width"], 4), 2 * BORDER), n))
        return steps, length, f.at(of["path"], f.mul(n, of["width"]), "i64"), scratch

    def rows(self, scratch: str, step: str) -> tuple[str, str]:
        """The row of scratch that the last step wrote, and the one that this step writes."""
        f, wide = self.f, self.f.add(self.of["width"], BORDER)
        odd = f.let(f"and i64 {step}, 1")
        return self.place(scratch, f.mul(odd, wide)), self.place(scratch, f.mul(f.sub(1, odd), wide))

    def scores(self, scratch: str, line: str, path: str, length: str) -> tuple[str, str]:
        """The scores of the path's labels in a line of log_probs, gathered; and another row of scratch."""
        f, type = self.f, self.stored.memory
        first = f.mul(f.add(self.of["width"], BORDER), 2)
        found = self.place(scratch, first)
        with f.loop(0, length) as s:
            value = f.let(f"load {type}, ptr {self.place(line, f.whole(path, s))}")
            f.do(f"store {type} {value}, ptr {self.place(found, s)}")
        return found, self.place(scratch, first, self.of["width"])

    def line(self, t: str, n: str) -> str:
        return self.place(self.of["log_probs"], self.f.mul(t, self.of["step_t"]), self.f.mul(n, self.of["step_n"]))

    def call(self, name: str, *rows: str, length: str, number: str = "0.0") -> None:
        given = [*(f"ptr {row}" for row in rows), f"{self.stored.memory} {number}", f"i64 {length}"]
        self.f.do(f"call void @{name}({', '.join(given)})")

    def number(self, address: str, index: str) -> str:
        return self.f.let(f"load {self.stored.memory}, ptr {self.place(address, index)}")


def forwards(stored: Stored) -> str:
    """alpha of all steps, and its two last places, whose sum's log is -loss. Items are samples.

    Context: log_probs, path, skip, inputs, lengths, alphas, ends, scratch; width of a path, steps of log_probs in elements, T.
    """
    w = _Writer(
        stored,
        ["log_probs", "path", "skip", "inputs", "lengths", "alphas", "ends", "scratch"],
        ["width", "step_t", "step_n", "T"],
    )
    f, of, type = w.f, w.of, stored.memory
    with f.loop("%lo", "%hi") as n:
        steps, length, path, scratch = w.sample(n)
        skip = w.place(of["skip"], f.mul(n, f.add(of["width"], BORDER)))
        f.do(f"store {type} 0.0, ptr {w.place(scratch, BORDER)}")
        with f.loop(0, steps) as t:
            before, now = w.rows(scratch, t)
            scores, _ = w.scores(scratch, w.line(t, n), path, length)
            goal, own = w.place(now, BORDER), w.place(of["alphas"], f.mul(f.add(f.mul(n, of["T"]), t), of["width"]))
            count = f.let(f"select i1 {f.let(f'icmp eq i64 {t}, 0')}, i64 {f.least(length, 2)}, i64 {length}")
            w.call("row", w.place(before, 2), w.place(before, 1), before, skip, scores, goal, length=count)
            f.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {own}, ptr {goal}, i64 {f.mul(length, stored.size)}, i1 false)")
        last, _ = w.rows(scratch, steps)
        for k in range(2):
            value = w.number(last, f.add(length, BORDER - 2 + k))
            f.do(f"store {type} {value}, ptr {w.place(of['ends'], f.mul(n, 2), k)}")
    declared = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\ndeclare i64 @llvm.smin.i64(i64, i64)\n"
    return with_loops(declared + f.text(), _row("row", stored, 5, _alpha(stored)), METADATA)


def backwards(stored: Stored) -> str:
    """grad (exp(log_probs) - the posterior of each class) at all steps. Items are samples.

    Context: log_probs, path, skip, inputs, lengths, alphas, totals, grad, out, scratch; width, steps of log_probs, T, N, C.
    """
    names = ["log_probs", "path", "skip", "inputs", "lengths", "alphas", "totals", "grad", "out", "scratch"]
    w = _Writer(stored, names, ["width", "step_t", "step_n", "T", "N", "C"])
    f, of, type = w.f, w.of, stored.memory
    with f.loop("%lo", "%hi") as n:
        steps, length, path, scratch = w.sample(n)
        skip = w.place(of["skip"], f.mul(n, f.add(of["width"], BORDER)), BORDER)
        grad, total = w.number(of["grad"], n), w.number(of["totals"], n)
        f.do(f"store {type} 0.0, ptr {w.place(scratch, f.sub(length, 1))}")
        with f.loop(0, steps) as k:
            t = f.sub(f.sub(steps, 1), k)
            after, now = w.rows(scratch, k)
            line = w.line(t, n)
            scores, posterior = w.scores(scratch, line, path, length)
            alpha = w.place(of["alphas"], f.mul(f.add(f.mul(n, of["T"]), t), of["width"]))
            begin = f.let(f"select i1 {f.let(f'icmp eq i64 {k}, 0')}, i64 {f.most(f.sub(length, 2), 0)}, i64 0")
            with f.loop(0, begin) as s:
                f.do(f"store {type} 0.0, ptr {w.place(posterior, s)}")
            rows = after, w.place(after, 1), w.place(after, 2), skip, scores, alpha, now, posterior
            w.call("row", *(w.place(row, begin) for row in rows), length=f.sub(length, begin), number=total)
            goal = w.place(of["out"], f.mul(f.add(f.mul(t, of["N"]), n), of["C"]))
            w.call("whole", line, goal, length=of["C"], number=grad)
            with f.loop(0, length) as s:
                share = f.let(f"fmul {type} {w.number(posterior, s)}, {grad}")
                place = w.place(goal, f.whole(path, s))
                left = f.let(f"fsub {type} {f.let(f'load {type}, ptr {place}')}, {share}")
                f.do(f"store {type} {left}, ptr {place}")
    cells = _row("row", stored, 6, _beta(stored)) + _row("whole", stored, 1, _whole(stored))
    return with_loops("declare i64 @llvm.smax.i64(i64, i64)\n" + f.text(), cells, METADATA)
