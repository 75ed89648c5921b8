"""Loops down columns, as LLVM IR: sums and maxima over a dimension that is not the innermost.

A program is data, as in rows.py, for arrays (A, R, B) reduced over R: `total` and the like are those of each column. Columns
are worked on in tiles, eight rows at a time: their sum, which takes three roundings, is added to a tile of float64 sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from tenfold.llvm.expressions import Expr, load, walk
from tenfold.llvm.loops import ATTRIBUTES, TAGS
from tenfold.llvm.lowering import Lowering, declarations, indented, literal
from tenfold.llvm.rows import REDUCTIONS as OF_ROWS, STARTS as OF_ROWS_STARTS, Array

TILE = 1024  # columns of a tile at the most
GROUP = 8
REDUCTIONS = (*OF_ROWS, "product")
STARTS = {**OF_ROWS_STARTS, "product": 1.0}


@dataclass(frozen=True)
class Columns:
    """A program down columns. Context: R, B, columns of a tile, the results' addresses, the inputs', then numbers as doubles.

    Inputs have an element for each place ("row"), each row ("scalar") or each column ("column"); results, each column.
    """

    results: tuple[tuple[Expr, Array], ...]
    inputs: tuple[Array, ...]
    parameters: int = 0

    def text(self) -> str:
        """The module, whose function takes (context, from tile, to tile); each of the A parts has ceil(B / columns of a tile)."""
        return _Writer(self).module()


class _Writer:
    def __init__(self, program: Columns) -> None:
        self.program = program
        self.reductions = [e for e in walk(*(e for e, _ in program.results)) if e.op in REDUCTIONS]
        self.loops: list[str] = []

    def module(self) -> str:
        text = f"""define void @kernel(ptr %ctx, i64 %lo, i64 %hi) {ATTRIBUTES} {{
entry:
{indented([*self._header(), *self._tiles()])}
  %more = add i64 %width, %tile.wide
  %wider = sub i64 %more, 1
  %tiles = udiv i64 %wider, %tile.wide
  %any = icmp slt i64 %lo, %hi
  br i1 %any, label %tile, label %end
tile:
  %u = phi i64 [%lo, %entry], [%u.next, %tile.end]
  %part = udiv i64 %u, %tiles
  %column = urem i64 %u, %tiles
  %first = mul i64 %column, %tile.wide
  %rest = sub i64 %width, %first
  %narrow = icmp slt i64 %rest, %tile.wide
  %wide = select i1 %narrow, i64 %rest, i64 %tile.wide
  %row0 = mul i64 %part, %length
  %begin = mul i64 %part, %width
{self._start()}
{self._group("g", "start.end", "0", GROUP)}
{self._group("s", "g.done", "%g.r", 1)}
{self._finish()}
tile.end:
  %u.next = add i64 %u, 1
  %u.more = icmp slt i64 %u.next, %hi
  br i1 %u.more, label %tile, label %end
end:
  ret void
}}
"""
        metadata = ["!0 = distinct !{}", '!2 = !{!"llvm.loop.parallel_accesses", !0}', *self.loops]
        return "\n".join([declarations(text), text, *metadata, ""])

    def _header(self) -> list[str]:
        program = self.program
        lines = [
            "%length = load i64, ptr %ctx",
            "%width.at = getelementptr i64, ptr %ctx, i64 1",
            "%width = load i64, ptr %width.at",
            "%tile.at = getelementptr i64, ptr %ctx, i64 2",
            "%tile.wide = load i64, ptr %tile.at",
        ]
        lines += ["%lengthd = sitofp i64 %length to double", "%lengthf = sitofp i64 %length to float"]
        names = [*(f"%out{n}" for n in range(len(program.results))), *(f"%in{n}" for n in range(len(program.inputs)))]
        for n, name in enumerate(names):
            lines += [f"{name}.at = getelementptr i64, ptr %ctx, i64 {n + 3}", f"{name} = load ptr, ptr {name}.at"]
        for n in range(program.parameters):
            lines += [f"%b{n} = getelementptr i64, ptr %ctx, i64 {len(names) + 3 + n}", f"%d{n} = load double, ptr %b{n}"]
            lines.append(f"%f{n} = fptrunc double %d{n} to float")
        return lines

    def _tiles(self) -> list[str]:
        """Memory for the sums and maxima of a tile; sums of float64 have a second one for what was rounded away."""
        lines = []
        for n, e in enumerate(self.reductions):
            lines.append(f"%t{n} = alloca [{TILE} x {e.type}], align 64")
            if self._is_double_sum(e):
                lines.append(f"%c{n} = alloca [{TILE} x double], align 64")
        return lines

    @staticmethod
    def _is_double_sum(e: Expr) -> bool:
        return e.op == "total" and e.args[0].type == "double"

    def _across(self, name: str, before: str, after: str, lines: list[str]) -> str:
        """A loop over the columns of the tile, from the block `before` to the block `after`; its index is %name."""
        number = 10 + len(self.loops)
        self.loops.append(f"!{number} = distinct !{{!{number}, !2}}")
        return f"""  br label %{name}.loop
{name}.loop:
  %{name} = phi i64 [0, %{before}], [%{name}.next, %{name}.loop]
{indented(lines)}
  %{name}.next = add nuw nsw i64 %{name}, 1
  %{name}.more = icmp slt i64 %{name}.next, %wide
  br i1 %{name}.more, label %{name}.loop, label %{after}, !llvm.loop !{number}
{after}:"""

    def _start(self) -> str:
        lines = []
        for n, e in enumerate(self.reductions):
            value = literal(STARTS[e.op], e.type)
            lines += [f"%z{n} = getelementptr {e.type}, ptr %t{n}, i64 %z", f"store {e.type} {value}, ptr %z{n}{TAGS}"]
            if self._is_double_sum(e):
                lines += [f"%y{n} = getelementptr double, ptr %c{n}, i64 %z", f"store double 0.0, ptr %y{n}{TAGS}"]
        return self._across("z", "tile", "start.end", lines)

    def _group(self, name: str, before: str, start: str, count: int) -> str:
        """A loop over the rows, `count` at a time; ends in the block name.done."""
        scalars: list[str] = []
        lines: list[str] = []
        values = [self._values(name, k, scalars, lines) for k in range(count)]
        for n, e in enumerate(self.reductions):
            lines += self._combined(f"%{name}.a{n}", n, e, [v[n] for v in values], name)
        inner = self._across(f"{name}.b", f"{name}.enter", f"{name}.next", lines)
        return f"""  br label %{name}.outer
{name}.outer:
  %{name}.r = phi i64 [{start}, %{before}], [%{name}.far, %{name}.next]
  %{name}.far = add i64 %{name}.r, {count}
  %{name}.some = icmp sle i64 %{name}.far, %length
  br i1 %{name}.some, label %{name}.enter, label %{name}.done
{name}.enter:
  %{name}.row = add i64 %row0, %{name}.r
{indented(scalars)}
{inner}
  br label %{name}.outer
{name}.done:"""

    def _values(self, name: str, k: int, scalars: list[str], lines: list[str]) -> list[str]:
        """The reduced expressions' values in row k of the group, for the column %name.b."""
        prefix = f"%{name}.{k}"
        scalars.append(f"{prefix}.row = add i64 %{name}.row, {k}")
        scalars += [f"{prefix}.start = mul i64 {prefix}.row, %width", f"{prefix}.base = add i64 {prefix}.start, %first"]

        def leaf(e: Expr) -> str | None:
            known = _number(e)
            if known or e.op != "load":
                return known
            array = self.program.inputs[e.value]
            value, place = f"{prefix}.x{e.value}", f"{prefix}.p{e.value}"
            element = f"getelementptr {array.stored.memory}, ptr %in{e.value}, i64"
            if array.place == "scalar":
                scalars.extend([f"{place} = {element} {prefix}.row", *array.stored.read(place, value, 1, "")])
                return value
            first = "%first" if array.place == "column" else f"{prefix}.base"
            lowering.lines += [f"{place}.i = add i64 {first}, %{name}.b", f"{place} = {element} {place}.i"]
            lowering.lines += array.stored.read(place, value, 1, TAGS)
            return value

        lowering = Lowering(leaf, f"{name}.{k}.v")
        found = [lowering.name(e.args[0]) for e in self.reductions]
        lines += lowering.lines
        return found

    def _combined(self, acc: str, n: int, e: Expr, values: list[str], name: str) -> list[str]:
        """Lines that add the rows' values to the tile, pairs first; factors one after the other, as PyTorch multiplies them."""
        type = e.args[0].type
        suffix = "f32" if type == "float" else "f64"
        lines: list[str] = []

        def join(a: str, b: str) -> str:
            made = f"{acc}.j{len(lines)}"
            if e.op == "largest":
                lines.append(f"{made} = call nsz {type} @llvm.maximum.{suffix}({type} {a}, {type} {b})")
            elif e.op == "total":
                lines.append(f"{made} = fadd {type} {a}, {b}")
            else:
                return _multiplied(e, a, b, made, lines)
            return made

        while e.op != "product" and len(values) > 1:
            values = [join(a, b) for a, b in zip(values[::2], values[1::2])]
        lines += [f"{acc}.p = getelementptr {e.type}, ptr %t{n}, i64 %{name}.b", f"{acc}.w = load {e.type}, ptr {acc}.p{TAGS}"]
        if e.op != "total":
            made = reduce(join, values, f"{acc}.w")
        elif type == "float":
            lines += [f"{acc}.e = fpext float {values[0]} to double", f"{acc}.t = fadd double {acc}.w, {acc}.e"]
            made = f"{acc}.t"
        else:
            lines += [f"{acc}.n = fadd double {values[0]}, -0.0", f"{acc}.t = fadd double {acc}.w, {acc}.n"]
            lines += _lost(acc, n, name)
            made = f"{acc}.t"
        return [*lines, f"store {e.type} {made}, ptr {acc}.p{TAGS}"]

    def _finish(self) -> str:
        lines: list[str] = []
        names: dict[Expr, str] = {}
        for n, e in enumerate(self.reductions):
            lines += [f"%x{n}.p = getelementptr {e.type}, ptr %t{n}, i64 %x", f"%x{n} = load {e.type}, ptr %x{n}.p{TAGS}"]
            names[e] = f"%x{n}"
            if self._is_double_sum(e):  # the errors of infinite sums are no numbers
                lines += [
                    f"%x{n}.q = getelementptr double, ptr %c{n}, i64 %x",
                    f"%x{n}.c = load double, ptr %x{n}.q{TAGS}",
                    f"%x{n}.all = fadd double %x{n}, %x{n}.c",
                    f"%x{n}.size = call double @llvm.fabs.f64(double %x{n})",
                    f"%x{n}.finite = fcmp olt double %x{n}.size, 0x7FF0000000000000",
                    f"%x{n}.r = select i1 %x{n}.finite, double %x{n}.all, double %x{n}",
                ]
                names[e] = f"%x{n}.r"
        lowering = Lowering(_number, "w")
        lowering.names.update(names)
        stores = ["%x.i0 = add i64 %first, %x", "%x.i = add i64 %begin, %x.i0"]
        for n, (e, array) in enumerate(self.program.results):
            name = lowering.name(array.stored.rounded(e))
            stores.append(f"%o{n} = getelementptr {array.stored.memory}, ptr %out{n}, i64 %x.i")
            stores += array.stored.write(name, f"%o{n}", 1, TAGS)
        return self._across("x", "s.done", "finished", [*lines, *lowering.lines, *stores]) + "\n  br label %tile.end"


def _multiplied(e: Expr, a: str, b: str, prefix: str, lines: list[str]) -> str:
    """The name of a product that is rounded to the dtype, its lines written."""
    factors = (load(0, e.type), load(1, e.type))
    lowering = Lowering(lambda leaf: (a, b)[leaf.value] if leaf in factors else None, prefix[1:])
    name = lowering.name(e.value.held(factors[0] * factors[1]))
    lines += lowering.lines
    return name


def _lost(acc: str, n: int, name: str) -> list[str]:
    """What adding to a float64 sum rounds away, added to its own tile (Knuth's two-sum)."""
    return [
        f"{acc}.u = fsub double {acc}.t, {acc}.w",
        f"{acc}.l = fsub double {acc}.t, {acc}.u",
        f"{acc}.f = fsub double {acc}.w, {acc}.l",
        f"{acc}.g = fsub double {acc}.n, {acc}.u",
        f"{acc}.h = fadd double {acc}.f, {acc}.g",
        f"{acc}.cp = getelementptr double, ptr %c{n}, i64 %{name}.b",
        f"{acc}.c = load double, ptr {acc}.cp{TAGS}",
        f"{acc}.d = fadd double {acc}.c, {acc}.h",
        f"store double {acc}.d, ptr {acc}.cp{TAGS}",
    ]


def _number(e: Expr) -> str | None:
    if e.op == "parameter":
        return f"%f{e.value}" if e.type == "float" else f"%d{e.value}"
    if e.op == "length":
        return "%lengthf" if e.type == "float" else "%lengthd"
    return None
