"""Products of half precision: computed in float32, rounded once, with compiled conversions: NumPy's take as long as they do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold.llvm.expressions import load
from tenfold.llvm.gates import gated
from tenfold.llvm.loops import Elementwise
from tenfold.llvm.programs import GRAIN_ELEMENTS, Compiled, empty
from tenfold.llvm.storage import BFLOAT16, BY_DTYPE, FLOAT16, FLOAT32, Stored

Array = np.ndarray[Any, Any]
HALVES = (FLOAT16, BFLOAT16)
LEAST = 1 << 10  # elements of the largest array, below which NumPy converts in less time


def _converted(source: Stored, target: Stored) -> str:
    """The same numbers in another dtype. Context: result, argument."""
    return Elementwise(load(0, "float"), target, (source,)).text(None)


CONVERTED = Compiled("half precision", _converted)


def converted(x: Array, target: Stored) -> Array:
    """The array in another dtype."""
    source = BY_DTYPE.get(x.dtype)
    if x.ndim == 2 and x.flags.f_contiguous and not x.flags.c_contiguous:
        return converted(x.T, target).T
    if source is not None and source.computed == target.computed == "float" and x.flags.carray:
        out = empty(x.shape, target)
        if CONVERTED.run((source, target), x.size, GRAIN_ELEMENTS, out, x):
            return out
    return x.astype(target.dtype)


def of_halves(arguments: int, product: Callable[[], Any]) -> Callable[[Any], Any]:
    """What puts products of half precision before a kernel: they are made by the one that `product` gives."""

    def serve(input: Array, *others: Array | None) -> Any:
        arrays = [a for a in (input, *others) if a is not None]
        if any(type(a) is not np.ndarray or a.itemsize != 2 or a.dtype != input.dtype for a in arrays):
            return NotImplemented
        made = product()(*(None if a is None else converted(a, FLOAT32) for a in (input, *others)))
        return made if made is NotImplemented or made.dtype != np.float32 else converted(made, BY_DTYPE[input.dtype])

    return gated(serve, arguments, LEAST, HALVES)  # type: ignore[no-any-return]
