"""Attention in blocks of queries and keys and its gradient, as LLVM IR; no block of scores leaves the processor's caches.

Both go over the keys with a running maximum and sum of each query's exponentials (Milakov and Gimelshein, "Online normalizer
calculation for softmax", 2018), and the gradient computes the probabilities again from the saved log-sum-exp (Dao et al.,
"FlashAttention", 2022). Every array is read where it lies, its heads and rows any distance apart; a row is in one piece.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from tenfold.llvm import maths
from tenfold.llvm.blocks import RESULTS, STEPS, Product
from tenfold.llvm.expressions import Expr, parameter
from tenfold.llvm.loops import ATTRIBUTES, TAGS, with_loops
from tenfold.llvm.lowering import Lowering, declarations, indented, literal
from tenfold.llvm.products import HEAD, Tile
from tenfold.llvm.storage import Stored
from tenfold.llvm.writer import Function, Vectors, registers

QUERIES, KEYS = 48, 128  # of a block of the forward function: multiples of all tiles' rows and widths
KEPT = KEYS * 192  # elements of a head's keys that stay turned for all of its queries
MASKS = ("", "keep", "add")


def side_tile(stored: Stored, width: int) -> Tile:
    """The tile whose columns divide this width, itself a multiple of a register's lanes."""
    here = registers()
    rows = {4: 6, 3: 8, 2: 8, 1: 8} if here.count == 32 else {2: 6, 1: 6}
    count = width // here.lanes(stored)
    vectors = max(v for v in rows if count % v == 0)
    return Tile(stored, rows[vectors], vectors)


@dataclass(frozen=True)
class Attention:
    """Sizes that are constants of the code: a dtype, elements of a query and of a value, and what kind of mask there is."""

    stored: Stored
    query: int
    value: int
    mask: str
    causal: bool


def _exponential(stored: Stored) -> Expr:
    """exp(score - shift)."""
    return maths.exp_of_negative(parameter(0, stored.computed) - parameter(1, stored.computed))


def _lines(expr: Expr, names: tuple[str, ...]) -> tuple[list[str], str]:
    """The lines that compute an expression of some numbers, and the name of its value."""
    lowering = Lowering(lambda e: names[e.value] if e.op == "parameter" else None, "x")
    value = lowering.name(expr)
    return lowering.lines, value


def simple_loop(head: str, count: str, inside: list[str], added: str = "") -> str:
    """A function that does the lines inside for %j from 0 below a count, in any order; it returns the sum of what is `added`."""
    type = head.split()[0]
    summed = f"  %sum = phi {type} [0.0, %entry], [%more.sum, %loop]\n" if added else ""
    adding = f"  %more.sum = fadd reassoc nsz {type} %sum, {added}\n" if added else ""
    result = f"  %all = phi {type} [0.0, %entry], [%more.sum, %loop]\n  ret {type} %all" if added else "  ret void"
    return f"""
define {head} {ATTRIBUTES} {{
entry:
  %count = {count}
  %some = icmp sgt i64 %count, 0
  br i1 %some, label %loop, label %done
loop:
  %j = phi i64 [0, %entry], [%next, %loop]
{summed}{indented(inside)}
{adding}  %next = add nuw nsw i64 %j, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %loop, label %done, !llvm.loop !1
done:
{result}
}}
"""


def in_steps(stored: Stored) -> int:
    """Elements of a row in one step of these loops: a count of whole steps leaves none that are computed one by one."""
    return 2 * registers().lanes(stored)


def exponentials(stored: Stored) -> str:
    """row[j] = exp(row[j] - shift) for a number of whole steps, and their sum."""
    t = stored.memory
    lines, value = _lines(_exponential(stored), ("%s", "%shift"))
    inside = [
        f"%p = getelementptr {t}, ptr %row, i64 %j",
        f"%s = load {t}, ptr %p, align {stored.size}{TAGS}",
        *lines,
        f"store {t} {value}, ptr %p, align {stored.size}{TAGS}",
    ]
    count = f"and i64 %n, {-in_steps(stored)}"
    return simple_loop(f"{t} @exponentials(ptr %row, i64 %n, {t} %shift)", count, inside, value)


def _masking(stored: Stored, mask: str) -> str:
    """row[j] factor + mask[j], or minus infinity where the mask does not keep."""
    t = stored.memory
    inside = [f"%p = getelementptr {t}, ptr %row, i64 %j", f"%s = load {t}, ptr %p, align {stored.size}{TAGS}"]
    if mask == "keep":
        inside += [
            "%q = getelementptr i8, ptr %mask, i64 %j",
            f"%b = load i8, ptr %q, align 1{TAGS}",
            "%c = icmp ne i8 %b, 0",
            f"%m = fmul {t} %s, %factor",
            f"%v = select i1 %c, {t} %m, {t} {literal(-inf, t)}",
        ]
    else:
        inside += [
            f"%q = getelementptr {t}, ptr %mask, i64 %j",
            f"%b = load {t}, ptr %q, align {stored.size}{TAGS}",
            f"%m = fmul {t} %s, %factor",
            f"%v = fadd {t} %m, %b",
        ]
    inside.append(f"store {t} %v, ptr %p, align {stored.size}{TAGS}")
    return simple_loop(f"void @masking(ptr %row, ptr %mask, i64 %n, {t} %factor)", "add i64 %n, 0", inside)


def changes(stored: Stored) -> str:
    """p[j] = exp(p[j] scale - shift) and row[j] = p[j] (row[j] - delta) factor, the gradient of the products which the scores are
    made of, for a number of whole steps."""
    t = stored.memory
    lines, value = _lines(_exponential(stored), ("%s", "%shift"))
    inside = [
        f"%b = getelementptr {t}, ptr %p, i64 %j",
        f"%r = load {t}, ptr %b, align {stored.size}{TAGS}",
        f"%s = fmul {t} %r, %scale",
        *lines,
        f"store {t} {value}, ptr %b, align {stored.size}{TAGS}",
        f"%a = getelementptr {t}, ptr %row, i64 %j",
        f"%y = load {t}, ptr %a, align {stored.size}{TAGS}",
        f"%d = fsub {t} %y, %delta",
        f"%c = fmul {t} %d, %factor",
        f"%v = fmul {t} %c, {value}",
        f"store {t} %v, ptr %a, align {stored.size}{TAGS}",
    ]
    count = f"and i64 %n, {-in_steps(stored)}"
    head = f"void @changes(ptr %row, ptr %p, i64 %n, {t} %shift, {t} %delta, {t} %scale, {t} %factor)"
    return simple_loop(head, count, inside)


class Blocks:
    """What the forward function and the gradient share: the sizes, the arrays' distances, and blocks of scores.

    `block`: the queries and the keys of a block; `single`: the arrays with a number for each query, in one piece.
    """

    def __init__(self, a: Attention, arrays: list[str], block: tuple[int, int], single: tuple[str, ...] = ("sums",)) -> None:
        self.a, self.f, (self.rows, self.columns) = a, Function(HEAD), block
        if self.columns % in_steps(a.stored):  # the exponentials of a row would run into the next
            raise ValueError(f"a block of {self.columns} keys is no number of whole steps of {in_steps(a.stored)}")
        self.tiles = [side_tile(a.stored, self.columns), side_tile(a.stored, a.query), side_tile(a.stored, a.value)]
        self.v = Vectors(self.f, a.stored, self.tiles[0].lanes)
        self.t, self.size = a.stored.memory, a.stored.size
        strided = [name for name in arrays if name not in single]
        f = self.f
        words = f.words([f"*{name}" for name in arrays])
        self.base = dict(zip(arrays, words, strict=True))
        self.products: set[Product] = set()
        at = len(arrays)

        def word(type: str = "i64") -> str:
            nonlocal at
            place = f.let(f"getelementptr i64, ptr %ctx, i64 {at}")
            at += 1
            return f.let(f"load {type}, ptr {place}")

        self.steps = {name: [word() for _ in range(3)] for name in strided}  # outer heads, inner heads, rows
        self.inner, self.queries, self.keys = word(), word(), word()
        factor = word("double")
        self.factor = factor if self.t == "double" else f.let(f"fptrunc double {factor} to float")

    def head(self, name: str, outer: str, inner: str) -> str:
        """Where a head of an array begins."""
        f, steps = self.f, self.steps[name]
        return f.at(self.base[name], f.add(f.mul(outer, steps[0]), f.mul(inner, steps[1])))

    def row(self, name: str, start: str, i: str) -> str:
        return self.f.at(start, self.f.mul(i, self.steps[name][2]))

    def copied(self, name: str, start: str, first: str, count: str, to: str, width: int, factor: str = "") -> None:
        """`count` rows into a block, times a factor."""
        f, v = self.f, self.v
        many = v.splat(factor) if factor else ""
        with f.loop(0, count) as i:
            line, goal = self.row(name, start, f.add(first, i)), v.place(to, f.mul(i, width))
            for d in range(0, width, v.lanes):
                value = v.load(v.place(line, d))
                v.store(f.let(f"fmul {v.type} {value}, {many}") if many else value, v.place(goal, d))

    def turned(self, name: str, start: str, first: str, count: str, to: str, width: int) -> None:
        """`count` rows of keys or values as columns of a block; the last one stands in those that are none."""
        f, v = self.f, self.v
        last = f.sub(count, 1)
        with f.loop(0, count, v.lanes) as j:
            lines = [self.row(name, start, f.add(first, f.least(f.add(j, k), last))) for k in range(v.lanes)]
            with f.loop(0, width, v.lanes) as d:
                for k, column in enumerate(v.transposed([v.load(v.place(line, d)) for line in lines])):
                    v.store(column, v.place(to, f.add(f.mul(f.add(d, k), self.columns), j)))

    def product(self, side: int, out: tuple[str, str | int], a: tuple[str, int, int], b: tuple[str, str | int],
                sizes: tuple[str | int, str | int, str | int], triangle: tuple[str, str],
                *, fresh: bool = False) -> None:  # fmt: skip
        """out (+)= a b; `triangle`: what is left out where later keys are unseen, and where that begins."""
        kind, first = triangle if self.a.causal else ("", "0")
        made = Product(self.tiles[side], a[1], a[2], b[1] if isinstance(b[1], int) else 0, fresh, kind)
        self.products.add(made)
        made.call(self.f, out, a, b, sizes, first)

    def in_whole(self, count: str, step: int) -> str:
        """A count rounded up to whole steps."""
        return self.f.mul(self.f.let(f"udiv i64 {self.f.add(count, step - 1)}, {step}"), step)

    def scores(self, to: str, rows: str, width: int, turned: str, sizes: tuple[str, str], first: str) -> None:
        """The products of some of a block's rows with some turned ones, whose columns are whole tiles."""
        row, (count, keys) = self.columns * self.size, sizes
        whole, a = (count, self.in_whole(keys, self.tiles[0].width), width), (rows, width * self.size, self.size)
        self.product(0, (to, row), a, (turned, row), whole, (RESULTS, first), fresh=True)

    def unread(self, few: str, count: str) -> str:
        """The end of the scores that no query sees and that a product still reads: some of a tile, if later keys are unseen."""
        return self.f.least(count, self.f.add(few, max(tile.rows for tile in self.tiles))) if self.a.causal else count

    def seen(self, first_query: str, count: str) -> str:
        """How many keys a block of queries sees."""
        return self.f.least(self.keys, self.f.add(first_query, count)) if self.a.causal else self.keys

    def visible(self, query: str, first_key: str, count: str) -> str:
        """How many keys of a block a query sees; none at the least."""
        if not self.a.causal:
            return count
        few = self.f.least(count, self.f.sub(self.f.add(query, 1), first_key))
        return self.f.most(few, 0)

    def masked(self, score: str, mask: str, query: str, first_key: str, count: str, factor: str) -> None:
        if self.a.mask:
            size = 1 if self.a.mask == "keep" else self.size
            place = self.f.at(self.row("mask", mask, query), self.f.mul(first_key, size))
            self.f.do(f"call void @masking(ptr {score}, ptr {place}, i64 {count}, {self.t} {factor})")

    def cleared(self, top: str, total: str, value: str) -> None:
        """No score yet for any query of a block: the largest, the sum of exponentials, and the weighted sum of values."""
        f, v, t = self.f, self.v, self.t
        with f.loop(0, self.rows) as i:
            f.do(f"store {t} {literal(-inf, t)}, ptr {v.place(top, i)}")
            f.do(f"store {t} 0.0, ptr {v.place(total, i)}")
        with f.loop(0, self.rows * self.a.value, v.lanes) as i:
            v.store("zeroinitializer", v.place(value, i))

    def summed(self, top: str, total: str, i: str, place: str) -> str:
        """Write the log-sum-exp of a query; what its values are divided by."""
        f, v, t = self.f, self.v, self.t
        number, large = (f.let(f"load {t}, ptr {v.place(p, i)}") for p in (total, top))
        sum_ = f.let(f"call {t} @logarithm({t} {number}, {t} {large})")
        f.do(f"store {t} {sum_}, ptr {v.place(self.base['sums'], f.add(place, i))}")
        none = f.let(f"fcmp oeq {t} {number}, 0.0")
        return f.let(f"select i1 {none}, {t} 1.0, {t} {number}")

    def module(self, loops: str, *functions: str) -> str:
        """The function with those that it calls."""
        tiles = "".join(made.text() for made in sorted(self.products, key=str))
        mask = _masking(self.a.stored, self.a.mask) if self.a.mask else ""
        body = "".join(functions) + tiles + self.f.text()
        known = self.v.declarations()
        others = "".join(f"{line}\n" for line in declarations(body).splitlines() if line not in known)
        return with_loops(others + known + body, loops + mask)


def forward(a: Attention) -> str:
    """softmax(q k^T factor + mask) v and the log-sum-exp of each query's scores; items are (head, block of queries).

    Context: log-sum-exp, q, k, v, out, the mask if there is one; of all but the first the bytes between outer heads, inner heads
    and rows; inner heads, queries, keys, factor; blocks of queries.
    """
    w = Blocks(a, ["sums", "q", "k", "v", "out", *(["mask"] if a.mask else [])], (QUERIES, KEYS))
    f, v, t = w.f, w.v, w.t
    blocks = f.let(f"udiv i64 {f.add(w.queries, QUERIES - 1)}, {QUERIES}")
    most = max(1, KEPT // (KEYS * a.query)) * KEYS
    q, turned, score, value = (f.variable(f"[{n} x {t}]") for n in
                               (QUERIES * a.query, most * a.query, QUERIES * KEYS, QUERIES * a.value))  # fmt: skip
    top, total = f.variable(f"[{QUERIES} x {t}]"), f.variable(f"[{QUERIES} x {t}]")
    last, few_keys = f.variable("i64", "-1"), f.let(f"icmp sle i64 {w.keys}, {most}")
    with f.loop("%lo", "%hi") as item:
        head, block = f.split(item, blocks)
        outer, inner = f.split(head, w.inner)
        first = f.mul(block, QUERIES)
        count = f.least(QUERIES, f.sub(w.queries, first))
        keys, values = w.head("k", outer, inner), w.head("v", outer, inner)
        mask = w.head("mask", outer, inner) if a.mask else ""
        w.copied("q", w.head("q", outer, inner), first, count, q, a.query, w.factor)
        another = f.let(f"icmp ne i64 {f.let(f'load i64, ptr {last}')}, {head}")
        with f.when(f.let(f"and i1 {few_keys}, {another}")), f.loop(0, w.keys, KEYS) as start:
            f.do(f"store i64 {head}, ptr {last}")
            n = f.least(KEYS, f.sub(w.keys, start))
            w.turned("k", keys, start, n, v.place(turned, f.mul(start, a.query)), a.query)
        w.cleared(top, total, value)
        with f.loop(0, w.seen(first, count), KEYS) as start:
            n = f.least(KEYS, f.sub(w.seen(first, count), start))
            with f.when(f.let(f"xor i1 {few_keys}, true")):
                w.turned("k", keys, start, n, turned, a.query)
            here = v.place(turned, f.let(f"select i1 {few_keys}, i64 {f.mul(start, a.query)}, i64 0"))
            ahead = f.sub(start, first)
            w.scores(score, q, a.query, here, (count, n), ahead)
            with f.loop(0, count) as i:
                query, line = f.add(first, i), v.place(score, f.mul(i, KEYS))
                w.masked(line, mask, query, start, n, "1.0")
                few = w.visible(query, start, n)
                args = f"ptr {line}, i64 {few}, i64 {w.unread(few, n)}, ptr {v.place(top, i)}, ptr {v.place(total, i)}"
                f.do(f"call void @normalized({args}, ptr {v.place(value, f.mul(i, a.value))})")
            seen = w.row("v", values, start), w.steps["v"][2]
            chances = score, KEYS * w.size, w.size
            w.product(2, (value, a.value * w.size), chances, seen, (count, a.value, n), (STEPS, ahead))
        place, out = f.add(f.mul(head, w.queries), first), w.row("out", w.head("out", outer, inner), first)
        with f.loop(0, count) as i:
            many = v.splat(w.summed(top, total, i, place))
            line = v.place(value, f.mul(i, a.value))
            goal = w.row("out", out, i)
            for d in range(0, a.value, v.lanes):
                v.store(f.let(f"fdiv {v.type} {v.load(v.place(line, d))}, {many}"), v.place(goal, d))
    return w.module(exponentials(a.stored), normalized(w), one_by_one(a.stored))


def normalized(w: Blocks) -> str:
    """A row of scores to exponentials below the largest so far; what was summed before is scaled down to it.

    Scores that the query does not see, from `few` to `n`, become zeros.
    """
    t = w.t
    f = Function("internal void @normalized(ptr %row, i64 %few, i64 %n, ptr %top, ptr %total, ptr %value)")
    v = Vectors(f, w.a.stored, w.v.lanes)
    before = f.let(f"load {t}, ptr %top")
    # Whole steps of the loops below lie within the block; behind the last score is minus infinity, whose exponential is 0.
    step = in_steps(w.a.stored)
    whole = f.mul(f.let(f"udiv i64 {f.add('%few', step - 1)}, {step}"), step)
    with f.loop("%few", whole) as j:
        f.do(f"store {t} {literal(-inf, t)}, ptr {v.place('%row', j)}")

    def larger(a: str, b: str) -> str:
        return f.let(f"select <{v.lanes} x i1> {f.let(f'fcmp ugt {v.type} {a}, {b}')}, {v.type} {a}, {v.type} {b}")

    best = _folded(f, v, whole, v.splat(literal(-inf, t)), larger)
    here = f.let(f"call {t} @llvm.vector.reduce.fmax.{v.suffix}({v.type} {best})")
    more = f.let(f"fcmp ogt {t} {here}, {before}")
    new = f.let(f"select i1 {more}, {t} {here}, {t} {before}")
    f.do(f"store {t} {new}, ptr %top")
    none = f.let(f"fcmp oeq {t} {new}, {literal(-inf, t)}")
    shift = f.let(f"select i1 {none}, {t} 0.0, {t} {new}")
    added = f.let(f"call {t} @exponentials(ptr %row, i64 {whole}, {t} {shift})")
    with f.loop(whole, "%n") as j:
        f.do(f"store {t} 0.0, ptr {v.place('%row', j)}")
    scaled = f.variable(t, "1.0")
    begun = f.let(f"fcmp une {t} {before}, {literal(-inf, t)}")  # else there is nothing yet to be scaled
    with f.when(f.let(f"and i1 {begun}, {f.let(f'fcmp une {t} {new}, {before}')}")):
        part = f.let(f"call {t} @exponential({t} {before}, {t} {shift})")
        f.do(f"store {t} {part}, ptr {scaled}")
        many = v.splat(part)
        for d in range(0, w.a.value, v.lanes):
            place = v.place("%value", d)
            v.store(f.let(f"fmul {v.type} {v.load(place)}, {many}"), place)
    total = f.let(f"fmul {t} {f.let(f'load {t}, ptr %total')}, {f.let(f'load {t}, ptr {scaled}')}")
    f.do(f"store {t} {f.let(f'fadd {t} {total}, {added}')}, ptr %total")
    return f"declare {t} @llvm.vector.reduce.fmax.{v.suffix}({v.type})\n" + f.text()


def _folded(f: Function, v: Vectors, count: str, first: str, fold: Callable[[str, str], str]) -> str:
    """A row's vectors, two and two, folded into one."""
    places = [f.variable(v.type) for _ in range(2)]
    for place in places:
        f.do(f"store {v.type} {first}, ptr {place}")
    with f.loop(0, count, 2 * v.lanes) as j:
        for k, place in enumerate(places):
            x = v.load(v.place("%row", f.add(j, k * v.lanes)))
            f.do(f"store {v.type} {fold(x, f.let(f'load {v.type}, ptr {place}'))}, ptr {place}")
    return fold(*(f.let(f"load {v.type}, ptr {place}") for place in places))


def one_by_one(stored: Stored) -> str:
    """Of single numbers: exp(score - shift), and log(total) + the largest score."""
    t = stored.memory
    number, other = parameter(0, t), parameter(1, t)
    text = ""
    for name, expr in (("exponential", _exponential(stored)), ("logarithm", maths.log(number) + other)):
        lines, value = _lines(expr, ("%a", "%b"))
        text += f"define internal {t} @{name}({t} %a, {t} %b) {ATTRIBUTES} {{\n{indented(lines)}\n  ret {t} {value}\n}}\n"
    return text
