"""Exponents and mantissas of vectors of 512 bits, which a processor with AVX-512 has instructions for.

LLVM's vectoriser knows no such functions. It is told of a function of one number and of another of a vector, which take their
place in a loop; both get their instruction when the loop is made. The function of a number is that of a vector of it: every
element has the same bits wherever it lies.
"""

from __future__ import annotations

NAMES = ("exponent", "mantissa")
# An instruction's suffix, the width of its vectors and the type of their mask.
_KINDS = {"float": ("ps", 16, "i16"), "double": ("pd", 8, "i8")}
# Between 0.75 and 1.5, of the absolute value; NaN for negative numbers.
_INTERVAL = 0b1111


def function(name: str, type: str) -> str:
    return f"{name}_of_{type}"


def _met(text: str) -> list[tuple[str, str]]:
    return [(name, type) for name in NAMES for type in _KINDS if f"@{function(name, type)}(" in text]


def declarations(text: str) -> str:
    """What a module says of those that it calls."""
    lines, kept = [], []
    for name, type in _met(text):
        one, (_, width, _) = function(name, type), _KINDS[type]
        many = f"{one}_{width}"
        pure, variant = "nounwind willreturn memory(none)", f"_ZGV_LLVM_N{width}v_{one}({many})"
        lines += [
            f'declare {type} @{one}({type}) {pure} "vector-function-abi-variant"="{variant}"',
            f"declare <{width} x {type}> @{many}(<{width} x {type}>) {pure}",
        ]
        kept.append(f"ptr @{many}")  # or it is dropped before the vectoriser asks for it
    if kept:
        lines.append(f'@llvm.compiler.used = appending global [{len(kept)} x ptr] [{", ".join(kept)}], section "llvm.metadata"')
    return "\n".join(lines)


def definitions(text: str) -> str:
    """The functions that a module calls, to be put in their places; empty if there are none."""
    lines = []
    for name, type in _met(text):
        one, (suffix, width, mask) = function(name, type), _KINDS[type]
        vector, many = f"<{width} x {type}>", f"{one}_{width}"
        asked, option = ("getexp", "") if name == "exponent" else ("getmant", f"i32 {_INTERVAL}, ")
        intrinsic = f"@llvm.x86.avx512.mask.{asked}.{suffix}.512"
        lines += [
            f"declare {vector} {intrinsic}({vector}, {'i32, ' * bool(option)}{vector}, {mask}, i32)",
            f"define linkonce_odr {vector} @{many}({vector} %x) alwaysinline {{",
            f"  %y = call {vector} {intrinsic}({vector} %x, {option}{vector} zeroinitializer, {mask} -1, i32 4)",
            f"  ret {vector} %y\n}}",
            f"define linkonce_odr {type} @{one}({type} %x) alwaysinline {{",
            f"  %v = insertelement {vector} zeroinitializer, {type} %x, i32 0",
            f"  %y = call {vector} @{many}({vector} %v)",
            f"  %r = extractelement {vector} %y, i32 0\n  ret {type} %r\n}}",
        ]
    return "\n".join(lines)
