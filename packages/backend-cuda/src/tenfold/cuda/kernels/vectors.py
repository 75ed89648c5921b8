"""Vector products."""

from __future__ import annotations

from math import prod
from typing import Any

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.geometry import broadcast
from tenfold.cuda.kernels.handwritten import F64, FLOATS, Handwritten, contiguous, start
from tenfold.cuda.runtime import xp
from tenfold.dispatch.operators import op

BLOCK = 256  # vectors of a program


@kernel(op.linalg_cross, device="cuda", plays=True)
def linalg_cross(input: Any, other: Any, dim: int) -> Any:
    """In one launch, of real floating numbers."""
    n = input.ndim
    if n != other.ndim or not -n <= dim < n or input.dtype != other.dtype or input.dtype not in FLOATS:
        return NotImplemented
    d = dim % n
    if input.shape[d] != 3 or other.shape[d] != 3 or not input.size or not other.size:
        return NotImplemented
    try:
        shape = broadcast([input.shape, other.shape])
    except ValueError:  # the body has the words
        return NotImplemented
    now, count, inner = runtime.current(), prod(shape) // 3, prod(shape[d + 1 :])
    operands = [_walked(x if x.shape == shape else xp.broadcast_to(x, shape), d) for x in (input, other)]
    furthest = max(count * 3, *(runtime.reach(x) // x.dtype.itemsize for x, _ in operands))
    if furthest >= 2**31 - BLOCK:
        return NotImplemented
    out = now.empty(shape, input.dtype, now.index_of(input))
    fixed = (("DOUBLE", int(input.dtype == F64)), ("BLOCK", BLOCK))
    (x, of_x), (y, of_y) = operands
    given = (out, x, y, count, inner, *of_x, *of_y)
    start(Handwritten("cross_products", fixed, 4, by_address=True), (-(-count // BLOCK),), given, now.index_of(input))
    return out


def _walked(x: Any, dim: int) -> tuple[Any, tuple[int, ...]]:
    """(the array, its steps in elements over the dimensions before `dim`, over it, and behind it), copied if these are uneven."""
    steps = [_step(x.shape[part], x.strides[part]) for part in (slice(dim), slice(dim, dim + 1), slice(dim + 1, None))]
    if None in steps or any(step % x.dtype.itemsize for step in steps if step):
        return _walked(contiguous(x), dim)
    return x, tuple([step // x.dtype.itemsize for step in steps if step is not None])


def _step(shape: tuple[int, ...], strides: tuple[int, ...]) -> int | None:
    """From one element to the next over dimensions that lie as one does; None if they do not."""
    step, span = 0, None
    for n, s in zip(reversed(shape), reversed(strides)):
        if n == 1:
            continue
        if span is None:
            step = s
        elif s != span:
            return None
        span = s * n
    return step
