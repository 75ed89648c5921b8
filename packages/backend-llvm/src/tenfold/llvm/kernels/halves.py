"""Half precision computed in float32, rounded once, with compiled conversions: NumPy's take as long as what is computed."""

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
_DTYPES = {stored.dtype for stored in HALVES}
LEAST = 1 << 10  # elements of the largest array, below which NumPy converts in less time


def _converted(source: Stored, target: Stored) -> str:
    """The same numbers in another dtype. Context: result, argument."""
    return Elementwise(load(0, "float"), target, (source,)).text(None)


CONVERTED = Compiled("half precision", _converted)


def converted(x: Array, target: Stored) -> Array:
    """The array in another dtype, its dimensions in the order that they have in memory."""
    source = BY_DTYPE.get(x.dtype)
    if x.ndim > 1 and not x.flags.c_contiguous:
        order = sorted(range(x.ndim), key=lambda d: -x.strides[d])
        turned = x.transpose(order)
        if turned.flags.c_contiguous:
            return converted(turned, target).transpose(sorted(range(x.ndim), key=order.__getitem__))
    if source is not None and source.computed == target.computed == "float" and x.flags.carray:
        out = empty(x.shape, target)
        if CONVERTED.run((source, target), x.size, GRAIN_ELEMENTS, out, x):
            return out
    with np.errstate(over="ignore"):  # what is too large becomes infinite
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


def in_float32(serve: Callable[..., Any], rounded: int = 1) -> Callable[..., Any]:
    """A kernel that computes calls on half precision in float32; the first results are rounded, the others stay."""

    def wide(*arguments: Any) -> Any:
        first = arguments[0]
        if type(first) is not np.ndarray or first.itemsize != FLOAT16.size or first.dtype not in _DTYPES:
            return serve(*arguments)
        dtype = first.dtype
        given = [converted(a, FLOAT32) if isinstance(a, np.ndarray) and a.dtype in _DTYPES else a for a in arguments]
        made = serve(*given)
        if made is NotImplemented:
            return made
        if not isinstance(made, tuple):
            return converted(made, BY_DTYPE[dtype])
        return (*(converted(a, BY_DTYPE[dtype]) for a in made[:rounded]), *made[rounded:])

    return wide
