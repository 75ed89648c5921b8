"""The gradient of attention in blocks, as LLVM IR: for query, key and value, a head at a time."""

from __future__ import annotations

from math import inf

from tenfold.llvm.attention import KEYS, QUERIES, Attention, Blocks, changes, in_steps
from tenfold.llvm.blocks import STEPS, TURNED
from tenfold.llvm.lowering import literal


def gradient(a: Attention) -> str:
    """With p the probabilities and dp = g v^T: dv = p^T g, ds = p (dp - sum(g out)), dq = ds k factor, dk = ds^T q factor.

    Items are heads. Context: log-sum-exp, q, k, v, g, out, gradients of q, k and v, those of k and v zero before, the mask if
    there is one; of all but the first the bytes between outer heads, inner heads and rows; inner heads, queries, keys, factor.
    """
    w = Blocks(a, ["sums", "q", "k", "v", "g", "out", "dq", "dk", "dv", *(["mask"] if a.mask else [])])
    f, v, t = w.f, w.v, w.t
    q, dq, g, k_turned, v_turned, p, ds = (
        f.variable(f"[{n} x {t}]")
        for n in (QUERIES * a.query, QUERIES * a.query, QUERIES * a.value, KEYS * a.query, KEYS * a.value, *[QUERIES * KEYS] * 2)
    )
    sums, deltas = f.variable(f"[{QUERIES} x {t}]"), f.variable(f"[{QUERIES} x {t}]")
    with f.loop("%lo", "%hi") as head:
        outer, inner = f.split(head, w.inner)
        own = {name: w.head(name, outer, inner) for name in w.steps}
        before = f.mul(head, w.queries)
        with f.loop(0, w.queries, QUERIES) as first:
            count = f.least(QUERIES, f.sub(w.queries, first))
            w.copied("q", own["q"], first, count, q, a.query, w.factor)
            w.copied("g", own["g"], first, count, g, a.value)
            with f.loop(0, QUERIES * a.query, v.lanes) as i:
                v.store("zeroinitializer", v.place(dq, i))
            _row_numbers(w, count, g, w.row("out", own["out"], first), f.add(before, first), sums, deltas)
            with f.loop(0, w.seen(first, count), KEYS) as start:
                n = f.least(KEYS, f.sub(w.seen(first, count), start))
                w.turned("k", own["k"], start, n, k_turned, a.query)
                w.turned("v", own["v"], start, n, v_turned, a.value)
                ahead = f.sub(start, first)
                w.scores(p, q, a.query, k_turned, (count, n), ahead)
                w.scores(ds, g, a.value, v_turned, (count, n), ahead)
                with f.loop(0, count) as i:
                    query, line, change = f.add(first, i), v.place(p, f.mul(i, KEYS)), v.place(ds, f.mul(i, KEYS))
                    w.masked(line, own.get("mask", ""), query, start, n)
                    few = w.visible(query, start, n)
                    number, delta = (f.let(f"load {t}, ptr {v.place(x, i)}") for x in (sums, deltas))
                    whole = w.in_whole(few, in_steps(a.stored))
                    f.do(f"call void @changes(ptr {change}, ptr {line}, i64 {whole}, {t} {number}, {t} {delta})")
                    with f.loop(few, w.unread(few, n)) as j:
                        for row in (line, change):
                            f.do(f"store {t} 0.0, ptr {v.place(row, j)}")
                step, dq_row = KEYS * w.size, a.query * w.size
                turned, later = (TURNED, ahead), (STEPS, ahead)
                goals = {x: (w.row(x, own[x], start), w.steps[x][2]) for x in ("dv", "dk", "k")}
                w.product(2, goals["dv"], (p, w.size, step), (g, a.value * w.size), (n, a.value, count), turned)
                w.product(1, goals["dk"], (ds, w.size, step), (q, dq_row), (n, a.query, count), turned)
                w.product(1, (dq, dq_row), (ds, step, w.size), goals["k"], (count, a.query, n), later)
            many = v.splat(w.factor)
            with f.loop(0, count) as i:
                line, goal = v.place(dq, f.mul(i, a.query)), w.row("dq", own["dq"], f.add(first, i))
                for d in range(0, a.query, v.lanes):
                    v.store(f.let(f"fmul {v.type} {v.load(v.place(line, d))}, {many}"), v.place(goal, d))
    return w.module(changes(a.stored))


def _row_numbers(w: Blocks, count: str, g: str, out: str, row: str, sums: str, deltas: str) -> None:
    """Of each query the log-sum-exp, infinite where no key was seen, and the sum of the gradient times the result."""
    f, v, t, width = w.f, w.v, w.t, w.a.value
    with f.loop(0, count) as i:
        sum_ = f.variable(v.type, "")
        f.do(f"store {v.type} zeroinitializer, ptr {sum_}")
        line, given = w.row("out", out, i), v.place(g, f.mul(i, width))
        with f.loop(0, width, v.lanes) as d:
            value = v.fma(v.load(v.place(given, d)), v.load(v.place(line, d)), f.let(f"load {v.type}, ptr {sum_}"))
            f.do(f"store {v.type} {value}, ptr {sum_}")
        f.do(f"store {t} {v.total(f.let(f'load {v.type}, ptr {sum_}'))}, ptr {v.place(deltas, i)}")
        known = f.let(f"load {t}, ptr {v.place(w.base['sums'], f.add(row, i))}")
        none = f.let(f"fcmp oeq {t} {known}, {literal(-inf, t)}")
        f.do(f"store {t} {f.let(f'select i1 {none}, {t} {literal(inf, t)}, {t} {known}')}, ptr {v.place(sums, i)}")
