"""Calls of products of bfloat16 that the processor's unit for them serves: which, in which blocks, by how many threads."""

from __future__ import annotations

from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

import numpy as np

from tenfold.llvm import session as sessions
from tenfold.llvm.large_calls import is_affine, is_sum
from tenfold.llvm.matrix_products import BLOCK_ROWS, DEPTH, SPAN, products
from tenfold.llvm.matrix_tiles import SIDE
from tenfold.llvm.matrix_unit import usable
from tenfold.llvm.programs import Compiled
from tenfold.llvm.storage import BFLOAT16
from tenfold.settings.threads import get_num_threads, on_change

Array = np.ndarray[Any, Any]
Sizes = tuple[int, ...]

UNIT = Compiled("products of the unit for bfloat16", products, vectors=True)
WORK = 1 << 13  # multiplications from which it takes less time than conversions and a product in float32
WORTH_SHARING = 1 << 24  # from which a second thread takes part
ITEMS = 2  # of each thread, for which columns are divided
MOST_PLANS = 1 << 10
SIZE = BFLOAT16.size


class Plan(NamedTuple):
    """What a product of arrays of these sizes and distances needs beside their addresses."""

    address: int
    items: int
    shape: Sizes  # of the result
    numbers: Sizes


_PLANS: dict[Any, Plan | None] = {}  # None: not as the arrays lie


def forget(_: int = 0) -> None:
    """Plan anew: for another number of threads."""
    _PLANS.clear()


on_change(forget)


def product(a: Array, b: Array, start: Array | None = None) -> Any:
    """start + a @ b for the rows of a and a matrix, or for as many matrices; `start` a row or a matrix, its rows in one piece."""
    if type(a) is not np.ndarray or type(b) is not np.ndarray or not (a.flags.aligned and b.flags.aligned):
        return NotImplemented
    row = 0 if start is None or start.ndim == 1 else start.strides[0]
    sizes = a.shape, a.strides, b.shape, b.strides, row
    plan: Any = _PLANS.get(sizes, sizes)
    if plan is sizes:
        if len(_PLANS) >= MOST_PLANS:
            _PLANS.clear()
        plan = _PLANS[sizes] = _plan(*sizes)
    if plan is None:
        piece = _pieces(a, b)
        return NotImplemented if piece is None else product(*piece, start)
    address, items, shape, numbers = plan
    session = sessions.session()
    if session is None or not address:
        return NotImplemented
    if sessions.USED:
        sessions.use(UNIT, usable())
    out: Array = session.memory.empty(shape, BFLOAT16.dtype)
    session.launch(address, items, 1, a, b, 0 if start is None else start, out, *numbers)
    return out


def _pieces(a: Array, b: Array) -> tuple[Array, Array] | None:
    """Copies of those arrays that do not lie as they have to; None where all do."""
    laid = [x if _lies(x.shape, x.strides, joined) else x.copy(order="C") for x, joined in ((a, b.ndim == 2), (b, False))]
    return None if laid[0] is a and laid[1] is b else (laid[0], laid[1])


def _lies(shape: Sizes, strides: Sizes, joined: bool) -> tuple[int, int, int] | None:
    """How matrices lie: 0 where rows are in one piece and 1 where columns are, the bytes from one of them to the next, and from
    a matrix to the next; None where they do not lie so. `joined`: the rows of all of them are one matrix's."""
    first = len(shape) - (1 if joined else 2)
    step = _step(shape[:first], strides)
    rows, row = (prod(shape[:-1]), step) if joined else (shape[-2], strides[-2])
    if step is None or row is None:
        return None
    apart = 0 if joined else step
    if strides[-1] == SIZE or shape[-1] == 1:
        return 0, row, apart
    return (1, strides[-1], apart) if row == SIZE or rows == 1 else None


def _step(shape: Sizes, strides: Sizes) -> int | None:
    """The bytes from one index of all dimensions to the next, if they are the same for all."""
    there = [(size, step) for size, step in zip(shape, strides) if size != 1]
    for (_, outer), (size, inner) in pairwise(there):
        if outer != size * inner:
            return None
    return there[-1][1] if there else 0


def _plan(a_shape: Sizes, a_strides: Sizes, b_shape: Sizes, b_strides: Sizes, start_row: int) -> Plan | None:
    """The plan of a product, if the arrays lie as they have to."""
    joined = len(b_shape) == 2
    a, b = _lies(a_shape, a_strides, joined), _lies(b_shape, b_strides, False)
    if a is None or b is None:
        return None
    k, n = b_shape[-2:]
    m, images = (prod(a_shape[:-1]), 1) if joined else (a_shape[-2], prod(a_shape[:-2]))
    numbers = a[0], b[0], a[1], b[1], start_row, m, n, k, DEPTH
    parts = divided(m, n, images, m * n * k * images, k <= DEPTH)
    return Plan(
        UNIT.address(usable()), images * parts[1] * parts[3], (*a_shape[:-1], n), (*numbers, *parts, a[2], b[2], m * n * SIZE)
    )


def divided(rows: int, columns: int, images: int, work: int, lone: bool) -> tuple[int, int, int, int]:
    """Rows of a block, blocks, columns of a span, spans; `lone`: no sums wait for others."""
    threads = get_num_threads() if work >= WORTH_SHARING else 1
    block = _even(rows, -(-rows // BLOCK_ROWS))
    blocks = -(-rows // block)
    spans = 1 if lone else -(-columns // SPAN)
    if threads > 1:
        spans = max(spans, min(-(-columns // SIDE), -(-ITEMS * threads // (images * blocks))))
    span = _even(columns, spans)
    return block, blocks, span, -(-columns // span)


def _even(count: int, parts: int) -> int:
    """How many a part has, in whole tiles."""
    return -(-count // (parts * SIDE)) * SIDE


def _worth(a: Any, b: Any, columns: int) -> bool:
    """Whether there is enough to multiply, and a unit that does it."""
    return a.dtype is b.dtype is BFLOAT16.dtype and a.size * columns >= WORK and usable() is not None


def matmul(input: Any, other: Any) -> Any:
    """Matrices, or batches of them: those of one batch with those of another, or with one matrix."""
    if input.ndim < 2 or other.ndim < 2 or input.shape[-1] != other.shape[-2] or not _worth(input, other, other.shape[-1]):
        return NotImplemented
    if other.ndim > 2 and input.shape[:-2] != other.shape[:-2]:
        try:
            batch = np.broadcast_shapes(input.shape[:-2], other.shape[:-2])
        except ValueError:
            return NotImplemented
        input, other = (np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (input, other))
    return product(input, other) if other.size else NotImplemented


def mm(input: Any, mat2: Any) -> Any:
    return matmul(input, mat2) if input.ndim == mat2.ndim == 2 else NotImplemented


def bmm(input: Any, mat2: Any) -> Any:
    same = input.ndim == mat2.ndim == 3 and input.shape[0] == mat2.shape[0]
    return matmul(input, mat2) if same else NotImplemented


def linear(input: Any, weight: Any, bias: Any) -> Any:
    """input @ weight.T + bias."""
    served = is_affine(input, weight, bias) and weight.size and _worth(input, weight, len(weight))
    return product(input, weight.T, bias) if served else NotImplemented


def addmm(input: Any, mat1: Any, mat2: Any, beta: Any, alpha: Any) -> Any:
    """input + mat1 @ mat2, for a row or a matrix in one piece."""
    served = is_sum(input, mat1, mat2, beta, alpha) and mat2.size and _worth(mat1, mat2, mat2.shape[1])
    return product(mat1, mat2, input) if served else NotImplemented
