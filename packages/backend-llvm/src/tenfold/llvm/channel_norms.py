"""Batch and group normalization of few elements and their gradients, each in one pass over its channels, as LLVM IR.

Sums are float64's, about a mean that is kept in float64. Channels first, a row of places is read in vectors; channels last,
vectors lie over the channels, of which each item has as many as a register holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tenfold.llvm.products import HEAD
from tenfold.llvm.storage import Stored
from tenfold.llvm.writer import Function, Vectors, registers

# Rows of places, channels first. Statistics are of `outer` times as many sets as there are items; a set's rows are `blocks`, of
# `length` places. Elements from one to the next of each, then numbers of the affine map from an item or a block to the next.
SIZES = ("outer", "blocks", "length", "outer step", "item step", "block step", "item's channels", "block's channels", "items")
# Channels last: rows, channels.
LAST_SIZES = ("rows", "C")


class _Pass:
    """What both orders of memory share: numbers as vectors, in the dtype of the data or, wide, in float64."""

    def __init__(self, stored: Stored, names: list[str], sizes: tuple[str, ...]) -> None:
        self.f = f = Function(HEAD)
        self.v = v = Vectors(f, stored, registers().lanes(stored))
        self.wide = f"<{v.lanes} x double>"
        words = f.words([*names, *sizes])
        self.given, self.sizes = words[: len(names)], words[len(names) :]

    def op(self, what: str, a: str, b: str, type: str = "") -> str:
        return self.f.let(f"{what} {type or self.v.type} {a}, {b}")

    def widened(self, value: str, type: str = "") -> str:
        """Elements as float64."""
        if self.v.element == "double":
            return value
        return self.f.let(f"fpext {type or self.v.type} {value} to {self.wide if not type else 'double'}")

    def narrowed(self, value: str, type: str, to: str) -> str:
        return value if type == to else self.f.let(f"fptrunc {type} {value} to {to}")

    def sum(self) -> str:
        """A sum of vectors that begins with nothing."""
        return self.f.variable(self.wide)

    def clear(self, *sums: str) -> None:
        for place in sums:
            self.f.do(f"store {self.wide} zeroinitializer, ptr {place}")

    def add(self, place: str, value: str, mask: str = "") -> None:
        """Add a vector of float64 to a sum, in the lanes of the mask."""
        if mask:
            lanes = self.v.lanes
            value = self.f.let(f"select <{lanes} x i1> {mask}, {self.wide} {value}, {self.wide} zeroinitializer")
        before = self.f.let(f"load {self.wide}, ptr {place}")
        self.f.do(f"store {self.wide} {self.op('fadd', before, value, self.wide)}, ptr {place}")

    def splat(self, number: str, type: str) -> str:
        many = f"<{self.v.lanes} x {type}>"
        one = self.f.let(f"insertelement {many} poison, {type} {number}, i64 0")
        return self.f.let(f"shufflevector {many} {one}, {many} poison, <{self.v.lanes} x i32> zeroinitializer")

    def total(self, place: str) -> str:
        """A sum's lanes together."""
        value = self.f.let(f"load {self.wide}, ptr {place}")
        name = f"@llvm.vector.reduce.fadd.v{self.v.lanes}f64"
        return self.f.let(f"call reassoc double {name}(double -0.0, {self.wide} {value})")

    def text(self) -> str:
        lanes = self.v.lanes
        sums = f"declare double @llvm.vector.reduce.fadd.v{lanes}f64(double, {self.wide})\n" if self.v.element != "double" else ""
        roots = f"declare double @llvm.sqrt.f64(double)\ndeclare {self.wide} @llvm.sqrt.v{lanes}f64({self.wide})\n"
        return self.v.declarations() + sums + roots + self.f.text()

    def root(self, value: str, type: str) -> str:
        suffix = "f64" if type == "double" else f"v{self.v.lanes}f64"
        return self.f.let(f"call {type} @llvm.sqrt.{suffix}({type} {value})")


class _Rows(_Pass):
    """Channels first."""

    def __init__(self, stored: Stored, names: list[str]) -> None:
        super().__init__(stored, names, SIZES)
        (self.outer, self.blocks, self.length, *self.steps, self.channels, self.block_channels, self.items) = self.sizes

    @contextmanager
    def sets(self) -> Iterator[tuple[str, str, str]]:
        """Each set of statistics: its number, its first element, the number of its first channel."""
        f = self.f
        with f.loop("%lo", "%hi") as item, f.loop(0, self.outer) as n:
            base = f.add(f.mul(n, self.steps[0]), f.mul(item, self.steps[1]))
            yield f.add(f.mul(n, self.items), item), base, f.mul(item, self.channels)

    @contextmanager
    def rows(self, base: str, channel: str) -> Iterator[tuple[str, str]]:
        """Each of its rows: where it begins, and its channel."""
        f = self.f
        with f.loop(0, self.blocks) as k:
            yield f.add(base, f.mul(k, self.steps[2])), f.add(channel, f.mul(k, self.block_channels))

    def places(self, row: str, body: Callable[[str, str], None]) -> None:
        """`body(element, mask)` for the vectors of a row."""
        f, v = self.f, self.v
        whole = f.let(f"and i64 {self.length}, {-v.lanes}")
        with f.loop(0, whole, v.lanes) as j:
            body(f.add(row, j), "")
        rest = f.sub(self.length, whole)
        with f.when(f.let(f"icmp sgt i64 {rest}, 0")):
            body(f.add(row, whole), v.below(rest))

    def number(self, table: str, index: str, type: str = "") -> str:
        type = type or self.v.element
        return self.f.let(f"load {type}, ptr {self.f.at(table, index, type)}")

    def put(self, value: str, table: str, index: str, type: str = "") -> None:
        type = type or self.v.element
        self.f.do(f"store {type} {value}, ptr {self.f.at(table, index, type)}")

    def count(self) -> str:
        """How many elements a set has."""
        return self.f.let(f"sitofp i64 {self.f.mul(self.blocks, self.length)} to double")


def rows(stored: Stored, training: bool, weight: bool, bias: bool) -> str:
    """(x - mean) / sqrt(variance + eps) weight + bias, channels first; outside training mean and variance are given.

    Context: x, out, mean, variance, 1 / sqrt(variance + eps), weight, bias, eps; sizes.
    """
    p = _Rows(stored, ["*x", "*out", "*mean", "*variance", "*rstd", "*weight", "*bias", "eps"])
    f, v, e = p.f, p.v, p.v.element
    x, out, means, variances, rstds, weights, biases, eps = p.given
    eps = f.let(f"bitcast i64 {eps} to double")
    with p.sets() as (number, base, channel):
        if training:
            _moments(p, x, means, variances, number, base, channel)
        mean = p.number(means, number)
        variance = p.widened(p.number(variances, number), e)
        root = p.root(p.op("fadd", variance, eps, "double"), "double")
        rstd = p.narrowed(p.op("fdiv", "1.0", root, "double"), "double", e)
        p.put(rstd, rstds, number)
        center = v.splat(mean)
        with p.rows(base, channel) as (row, c):
            scale = v.splat(p.op("fmul", rstd, p.number(weights, c), e) if weight else rstd)
            shift = v.splat(p.number(biases, c)) if bias else ""

            def made(i: str, mask: str, scale: str = scale, shift: str = shift) -> None:
                y = p.op("fmul", p.op("fsub", v.read(v.place(x, i), mask), center), scale)
                v.write(p.op("fadd", y, shift) if bias else y, v.place(out, i), mask)

            p.places(row, made)
    return p.text()


def _moments(p: _Rows, x: str, means: str, variances: str, number: str, base: str, channel: str) -> None:
    """A set's mean and variance, kept."""
    v, e, count = p.v, p.v.element, p.count()
    sums, squares = p.sum(), p.sum()
    p.clear(sums, squares)
    with p.rows(base, channel) as (row, _):
        p.places(row, lambda i, mask: p.add(sums, p.widened(v.read(v.place(x, i), mask))))  # zeros beside the mask
    mean = p.op("fdiv", p.total(sums), count, "double")
    center = p.splat(mean, "double")

    def added(i: str, mask: str) -> None:
        deviation = p.op("fsub", p.widened(v.read(v.place(x, i), mask)), center, p.wide)
        p.add(squares, p.op("fmul", deviation, deviation, p.wide), mask)

    with p.rows(base, channel) as (row, _):
        p.places(row, added)
    variance = p.op("fdiv", p.total(squares), count, "double")
    p.put(p.narrowed(mean, "double", e), means, number)
    p.put(p.narrowed(variance, "double", e), variances, number)


def rows_gradient(stored: Stored, training: bool, weight: bool) -> str:
    """g scale + (x - mean) slope + level, channels first, and the gradients of weight and bias, added to float64 numbers.

    Context: g, x, out, mean, 1 / sqrt(variance + eps), weight, weight's gradient, bias's gradient; sizes.
    """
    p = _Rows(stored, ["*g", "*x", "*out", "*mean", "*rstd", "*weight", "*weight's", "*bias's"])
    f, v, e = p.f, p.v, p.v.element
    g, x, out, means, rstds, weights, of_weights, of_biases = p.given
    sums, dots = p.sum(), p.sum()
    level_, slope_ = f.variable("double"), f.variable("double")
    with p.sets() as (number, base, channel):
        f.do(f"store double 0.0, ptr {level_}")
        f.do(f"store double 0.0, ptr {slope_}")
        mean, rstd = p.number(means, number), p.number(rstds, number)
        wide, center = p.widened(rstd, e), v.splat(mean)
        with p.rows(base, channel) as (row, c):
            p.clear(sums, dots)

            def added(i: str, mask: str) -> None:
                given = v.read(v.place(g, i), mask)
                deviation = p.op("fsub", v.read(v.place(x, i), mask), center)
                p.add(sums, p.widened(given))
                p.add(dots, p.op("fmul", p.widened(given), p.widened(deviation), p.wide), mask)

            p.places(row, added)
            one, other = p.total(sums), p.op("fmul", p.total(dots), wide, "double")
            for value, table in ((other, of_weights), (one, of_biases)):
                p.put(p.op("fadd", p.number(table, c, "double"), value, "double"), table, c, "double")
            for value, place in ((one, level_), (other, slope_)):
                if weight:
                    value = p.op("fmul", value, p.widened(p.number(weights, c), e), "double")
                before = f.let(f"load double, ptr {place}")
                f.do(f"store double {p.op('fadd', before, value, 'double')}, ptr {place}")
        factor = p.op("fdiv", wide, p.count(), "double")
        level = p.op("fmul", f.let(f"load double, ptr {level_}"), factor, "double")
        slope = p.op("fmul", p.op("fmul", f.let(f"load double, ptr {slope_}"), factor, "double"), wide, "double")
        level, slope = (v.splat(p.narrowed(n, "double", e)) for n in (level, slope))
        with p.rows(base, channel) as (row, c):
            scale = v.splat(p.op("fmul", rstd, p.number(weights, c), e) if weight else rstd)

            def made(i: str, mask: str, scale: str = scale) -> None:
                value = p.op("fmul", v.read(v.place(g, i), mask), scale)
                if training:
                    deviation = p.op("fsub", v.read(v.place(x, i), mask), center)
                    value = p.op("fsub", value, p.op("fadd", p.op("fmul", deviation, slope), level))
                v.write(value, v.place(out, i), mask)

            p.places(row, made)
    return p.text()


class _Columns(_Pass):
    """Channels last: what is computed for a vector of channels."""

    def __init__(self, stored: Stored, names: list[str]) -> None:
        super().__init__(stored, names, LAST_SIZES)
        self.count, self.channels = self.sizes
        self.mask, self.first = "", ""

    def items(self, body: Callable[[], None]) -> None:
        """`body()` for each vector of channels, whole or under a mask."""
        f, v = self.f, self.v
        with f.loop("%lo", "%hi") as item:
            self.first = f.mul(item, v.lanes)
            rest = f.sub(self.channels, self.first)
            with f.either(f.let(f"icmp sge i64 {rest}, {v.lanes}")) as otherwise:
                self.mask = ""
                body()
                otherwise()
                self.mask = v.below(rest)
                body()

    def rows(self, body: Callable[[str], None]) -> None:
        """`body(element)` for each row."""
        with self.f.loop(0, self.count) as r:
            body(self.f.add(self.f.mul(r, self.channels), self.first))

    def of(self, array: str, i: str) -> str:
        return self.v.read(self.v.place(array, i), self.mask)

    def numbers(self, table: str) -> str:
        return self.of(table, self.first)

    def put(self, value: str, array: str, i: str = "") -> None:
        self.v.write(value, self.v.place(array, i or self.first), self.mask)

    def loaded(self, place: str) -> str:
        return self.f.let(f"load {self.wide}, ptr {place}")

    def share(self) -> str:
        """The number of rows, in every lane."""
        return self.splat(self.f.let(f"sitofp i64 {self.count} to double"), "double")


def columns(stored: Stored, training: bool, weight: bool, bias: bool) -> str:
    """The same as `rows`, channels last."""
    p = _Columns(stored, ["*x", "*out", "*mean", "*variance", "*rstd", "*weight", "*bias", "eps"])
    v = p.v
    x, out, means, variances, rstds, weights, biases, eps = p.given
    eps = p.splat(p.f.let(f"bitcast i64 {eps} to double"), "double")
    sums, squares, one = p.sum(), p.sum(), p.splat("1.0", "double")

    def body() -> None:
        if training:
            p.clear(sums, squares)
            p.rows(lambda i: p.add(sums, p.widened(p.of(x, i))))
            center = p.op("fdiv", p.loaded(sums), p.share(), p.wide)

            def added(i: str) -> None:
                deviation = p.op("fsub", p.widened(p.of(x, i)), center, p.wide)
                p.add(squares, p.op("fmul", deviation, deviation, p.wide))

            p.rows(added)
            p.put(p.narrowed(center, p.wide, v.type), means)
            p.put(p.narrowed(p.op("fdiv", p.loaded(squares), p.share(), p.wide), p.wide, v.type), variances)
        mean = p.numbers(means)
        root = p.root(p.op("fadd", p.widened(p.numbers(variances)), eps, p.wide), p.wide)
        rstd = p.narrowed(p.op("fdiv", one, root, p.wide), p.wide, v.type)
        p.put(rstd, rstds)
        scale = p.op("fmul", rstd, p.numbers(weights)) if weight else rstd
        shift = p.numbers(biases) if bias else ""

        def made(i: str) -> None:
            y = p.op("fmul", p.op("fsub", p.of(x, i), mean), scale)
            p.put(p.op("fadd", y, shift) if bias else y, out, i)

        p.rows(made)

    p.items(body)
    return p.text()


def columns_gradient(stored: Stored, training: bool, weight: bool) -> str:
    """The same as `rows_gradient`, channels last; the gradients of weight and bias are of the data's dtype."""
    p = _Columns(stored, ["*g", "*x", "*out", "*mean", "*rstd", "*weight", "*weight's", "*bias's"])
    v = p.v
    g, x, out, means, rstds, weights, of_weights, of_biases = p.given
    sums, dots = p.sum(), p.sum()

    def body() -> None:
        p.clear(sums, dots)
        mean, rstd = p.numbers(means), p.numbers(rstds)

        def added(i: str) -> None:
            given = p.widened(p.of(g, i))
            p.add(sums, given)
            p.add(dots, p.op("fmul", given, p.widened(p.op("fsub", p.of(x, i), mean)), p.wide))

        p.rows(added)
        wide = p.widened(rstd)
        total, dot = p.loaded(sums), p.op("fmul", p.loaded(dots), wide, p.wide)
        p.put(p.narrowed(dot, p.wide, v.type), of_weights)
        p.put(p.narrowed(total, p.wide, v.type), of_biases)
        scale = p.op("fmul", wide, p.widened(p.numbers(weights)), p.wide) if weight else wide
        share = p.op("fdiv", scale, p.share(), p.wide)
        level = p.narrowed(p.op("fmul", total, share, p.wide), p.wide, v.type)
        slope = p.narrowed(p.op("fmul", p.op("fmul", dot, share, p.wide), wide, p.wide), p.wide, v.type)
        scale = p.narrowed(scale, p.wide, v.type)

        def made(i: str) -> None:
            value = p.op("fmul", p.of(g, i), scale)
            if training:
                deviation = p.op("fsub", p.of(x, i), mean)
                value = p.op("fsub", value, p.op("fadd", p.op("fmul", deviation, slope), level))
            p.put(value, out, i)

        p.rows(made)

    p.items(body)
    return p.text()
