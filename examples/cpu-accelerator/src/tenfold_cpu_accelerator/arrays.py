"""Running compiled loops on NumPy arrays, and which arrays they take."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold_cpu_accelerator import loops
from tenfold_cpu_accelerator.compiler import Loop, compile_loop
from tenfold_cpu_accelerator.expressions import Value

FLOAT32 = np.dtype(np.float32)
Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Least:
    """Which arrays a loop takes: from this many elements on, its vectors win more than the call from Python costs."""

    elements: int

    def suits(self, input: Array) -> bool:
        return input.dtype is FLOAT32 and input.size >= self.elements and input.flags.c_contiguous

    @property
    def note(self) -> str:
        return f"contiguous float32 of at least {self.elements} elements"


compiled: Callable[[str, Callable[[Value], Value]], Loop] = functools.cache(compile_loop)


def elementwise(function: Callable[[Value], Value], input: Array) -> Array:
    """A new array of the function of every element."""
    out = np.empty_like(input)
    compiled(loops.ELEMENTWISE, function)(input.ctypes.data, out.ctypes.data, input.size, 0)
    return out


def by_row(loop: str, function: Callable[[Value], Value], input: Array) -> Array:
    """A new array from a loop over the rows along the last dimension."""
    out = np.empty_like(input)
    n = input.shape[-1]
    compiled(loop, function)(input.ctypes.data, out.ctypes.data, input.size // n, n)
    return out
