"""The gradient of attention in blocks, as LLVM IR: for query, key and value, a head at a time."""

from __future__ import annotations

from math import inf, lcm

from tenfold.llvm.attention import Attention, Blocks, changes, in_steps
from tenfold.llvm.blocks import STEPS, TURNED
from tenfold.llvm.lowering import literal
from tenfold.llvm.storage import Stored

QUERIES = 96  # of a block: a multiple of all tiles' rows


def keys_of_a_block(stored: Stored) -> int:
    """A multiple of all tiles' rows and widths, and of whole steps: the last step of a row must not reach into the next one."""
    return lcm(48, in_steps(stored))


def gradient(a: Attention) -> str:
    """With p the probabilities and dp = g v^T: dv = p^T g, ds = p (dp - sum(g out)) factor, dq = ds k, dk = ds^T q.

    A block of keys is turned once for all queries. Items are heads. Context: log-sum-exp, room for as many numbers, q, k, v, g,
    out, gradients of q, k and v, the mask if there is one; of all but the first two the bytes between
    outer heads, inner heads and rows; inner heads, queries, keys, factor.
    """
    arrays = ["sums", "deltas", "q", "k", "v", "g", "out", "dq", "dk", "dv", *(["mask"] if a.mask else [])]
    block = keys_of_a_block(a.stored)
    w = Blocks(a, arrays, (QUERIES, block), ("sums", "deltas"))
    f, v, t = w.f, w.v, w.t
    k_turned, v_turned, q, g, p, ds = (
        f.variable(f"[{n} x {t}]")
        for n in (block * a.query, block * a.value, QUERIES * a.query, QUERIES * a.value, *[QUERIES * block] * 2)
    )
    with f.loop("%lo", "%hi") as head:
        outer, inner = f.split(head, w.inner)
        own = {name: w.head(name, outer, inner) for name in w.steps}
        before = f.mul(head, w.queries)
        deltas, sums = (v.place(w.base[name], before) for name in ("deltas", "sums"))
        _deltas(w, own["g"], own["out"], deltas)
        for name, count, width in (("dq", w.queries, a.query), ("dk", w.keys, a.query), ("dv", w.keys, a.value)):
            with f.loop(0, count) as i:
                for d in range(0, width, v.lanes):
                    v.store("zeroinitializer", v.place(w.row(name, own[name], i), d))
        with f.loop(0, w.keys, block) as start:
            n = f.least(block, f.sub(w.keys, start))
            w.turned("k", own["k"], start, n, k_turned, a.query)
            w.turned("v", own["v"], start, n, v_turned, a.value)
            with f.loop(start if a.causal else 0, w.queries, QUERIES) as first:
                count = f.least(QUERIES, f.sub(w.queries, first))
                ahead = f.sub(start, first)
                w.copied("q", own["q"], first, count, q, a.query)
                w.copied("g", own["g"], first, count, g, a.value)
                w.scores(p, q, a.query, k_turned, (count, n), ahead)
                w.scores(ds, g, a.value, v_turned, (count, n), ahead)
                with f.loop(0, count) as i:
                    query = f.add(first, i)
                    _row(w, own.get("mask", ""), (query, start, n), v.place(p, f.mul(i, block)), v.place(ds, f.mul(i, block)),
                         (v.place(sums, query), v.place(deltas, query)))  # fmt: skip
                step = block * w.size
                turned, later = (TURNED, ahead), (STEPS, ahead)
                at = {"dv": start, "dk": start, "k": start, "dq": first}
                goals = {x: (w.row(x, own[x], row), w.steps[x][2]) for x, row in at.items()}
                w.product(2, goals["dv"], (p, w.size, step), (g, a.value * w.size), (n, a.value, count), turned)
                w.product(1, goals["dk"], (ds, w.size, step), (q, a.query * w.size), (n, a.query, count), turned)
                w.product(1, goals["dq"], (ds, step, w.size), goals["k"], (count, a.query, n), later)
    return w.module(changes(a.stored))


def _row(w: Blocks, mask: str, where: tuple[str, str, str], line: str, change: str, numbers: tuple[str, str]) -> None:
    """One query's products with keys and with values, to its probabilities and the gradient of its products with keys."""
    f, v, t, (query, start, n) = w.f, w.v, w.t, where
    w.masked(line, mask, query, start, n, w.factor)
    few = w.visible(query, start, n)
    known, delta = (f.let(f"load {t}, ptr {place}") for place in numbers)
    none = f.let(f"fcmp oeq {t} {known}, {literal(-inf, t)}")  # no key was seen: all probabilities are zero
    sum_ = f.let(f"select i1 {none}, {t} {literal(inf, t)}, {t} {known}")
    whole, scale = w.in_whole(few, in_steps(w.a.stored)), "1.0" if w.a.mask else w.factor
    arguments = f"i64 {whole}, {t} {sum_}, {t} {delta}, {t} {scale}, {t} {w.factor}"
    f.do(f"call void @changes(ptr {change}, ptr {line}, {arguments})")
    with f.loop(few, w.unread(few, n)) as j:
        for row in (line, change):
            f.do(f"store {t} 0.0, ptr {v.place(row, j)}")


def _deltas(w: Blocks, g: str, out: str, deltas: str) -> None:
    """Of each query the sum of the gradient times the result."""
    f, v, t = w.f, w.v, w.t
    with f.loop(0, w.queries) as i:
        line, given = w.row("out", out, i), w.row("g", g, i)
        sums = ["zeroinitializer"] * 2  # two chains, neither of which waits for the other
        for n, d in enumerate(range(0, w.a.value, v.lanes)):
            sums[n % 2] = v.fma(v.load(v.place(given, d)), v.load(v.place(line, d)), sums[n % 2])
        f.do(f"store {t} {v.total(f.let(f'fadd {v.type} {sums[0]}, {sums[1]}'))}, ptr {v.place(deltas, i)}")
