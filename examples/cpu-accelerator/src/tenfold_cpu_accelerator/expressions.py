"""Float32 expressions that write themselves down as LLVM IR: `x * y + 1` on `Value`s appends three lines."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any


class Code:
    """The lines of one function's body."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def emit(self, instruction: str, kind: str = "float") -> Value:
        """Append an instruction and return its result."""
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {instruction}")
        return Value(self, name, kind)


class Value:
    """A result in the code, a float unless `kind` says otherwise."""

    def __init__(self, code: Code, name: str, kind: str = "float") -> None:
        self.code, self.name, self.kind = code, name, kind

    def _binary(self, instruction: str, left: Any, right: Any) -> Value:
        # nsz contract allows fused multiply-add; "fast" would also assume that no NaN or infinity comes.
        return self.code.emit(f"{instruction} nsz contract float {text(left)}, {text(right)}")

    def __add__(self, other: Any) -> Value:
        return self._binary("fadd", self, other)

    def __sub__(self, other: Any) -> Value:
        return self._binary("fsub", self, other)

    def __mul__(self, other: Any) -> Value:
        return self._binary("fmul", self, other)

    def __truediv__(self, other: Any) -> Value:
        return self._binary("fdiv", self, other)

    def __rtruediv__(self, other: Any) -> Value:
        return self._binary("fdiv", other, self)

    def __rsub__(self, other: Any) -> Value:
        return self._binary("fsub", other, self)

    def __neg__(self) -> Value:
        return self.code.emit(f"fneg float {self.name}")

    def __abs__(self) -> Value:
        return self.code.emit(f"call float @llvm.fabs.f32(float {self.name})")

    def __lt__(self, other: Any) -> Value:
        """An ordered comparison: false for NaN."""
        return self.code.emit(f"fcmp olt float {self.name}, {text(other)}", "i1")

    def __gt__(self, other: Any) -> Value:
        return self.code.emit(f"fcmp ogt float {self.name}, {text(other)}", "i1")


def text(operand: Any) -> str:
    """A value's name, or a number as LLVM writes float constants exactly: the bits of the double that equals it."""
    if isinstance(operand, Value):
        return operand.name
    rounded = struct.unpack("f", struct.pack("f", operand))[0]
    return "0x" + struct.pack(">d", rounded).hex().upper()


def select(condition: Value, yes: Any, no: Any) -> Value:
    """`yes` where the condition holds, else `no`; both are computed."""
    return condition.code.emit(f"select i1 {condition.name}, float {text(yes)}, float {text(no)}")


def fma(a: Value, b: Any, c: Any) -> Value:
    """a * b + c, rounded once."""
    return a.code.emit(f"call float @llvm.fma.f32(float {text(a)}, float {text(b)}, float {text(c)})")


def bits(x: Value) -> Value:
    """The bit pattern as an integer."""
    return x.code.emit(f"bitcast float {x.name} to i32", "i32")


def integer(instruction: str, a: Value, b: int | Value) -> Value:
    """An integer operation such as "add" or "shl"."""
    return a.code.emit(f"{instruction} i32 {a.name}, {b.name if isinstance(b, Value) else b}", "i32")


def from_bits(n: Value) -> Value:
    return n.code.emit(f"bitcast i32 {n.name} to float")


def polynomial(x: Value, coefficients: Sequence[float]) -> Value:
    """c0 + c1 x + c2 x**2 + ... by Horner's rule."""
    result: Any = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        result = fma(x, result, c)
    return result  # type: ignore[no-any-return]


def function_text(name: str, body: Callable[[Value], Value]) -> str:
    """The IR of a float -> float function."""
    code = Code()
    result = body(Value(code, "%x"))
    lines = "\n".join(code.lines)
    return f"define internal float @{name}(float %x) alwaysinline {{\n{lines}\n  ret float {result.name}\n}}\n"
