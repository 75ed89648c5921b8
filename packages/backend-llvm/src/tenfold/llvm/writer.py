"""Writing LLVM IR by hand, a function at a time: nested loops, variables, vectors of fixed width.

Elementwise formulas and rows leave vectors to LLVM's vectoriser. Products of matrices do better when the code says which
numbers stay in registers: that is written with this.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

from tenfold.llvm.compiler import features
from tenfold.llvm.loops import ATTRIBUTES
from tenfold.llvm.storage import Stored


@dataclass(frozen=True)
class Registers:
    """The processor's vector registers: how many there are, and how many numbers of a dtype one holds."""

    count: int
    bytes: int

    def lanes(self, stored: Stored) -> int:
        return self.bytes // stored.size


@cache
def registers() -> Registers:
    """Those of this processor."""
    known = features().split(",")
    if "+avx512f" in known:
        return Registers(32, 64)
    if "+avx" in known:
        return Registers(16, 32)
    return Registers(32, 16)


class Function:
    """A function's lines as they come; a variable lives in memory until LLVM puts it into a register."""

    def __init__(self, head: str, attributes: str = ATTRIBUTES) -> None:
        self.head, self.attributes = head, attributes
        self.count = 0
        self.variables: list[str] = []
        self.lines: list[str] = []

    def text(self) -> str:
        body = "\n".join(["entry:", *(f"  {line}" for line in self.variables), *self.lines])
        return f"define {self.head} {self.attributes} {{\n{body}\n  ret void\n}}\n"

    def do(self, text: str) -> None:
        """A line without a result."""
        self.lines.append(f"  {text}")

    def let(self, text: str) -> str:
        """A line with a result, whose name is returned."""
        self.count += 1
        self.do(f"%v{self.count} = {text}")
        return f"%v{self.count}"

    def variable(self, type: str, first: str = "") -> str:
        """The address of a new variable of this type."""
        self.count += 1
        self.variables.append(f"%m{self.count} = alloca {type}, align 64")
        if first:
            self.do(f"store {type} {first}, ptr %m{self.count}")
        return f"%m{self.count}"

    def words(self, names: Sequence[str], first: int = 0) -> list[str]:
        """The context's words from `first` on: an address where the name begins with *, else a number."""
        found = []
        for k, name in enumerate(names, first):
            place = self.let(f"getelementptr i64, ptr %ctx, i64 {k}")
            found.append(self.let(f"load {'ptr' if name.startswith('*') else 'i64'}, ptr {place}"))
        return found

    @contextmanager
    def loop(self, start: str | int, stop: str | int, step: str | int = 1) -> Iterator[str]:
        """What is written inside is done for start, start + step, … below stop."""
        self.count += 1
        n = self.count
        place = self.variable("i64", str(start))
        self.do(f"br label %head{n}")
        self.lines.append(f"head{n}:")
        index = self.let(f"load i64, ptr {place}")
        more = self.let(f"icmp slt i64 {index}, {stop}")
        self.do(f"br i1 {more}, label %body{n}, label %end{n}")
        self.lines.append(f"body{n}:")
        yield index
        following = self.let(f"add nsw i64 {index}, {step}")
        self.do(f"store i64 {following}, ptr {place}")
        self.do(f"br label %head{n}")
        self.lines.append(f"end{n}:")

    @contextmanager
    def until(self) -> Iterator[Callable[[str], None]]:
        """What is written inside is done again and again, until a condition holds that is given to what this gives."""
        self.count += 1
        n = self.count
        self.do(f"br label %again{n}")
        self.lines.append(f"again{n}:")

        def leave(condition: str) -> None:
            self.count += 1
            self.do(f"br i1 {condition}, label %left{n}, label %on{self.count}")
            self.lines.append(f"on{self.count}:")

        yield leave
        self.do(f"br label %again{n}")
        self.lines.append(f"left{n}:")

    @contextmanager
    def when(self, condition: str, tags: str = "") -> Iterator[None]:
        """What is written inside is done where the condition holds; `tags` may say how often that is."""
        self.count += 1
        n = self.count
        self.do(f"br i1 {condition}, label %then{n}, label %after{n}{tags}")
        self.lines.append(f"then{n}:")
        yield
        self.do(f"br label %after{n}")
        self.lines.append(f"after{n}:")

    @contextmanager
    def either(self, condition: str) -> Iterator[Callable[[], None]]:
        """What is written inside is done where the condition holds; after a call of what this gives, where it does not."""
        self.count += 1
        n = self.count
        self.do(f"br i1 {condition}, label %then{n}, label %else{n}")
        self.lines.append(f"then{n}:")

        def otherwise() -> None:
            self.do(f"br label %after{n}")
            self.lines.append(f"else{n}:")

        yield otherwise
        self.do(f"br label %after{n}")
        self.lines.append(f"after{n}:")

    # Whole numbers and addresses.

    def add(self, a: str | int, b: str | int) -> str:
        return self.let(f"add nsw i64 {a}, {b}")

    def sub(self, a: str | int, b: str | int) -> str:
        return self.let(f"sub nsw i64 {a}, {b}")

    def mul(self, a: str | int, b: str | int) -> str:
        return self.let(f"mul nsw i64 {a}, {b}")

    def least(self, a: str | int, b: str | int) -> str:
        return self.let(f"call i64 @llvm.smin.i64(i64 {a}, i64 {b})")

    def most(self, a: str | int, b: str | int) -> str:
        return self.let(f"call i64 @llvm.smax.i64(i64 {a}, i64 {b})")

    def split(self, index: str, count: str) -> tuple[str, str]:
        """(index / count, index mod count)."""
        high = self.let(f"udiv i64 {index}, {count}")
        return high, self.sub(index, self.mul(high, count))

    def at(self, address: str, index: str | int, type: str = "i8") -> str:
        """The address of an element; by default `index` counts bytes."""
        return self.let(f"getelementptr {type}, ptr {address}, i64 {index}")

    def whole(self, address: str, index: str | int) -> str:
        """The element of a table of 64-bit numbers."""
        return self.let(f"load i64, ptr {self.at(address, index, 'i64')}")


class Vectors:
    """Vectors of a dtype in a function: as many numbers as a register holds."""

    def __init__(self, function: Function, stored: Stored, lanes: int) -> None:
        self.f, self.stored, self.lanes = function, stored, lanes
        self.element = stored.memory
        self.type = f"<{lanes} x {self.element}>"
        self.suffix = f"v{lanes}f{8 * stored.size}"

    def load(self, address: str, type: str = "") -> str:
        return self.f.let(f"load {type or self.type}, ptr {address}, align {self.stored.size}")

    def store(self, value: str, address: str) -> None:
        self.f.do(f"store {self.type} {value}, ptr {address}, align {self.stored.size}")

    def place(self, address: str, index: str | int) -> str:
        """The address of an element of this dtype."""
        return self.f.at(address, index, self.element)

    def splat(self, number: str) -> str:
        """The number in every lane."""
        one = self.f.let(f"insertelement {self.type} poison, {self.element} {number}, i64 0")
        return self.f.let(f"shufflevector {self.type} {one}, {self.type} poison, <{self.lanes} x i32> zeroinitializer")

    def constant(self, number: float) -> str:
        """A number that stands in the text, in every lane."""
        bits = struct.unpack("<Q", struct.pack("<d", float(self.stored.dtype.type(number))))[0]
        return f"<{', '.join([f'{self.element} 0x{bits:016X}'] * self.lanes)}>"

    def fma(self, a: str, b: str, c: str) -> str:
        """a * b + c, rounded once."""
        return self.f.let(f"call {self.type} @llvm.fma.{self.suffix}({self.type} {a}, {self.type} {b}, {self.type} {c})")

    def below(self, count: str) -> str:
        """A mask of the first `count` lanes."""
        lanes = f"<{self.lanes} x i64>"
        one = self.f.let(f"insertelement {lanes} poison, i64 {count}, i64 0")
        every = self.f.let(f"shufflevector {lanes} {one}, {lanes} poison, <{self.lanes} x i32> zeroinitializer")
        numbers = ", ".join(f"i64 {k}" for k in range(self.lanes))
        return self.f.let(f"icmp slt {lanes} <{numbers}>, {every}")

    def load_some(self, address: str, mask: str) -> str:
        """The lanes of the mask; zeros elsewhere, where memory is not read."""
        arguments = f"ptr {address}, i32 {self.stored.size}, <{self.lanes} x i1> {mask}, {self.type} zeroinitializer"
        return self.f.let(f"call {self.type} @llvm.masked.load.{self.suffix}.p0({arguments})")

    def store_some(self, value: str, address: str, mask: str) -> None:
        """Write the lanes of the mask."""
        arguments = f"{self.type} {value}, ptr {address}, i32 {self.stored.size}, <{self.lanes} x i1> {mask}"
        self.f.do(f"call void @llvm.masked.store.{self.suffix}.p0({arguments})")

    def read(self, place: str, mask: str) -> str:
        """A vector, of which an empty mask leaves out nothing."""
        return self.load_some(place, mask) if mask else self.load(place)

    def write(self, value: str, place: str, mask: str) -> None:
        """The same for writing."""
        if mask:
            self.store_some(value, place, mask)
        else:
            self.store(value, place)

    def store_first(self, value: str, address: str, count: str) -> None:
        """Write the first `count` lanes, all of them in one store: stores under a mask cost many times as much."""
        with self.f.either(self.f.let(f"icmp sge i64 {count}, {self.lanes}")) as otherwise:
            self.store(value, address)
            otherwise()
            self.store_some(value, address, self.below(count))

    def total(self, value: str) -> str:
        """The sum of the lanes, as a number."""
        return self.f.let(
            f"call reassoc {self.element} @llvm.vector.reduce.fadd.{self.suffix}({self.element} -0.0, {self.type} {value})"
        )

    def transposed(self, rows: list[str]) -> list[str]:
        """The columns of a square of vectors: log2(lanes) times, the first half of the vectors is interleaved with the second."""
        half = self.lanes // 2
        orders = []
        for first in (0, half):
            pairs = [(first + k, self.lanes + first + k) for k in range(half)]
            orders.append(", ".join(f"i32 {i}" for pair in pairs for i in pair))
        for _ in range(self.lanes.bit_length() - 1):
            rows = [
                self.f.let(f"shufflevector {self.type} {a}, {self.type} {b}, <{self.lanes} x i32> <{order}>")
                for a, b in zip(rows[:half], rows[half:], strict=True)
                for order in orders
            ]
        return rows

    def declarations(self) -> str:
        """What a module with such vectors declares."""
        v, m = self.type, f"<{self.lanes} x i1>"
        return "\n".join((
            f"declare {v} @llvm.fma.{self.suffix}({v}, {v}, {v})",
            f"declare {v} @llvm.masked.load.{self.suffix}.p0(ptr, i32, {m}, {v})",
            f"declare void @llvm.masked.store.{self.suffix}.p0({v}, ptr, i32, {m})",
            f"declare {self.element} @llvm.vector.reduce.fadd.{self.suffix}({self.element}, {v})",
            "declare i64 @llvm.smin.i64(i64, i64)",
            "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
            "declare i64 @llvm.smax.i64(i64, i64)\n",
        ))  # fmt: skip
