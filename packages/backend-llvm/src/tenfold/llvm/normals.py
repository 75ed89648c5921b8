"""Box and Muller's transform in machine code: blocks of 16 uniforms become 16 normals where they lie.

The first eight of a block are the first uniforms of its pairs, the last eight the second. Every step is that of
`tenfold.random.boxmuller`, with its coefficients and its one rounding each, so that a seed has the same numbers with and
without this package. The functions of the C library come by address: those that LLVM has in mind may round otherwise.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import math
import struct
from collections.abc import Sequence

from tenfold.random import boxmuller

FUNCTIONS = ("log", "log1p", "cos", "sin")
FLOATS, INTEGERS = "<8 x float>", "<8 x i32>"


@functools.cache
def addresses() -> dict[str, int]:
    """Where the C library's functions are, those that Python's `math` calls."""
    library = ctypes.CDLL("ucrtbase" if ctypes.util.find_library("ucrtbase") else ctypes.util.find_library("m"))
    return {name: ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0 for name in FUNCTIONS}


def source() -> str:
    """The functions as LLVM IR, without what they share with others."""
    return "\n".join([_DECLARED, _Block().text(), _WIDE])


def shared() -> str:
    """What makes one pair of float64, for all modules that do."""
    return _PAIR


def _number(value: float) -> str:
    """A float32 as LLVM writes it."""
    rounded: float = struct.unpack("f", struct.pack("f", value))[0]
    return f"splat (float 0x{struct.unpack('<Q', struct.pack('<d', rounded))[0]:016X})"


class _Block:
    """The lines for eight pairs of float32."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def let(self, text: str) -> str:
        self.lines.append(f"  %b{len(self.lines)} = {text}")
        return f"%b{len(self.lines) - 1}"

    def times(self, a: str, b: str) -> str:
        return self.let(f"fmul {FLOATS} {a}, {b}")

    def plus(self, a: str, b: str, operation: str = "fadd") -> str:
        return self.let(f"{operation} {FLOATS} {a}, {b}")

    def whole(self, operation: str, a: str, b: int | str) -> str:
        return self.let(f"{operation} {INTEGERS} {a}, {b if isinstance(b, str) else f'splat (i32 {b})'}")

    def bits(self, a: str) -> str:
        return self.let(f"bitcast {FLOATS} {a} to {INTEGERS}")

    def floats(self, a: str) -> str:
        return self.let(f"bitcast {INTEGERS} {a} to {FLOATS}")

    def fma(self, a: str, b: str, c: str) -> str:
        return self.let(f"call {FLOATS} @llvm.fma.v8f32({FLOATS} {a}, {FLOATS} {b}, {FLOATS} {c})")

    def polynomial(self, coefficients: Sequence[float], x: str) -> str:
        total = _number(coefficients[0])
        for coefficient in coefficients[1:]:
            total = self.fma(total, x, _number(coefficient))
        return total

    def logarithm(self, x: str) -> str:
        bits = self.bits(x)
        exponent = self.whole("sub", self.whole("lshr", bits, 23), 126)
        mantissa = self.floats(self.whole("or", self.whole("and", bits, 0x7FFFFF), 0x3F000000))
        small = self.let(f"fcmp olt {FLOATS} {mantissa}, {_number(math.sqrt(0.5))}")
        one = self.let(f"zext <8 x i1> {small} to {INTEGERS}")
        e = self.let(f"sitofp {INTEGERS} {self.whole('sub', exponent, one)} to {FLOATS}")
        extra = self.let(f"select <8 x i1> {small}, {FLOATS} {mantissa}, {FLOATS} zeroinitializer")
        m = self.plus(self.plus(mantissa, extra), _number(1), "fsub")
        square = self.times(m, m)
        series = self.times(self.polynomial(boxmuller.LOG, m), m)
        tail = self.fma(series, square, self.times(e, _number(boxmuller.LN2[1])))
        tail = self.plus(tail, self.times(square, _number(0.5)), "fsub")
        return self.plus(self.plus(tail, m), self.times(e, _number(boxmuller.LN2[0])))

    def cosine_and_sine(self, angle: str) -> tuple[str, str]:
        octant = self.let(f"fptosi {FLOATS} {self.times(angle, _number(4 / math.pi))} to {INTEGERS}")
        octant = self.whole("add", octant, self.whole("and", octant, 1))
        turns = self.let(f"sitofp {INTEGERS} {octant} to {FLOATS}")
        x = self.plus(angle, self.times(turns, _number(boxmuller.PI_4[0])), "fsub")
        x = self.plus(x, self.times(turns, _number(boxmuller.PI_4[1])), "fsub")
        x = self.fma(turns, _number(-boxmuller.PI_4[2]), x)
        square = self.times(x, x)
        cosine = self.times(self.polynomial(boxmuller.COS, square), square)
        cosine = self.plus(self.fma(cosine, square, self.times(square, _number(-0.5))), _number(1))
        sine = self.fma(self.times(self.polynomial(boxmuller.SIN, square), square), x, x)
        swapped = self.let(f"icmp ne {INTEGERS} {self.whole('and', octant, 2)}, zeroinitializer")
        signs = self.whole("and", self.whole("add", octant, 2), 4), self.whole("and", octant, 4)
        made = []
        for first, second, sign in ((sine, cosine, signs[0]), (cosine, sine, signs[1])):
            chosen = self.bits(self.let(f"select <8 x i1> {swapped}, {FLOATS} {first}, {FLOATS} {second}"))
            made.append(self.floats(self.whole("xor", chosen, self.whole("shl", sign, 29))))
        return made[0], made[1]

    def text(self) -> str:
        logarithm = self.logarithm(self.plus(_number(1), "%first", "fsub"))
        inside = self.times(logarithm, _number(-2))
        radius = self.let(f"call {FLOATS} @llvm.sqrt.v8f32({FLOATS} {inside})")
        cosine, sine = self.cosine_and_sine(self.times("%second", _number(2 * math.pi)))
        results = self.times(radius, cosine), self.times(radius, sine)
        lines = "\n".join(self.lines)
        return _NARROW.replace("LINES", lines).replace("COSINE", results[0]).replace("SINE", results[1])


_DECLARED = """
declare <8 x float> @llvm.fma.v8f32(<8 x float>, <8 x float>, <8 x float>)
declare <8 x float> @llvm.sqrt.v8f32(<8 x float>)
declare double @libm_log(double)
"""

_NARROW = """
define void @to_normals32(ptr %data, i64 %count) noinline nounwind {
entry:
  %none = icmp slt i64 %count, 16
  br i1 %none, label %done, label %block
block:
  %i = phi i64 [0, %entry], [%inext, %block]
  %p = getelementptr float, ptr %data, i64 %i
  %q = getelementptr float, ptr %p, i64 8
  %first = load <8 x float>, ptr %p, align 4
  %second = load <8 x float>, ptr %q, align 4
LINES
  store <8 x float> COSINE, ptr %p, align 4
  store <8 x float> SINE, ptr %q, align 4
  %inext = add nuw nsw i64 %i, 16
  %again = icmp slt i64 %inext, %count
  br i1 %again, label %block, label %done
done:
  ret void
}
"""

_PAIR = f"""
declare double @llvm.sqrt.f64(double)
declare double @libm_cos(double)
declare double @libm_sin(double)

define internal {{double, double}} @pair(double %minus_twice_log, double %turn) alwaysinline {{
  %radius = call double @llvm.sqrt.f64(double %minus_twice_log)
  %angle = fmul double %turn, 0x{struct.unpack("<Q", struct.pack("<d", 2 * math.pi))[0]:016X}
  %c = call double @libm_cos(double %angle)
  %s = call double @libm_sin(double %angle)
  %first = fmul double %radius, %c
  %second = fmul double %radius, %s
  %r0 = insertvalue {{double, double}} poison, double %first, 0
  %r1 = insertvalue {{double, double}} %r0, double %second, 1
  ret {{double, double}} %r1
}}
"""

_WIDE = """
define void @to_normals64(ptr %data, i64 %count) noinline nounwind {
entry:
  %none = icmp slt i64 %count, 16
  br i1 %none, label %done, label %one
one:
  %i = phi i64 [0, %entry], [%inext, %one]
  ; the i-th pair: eight pairs a block of sixteen
  %block = and i64 %i, -8
  %place = add i64 %i, %block
  %p = getelementptr double, ptr %data, i64 %place
  %q = getelementptr double, ptr %p, i64 8
  %height = load double, ptr %p
  %turn = load double, ptr %q
  %x = fsub double 1.0, %height
  %log = call double @libm_log(double %x)
  %twice = fmul double %log, -2.0
  %made = call {double, double} @pair(double %twice, double %turn)
  %first = extractvalue {double, double} %made, 0
  %second = extractvalue {double, double} %made, 1
  store double %first, ptr %p
  store double %second, ptr %q
  %inext = add nuw nsw i64 %i, 1
  %twice_i = shl i64 %inext, 1
  %again = icmp slt i64 %twice_i, %count
  br i1 %again, label %one, label %done
done:
  ret void
}
"""
