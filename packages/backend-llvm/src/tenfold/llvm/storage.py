"""How numbers lie in memory, and the type in which they are computed: half precision in float32, rounded once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from tenfold.llvm.expressions import Expr, bits, constant, convert, from_bits, is_nan, select, shift


@dataclass(frozen=True, eq=False)  # each there once, compared by identity
class Stored:
    """A dtype: its LLVM type in memory, that of its elements in expressions, and NumPy's name of it."""

    memory: str
    computed: str
    dtype: np.dtype[Any]

    @property
    def size(self) -> int:
        return self.dtype.itemsize

    def read(self, pointer: str, name: str, align: int, tags: str) -> list[str]:
        """Lines that put the element at a pointer into `name`."""
        raw = f"load {self.memory}, ptr {pointer}, align {align}{tags}"
        if self.memory == self.computed:
            return [f"{name} = {raw}"]
        lines = [f"{name}.m = {raw}"]
        if self.memory == "half":
            return [*lines, f"{name} = fpext half {name}.m to float"]
        if self.dtype == np.bool_:
            return [*lines, f"{name} = icmp ne i8 {name}.m, 0"]
        return [  # bfloat16 is the upper half of a float32
            *lines,
            f"{name}.w = zext i16 {name}.m to i32",
            f"{name}.s = shl i32 {name}.w, 16",
            f"{name} = bitcast i32 {name}.s to float",
        ]

    def rounded(self, value: Expr) -> Expr:
        """What `write` takes: for bfloat16 the bits, rounded to nearest even."""
        if self.memory != "i16":
            return value
        pattern = bits(value)
        up = pattern + (constant(0x7FFF, "i32") + (shift("lshr", pattern, 16) & constant(1, "i32")))
        nan = pattern | constant(0x400000, "i32")
        return shift("lshr", select(is_nan(value), nan, up), 16)

    def held(self, value: Expr) -> Expr:
        """The value as an element of this dtype has it, in the type that is computed in."""
        if self.memory == "half":
            return convert(convert(value, "half"), "float")
        return from_bits(shift("shl", self.rounded(value), 16)) if self.memory == "i16" else value

    def write(self, value: str, pointer: str, align: int, tags: str) -> list[str]:
        """Lines that store a value of type `computed` (for bfloat16, of what `rounded` gave)."""
        made = f"{value}.o"
        if self.memory == "half":
            lines = [f"{made} = fptrunc float {value} to half"]
        elif self.dtype == np.bool_:
            lines = [f"{made} = zext i1 {value} to i8"]
        elif self.memory == "i16":
            lines = [f"{made} = trunc i32 {value} to i16"]
        else:
            lines, made = [], value
        return [*lines, f"store {self.memory} {made}, ptr {pointer}, align {align}{tags}"]


FLOAT32 = Stored("float", "float", np.dtype(np.float32))
FLOAT64 = Stored("double", "double", np.dtype(np.float64))
FLOAT16 = Stored("half", "float", np.dtype(np.float16))
BFLOAT16 = Stored("i16", "float", np.dtype(ml_dtypes.bfloat16))
BOOL = Stored("i8", "i1", np.dtype(np.bool_))
INT64 = Stored("i64", "i64", np.dtype(np.int64))
# The dtypes that arithmetic kernels are made for, in the order of the tables of compiled kernels.
FLOATING = (FLOAT32, FLOAT64, FLOAT16, BFLOAT16)
LARGEST = {stored: float(ml_dtypes.finfo(stored.dtype).max) for stored in FLOATING}  # type: ignore[no-untyped-call]
BY_DTYPE = {stored.dtype: stored for stored in (*FLOATING, BOOL, INT64)}
