"""Conversions between dtypes: loops of their own, and the native call paths of `long`, `float` … and `to`.

Each pair of dtypes has a loop, which is compiled when it was wanted often. What an integer does not hold raises a flag: NumPy,
whose answer to that is the processor's, does the work then.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np

from tenfold.llvm import compiler, quick_conversions, session as sessions
from tenfold.llvm.call_paths import CONVERTS, WORDS, WRITING
from tenfold.llvm.expressions import load
from tenfold.llvm.loops import Elementwise
from tenfold.llvm.products import HEAD
from tenfold.llvm.sending import note
from tenfold.llvm.storage import BFLOAT16, FLOAT16, FLOAT32
from tenfold.llvm.writer import Function
from tenfold.types import dtypes

# LLVM's types of the dtypes, and the methods that convert to them.
MEMORY = {
    "float32": "float", "float64": "double", "float16": "half", "int64": "i64", "int32": "i32", "bool": "i8", "uint8": "i8",
    "bfloat16": "bfloat",
}  # fmt: skip
METHODS = {
    "float32": "float", "float64": "double", "float16": "half", "int64": "long", "int32": "int", "bool": "bool",
    "bfloat16": "bfloat16",
}  # fmt: skip
# Methods of which only NumPy has the loops.
OTHERS = {
    "short": dtypes.int16, "char": dtypes.int8, "byte": dtypes.uint8, "cfloat": dtypes.complex64, "cdouble": dtypes.complex128,
}  # fmt: skip
FLOATS = {"half": 16, "float": 32, "double": 64}
SOURCES, LOOPS = 8, 16  # of a target's words, as native/conversions.ll reads them
# For which processors have no instruction, or would need two.
ROUNDED_TWICE = {(wide, narrow) for wide in ("double", "i64", "i32") for narrow in ("half", "bfloat")} | {("i8", "bfloat")}
NARROW = {"float": FLOAT32, "half": FLOAT16, "bfloat": BFLOAT16}  # whose conversions to each other the elementwise loops have


def text(source: str, target: str) -> str:
    """The loop from one type to another, over items. Context: result, argument, flag."""
    if source in NARROW and target in NARROW:
        return Elementwise(load(0, "float"), NARROW[target], (NARROW[source],)).text(None)
    f = Function(HEAD)
    out, x, flag = f.words(["*out", "*x", "*flag"])
    beyond = f.variable("i64", "0")
    with f.loop("%lo", "%hi") as i:
        if source == "bfloat":  # the upper half of a float32
            pattern = f.let(f"load i16, ptr {f.at(x, i, 'i16')}")
            upper = f.let(f"zext i16 {pattern} to i32")
            value, held = f.let(f"bitcast i32 {f.let(f'shl i32 {upper}, 16')} to float"), "float"
        else:
            value, held = f.let(f"load {source}, ptr {f.at(x, i, source)}"), source
        f.do(f"store {target} {_converted(f, held, target, value, beyond)}, ptr {f.at(out, i, target)}")
    any_beyond = f.let(f"load i64, ptr {beyond}")
    with f.when(f.let(f"icmp ne i64 {any_beyond}, 0")):
        f.do(f"store i64 1, ptr {flag}")
    return f.text()


def _converted(f: Function, source: str, target: str, value: str, beyond: str) -> str:
    if target == "i8":
        differs = f"fcmp une {source} {value}, 0.0" if source in FLOATS else f"icmp ne {source} {value}, 0"
        return f.let(f"zext i1 {f.let(differs)} to i8")
    if target in FLOATS:
        if source not in FLOATS:
            return f.let(f"{'uitofp' if source == 'i8' else 'sitofp'} {source} {value} to {target}")
        return f.let(f"{'fpext' if FLOATS[source] < FLOATS[target] else 'fptrunc'} {source} {value} to {target}")
    if source in FLOATS:
        return _whole(f, source, target, value, beyond)
    if source == "i8":
        return f.let(f"zext i8 {value} to {target}")
    return f.let(f"{'sext' if source == 'i32' else 'trunc'} {source} {value} to {target}")


def _whole(f: Function, source: str, target: str, value: str, beyond: str) -> str:
    """A float's whole part; where the integer has no room for it `beyond` is not 0 any more: a branch would keep vectors out."""
    wide, type = (f.let(f"fpext half {value} to float"), "float") if source == "half" else (value, source)
    limit = "0x43E0000000000000" if target == "i64" else "0x41E0000000000000"  # 2^63, 2^31
    below = f.let(f"fcmp olt {type} {wide}, {limit}")
    above = f.let(f"fcmp ogt {type} {wide}, 0x{'C3E0000000000000' if target == 'i64' else 'C1E0000000000000'}")
    fits = f.let(f"and i1 {below}, {above}")
    lacks = f.let(f"zext i1 {f.let(f'xor i1 {fits}, true')} to i64")
    note(f, beyond, lacks)
    safe = f.let(f"select i1 {fits}, {type} {wide}, {type} 0.0")
    return f.let(f"fptosi {type} {safe} to {target}")


def _dtype(name: str) -> Any:
    return BFLOAT16.dtype if name == "bfloat16" else np.dtype(name)


class Conversions:
    """The words of each target, and what fills them."""

    def __init__(self, session: Any) -> None:
        self.words: dict[Any, Any] = {}
        native = session.native
        for name in METHODS:
            words = np.zeros(WORDS, np.int64)
            target = getattr(dtypes, "bool_" if name == "bool" else name)
            words[0], words[WRITING] = id(target.numpy), CONVERTS
            pairs = [s for s in MEMORY if s != name and (MEMORY[s], MEMORY[name]) not in ROUNDED_TWICE]
            words[SOURCES : SOURCES + len(pairs)] = [id(_dtype(s)) for s in pairs]
            self.words[target] = words
            native.keep.append((words, [_dtype(s) for s in pairs]))
        native.point("c_words", {target: words.ctypes.data for target, words in self.words.items()})
        native.point("c_learn", self.learn)
        native.point("c_dtype", dtypes.dtype)
        native.point("c_cpu", sys.intern("cpu"))

    def learn(self, address: int, place: int) -> None:
        """Compile the loop for a target's words and the place of a source among them."""
        target = next(t for t, words in self.words.items() if words.ctypes.data == address)
        source = next(s for s in MEMORY if id(_dtype(s)) == self.words[target][place])
        try:
            loop = compiler.load(text(MEMORY[source], MEMORY[target.numpy.name])).address("kernel")
        except Exception as error:  # noqa: BLE001 - whatever it is, NumPy serves
            sessions.give_up("a conversion", f"{type(error).__name__}: {error}")
            return
        ctypes.c_int64.from_address(address + 8 * (place - SOURCES + LOOPS)).value = loop

    def lead(self, paths: Any, Tensor: Any, to: Any) -> None:
        """Give the methods and `to` their call paths."""
        for target, words in self.words.items():
            paths.viewer.quick(quick_conversions.CONVERTERS[target], words)
            paths.lead_by(getattr(Tensor, METHODS[target.numpy.name]), words)
        for name, target in OTHERS.items():
            paths.lead_by(getattr(Tensor, name), paths.viewer.quick(quick_conversions.CONVERTERS[target]))
        paths.lead_by(to, paths.viewer.quick(quick_conversions.to))
        paths.lead(to, "path_to")
