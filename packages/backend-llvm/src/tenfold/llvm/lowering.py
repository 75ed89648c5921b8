"""From expressions to LLVM IR: the lines that compute them for one element. LLVM's vectoriser makes vector code of the loop."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Any

from tenfold.llvm import far, parts, recurrences
from tenfold.llvm.expressions import FLOATS, Expr, walk

_ARITHMETIC = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_INTRINSICS = {
    "abs": "fabs", "fma": "fma", "sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "rint",
    "copysign": "copysign",
}  # fmt: skip
_FLOAT_TESTS = {"lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "eq": "oeq", "ne": "une"}
_WHOLE_TESTS = {"lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge", "eq": "eq", "ne": "ne"}


def literal(value: Any, type: str) -> str:
    """A constant as LLVM writes it: a float by the bits of the double that equals it."""
    if type == "i1":
        return "true" if value else "false"
    if type not in FLOATS:
        return str(int(value))
    if type == "float":
        value = _single(value)
    return "0x" + struct.pack(">d", value).hex().upper()


def _single(value: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


class Lowering:
    """The lines for some expressions, each written once; `leaf` gives the name of what the loop provides, such as a load."""

    def __init__(self, leaf: Callable[[Expr], str | None], prefix: str = "v") -> None:
        self.leaf, self.prefix = leaf, prefix
        self.names: dict[Expr, str] = {}
        self.lines: list[str] = []

    def name(self, expr: Expr) -> str:
        """The name under which the value of an expression stands, after the lines that compute it."""
        for e in walk(expr, whole=self._is_whole):
            if e not in self.names:
                self.names[e] = self._placed(e)
        return self.names[expr]

    def _is_whole(self, e: Expr) -> bool:
        """Whether an expression's operands are not needed."""
        return e in self.names

    def _placed(self, e: Expr) -> str:
        if e.op == "constant":
            return literal(e.value, e.type)
        provided = self.leaf(e)
        if provided is not None:
            return provided
        name = f"%{self.prefix}{len(self.lines)}"
        self.lines.append(f"{name} = {instruction(e, [self.names[a] for a in e.args])}")
        return name


def instruction(e: Expr, args: list[str]) -> str:
    """One expression as an LLVM instruction on named operands."""
    operand = e.args[0].type
    floating = operand in FLOATS
    if e.op in _ARITHMETIC:
        return f"{_ARITHMETIC[e.op] if floating else e.op} {e.type} {', '.join(args)}"
    if e.op == "ldexp":
        return f"call {e.type} @llvm.ldexp.{'f32' if e.type == 'float' else 'f64'}.i32({e.type} {args[0]}, i32 {args[1]})"
    written_out = _call(e, args)
    if written_out:
        return written_out
    if e.op == "narrow":
        return f"trunc {operand} {args[0]} to {e.type}"
    if e.op == "neg":
        return f"fneg {e.type} {args[0]}"
    if e.op in _INTRINSICS:
        given = ", ".join(f"{e.type} {a}" for a in args)
        return f"call {e.type} @llvm.{_INTRINSICS[e.op]}.{'f32' if e.type == 'float' else 'f64'}({given})"
    if e.op in _FLOAT_TESTS:
        test = f"fcmp {_FLOAT_TESTS[e.op]}" if floating else f"icmp {_WHOLE_TESTS[e.op]}"
        return f"{test} {operand} {', '.join(args)}"
    if e.op == "select":
        return f"select i1 {args[0]}, {e.type} {args[1]}, {e.type} {args[2]}"
    if e.op == "bitcast":
        return f"bitcast {operand} {args[0]} to {e.type}"
    if e.op == "convert":
        return f"{_conversion(operand, e.type)} {operand} {args[0]} to {e.type}"
    return f"{e.op} {e.type} {', '.join(args)}"  # and or xor shl lshr ashr


def _call(e: Expr, args: list[str]) -> str:
    """The call of a function that a module has written out; empty for other expressions."""
    if e.op in parts.NAMES:
        return f"call {e.type} @{parts.function(e.op, e.type)}({e.type} {args[0]})"
    if recurrences.is_one(e.op):
        return recurrences.call(e.op, e.type, args)
    return f"call {e.type} @{e.op}(double {args[0]})" if e.op in far.NAMES else ""


def _conversion(source: str, target: str) -> str:
    if source in (*FLOATS, "half"):
        return "fpext" if target == "double" or source == "half" else "fptrunc"
    return "uitofp" if source == "i1" else "sitofp"


def _of_names(formula: Expr, prefix: str) -> tuple[str, str]:
    """The lines of a formula of what stands under names, and the name of its value."""
    made = Lowering(lambda e: f"%{e.value}" if e.op == "leaf" else None, prefix)
    name = made.name(formula)
    return indented(made.lines), name


def declarations(text: str) -> str:
    """The declarations of the intrinsics that a module calls, and the functions that are written out."""
    found, written = set(), far.definitions(text) + recurrences.definitions(text, _of_names)
    text += written
    for name, count in {**dict.fromkeys(_INTRINSICS.values(), 1), "fma": 3, "copysign": 2, "maximum": 2, "minimum": 2}.items():
        for suffix, type in (("f32", "float"), ("f64", "double")):
            if f"@llvm.{name}.{suffix}(" in text:
                found.add(f"declare {type} @llvm.{name}.{suffix}({', '.join([type] * count)})")
            if f"@llvm.ldexp.{suffix}.i32(" in text:
                found.add(f"declare {type} @llvm.ldexp.{suffix}.i32({type}, i32)")
    return "\n".join([*sorted(found), parts.declarations(text), written])


def indented(lines: Iterable[str]) -> str:
    return "\n".join(f"  {line}" for line in lines)
