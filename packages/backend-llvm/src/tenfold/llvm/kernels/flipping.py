"""Dimensions turned round: large arrays by copies of rows read backwards, into memory that is used again."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold.llvm import session as sessions
from tenfold.llvm.kernels.attaching import ACCELERATED
from tenfold.llvm.products import HEAD
from tenfold.llvm.programs import GRAIN_ELEMENTS, Compiled
from tenfold.llvm.writer import Function

Array = np.ndarray[Any, Any]
ALL, BACKWARDS_ALL = slice(None), slice(None, None, -1)
LEAST = 1 << 12  # elements, below which NumPy's copy takes no longer


def backwards(bits: int) -> str:
    """Rows read from the end. Items are rows. Context: x, out; numbers of a row."""
    f = Function(HEAD)
    x, out, length = f.words(["*x", "*out", "length"])
    with f.loop("%lo", "%hi") as row:
        goal = f.mul(row, length)
        end = f.add(goal, f.sub(length, 1))
        with f.loop(0, length) as j:
            value = f.let(f"load i{bits}, ptr {f.at(x, f.sub(end, j), f'i{bits}')}")
            f.do(f"store i{bits} {value}, ptr {f.at(out, f.add(goal, j), f'i{bits}')}")
    return f.text()


BACKWARDS = Compiled("rows turned round", backwards)


def flip(input: Any, dims: Any) -> Any:
    """Arrays in one piece with dimensions turned round; NotImplemented where the kernel beneath has to see."""
    given = (dims,) if type(dims) is int else dims
    if type(input) is not np.ndarray or not input.flags.carray or type(given) not in (tuple, list) or not input.ndim:
        return NotImplemented
    picked = [ALL] * input.ndim
    for d in given:
        if type(d) is not int or not -input.ndim <= d < input.ndim or picked[d] is not ALL:
            return NotImplemented
        picked[d] = BACKWARDS_ALL
    if input.size < LEAST or input.itemsize not in (1, 2, 4, 8):
        return input[tuple(picked)].copy("C")
    turned = {d for d, part in enumerate(picked) if part is not ALL}
    session = sessions.session()
    assert session is not None
    made = session.memory.empty(input.shape, input.dtype)
    kept = next((d for d in reversed(range(input.ndim)) if d not in turned), -1) + 1  # from here on all are turned round
    rest = turned - set(range(kept, input.ndim))
    if kept == input.ndim or rest:
        np.copyto(made, input[tuple(picked)])
        return made
    length = prod(input.shape[kept:])
    rows = input.size // length
    done = BACKWARDS.run((8 * input.itemsize,), rows, max(1, GRAIN_ELEMENTS // length), input, made, length)
    return made if done else NotImplemented


def _wrapped(beneath: Any) -> Any:
    def turned_round(input: Any, dims: Any) -> Any:
        found = flip(input, dims)
        return beneath(input, dims) if found is NotImplemented else found

    return turned_round


ACCELERATED["flip"] = flip
kernel(op.flip, device="cpu", wrap=True, note="arrays in one piece")(_wrapped)
