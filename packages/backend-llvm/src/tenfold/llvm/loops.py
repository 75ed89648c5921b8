"""Loops around an elementwise formula, as LLVM IR: over arrays that lie in one piece, and over strided ones.

Every compiled loop is a function (context, from, to) on a range of elements, so that threads can share its work. The context
is an array of 64-bit words: the addresses of the arrays, the result first, then numbers as doubles, then the geometry.
That elements may be computed in any order is said with `parallel_accesses`, which also holds where the result is an input.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tenfold.llvm.compiler import LOOPS
from tenfold.llvm.expressions import Expr, walk
from tenfold.llvm.lowering import Lowering, declarations, indented
from tenfold.llvm.storage import Stored

TAGS = ", !llvm.access.group !0"
METADATA = """
!0 = distinct !{}
!1 = distinct !{!1, !2, !3}
!2 = !{!"llvm.loop.parallel_accesses", !0}
!3 = !{!"llvm.loop.interleave.count", i32 2}
"""
ATTRIBUTES = 'nounwind "prefer-vector-width"="512"'


def counted(name: str, arguments: str, lines: list[str]) -> str:
    """A function of these arguments and a count, whose lines are done for each %j below it, several at once."""
    return f"""define internal void @{name}({arguments}, i64 %count) noinline {ATTRIBUTES} {{
entry:
  br label %loop
loop:
  %j = phi i64 [0, %entry], [%next, %loop]
{indented(lines)}
  %next = add nsw i64 %j, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %loop, label %done, !llvm.loop !1
done:
  ret void
}}
"""


def with_loops(text: str, loops: str, metadata: str = METADATA) -> str:
    """A module of vectors that are written out, which calls functions whose loops LLVM makes vectors of."""
    heads = [line.removesuffix("{").split(ATTRIBUTES)[0] for line in loops.splitlines() if line.startswith("define ")]
    declared = "".join(f"{head.replace('define ', 'declare ', 1)}\n" for head in heads)
    return f"{declared}{text}{LOOPS}{declarations(loops)}\n{loops}{metadata}"


@dataclass(frozen=True)
class Cases:
    """A formula for most elements, a condition that few have, and a formula for all, which takes longer."""

    most: Expr
    rare: Expr
    every: Expr


BLOCK = 1024  # elements of which the condition is asked together, or that are collected from where they lie
LONG = 16  # operations of a formula, from which that is worth it
# Of the functions for some elements: whether one has the condition, and the two formulas.
CASES = f"""
define void @kernel(ptr %ctx, i64 %lo, i64 %hi) {ATTRIBUTES} {{
entry:
  %some = icmp slt i64 %lo, %hi
  br i1 %some, label %block, label %done
block:
  %from = phi i64 [%lo, %entry], [%to, %next]
  %far = add i64 %from, {BLOCK}
  %short = icmp slt i64 %far, %hi
  %to = select i1 %short, i64 %far, i64 %hi
  %rare = call i32 @rare(ptr %ctx, i64 %from, i64 %to)
  %plain = icmp eq i32 %rare, 0
  br i1 %plain, label %most, label %every
most:
  call void @most(ptr %ctx, i64 %from, i64 %to)
  br label %next
every:
  call void @every(ptr %ctx, i64 %from, i64 %to)
  br label %next
next:
  br i1 %short, label %block, label %done
done:
  ret void
}}
"""


def _asked(function: str) -> str:
    """The function that returns what the loop's conditions make together."""
    function = function.replace("define internal void", "define internal i32", 1).replace("entry:\n", f"entry:\n{FLAG}", 1)
    return function.replace("  ret void\n", "  %asked = load i32, ptr %flag\n  ret i32 %asked\n")


FLAG = "  %flag = alloca i32\n  store i32 0, ptr %flag\n"


@dataclass(frozen=True)
class Elementwise:
    """A formula with the dtypes of its arrays; `parameters` numbers come with each call.

    `asks`: the result is a condition that is not written, but asked whether any element has it.
    """

    result: Expr | Cases
    out: Stored
    inputs: tuple[Stored, ...]
    parameters: int = 0
    asks: bool = False

    def text(self, steps: tuple[str, ...] | None) -> str:
        """The module for a layout; steps of None: in one piece."""
        if not isinstance(self.result, Cases):
            text = self.function("define void @kernel", steps)
        else:
            most, every = (replace(self, result=formula) for formula in (self.result.most, self.result.every))
            rare = replace(self, result=self.result.rare, asks=True)
            text = CASES + most.function("define internal void @most", steps)
            text += every.function("define internal void @every", steps)
            text += _asked(rare.function("define internal void @rare", steps))
        text += "".join(_moving(bits) for bits in (8, 16, 32, 64) if f"@near{bits}(" in text or f"@apart{bits}(" in text)
        return declarations(text) + text + METADATA

    def function(self, head: str, steps: tuple[str, ...] | None) -> str:
        """One function that goes over elements."""
        return self._flat(head) if steps is None else self._strided(head, steps)

    def _flat(self, head: str) -> str:
        """For arrays that lie in one piece, element after element."""
        arrays = (self.out, *self.inputs)
        body = _Body(self, [f"%i{k}" for k in range(len(arrays))], align=True)
        steps = [f"%i{k} = getelementptr inbounds i8, ptr %p{k}, i64 %o{k}" for k in range(len(arrays))]
        offsets = [f"%o{k} = mul nuw nsw i64 %i, {array.size}" for k, array in enumerate(arrays)]
        return f"""
{head}(ptr %ctx, i64 %lo, i64 %hi) {ATTRIBUTES} {{
entry:
{indented(self._header())}
  %some = icmp slt i64 %lo, %hi
  br i1 %some, label %loop, label %done
loop:
  %i = phi i64 [%lo, %entry], [%next, %loop]
{indented([*offsets, *steps, *body.lines])}
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %hi
  br i1 %more, label %loop, label %done, !llvm.loop !1
done:
  ret void
}}
"""

    def _header(self) -> list[str]:
        """Lines that read the addresses and the numbers."""
        count = 1 + len(self.inputs)
        lines = []
        for k in range(count):
            lines += [f"%a{k} = getelementptr i64, ptr %ctx, i64 {k}", f"%p{k} = load ptr, ptr %a{k}"]
        for k in range(self.parameters):
            lines += [f"%b{k} = getelementptr i64, ptr %ctx, i64 {count + k}", f"%d{k} = load double, ptr %b{k}"]
            lines.append(f"%f{k} = fptrunc double %d{k} to float")
        return lines

    def _strided(self, head: str, steps: tuple[str, ...]) -> str:
        """For arrays of any layout. `steps` says of the result and each input how the innermost elements lie.

        "next" to each other, all the "same" one, or "far" apart. In the context follow: the length of the innermost
        dimension, each array's step there, the number of outer dimensions, and for each, the innermost first, its length
        and each array's step; in bytes.
        """
        arrays = (self.out, *self.inputs)
        count = len(arrays)
        base = count + self.parameters
        read = [f"%g{k} = getelementptr i64, ptr %ctx, i64 {base + k}" for k in range(count + 2)]
        read += ["%m = load i64, ptr %g0", *(f"%s{k} = load i64, ptr %g{k + 1}" for k in range(count))]
        read += [f"%outer = load i64, ptr %g{count + 1}"]
        starts = [f"%r{k} = getelementptr i8, ptr %p{k}, i64 %e{k}" for k in range(count)]
        sums = [f"%e{k} = phi i64 [0, %row], [%n{k}, %dim.go]" for k in range(count)]
        moves: list[str] = []
        for k in range(count):
            moves += [
                f"%w{k} = getelementptr i64, ptr %geo, i64 {k + 1}",
                f"%x{k} = load i64, ptr %w{k}",
                f"%y{k} = mul i64 %x{k}, %at",
                f"%n{k} = add i64 %e{k}, %y{k}",
            ]
        return f"""
{head}(ptr %ctx, i64 %lo, i64 %hi) {ATTRIBUTES} {{
entry:
{indented([*self._rooms(steps), *self._header(), *read])}
  %first = udiv i64 %lo, %m
  %skip = urem i64 %lo, %m
  %some = icmp slt i64 %lo, %hi
  br i1 %some, label %row, label %done
row:
  %now = phi i64 [%lo, %entry], [%after, %rowend]
  %index = phi i64 [%first, %entry], [%indexnext, %rowend]
  %from = phi i64 [%skip, %entry], [0, %rowend]
  %left = sub i64 %hi, %now
  %room = sub i64 %m, %from
  %short = icmp slt i64 %left, %room
  %here = select i1 %short, i64 %left, i64 %room
  %to = add i64 %from, %here
  br label %dims
dims:
  %d = phi i64 [0, %row], [%dnext, %dim.go]
  %rest = phi i64 [%index, %row], [%restnext, %dim.go]
{indented(sums)}
  %last = icmp eq i64 %d, %outer
  br i1 %last, label %start, label %dim
dim:
  %wide = mul i64 %d, {count + 1}
  %place = add i64 %wide, {base + count + 2}
  %geo = getelementptr i64, ptr %ctx, i64 %place
  %length = load i64, ptr %geo
  %dnext = add i64 %d, 1
  %outermost = icmp eq i64 %dnext, %outer
  br i1 %outermost, label %dim.go, label %dim.split
dim.split:
  %rem = urem i64 %rest, %length
  %quot = udiv i64 %rest, %length
  br label %dim.go
dim.go:  ; a division takes as long as dozens of elements, and the outermost dimension needs none
  %at = phi i64 [%rest, %dim], [%rem, %dim.split]
  %restnext = phi i64 [0, %dim], [%quot, %dim.split]
{indented(moves)}
  br label %dims
start:
{indented(starts)}
{self._collected(steps) if self._collects(steps) else self._inner(steps)}
rowend:
  %after = add i64 %now, %here
  %indexnext = add i64 %index, 1
  %again = icmp slt i64 %after, %hi
  br i1 %again, label %row, label %done
done:
  ret void
}}
"""

    def _inner(self, steps: tuple[str, ...]) -> str:
        """The innermost loop, over elements wherever they lie."""
        arrays = (self.out, *self.inputs)
        moving = [k for k, step in enumerate(steps) if step != "same"]
        offsets = [f"%o{k} = mul nsw i64 %i, {arrays[k].size if steps[k] == 'next' else f'%s{k}'}" for k in moving]
        pointers = [f"%i{k} = getelementptr i8, ptr %r{k}, i64 %o{k}" for k in moving]
        body = _Body(self, [f"%i{k}" if k in moving else f"%r{k}" for k in range(len(arrays))], align=False)
        return f"""{indented(body.before)}
  br label %loop
loop:
  %i = phi i64 [%from, %start], [%next, %loop]
{indented([*offsets, *pointers, *body.lines])}
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %to
  br i1 %more, label %loop, label %rowend, !llvm.loop !1"""

    def _collects(self, steps: tuple[str, ...]) -> bool:
        """Whether elements that lie far apart are put next to each other first: of a long formula vectors save more time."""
        roots = (self.result,) if isinstance(self.result, Expr) else ()
        return "far" in steps and not (self.asks and "far" not in steps[1:]) and len(walk(*roots)) > LONG

    def _collected(self, steps: tuple[str, ...]) -> str:
        """The innermost loop, over blocks of elements whose arrays lie on the stack where they are far apart."""
        arrays = (self.out, *self.inputs)
        far = [k for k, step in enumerate(steps) if step == "far" and not (k == 0 and self.asks)]
        near = [k for k, step in enumerate(steps) if step == "next"]
        places = [f"%q{k} = mul nsw i64 %b, {f'%s{k}' if k in far else arrays[k].size}" for k in far + near]
        places += [f"%u{k} = getelementptr i8, ptr %r{k}, i64 %q{k}" for k in far + near]
        reads = [f"call void @near{8 * arrays[k].size}(ptr %h{k}, ptr %u{k}, i64 %s{k}, i64 %n)" for k in far if k]
        writes = [f"call void @apart{8 * arrays[0].size}(ptr %h0, ptr %u0, i64 %s0, i64 %n)"] if 0 in far else []
        offsets = [f"%o{k} = mul nsw i64 %i, {arrays[k].size}" for k in far + near]
        pointers = [f"%i{k} = getelementptr i8, ptr {'%h' if k in far else '%u'}{k}, i64 %o{k}" for k in far + near]
        body = _Body(self, [f"%i{k}" if k in far + near else f"%r{k}" for k in range(len(arrays))], align=False)
        return f"""{indented(body.before)}
  br label %part
part:
  %b = phi i64 [%from, %start], [%bto, %partend]
  %bfar = add i64 %b, {BLOCK}
  %several = icmp slt i64 %bfar, %to
  %bto = select i1 %several, i64 %bfar, i64 %to
  %n = sub i64 %bto, %b
{indented([*places, *reads])}
  br label %loop
loop:
  %i = phi i64 [0, %part], [%next, %loop]
{indented([*offsets, *pointers, *body.lines])}
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %partend, !llvm.loop !1
partend:
{indented(writes)}
  br i1 %several, label %part, label %rowend"""

    def _rooms(self, steps: tuple[str, ...]) -> list[str]:
        """Room on the stack for a block of each array whose elements lie far apart."""
        arrays = (self.out, *self.inputs)
        far = [k for k, step in enumerate(steps) if step == "far"] if self._collects(steps) else []
        return [f"%h{k} = alloca [{BLOCK} x i{8 * arrays[k].size}], align 64" for k in far]


def _moving(bits: int) -> str:
    """Functions that put elements of so many bits, which lie so many bytes apart, next to each other, and back."""
    step = ["%o = mul nsw i64 %j, %step", "%f = getelementptr i8, ptr %far, i64 %o"]
    step.append(f"%p = getelementptr i{bits}, ptr %near, i64 %j")
    taken = [f"%v = load i{bits}, ptr %f, align 1{TAGS}", f"store i{bits} %v, ptr %p{TAGS}"]
    given = [f"%v = load i{bits}, ptr %p{TAGS}", f"store i{bits} %v, ptr %f, align 1{TAGS}"]
    arguments = "ptr noalias %near, ptr noalias %far, i64 %step"
    return counted(f"near{bits}", arguments, step + taken) + counted(f"apart{bits}", arguments, step + given)


class _Body:
    """The lines for one element; `before` the loop, what stays the same in it."""

    def __init__(self, formula: Elementwise, places: list[str], align: bool) -> None:
        self.before: list[str] = []
        arrays = (formula.out, *formula.inputs)
        loads: list[str] = []

        def leaf(e: Expr) -> str | None:
            if e.op == "parameter":
                return f"%f{e.value}" if e.type == "float" else f"%d{e.value}"
            if e.op != "load":
                return None
            array, place = arrays[e.value + 1], places[e.value + 1]
            still = place.startswith("%r")
            lines = array.read(place, f"%l{e.value}", array.size if align else 1, "" if still else TAGS)
            (self.before if still else loads).extend(lines)
            return f"%l{e.value}"

        lowering = Lowering(leaf)
        assert isinstance(formula.result, Expr)
        if formula.asks:
            asked = ["%was = load i32, ptr %flag", f"%is = zext i1 {lowering.name(formula.result)} to i32"]
            self.lines = [*loads, *lowering.lines, *asked, "%both = or i32 %was, %is", "store i32 %both, ptr %flag"]
            return
        result = formula.out.rounded(formula.result)
        value = lowering.name(result)
        store = formula.out.write(value, places[0], formula.out.size if align else 1, TAGS)
        if not value.startswith("%"):  # a constant, which has no name to make others from
            lowering.lines.append(f"%c = select i1 true, {result.type} {value}, {result.type} {value}")
            store = formula.out.write("%c", places[0], formula.out.size if align else 1, TAGS)
        self.lines = [*loads, *lowering.lines, *store]
