"""Arithmetic of floats. The hardware's approximations are computed exactly and rounded: it may be off by one or two units more.

Source: PTX ISA, "Floating-Point Instructions", "Half Precision Floating-Point Instructions".
"""

from __future__ import annotations

import numpy as np

from ptx.comparisons import operands
from ptx.halves import is_half, narrow, pair
from ptx.operations import OPERATIONS, Unsupported, operation
from ptx.rounding import flushed, multiply_add, narrowed, sum_of
from ptx.values import F32, F64, U64

MODES = ("rn", "rz", "rm", "rp")
FLOATS = ("f16", "bf16", "f16x2", "bf16x2", "f32", "f64")


def floating(*names):
    """Register a builder for the floating types of an instruction that whole numbers have too."""

    def register(build):
        for name in names:
            OPERATIONS[name] = _chosen(build, OPERATIONS.get(name))
        return build

    return register


def _chosen(build, other):
    def choose(instruction, code):
        if instruction.parts[-1] in FLOATS:
            return build(instruction, code)
        if other is None:
            raise Unsupported(instruction.opcode)
        return other(instruction, code)

    return choose


def result(code, to, parts):
    """The function that rounds a result as the instruction says, and writes it; of halves it takes float32 or float64."""
    kind, write = parts[-1], code.writer(to)
    mode = next((p for p in parts if p in MODES), "rn")
    if kind.endswith("x2"):
        return lambda machine, x: write(machine, pair(x, kind, mode))
    if is_half(kind):
        return lambda machine, x: write(machine, narrow(x, kind, mode))
    ftz, sat = "ftz" in parts and kind == "f32", "sat" in parts

    def rounded(machine, x):
        if kind == "f32" and x.dtype is F64:
            x = narrowed(x, mode)
        if ftz:
            x = flushed(x)
        if sat:  # a NaN becomes 0
            x = np.where(x > 0, np.minimum(x, x.dtype.type(1)), x.dtype.type(0))
        write(machine, x)

    return rounded


def exact(parts):
    """Whether a float32 result has to be computed in float64: it is not rounded to nearest."""
    mode = next((p for p in parts if p in MODES), "rn")
    if mode != "rn" and parts[-1] == "f64":
        raise Unsupported(".".join(parts))
    return mode != "rn"


@floating("add", "sub", "mul")
def _arithmetic(instruction, code):
    parts, (to, *given) = instruction.parts, instruction.operands
    read, write = operands(code, given, parts[-1], "ftz" in parts), result(code, to, parts)
    function = {"add": np.add, "sub": np.subtract, "mul": np.multiply}[parts[0]]
    relu = "relu" in parts
    if not exact(parts):
        if relu:
            return lambda machine: write(machine, np.maximum(function(*read(machine)), F32.type(0)))
        return lambda machine: write(machine, function(*read(machine)))

    def run(machine):
        a, b = (x.astype(F64) for x in read(machine))
        write(machine, a * b if parts[0] == "mul" else sum_of(a, -b if parts[0] == "sub" else b))

    return run


@floating("fma", "mad")
def _fma(instruction, code):
    parts, (to, *given) = instruction.parts, instruction.operands
    read, write = operands(code, given, parts[-1], "ftz" in parts), result(code, to, parts)
    exact(parts)
    if parts[-1] == "f64":
        return lambda machine: write(machine, multiply_add(*read(machine)))
    relu = "relu" in parts

    def run(machine):
        a, b, c = (x.astype(F64) for x in read(machine))
        found = sum_of(a * b, c)
        if relu:
            found = np.where(np.isnan(found), found, np.maximum(found, 0.0))
        write(machine, found)

    return run


@floating("min", "max")
def _extreme(instruction, code):
    """A NaN gives way to a number unless the instruction says .NaN; -0 is less than +0."""
    parts, (to, *given) = instruction.parts, instruction.operands
    if "xorsign" in parts or "abs" in parts:
        raise Unsupported(instruction.opcode)
    read, write = operands(code, given, parts[-1], "ftz" in parts), result(code, to, parts)
    least, keeps = parts[0] == "min", "NaN" in parts

    def of_two(a, b):
        first = np.where(a == b, np.signbit(a) == least, (a < b) == least)
        found = np.where(first, a, b)
        nan = (np.isnan(a), np.isnan(b))
        if keeps:
            return np.where(nan[0] | nan[1], a.dtype.type(np.nan), found)
        return np.where(nan[0], b, np.where(nan[1], a, found))

    def run(machine):
        a, b, *c = read(machine)
        write(machine, of_two(of_two(a, b), c[0]) if c else of_two(a, b))

    return run


@floating("abs", "neg")
def _sign(instruction, code):
    parts, (to, *given) = instruction.parts, instruction.operands
    read, write = operands(code, given, parts[-1], "ftz" in parts), result(code, to, parts)
    function = np.abs if parts[0] == "abs" else np.negative
    return lambda machine: write(machine, function(*read(machine)))


@operation("copysign")
def _copysign(instruction, code):
    """The second's number with the first's sign."""
    parts, (to, *given) = instruction.parts, instruction.operands
    read, write = operands(code, given, parts[-1]), code.writer(to)

    def run(machine):
        sign, size = read(machine)
        write(machine, np.copysign(size, sign))

    return run


@floating("div")
def _divide(instruction, code):
    parts, (to, *given) = instruction.parts, instruction.operands
    read, write = operands(code, given, parts[-1], "ftz" in parts), result(code, to, parts)
    approximate = "approx" in parts
    if exact(parts):
        raise Unsupported(instruction.opcode)

    def run(machine):
        a, b = read(machine)
        found = a / b
        if approximate:  # by the reciprocal, which is then subnormal, and flushed
            large = (np.abs(b) > F32.type(2.0**126)) & np.isfinite(b)
            found = np.where(large, np.where(np.isinf(a), F32.type(np.nan), np.copysign(F32.type(0), found)), found)
        write(machine, found)

    return run


def _of_one(name, function):
    """A function of one number, in float64 and rounded."""

    @operation(name)
    def build(instruction, code):
        parts, (to, *given) = instruction.parts, instruction.operands
        kind = parts[-1]
        read, write = operands(code, given, kind, "ftz" in parts), result(code, to, parts)
        if kind == "f64" and "approx" in parts:  # the upper half of the bits only
            return lambda machine: write(machine, _upper(function(_upper(*read(machine)))))
        if kind == "f64":
            return lambda machine: write(machine, function(*read(machine)))
        exact(parts)
        return lambda machine: write(machine, function(read(machine)[0].astype(F64)))


def _upper(x):
    """A float64 without the lower half of its bits; subnormal ones are 0 (.ftz)."""
    bits = x.view(U64) & U64.type(0xFFFFFFFF00000000)
    small = bits & U64.type(0x7FF0000000000000) == 0
    return np.where(small, bits & U64.type(0x8000000000000000), bits).view(F64)


_of_one("rcp", lambda x: 1.0 / x)
_of_one("sqrt", np.sqrt)
_of_one("rsqrt", lambda x: 1.0 / np.sqrt(x))
_of_one("ex2", np.exp2)
_of_one("lg2", np.log2)
_of_one("sin", np.sin)
_of_one("cos", np.cos)
_of_one("tanh", np.tanh)
