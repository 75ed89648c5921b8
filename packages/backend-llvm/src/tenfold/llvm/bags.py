"""Sums, means and maxima of bags of a table's rows, and their gradients, as LLVM IR."""

from __future__ import annotations

from tenfold.llvm.products import HEAD
from tenfold.llvm.sending import HALVES, held, read, write
from tenfold.llvm.storage import BFLOAT16, FLOAT16, FLOAT32, Stored
from tenfold.llvm.writer import Function, Vectors, registers

STILL = 4  # vectors of a row that are summed beside one another


class _Bags:
    """A function with vectors over a row's numbers, those of half precision in float32."""

    def __init__(self, stored: Stored, ties_up: bool = False) -> None:
        self.f, self.stored, self.ties_up = Function(HEAD), stored, ties_up
        self.half = stored in HALVES
        computed = FLOAT32 if self.half else stored
        self.v = Vectors(self.f, computed, registers().lanes(computed))
        self.memory = f"<{self.v.lanes} x {stored.memory}>"
        self.suffix = f"v{self.v.lanes}{'i16' if stored.memory == 'i16' else f'f{8 * stored.size}'}"
        self.bits = f"<{self.v.lanes} x i32>"

    def value(self, place: str, type: str) -> str:
        return self.f.let(f"load {type}, ptr {place}")

    def put(self, value: str, type: str, place: str) -> None:
        self.f.do(f"store {type} {value}, ptr {place}")

    def splat(self, number: str, element: str = "i64") -> str:
        """A number in every lane."""
        type = f"<{self.v.lanes} x {element}>"
        one = self.f.let(f"insertelement {type} poison, {element} {number}, i64 0")
        return self.f.let(f"shufflevector {type} {one}, {type} poison, <{self.v.lanes} x i32> zeroinitializer")

    def row(self, array: str, index: str, mask: str) -> str:
        """Neighbours in an array, in the type that is computed in."""
        place = self.f.at(array, index, self.stored.memory)
        given = f"ptr {place}, i32 {self.stored.size}, <{self.v.lanes} x i1> {mask}, {self.memory} zeroinitializer"
        how = f"call {self.memory} @llvm.masked.load.{self.suffix}.p0({given})"
        found = self.f.let(how if mask else f"load {self.memory}, ptr {place}, align {self.stored.size}")
        if self.stored is FLOAT16:
            return self.f.let(f"fpext {self.memory} {found} to {self.v.type}")
        if self.stored is not BFLOAT16:
            return found
        return self.widened(found)

    def rounded(self, value: str) -> str:
        """Numbers as they lie in memory."""
        f, bits = self.f, self.bits
        if self.stored is FLOAT16:
            return f.let(f"fptrunc {self.v.type} {value} to {self.memory}")
        if self.stored is not BFLOAT16:
            return value
        pattern, high = f.let(f"bitcast {self.v.type} {value} to {bits}"), self.splat("16", "i32")
        odd = f.let(f"and {bits} {f.let(f'lshr {bits} {pattern}, {high}')}, {self.splat('1', 'i32')}")
        half = self.splat("32768", "i32") if self.ties_up else f.let(f"add {bits} {odd}, {self.splat('32767', 'i32')}")
        up, quiet = f.let(f"add {bits} {pattern}, {half}"), f.let(f"or {bits} {pattern}, {self.splat('4194304', 'i32')}")
        nan = f.let(f"fcmp uno {self.v.type} {value}, {value}")
        chosen = f.let(f"select <{self.v.lanes} x i1> {nan}, {bits} {quiet}, {bits} {up}")
        return f.let(f"trunc {bits} {f.let(f'lshr {bits} {chosen}, {high}')} to {self.memory}")

    def held(self, value: str) -> str:
        """Numbers rounded to half precision and back."""
        if self.stored is FLOAT16:
            return self.f.let(f"fpext {self.memory} {self.rounded(value)} to {self.v.type}")
        if self.stored is not BFLOAT16:
            return value
        return self.widened(self.rounded(value))

    def widened(self, halves: str) -> str:
        """Numbers of bfloat16, which are the upper halves of those of float32."""
        wide = self.f.let(f"zext {self.memory} {halves} to {self.bits}")
        upper = self.f.let(f"shl {self.bits} {wide}, {self.splat('16', 'i32')}")
        return self.f.let(f"bitcast {self.bits} {upper} to {self.v.type}")

    def store(self, value: str, array: str, index: str, mask: str) -> None:
        """Write neighbours."""
        place, made = self.f.at(array, index, self.stored.memory), self.rounded(value)
        given = f"{self.memory} {made}, ptr {place}, i32 {self.stored.size}, <{self.v.lanes} x i1> {mask}"
        how = f"call void @llvm.masked.store.{self.suffix}.p0({given})"
        self.f.do(how if mask else f"store {self.memory} {made}, ptr {place}, align {self.stored.size}")

    def clipped(self, value: str, highest: str) -> str:
        """A whole number between 0 and another."""
        above = self.f.let(f"select i1 {self.f.let(f'icmp slt i64 {value}, {highest}')}, i64 {value}, i64 {highest}")
        return self.f.let(f"select i1 {self.f.let(f'icmp sgt i64 {above}, 0')}, i64 {above}, i64 0")

    def declarations(self) -> str:
        lanes, whole = f"<{self.v.lanes} x i1>", f"<{self.v.lanes} x i64>"
        text = f"declare {self.memory} @llvm.masked.load.{self.suffix}.p0(ptr, i32, {lanes}, {self.memory})\n"
        text += f"declare void @llvm.masked.store.{self.suffix}.p0({self.memory}, ptr, i32, {lanes})\n"
        return text + f"declare void @llvm.masked.store.v{self.v.lanes}i64.p0({whole}, ptr, i32, {lanes})\n"


def bags(stored: Stored, mode: str, weighted: bool, even: bool, full: int, ties_up: bool) -> str:
    """Items are bags. The flags are set where an index is no row, and where bags begin out of order.

    `even`: bags of as many indices each; `full`: how many whole vectors a row has, -1 where they are many; `ties_up`: what lies
    in the middle of two numbers of bfloat16 is rounded up, as PyTorch's fast loops do.

    Context: weight, index, where each bag begins, factors, out, sizes, places, flags; numbers of a row, rows, the row that does
    not count, indices, those of an even bag, how many beginnings there are.
    """
    b = _Bags(stored, ties_up)
    f, v = b.f, b.v
    weight, index, starts, factors, out, sizes, places, flags, D, rows, padding, indices, length, begun = f.words(
        ["*weight", "*index", "*starts", "*factors", "*out", "*sizes", "*places", "*flags", *["number"] * 6]
    )
    whole = f"<{v.lanes} x i64>"
    count = f.variable("i64")
    totals = [f.variable(v.type) for _ in range(max(full, STILL) + 1)]
    at = [f.variable(whole) for _ in totals] if mode == "max" else []
    some = f.let(f"and i64 {D}, {-v.lanes}")
    rest = f.sub(D, some)
    tail = v.below(rest)
    with f.loop("%lo", "%hi") as bag:
        first, last = _bounds(b, bag, starts, flags, indices, length, begun, even)

        def each_row(vectors: list[tuple[str, str]], counts: bool) -> None:
            """Go over the bag's rows with the vectors that begin at some columns."""
            for k in range(len(vectors)):
                b.put("zeroinitializer", v.type, totals[k])
                if mode == "max":
                    b.put(f"<{', '.join(['i64 -1'] * v.lanes)}>", whole, at[k])
            with f.loop(first, last) as i:
                row = f.whole(index, i)
                inside = f.let(f"icmp ult i64 {row}, {rows}")
                other = f.let(f"icmp ne i64 {row}, {padding}")
                if counts:
                    with f.when(f.let(f"xor i1 {inside}, true")):
                        b.put("1", "i64", flags)
                    b.put(f.add(b.value(count, "i64"), f.let(f"zext i1 {other} to i64")), "i64", count)
                with f.when(f.let(f"and i1 {inside}, {other}")):
                    factor = b.splat(read(f, stored, factors, i), v.element) if weighted else ""
                    for k, (j, mask) in enumerate(vectors):
                        value = b.row(weight, f.add(f.mul(row, D), j), mask)
                        known = b.value(totals[k], v.type)
                        if mode == "max":
                            _greater(b, value, known, row, totals[k], at[k])
                        else:
                            value = f.let(f"fmul {v.type} {value}, {factor}") if weighted else value
                            b.put(f.let(f"fadd {v.type} {known}, {value}"), v.type, totals[k])

        def results(vectors: list[tuple[str, str]]) -> None:
            number = b.value(count, "i64")
            one = f.let(f"select i1 {f.let(f'icmp sgt i64 {number}, 1')}, i64 {number}, i64 1")
            over = b.held(b.splat(f.let(f"sitofp i64 {one} to {v.element}"), v.element))
            for k, (j, mask) in enumerate(vectors):
                goal, result = f.add(f.mul(bag, D), j), b.value(totals[k], v.type)
                if mode == "mean":
                    result = f.let(f"fdiv {v.type} {b.held(result)}, {over}")
                b.store(result, out, goal, mask)
                if mode == "max":
                    _store_places(b, places, goal, b.value(at[k], whole), mask)

        b.put("0", "i64", count)
        if full >= 0:
            columns = [(str(k * v.lanes), "") for k in range(full)] + [(some, tail)]
            each_row(columns, True)
            results(columns)
        else:
            each_row([], True)
            blocks = f.let(f"and i64 {some}, {-STILL * v.lanes}")
            with f.loop(0, blocks, STILL * v.lanes) as j:
                columns = [(f.add(j, k * v.lanes), "") for k in range(STILL)]
                each_row(columns, False)
                results(columns)
            with f.loop(blocks, some, v.lanes) as j:
                each_row([(j, "")], False)
                results([(j, "")])
            with f.when(f.let(f"icmp sgt i64 {rest}, 0")):
                each_row([(some, tail)], False)
                results([(some, tail)])
        f.do(f"store i64 {b.value(count, 'i64')}, ptr {f.at(sizes, bag, 'i64')}")
    return b.declarations() + f.text()


def _bounds(b: _Bags, bag: str, starts: str, flags: str, indices: str, length: str, begun: str, even: bool) -> tuple[str, str]:
    """Where a bag begins and ends."""
    f = b.f
    if even:
        begin = f.mul(bag, length)
        return begin, f.add(begin, length)
    ending, next_bag = f.variable("i64", indices), f.add(bag, 1)
    begin = f.whole(starts, bag)
    with f.when(f.let(f"icmp slt i64 {next_bag}, {begun}")):
        b.put(f.whole(starts, next_bag), "i64", ending)
    end = b.value(ending, "i64")
    with f.when(f.let(f"icmp slt i64 {end}, {begin}")):
        b.put("1", "i64", f.at(flags, 1, "i64"))
    return b.clipped(begin, indices), b.clipped(end, indices)


def _greater(b: _Bags, value: str, known: str, row: str, total: str, at: str) -> None:
    """Keep the larger numbers, and their rows; the first ones are kept in any case."""
    f, v, whole, type = b.f, b.v, f"<{b.v.lanes} x i64>", f"<{b.v.lanes} x i1>"
    old = b.value(at, whole)
    better = f.let(f"icmp slt {whole} {old}, zeroinitializer")
    above = f.let(f"fcmp ogt {v.type} {value}, {known}")
    better = f.let(f"or {type} {better}, {above}")
    b.put(f.let(f"select {type} {better}, {v.type} {value}, {v.type} {known}"), v.type, total)
    b.put(f.let(f"select {type} {better}, {whole} {b.splat(row)}, {whole} {old}"), whole, at)


def _store_places(b: _Bags, places: str, goal: str, found: str, mask: str) -> None:
    spot, whole = b.f.at(places, goal, "i64"), f"<{b.v.lanes} x i64>"
    given = f"{whole} {found}, ptr {spot}, i32 8, <{b.v.lanes} x i1> {mask}"
    plain = f"store {whole} {found}, ptr {spot}, align 8"
    b.f.do(f"call void @llvm.masked.store.v{b.v.lanes}i64.p0({given})" if mask else plain)


def bags_grad(stored: Stored, mode: str, weighted: bool) -> str:
    """Each bag's gradient is added to its rows. Items are columns, so that no two threads add to one place.

    Context: gradient, index, starts, factors, sizes, table; bags, numbers of a row, the row that does not count.
    """
    b = _Bags(stored)
    f, v = b.f, b.v
    grad, index, starts, factors, sizes, table, count, D, padding = f.words(
        ["*grad", "*index", "*starts", "*factors", "*sizes", "*table", "count", "D", "padding"]
    )
    whole = f.add("%lo", f.let(f"and i64 {f.sub('%hi', '%lo')}, {-v.lanes}"))
    with f.loop(0, count) as bag:
        source = v.place(grad, f.mul(bag, D))
        least = f.let(f"call i64 @llvm.smax.i64(i64 {f.whole(sizes, bag)}, i64 1)")
        over = f.let(f"sitofp i64 {least} to {v.element}")
        with f.loop(f.whole(starts, bag), f.whole(starts, f.add(bag, 1))) as i:
            row = f.whole(index, i)
            with f.when(f.let(f"icmp ne i64 {row}, {padding}")):
                goal = v.place(table, f.mul(row, D))
                factor = v.load(v.place(factors, i), v.element) if weighted else ""

                def add(j: str, wide: bool) -> None:
                    type = v.type if wide else v.element
                    term, before = (v.load(v.place(a, j), type) for a in (source, goal))
                    for how, number in (("fdiv", over if mode == "mean" else ""), ("fmul", factor)):
                        if number:
                            term = f.let(f"{how} {type} {term}, {v.splat(number) if wide else number}")
                    total = f.let(f"fadd {type} {before}, {term}")
                    f.do(f"store {type} {total}, ptr {v.place(goal, j)}, align {stored.size}")

                with f.loop("%lo", whole, v.lanes) as j:
                    add(j, True)
                with f.loop(whole, "%hi") as j:
                    add(j, False)
    return v.declarations() + f.text()


def bags_grad_halves(stored: Stored, mode: str, weighted: bool) -> str:
    """The same of half precision, each step rounded: a row's multiple, of which the factor is rounded too, then the sum.

    Context: that of `bags_grad`.
    """
    f = Function(HEAD)
    grad, index, starts, factors, sizes, table, count, D, padding = f.words(
        ["*grad", "*index", "*starts", "*factors", "*sizes", "*table", "count", "D", "padding"]
    )
    with f.loop(0, count) as bag:
        source = f.at(grad, f.mul(bag, D), stored.memory)
        number = f.whole(sizes, bag)
        least = f.let(f"select i1 {f.let(f'icmp sgt i64 {number}, 1')}, i64 {number}, i64 1")
        over = f.let(f"sitofp i64 {least} to double")
        with f.loop(f.whole(starts, bag), f.whole(starts, f.add(bag, 1))) as i:
            row = f.whole(index, i)
            with f.when(f.let(f"icmp ne i64 {row}, {padding}")):
                goal = f.at(table, f.mul(row, D), stored.memory)
                scale = f.let(f"fpext float {read(f, stored, factors, i)} to double") if weighted else "1.0"
                if mode == "mean":
                    scale = f.let(f"fdiv double {scale}, {over}")
                factor = held(f, stored, f.let(f"fptrunc double {scale} to float")) if weighted or mode == "mean" else ""
                with f.loop("%lo", "%hi") as j:
                    term = read(f, stored, source, j)
                    if factor:
                        term = held(f, stored, f.let(f"fmul float {term}, {factor}"))
                    write(f, stored, f.let(f"fadd float {read(f, stored, goal, j)}, {term}"), goal, j)
    return f.text()


def maxima_grad(stored: Stored) -> str:
    """Each maximum's gradient is added where it came from. Items are columns.

    Context: gradient, places, table; bags, numbers of a row.
    """
    f = Function(HEAD)
    grad, places, table, count, D = f.words(["*grad", "*places", "*table", "count", "D"])
    with f.loop(0, count) as bag, f.loop("%lo", "%hi") as j:
        here = f.add(f.mul(bag, D), j)
        row = f.whole(places, here)
        with f.when(f.let(f"icmp sge i64 {row}, 0")):
            goal = f.add(f.mul(row, D), j)
            term, before = read(f, stored, grad, here), read(f, stored, table, goal)
            write(f, stored, f.let(f"fadd {stored.computed} {before}, {term}"), table, goal)
    return f.text()
