"""Products along rows, as LLVM IR, in PyTorch's order, on which depends what becomes too large on the way.

As many numbers as four vectors of 32 bytes hold are multiplied side by side, (a b) (c d) of the four is the last vector, whose
elements are multiplied one after the other, and after them those that fill no more vectors. Each product is rounded to the dtype.
"""

from __future__ import annotations

from dataclasses import dataclass

from tenfold.llvm.expressions import Expr, load
from tenfold.llvm.loops import ATTRIBUTES
from tenfold.llvm.lowering import declarations, indented, literal
from tenfold.llvm.rows import Array, header, product
from tenfold.llvm.storage import Stored

VECTOR_BYTES = 32
SIDES = 4  # vectors side by side


@dataclass(frozen=True)
class ProductRows:
    """The product of each row. Context, and what the function takes: as those of `Rows`."""

    stored: Stored

    @property
    def results(self) -> tuple[tuple[Expr, Array], ...]:
        """What is computed, for readers."""
        return ((product(load(0, self.stored.computed), self.stored), Array(self.stored, "scalar")),)

    def text(self) -> str:
        """The module, whose function takes (context, from row, to row)."""
        stored = self.stored
        width, one = VECTOR_BYTES // stored.size, literal(1.0, stored.computed)
        type = _of(stored.computed, width)
        phis = [f"%a{side} = phi {type} [{_all(one, stored.computed, width)}, %row], [%n{side}, %step]" for side in range(SIDES)]
        text = f"""define void @kernel(ptr %ctx, i64 %lo, i64 %hi) {ATTRIBUTES} {{
entry:
{indented(header(["%out0"], 1, 0))}
  %whole = and i64 %length, {-SIDES * width}
  %filled = icmp ne i64 %whole, 0
  %any = icmp slt i64 %lo, %hi
  br i1 %any, label %row, label %end
row:
  %k = phi i64 [%lo, %entry], [%k.next, %row.end]
  %base = mul i64 %k, %length
  %start = getelementptr {stored.memory}, ptr %in0, i64 %base
  br i1 %filled, label %vectors, label %single
vectors:
  %j = phi i64 [0, %row], [%j.next, %step]
{indented(phis)}
  %more = icmp slt i64 %j, %whole
  br i1 %more, label %step, label %join
step:
{indented(self._step(width))}
  %j.next = add i64 %j, {SIDES * width}
  br label %vectors
join:
{indented(self._joined(width))}
  br label %single
single:
  %t = phi i64 [0, %row], [%whole, %join], [%t.next, %one]
  %r = phi {stored.computed} [{one}, %row], [%f{width - 1}, %join], [%s, %one]
  %t.more = icmp slt i64 %t, %length
  br i1 %t.more, label %one, label %row.end
one:
  %y.at = getelementptr {stored.memory}, ptr %start, i64 %t
{indented([*_read(stored, "%y", 1), *_multiplied(stored, "%r", "%y", "%s", 1)])}
  %t.next = add i64 %t, 1
  br label %single
row.end:
  %place = getelementptr {stored.memory}, ptr %out0, i64 %k
{indented(_written(stored))}
  %k.next = add i64 %k, 1
  %k.more = icmp slt i64 %k.next, %hi
  br i1 %k.more, label %row, label %end
end:
  ret void
}}
"""
        return declarations(text) + text

    def _step(self, width: int) -> list[str]:
        """The next vectors, each multiplied with what was so far on its side."""
        lines = []
        for side in range(SIDES):
            lines += [
                f"%j{side} = add i64 %j, {side * width}",
                f"%x{side}.at = getelementptr {self.stored.memory}, ptr %start, i64 %j{side}",
                *_read(self.stored, f"%x{side}", width),
                *_multiplied(self.stored, f"%a{side}", f"%x{side}", f"%n{side}", width),
            ]
        return lines

    def _joined(self, width: int) -> list[str]:
        """The sides' product, then that of its elements, one after the other."""
        lines = [
            *_multiplied(self.stored, "%a0", "%a1", "%b0", width),
            *_multiplied(self.stored, "%a2", "%a3", "%b1", width),
            *_multiplied(self.stored, "%b0", "%b1", "%c", width),
            f"%f0 = extractelement {_of(self.stored.computed, width)} %c, i32 0",
        ]
        for lane in range(1, width):
            lines.append(f"%e{lane} = extractelement {_of(self.stored.computed, width)} %c, i32 {lane}")
            lines += _multiplied(self.stored, f"%f{lane - 1}", f"%e{lane}", f"%f{lane}", 1)
        return lines


def _of(type: str, width: int) -> str:
    return type if width == 1 else f"<{width} x {type}>"


def _all(value: str, type: str, width: int) -> str:
    """A constant, or a vector of it."""
    return value if width == 1 else f"<{', '.join([f'{type} {value}'] * width)}>"


def _read(stored: Stored, name: str, width: int) -> list[str]:
    """Lines that put what lies at `name`.at into `name`."""
    load = f"load {_of(stored.memory, width)}, ptr {name}.at, align {stored.size}"
    if stored.memory == stored.computed:
        return [f"{name} = {load}"]
    floats, words = _of("float", width), _of("i32", width)
    if stored.memory == "half":
        return [f"{name}.m = {load}", f"{name} = fpext {_of('half', width)} {name}.m to {floats}"]
    return [
        f"{name}.m = {load}",
        f"{name}.w = zext {_of('i16', width)} {name}.m to {words}",
        f"{name}.s = shl {words} {name}.w, {_all('16', 'i32', width)}",
        f"{name} = bitcast {words} {name}.s to {floats}",
    ]


def _multiplied(stored: Stored, a: str, b: str, name: str, width: int) -> list[str]:
    """Lines that put a b, rounded to the dtype, into `name`."""
    if stored.memory == stored.computed:
        return [f"{name} = fmul {_of(stored.computed, width)} {a}, {b}"]
    floats, words = _of("float", width), _of("i32", width)
    lines = [f"{name}.u = fmul {floats} {a}, {b}"]
    if stored.memory == "half":
        halves = _of("half", width)
        return [*lines, f"{name}.h = fptrunc {floats} {name}.u to {halves}", f"{name} = fpext {halves} {name}.h to {floats}"]
    return [  # to nearest even; the lower bits of a nan are those of a factor, which has none
        *lines,
        f"{name}.p = bitcast {floats} {name}.u to {words}",
        f"{name}.l = lshr {words} {name}.p, {_all('16', 'i32', width)}",
        f"{name}.o = and {words} {name}.l, {_all('1', 'i32', width)}",
        f"{name}.c = add {words} {name}.o, {_all('32767', 'i32', width)}",
        f"{name}.q = add {words} {name}.p, {name}.c",
        f"{name}.k = and {words} {name}.q, {_all('-65536', 'i32', width)}",
        f"{name} = bitcast {words} {name}.k to {floats}",
    ]


def _written(stored: Stored) -> list[str]:
    """Lines that store %r, which is rounded."""
    if stored.memory != "i16":
        return stored.write("%r", "%place", stored.size, "")
    return [
        "%r.p = bitcast float %r to i32",
        "%r.l = lshr i32 %r.p, 16",
        "%r.o = trunc i32 %r.l to i16",
        f"store i16 %r.o, ptr %place, align {stored.size}",
    ]
