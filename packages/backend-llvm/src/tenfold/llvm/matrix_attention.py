"""Attention of bfloat16 with its products by the processor's unit for them, as LLVM IR; scores and sums are float32.

The blocks of attention.py, whose scores and sums are rows of tiles here. Only the probabilities are rounded to bfloat16 before
they are multiplied with the values.
"""

from __future__ import annotations

from tenfold.llvm.attention import Attention, Blocks, exponentials, normalized, one_by_one, simple_loop
from tenfold.llvm.loops import TAGS
from tenfold.llvm.matrix_products import FLOATS, rounded
from tenfold.llvm.matrix_tiles import DECLARED, NUMBERS, PAIR, SIDE, TILE, across, along
from tenfold.llvm.matrix_unit import Unit, multiply
from tenfold.llvm.writer import Function

QUERIES, KEYS = 128, 128  # of a block
SIZE = 2  # bytes of a number


def forward(unit: Unit, a: Attention) -> str:
    """softmax(q k^T factor + mask) v and the log-sum-exp of each query's scores; items are (head, block of queries).

    Context: as of attention.py's, where a mask that is added is float32.
    """
    w = Blocks(a, ["sums", "q", "k", "v", "out", *(["mask"] if a.mask else [])], (QUERIES, KEYS))
    f, v, t = w.f, w.v, w.t
    unit.begin(f)
    blocks = f.let(f"udiv i64 {f.add(w.queries, QUERIES - 1)}, {QUERIES}")
    score, value = f.variable(f"[{QUERIES * KEYS} x {t}]"), f.variable(f"[{QUERIES * a.value} x {t}]")
    strip, chances = (f.variable(f"[{QUERIES * n * SIZE} x i8]") for n in (a.query, KEYS))
    panel = f.variable(f"[{SIDE * max(a.query, KEYS) * SIZE} x i8]")
    top, total = f.variable(f"[{QUERIES} x {t}]"), f.variable(f"[{QUERIES} x {t}]")
    score_row, value_row, deep = KEYS * w.size, a.value * w.size, a.query // SIDE * PAIR
    with f.loop("%lo", "%hi") as item:
        head, block = f.split(item, blocks)
        outer, inner = f.split(head, w.inner)
        first = f.mul(block, QUERIES)
        count = f.least(QUERIES, f.sub(w.queries, first))
        query, keys, values = (w.head(name, outer, inner) for name in ("q", "k", "v"))
        mask = w.head("mask", outer, inner) if a.mask else ""
        with f.loop(0, count, SIDE) as i:
            goal = f.at(strip, f.mul(f.let(f"sdiv i64 {i}, {SIDE}"), deep))
            _laid(f, "along_a", w.row("q", query, f.add(first, i)), w.steps["q"][2], f.sub(count, i), a.query, goal)
        w.cleared(top, total, value)
        with f.loop(0, w.seen(first, count), KEYS) as start:
            n = f.least(KEYS, f.sub(w.seen(first, count), start))
            whole = w.in_whole(n, SIDE)
            steps = f.let(f"sdiv i64 {whole}, {SIDE}")
            with f.loop(0, n, SIDE) as j:
                _laid(f, "along_b", w.row("k", keys, f.add(start, j)), w.steps["k"][2], f.sub(n, j), a.query, panel)
                with f.loop(0, count, SIDE) as i:
                    rows = f.at(strip, f.mul(f.let(f"sdiv i64 {i}, {SIDE}"), deep))
                    here = f.at(f.at(score, f.mul(i, score_row)), f.mul(j, w.size))
                    multiply(f, rows, a.query // SIDE, panel, (here, score_row), "true", f.sub(count, i))
            with f.loop(0, count) as i:
                number, line = f.add(first, i), f.at(score, f.mul(i, score_row))
                if a.mask:
                    w.masked(line, mask, number, start, n, w.factor)
                else:
                    f.do(f"call void @scaled(ptr {line}, i64 {n}, {t} {w.factor})")
                args = f"ptr {line}, i64 {w.visible(number, start, n)}, i64 {whole}"
                args += f", ptr {v.place(top, i)}, ptr {v.place(total, i)}, ptr {v.place(value, f.mul(i, a.value))}"
                f.do(f"call void @normalized({args})")
                high, low = f.split(i, str(SIDE))
                to = f.at(f.at(chances, f.mul(high, f.mul(steps, PAIR))), _row_of_tile(f, low))
                with f.loop(0, steps) as s:
                    some = f.let(f"load {FLOATS}, ptr {f.at(line, f.mul(s, SIDE * w.size))}, align 64")
                    f.do(f"store {NUMBERS} {rounded(f, some)}, ptr {f.at(to, f.mul(s, PAIR))}, align 64")
            with f.loop(0, a.value, SIDE) as d:
                _laid(f, "across_b", f.at(w.row("v", values, start), f.mul(d, SIZE)), w.steps["v"][2], SIDE, n, panel)
                with f.loop(0, count, SIDE) as i:
                    rows = f.at(chances, f.mul(f.let(f"sdiv i64 {i}, {SIDE}"), f.mul(steps, PAIR)))
                    here = f.at(f.at(value, f.mul(i, value_row)), f.mul(d, w.size))
                    multiply(f, rows, steps, panel, (here, value_row), "false", f.sub(count, i))
        place, out = f.add(f.mul(head, w.queries), first), w.row("out", w.head("out", outer, inner), first)
        with f.loop(0, count) as i:
            one = w.summed(top, total, i, place)
            first_lane = f.let(f"insertelement {FLOATS} poison, {t} {one}, i64 0")
            many = f.let(f"shufflevector {FLOATS} {first_lane}, {FLOATS} poison, <{SIDE} x i32> zeroinitializer")
            line, goal = f.at(value, f.mul(i, value_row)), w.row("out", out, i)
            for column in range(0, a.value, SIDE):
                some = f.let(f"load {FLOATS}, ptr {f.at(line, column * w.size)}, align 64")
                bits = rounded(f, f.let(f"fdiv {FLOATS} {some}, {many}"))
                f.do(f"store {NUMBERS} {bits}, ptr {f.at(goal, column * SIZE)}, align {SIZE}")
    unit.end(f)
    tiles = unit.declared + "".join(line for line in DECLARED.splitlines(keepends=True) if "smin" not in line)
    laid = along("a") + along("b") + across("b")
    return w.module(exponentials(a.stored) + _scaling(t), tiles, laid, unit.multiplied(), normalized(w), one_by_one(a.stored))


def _laid(f: Function, name: str, source: str, apart: str, left: str | int, depth: str | int, goal: str) -> None:
    f.do(f"call void @{name}(ptr {source}, i64 {apart}, i64 {left}, i64 {depth}, ptr {goal})")


def _row_of_tile(f: Function, row: str) -> str:
    """Where a row of 32 begins in a pair of tiles."""
    high, low = f.split(row, "16")
    return f.add(f.mul(high, TILE), f.mul(low, 64))


def _scaling(t: str) -> str:
    """row[j] factor."""
    inside = [
        f"%p = getelementptr {t}, ptr %row, i64 %j",
        f"%s = load {t}, ptr %p, align 4{TAGS}",
        f"%v = fmul {t} %s, %factor",
        f"store {t} %v, ptr %p, align 4{TAGS}",
    ]
    return simple_loop(f"void @scaled(ptr %row, i64 %n, {t} %factor)", "add i64 %n, 0", inside)
