"""Loops over rows, as LLVM IR: sums and maxima along each row, and what is computed of them.

A program is data: expressions over the elements of a row, in which `total` and `largest` stand for the sum and the maximum of
another expression along the row. The lowering makes as many passes over a row as these are nested, and a last one for the
results; `keep` writes intermediate values to the result's memory, so that the next pass reads them again.

Rounding: blocks of 1024 elements are added in vectors, several sums side by side, and the blocks' sums in float64, where those
of float64 itself are added with their rounding errors (Knuth's two-sum). Source: N. Higham, "The accuracy of floating point
summation", SIAM J. Sci. Comput. 14 (1993).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tenfold.llvm.expressions import Expr, walk
from tenfold.llvm.loops import ATTRIBUTES, TAGS
from tenfold.llvm.lowering import Lowering, declarations, indented, literal
from tenfold.llvm.storage import Stored

BLOCK = 1024
LONG = 8  # lines of an expression from which one sum's latency hides behind the rest
ELEMENTWISE = ("row", "column")


def total(x: Expr) -> Expr:
    """The sum along the row, in float64."""
    return Expr("total", "double", (x,))


def product(x: Expr, stored: Stored) -> Expr:
    """The product down a column, each step rounded to a dtype; products along rows are those of product_rows.py."""
    return Expr("product", x.type, (x,), stored)


def largest(x: Expr) -> Expr:
    """The maximum along the row; NaN if one element is."""
    return Expr("largest", x.type, (x,))


def length(type: str) -> Expr:
    """The number of elements in a row."""
    return Expr("length", type)


def keep(x: Expr, result: int) -> Expr:
    """The value, which a later pass reads from the memory of result number `result`."""
    return Expr("keep", x.type, (x,), result)


def pick(array: int, position: int, type: str) -> Expr:
    """The element of input `array` that input `position` (int64, one for each row) names."""
    return Expr("pick", type, (), (array, position))


REDUCTIONS = ("total", "largest")
# What each begins with.
STARTS = {"total": 0.0, "largest": float("-inf")}


@dataclass(frozen=True)
class Array:
    """An argument: its dtype, and whether it has an element for each of a "row", for each "column", or one a row: "scalar"."""

    stored: Stored
    place: str


@dataclass(frozen=True)
class Rows:
    """A program over rows. Context: the length, the results' addresses, the inputs', then numbers as doubles."""

    results: tuple[tuple[Expr, Array], ...]
    inputs: tuple[Array, ...]
    parameters: int = 0

    def text(self) -> str:
        """The module, whose function takes (context, from row, to row)."""
        return _Writer(self).module()


class _Writer:
    """Writes one module: `lines` are the blocks of a row so far; the last of them is open."""

    def __init__(self, program: Rows) -> None:
        self.program = program
        self.lines: list[str] = []
        self.row = Lowering(self._row_leaf, "r")
        self.written = 0  # of the row's lowering
        self.kept: set[Expr] = set()
        self.loops: list[str] = []
        self.block = "row"
        self.depth: dict[Expr, int] = {}
        self.inner: dict[Expr, bool] = {}
        self._measure()

    def _measure(self) -> None:
        """How many passes come before each expression, and whether it has a value for each element."""
        for e in walk(*(e for e, _ in self.program.results)):
            below = max((self.depth[a] for a in e.args), default=0)
            self.depth[e] = below + (e.op in REDUCTIONS)
            if e.op == "load":
                self.inner[e] = self.program.inputs[e.value].place in ELEMENTWISE
            else:
                self.inner[e] = e.op not in REDUCTIONS and any(self.inner[a] for a in e.args)

    # Values of a whole row

    def _row_leaf(self, e: Expr) -> str | None:
        if e.op == "parameter":
            return f"%f{e.value}" if e.type == "float" else f"%d{e.value}"
        if e.op == "length":
            return "%lengthf" if e.type == "float" else "%lengthd"
        if e.op in REDUCTIONS:
            return self.row.names[e]
        if e.op == "load":
            array = self.program.inputs[e.value]
            name = f"%s{e.value}"
            self.row.lines.append(f"{name}.p = getelementptr {array.stored.memory}, ptr %in{e.value}, i64 %k")
            self.row.lines += array.stored.read(f"{name}.p", name, 1, "")
            return name
        if e.op == "pick":
            array, position = e.value
            self._pick(f"%pick{array}", array, position)
            return f"%pick{array}"
        return None

    def _pick(self, name: str, array: int, position: int) -> None:
        stored = self.program.inputs[array].stored
        self.row.lines += [
            f"{name}.a = getelementptr i64, ptr %in{position}, i64 %k",
            f"{name}.i = load i64, ptr {name}.a",
            f"{name}.j = add i64 %base, {name}.i",
            f"{name}.p = getelementptr {stored.memory}, ptr %in{array}, i64 {name}.j",
            *stored.read(f"{name}.p", name, 1, ""),
        ]

    def _of_row(self, e: Expr) -> str:
        """The name of a value that is the same along the row, its lines written."""
        name = self.row.name(e)
        self._flush()
        return name

    def _flush(self) -> None:
        self.lines += [f"  {line}" for line in self.row.lines[self.written :]]
        self.written = len(self.row.lines)

    # Values of each element

    def _element(self, name: str) -> Lowering:
        """A lowering for the body of the loop with the index `name`."""

        def leaf(e: Expr) -> str | None:
            if not self.inner[e]:
                return self._of_row(e)
            if e.op == "load":
                array = self.program.inputs[e.value]
                value = f"%{name}.x{e.value}"
                base = f"%rowin{e.value}" if array.place == "row" else f"%in{e.value}"
                lowering.lines.append(f"{value}.p = getelementptr {array.stored.memory}, ptr {base}, i64 %{name}")
                lowering.lines.extend(array.stored.read(f"{value}.p", value, 1, TAGS))
                return value
            if e.op == "keep":
                stored = self.program.results[e.value][1].stored
                place = f"%{name}.q{e.value}"
                at = f"{place} = getelementptr {stored.memory}, ptr %rowout{e.value}, i64 %{name}"
                if e in self.kept:
                    value = f"%{name}.y{e.value}"
                    lowering.lines.extend([at, *stored.read(place, value, 1, TAGS)])
                    return value
                made = lowering.names[e.args[0]]
                lowering.lines.extend([at, *stored.write(made, place, 1, TAGS)])
                keeping.append(e)
                return made
            return None

        keeping: list[Expr] = []
        lowering = _OfElements(leaf, f"{name}.v", self.kept, self.inner)
        self.keeping = keeping
        return lowering

    # Passes

    def _reduce(self, level: int) -> None:
        """A pass for all sums and maxima of this depth."""
        found = [e for e in walk(*(e for e, _ in self.program.results)) if e.op in REDUCTIONS and self.depth[e] == level]
        name = f"p{level}"
        lowering = self._element(name)
        values = [lowering.name(e.args[0]) for e in found]
        # as many roundings in float64, of which half as many lie side by side
        block = BLOCK // 2 if any(e.args[0].type == "double" for e in found) else BLOCK
        entered = self.block
        wide, narrow, partial = [], [], []
        for n, e in enumerate(found):
            type, acc = e.args[0].type, f"%{name}.a{n}"
            start = literal(STARTS[e.op], type)
            first = start if e.op == "total" else f"{acc}.w"
            narrow.append(f"{acc} = phi {type} [{first}, %{name}.enter], [{acc}.n, %{name}.loop]")
            if e.op == "largest":
                wide.append(f"{acc}.w = phi {type} [{start}, %{entered}], [{acc}.n, %{name}.after]")
                suffix = "f32" if type == "float" else "f64"
                partial.append(f"{acc}.n = call nsz {type} @llvm.maximum.{suffix}({type} {acc}, {type} {values[n]})")
            else:
                partial.append(f"{acc}.n = fadd reassoc {type} {acc}, {values[n]}")
                wide.append(f"{acc}.w = phi double [0.0, %{entered}], [{acc}.t, %{name}.after]")
                wide += [f"{acc}.c = phi double [0.0, %{entered}], [{acc}.d, %{name}.after]"] * (type == "double")
        after = [line for n, e in enumerate(found) if e.op == "total" for line in _added(f"%{name}.a{n}", e.args[0].type)]
        self.lines += [
            f"  br label %{name}.outer",
            f"{name}.outer:",
            f"  %{name}.b = phi i64 [0, %{entered}], [%{name}.end, %{name}.after]",
            *(f"  {line}" for line in wide),
            f"  %{name}.some = icmp slt i64 %{name}.b, %length",
            f"  br i1 %{name}.some, label %{name}.enter, label %{name}.done",
            f"{name}.enter:",
            f"  %{name}.far = add i64 %{name}.b, {block}",
            f"  %{name}.less = icmp slt i64 %{name}.far, %length",
            f"  %{name}.end = select i1 %{name}.less, i64 %{name}.far, i64 %length",
            f"  br label %{name}.loop",
            f"{name}.loop:",
            f"  %{name} = phi i64 [%{name}.b, %{name}.enter], [%{name}.next, %{name}.loop]",
            *(f"  {line}" for line in [*narrow, *lowering.lines, *partial]),
            f"  %{name}.next = add nuw nsw i64 %{name}, 1",
            f"  %{name}.more = icmp slt i64 %{name}.next, %{name}.end",
            f"  br i1 %{name}.more, label %{name}.loop, label %{name}.after{self._loop(len(lowering.lines))}",
            f"{name}.after:",
            *(f"  {line}" for line in after),
            f"  br label %{name}.outer",
            f"{name}.done:",
        ]
        for n, e in enumerate(found):
            self.row.names[e] = self._finished(f"%{name}.a{n}", e)
        self.kept.update(self.keeping)
        self.block = f"{name}.done"

    def _finished(self, acc: str, e: Expr) -> str:
        if e.op != "total" or e.args[0].type == "float":
            return f"{acc}.w"
        # the errors of infinite sums are no numbers
        self.lines += [
            f"  {acc}.all = fadd double {acc}.w, {acc}.c",
            f"  {acc}.size = call double @llvm.fabs.f64(double {acc}.w)",
            f"  {acc}.finite = fcmp olt double {acc}.size, 0x7FF0000000000000",
            f"  {acc}.r = select i1 {acc}.finite, double {acc}.all, double {acc}.w",
        ]
        return f"{acc}.r"

    def _loop(self, lines: int = LONG) -> str:
        """Metadata of another loop, whose accesses do not depend on each other; a short one that sums has eight sums at once."""
        number = 10 + len(self.loops)
        more = f", !{number}00" if lines < LONG else ""
        self.loops.append(f"!{number} = distinct !{{!{number}, !2{more}}}")
        if more:
            self.loops.append(f'!{number}00 = !{{!"llvm.loop.interleave.count", i32 8}}')
        return f", !llvm.loop !{number}"

    def _last(self) -> None:
        """The pass that writes results of whole rows, and the results of which there is one a row."""
        lowering = self._element("z")
        stores: list[str] = []
        for n, (e, array) in enumerate(self.program.results):
            value = array.stored.rounded(e)
            if array.place == "scalar":
                self._measured(value)
                name = self._of_row(value)
                self.lines += [f"  %w{n} = getelementptr {array.stored.memory}, ptr %out{n}, i64 %k"]
                self.lines += [f"  {line}" for line in array.stored.write(name, f"%w{n}", 1, "")]
            elif not (e.op == "keep" and e in self.kept):
                self._measured(value)
                name = lowering.name(value)
                stores.append(f"%w{n} = getelementptr {array.stored.memory}, ptr %rowout{n}, i64 %z")
                stores += array.stored.write(name, f"%w{n}", 1, TAGS)
        if not stores:
            self.lines.append("  br label %rowend")
            return
        self.lines += [
            "  %some = icmp sgt i64 %length, 0",
            "  br i1 %some, label %z.enter, label %rowend",
            "z.enter:",
            "  br label %z.loop",
            "z.loop:",
            "  %z = phi i64 [0, %z.enter], [%z.next, %z.loop]",
            *(f"  {line}" for line in [*lowering.lines, *stores]),
            "  %z.next = add nuw nsw i64 %z, 1",
            "  %z.more = icmp slt i64 %z.next, %length",
            f"  br i1 %z.more, label %z.loop, label %rowend{self._loop()}",
        ]

    def _measured(self, value: Expr) -> None:
        for e in walk(value):
            if e not in self.inner:
                self.inner[e] = any(self.inner[a] for a in e.args)

    def module(self) -> str:
        program = self.program
        self.lines += [
            f"  %rowin{n} = getelementptr {a.stored.memory}, ptr %in{n}, i64 %base"
            for n, a in enumerate(program.inputs)
            if a.place == "row"
        ]
        self.lines += [
            f"  %rowout{n} = getelementptr {a.stored.memory}, ptr %out{n}, i64 %base"
            for n, (_, a) in enumerate(program.results)
            if a.place == "row"
        ]
        for level in range(1, max(self.depth.values(), default=0) + 1):
            self._reduce(level)
        self._last()
        text = "\n".join(
            [
                f"define void @kernel(ptr %ctx, i64 %lo, i64 %hi) {ATTRIBUTES} {{",
                "entry:",
                indented(self._header()),
                "  %any = icmp slt i64 %lo, %hi",
                "  br i1 %any, label %row, label %end",
                "row:",
                "  %k = phi i64 [%lo, %entry], [%k.next, %rowend]",
                "  %base = mul i64 %k, %length",
                *self.lines,
                "rowend:",
                "  %k.next = add i64 %k, 1",
                "  %k.more = icmp slt i64 %k.next, %hi",
                "  br i1 %k.more, label %row, label %end",
                "end:",
                "  ret void",
                "}",
            ]
        )
        metadata = ["!0 = distinct !{}", '!2 = !{!"llvm.loop.parallel_accesses", !0}', *self.loops]
        return "\n".join([declarations(text), text, *metadata, ""])

    def _header(self) -> list[str]:
        return header([f"%out{n}" for n in range(len(self.program.results))], len(self.program.inputs), self.program.parameters)


class _OfElements(Lowering):
    """A lowering that goes no deeper than what was kept, and leaves what is the same along the row to another."""

    def __init__(self, leaf: Callable[[Expr], str | None], prefix: str, kept: set[Expr], inner: dict[Expr, bool]) -> None:
        super().__init__(leaf, prefix)
        self.kept, self.inner = kept, inner

    def _is_whole(self, e: Expr) -> bool:
        return e in self.names or e in self.kept or not self.inner[e]


def _added(acc: str, type: str) -> list[str]:
    """Add a block's sum to the float64 sum; in float64 also what that rounds away."""
    if type == "float":
        return [f"{acc}.e = fpext float {acc}.n to double", f"{acc}.t = fadd double {acc}.w, {acc}.e"]
    return [
        f"{acc}.t = fadd double {acc}.w, {acc}.n",
        f"{acc}.u = fsub double {acc}.t, {acc}.w",
        f"{acc}.l = fsub double {acc}.t, {acc}.u",
        f"{acc}.f = fsub double {acc}.w, {acc}.l",
        f"{acc}.g = fsub double {acc}.n, {acc}.u",
        f"{acc}.h = fadd double {acc}.f, {acc}.g",
        f"{acc}.d = fadd double {acc}.c, {acc}.h",
    ]


def header(results: list[str], inputs: int, parameters: int) -> list[str]:
    """Lines that read the length, the addresses and the numbers from the context."""
    lines = ["%length = load i64, ptr %ctx", "%lengthd = sitofp i64 %length to double", "%lengthf = sitofp i64 %length to float"]
    names = [*results, *(f"%in{n}" for n in range(inputs))]
    for n, name in enumerate(names):
        lines += [f"{name}.at = getelementptr i64, ptr %ctx, i64 {n + 1}", f"{name} = load ptr, ptr {name}.at"]
    for n in range(parameters):
        place = len(names) + 1 + n
        lines += [f"%b{n} = getelementptr i64, ptr %ctx, i64 {place}", f"%d{n} = load double, ptr %b{n}"]
        lines.append(f"%f{n} = fptrunc double %d{n} to float")
    return lines
