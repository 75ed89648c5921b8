"""Compiles every elementwise kernel for given GPUs, on a machine without one: python -m tenfold.cuda.aot.

What compiles here loads there: Triton's own ptxas makes the machine code. The results also land in Triton's cache, so that a
machine that shares it (or a container built with it) starts without compiling.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.cuda.compilation import compile_for
from tenfold.cuda.kernels.elementwise import number_type
from tenfold.cuda.kernels.formulas import FORMULAS
from tenfold.cuda.kernels.generation import HALVES, TRITON_TYPES, Generated
from tenfold.types.dtypes import BY_NAME

CAPABILITIES = (80, 90)
DTYPES = ("float32", "float16", "bfloat16", "float64", "int64", "int32", "uint8", "bool")
# How the operands lie in the variants that are compiled: all contiguous, and the last one broadcast along a dimension.
LAYOUTS = ("linear", "strided")


@dataclass(frozen=True, slots=True)
class Variant:
    """A kernel with its arguments' types."""

    kernel: Generated
    signature: tuple[str, ...]

    def compile(self, capability: int) -> Any:
        """Triton's compiled kernel, its arrays aligned and its sizes multiples of 16."""
        divisible = [i for i, kind in enumerate(self.signature) if kind[0] == "*" or (kind[0] == "i" and self.kernel.ndim == 0)]
        return compile_for(capability, self.kernel, self.signature, divisible)


def variant(name: str, dtype_name: str, layout: str = "linear", number: bool = False) -> Variant | None:
    """A formula's kernel for operands of one dtype; None where it has no formula for it.

    `layout` is that of the last array; `number` puts a Python number in the second operand's place.

    >>> variant("mul", "float32").kernel.name
    'mul_f_lll0__'
    """
    dtype, formula = BY_NAME[dtype_name].numpy, FORMULAS[name]
    if formula.text(dtype.kind) is None or (formula.exact_types and dtype_name not in formula.exact_types):
        return None
    letters = formula.operands
    arrays = [letter not in "ab" and not (number and position == 1) for position, letter in enumerate(letters)]
    reads = ["linear", *["linear" if array else "number" for array in arrays]]
    ndim = 0
    if layout == "strided":
        ndim, last = 2, max(position for position, array in enumerate(arrays) if array)
        reads[last + 1] = "strided"
    result = np.dtype(np.bool_) if formula.result == "bool" else dtype
    types = ["*" + TRITON_TYPES[result.name]]
    for letter, array in zip(letters, arrays):
        types.append(("*i1" if letter == "c" else "*" + TRITON_TYPES[dtype_name]) if array else number_type(dtype))
    widening = tuple(_widening(dtype_name, letter) if array else "" for letter, array in zip(letters, arrays))
    kernel = Generated(name, dtype.kind, tuple(reads), widening, ndim, False)
    return Variant(kernel, (*types, *["i32"] * (len(kernel.arguments()) - len(types))))


def _widening(dtype_name: str, letter: str) -> str:
    return "bool" if letter == "c" or dtype_name == "bool" else "half" if dtype_name in HALVES else ""


def variants(names: Sequence[str] = (), dtypes: Sequence[str] = DTYPES) -> Iterator[Variant]:
    """Every kernel worth having ready: each formula, dtype and layout, and of two operands those with a number for the second."""
    for name, dtype_name, layout in itertools.product(names or FORMULAS, dtypes, LAYOUTS):
        for number in (False, True) if layout == "linear" and FORMULAS[name].operands == "xy" else (False,):
            found = variant(name, dtype_name, layout, number)
            if found is not None:
                yield found


def main(arguments: Sequence[str] | None = None) -> int:
    """Compile and count; the exit status is 1 if a kernel failed."""
    parser = argparse.ArgumentParser(prog="python -m tenfold.cuda.aot", description="Compile every elementwise kernel.")
    parser.add_argument("names", nargs="*", help="formulas (default: all)")
    parser.add_argument("--sm", type=int, nargs="+", default=CAPABILITIES, help="compute capabilities, such as 80 90")
    parser.add_argument("--dtypes", nargs="+", default=DTYPES, choices=DTYPES)
    options = parser.parse_args(arguments)
    failed, done, began = 0, 0, time.perf_counter()
    for capability, found in itertools.product(options.sm, list(variants(options.names, options.dtypes))):
        try:
            size = len(found.compile(capability).asm["cubin"])
        except Exception as error:  # noqa: BLE001 - a compiler raises anything; the others are to be tried too
            failed += 1
            print(f"sm_{capability} {found.kernel.name}: {type(error).__name__}: {str(error).splitlines()[0]}")
            continue
        done += 1
        if done % 100 == 0:
            print(f"{done} kernels, {time.perf_counter() - began:.0f} s; the last one has {size} bytes", flush=True)
    print(f"{done} kernels compiled, {failed} failed, {time.perf_counter() - began:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
