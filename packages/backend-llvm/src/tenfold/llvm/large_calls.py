"""Calls of large products: which are served, in which blocks, and by how many threads.

Where OpenBLAS was measured to be as fast or faster (Zen 3, AVX2), it stays: few rows or columns, many steps, little work in all.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from tenfold.cpu import blas
from tenfold.llvm import session as sessions
from tenfold.llvm.large_products import BLOCK_ROWS, UNROLLED, depth_of, products, tile_of
from tenfold.llvm.products import Tile
from tenfold.llvm.programs import Compiled
from tenfold.llvm.storage import FLOAT32, FLOAT64, Stored
from tenfold.settings.threads import get_num_threads, on_change

Array = np.ndarray[Any, Any]
Sizes = tuple[int, ...]

PRODUCTS = Compiled("large products", products, vectors=True)
BY_DTYPE = {stored.dtype: stored for stored in (FLOAT32, FLOAT64)}
ROWS, COLUMNS, WORK = 192, 64, 1 << 23  # the least of a, of b, and multiplications
MOST_STEPS = 800
LEAST = 1 << 13  # elements of the largest array, in any such product
WORTH_SHARING = 1 << 22  # multiplications from which a second thread takes part
ITEMS = 2  # of each thread, for which rows and columns are divided
FEWEST_ROWS, FEWEST_PANELS = 96, 6  # of an item: fewer would not be worth what is laid out for them


class Plan(NamedTuple):
    """What a product of arrays of these sizes and distances needs beside their addresses."""

    key: tuple[Any, ...]  # of the code
    address: int
    launch: Any
    allocate: Any  # the function that makes the result
    dtype: Any
    shape: tuple[int, ...]  # of the result
    items: int
    numbers: tuple[int, ...]


class Many(NamedTuple):
    """Several products at once: out[n] = sum over t of a[n, t] @ b[n, t]; distances in bytes."""

    images: int = 1  # of n; if a differs from one to the next, each is worked on by itself
    a_image: int = 0
    b_image: int = 0
    out_image: int = 0
    terms: int = 1  # of t, for each n, as long as there are any
    every: int = 1  # for all n together
    a_term: int = 0
    b_term: int = 0


ALONE = Many()
_PLANS: dict[Any, Plan | None] = {}  # None: left to BLAS
MOST_PLANS = 1 << 10
# The plans that native code finds by itself, an entry a row, as native/plans.ll reads them.
ENTRIES, DTYPE, DIMENSIONS, SIZES, STEPS, MATRIX, BIASED, KEY_WORDS = 512, 0, 1, 2, 6, 10, 14, 15
CODE, ITEMS_OF, CACHED, COUNT, NUMBERS, ENTRY_WORDS = 15, 16, 17, 18, 19, 64
MOST_DIMENSIONS = STEPS - SIZES
MULTIPLIER, LOW = 0x9E3779B97F4A7C15, 2**64 - 1
NATIVE = np.zeros((ENTRIES, ENTRY_WORDS), np.int64)


def forget(_: int = 0) -> None:
    """Plan anew: for another number of threads."""
    _PLANS.clear()
    NATIVE[:, DTYPE] = 0


on_change(forget)


def product(a: Array, b: Array, start: Array | None = None) -> Any:
    """start + a @ b for the rows of a and a matrix, `start` a row or a matrix in one piece; NotImplemented: left to BLAS."""
    return _product(a, b, b.shape, b.strides, start)


def _product(a: Array, b: Array, b_shape: tuple[int, ...], b_strides: tuple[int, ...], start: Array | None) -> Any:
    """The same for a view of b's memory: sizes that were seen before are not planned again."""
    row = 0 if start is None or start.ndim == 1 else start.strides[0]
    sizes = a.dtype, a.shape, a.strides, b.dtype, b_shape, b_strides, row
    plan: Any = _PLANS.get(sizes, sizes)
    if plan is sizes:
        if len(_PLANS) >= MOST_PLANS:
            _PLANS.clear()
        plan = _PLANS[sizes] = _plan(*sizes)
    if plan is None and a.ndim > 2 and not a.flags.c_contiguous:
        found = _product(a.reshape(-1, a.shape[-1]), b, b_shape, b_strides, start)
        return found if found is NotImplemented else found.reshape(*a.shape[:-1], b_shape[1])
    if plan is None or type(a) is not np.ndarray or type(b) is not np.ndarray or not (a.flags.aligned and b.flags.aligned):
        return NotImplemented
    return run(plan, a, b, start)


def _enter(a: Array, b_shape: tuple[int, ...], b_strides: tuple[int, ...], biased: bool) -> None:
    """Let native code find a plan: it asks for those that it does not know."""
    plan = _PLANS.get((a.dtype, a.shape, a.strides, a.dtype, b_shape, b_strides, 0))
    if plan is None or a.ndim > MOST_DIMENSIONS or NUMBERS + len(plan.numbers) > ENTRY_WORDS or a.dtype is not plan.dtype:
        return  # a dtype that is no more could have had the place of another
    entry = [0] * ENTRY_WORDS
    entry[DTYPE], entry[DIMENSIONS], entry[BIASED] = id(a.dtype), a.ndim, biased
    entry[SIZES : SIZES + a.ndim], entry[STEPS : STEPS + a.ndim] = a.shape, a.strides
    entry[MATRIX:BIASED] = *b_shape, *b_strides
    entry[CODE], entry[ITEMS_OF], entry[COUNT] = plan.address, plan.items, len(plan.numbers)
    entry[CACHED] = plan.allocate is not np.empty
    entry[NUMBERS : NUMBERS + len(plan.numbers)] = plan.numbers
    mixed = 0
    for word in entry[:KEY_WORDS]:
        mixed = (mixed ^ word & LOW) * MULTIPLIER & LOW
    place = mixed >> 55
    NATIVE[place ^ 1 if NATIVE[place, DTYPE] and not NATIVE[place ^ 1, DTYPE] else place] = entry


def large_gated(beneath: Any, arguments: int, turned: bool) -> Any:
    """The kernel of products that were planned before, around the one that plans; `turned`: the second matrix is."""
    session = sessions.session()
    if session is None:
        return beneath
    words = np.array([id(beneath), arguments, turned, NATIVE.ctypes.data], np.int64)
    session.native.keep.append((words, beneath))
    return session.native.builtin("large_gate", words)


def run(plan: Plan, a: Array, b: Array, start: Array | None = None) -> Array:
    """What was planned, of arrays of the planned sizes."""
    key, address, launch, allocate, dtype, shape, items, numbers = plan
    if sessions.USED:
        sessions.use(PRODUCTS, *key)
    out: Array = allocate(shape, dtype)
    launch(address, items, 1, a, b, 0 if start is None else start, out, *numbers)
    return out


def _plan(
    dtype: Any, a_shape: tuple[int, ...], a_strides: tuple[int, ...], b_dtype: Any, b_shape: tuple[int, ...],
    b_strides: tuple[int, ...], start_row: int,
) -> Plan | None:  # fmt: skip
    """The plan of a product that is served."""
    stored = BY_DTYPE.get(dtype)
    (k, n), m = b_shape, prod(a_shape[:-1])
    if stored is None or b_dtype is not dtype or m < ROWS or n < COLUMNS or k > MOST_STEPS or m * n * k < WORK:
        return None
    return plan_of(stored, (m, n, k), _joined(a_shape, a_strides), b_strides, (start_row, 1), (*a_shape[:-1], n))


def plan_of(
    stored: Stored, sizes: Sizes, a_strides: Sizes, b_strides: Sizes, start: Sizes, shape: Sizes,
    many: Many = ALONE,
) -> Plan | None:  # fmt: skip
    """The plan of a product of `sizes` rows, columns and depth, if the matrices' layouts are served.

    `start`: its bytes from row to row, and whether its columns are all there.
    """
    m, n, k = sizes
    a_turned, across = _layout(a_strides, stored)
    b_turned, down = _layout(b_strides, stored)
    if a_turned is None or b_turned is None:
        return None
    tile = tile_of(stored)
    count = -(-n // tile.width)
    threads = get_num_threads() if m * n * k * max(many.images, many.every) >= WORTH_SHARING else 1
    block, span, group = _divided(m, count, many, tile, threads)
    spans, groups = -(-count // span), -(-many.images // group)
    depths = -(-k // depth_of(stored))
    step = -(-k // (depths * UNROLLED)) * UNROLLED
    layout, counts = (int(a_turned), int(b_turned), across, down, *start), (m, n, k, block, span * tile.width, spans, step)
    numbers = *layout, *counts, many.images, group, groups, *many[1:]
    key, session = (stored,), sessions.session()
    address = PRODUCTS.address(*key)
    if session is None or not address:
        return None
    allocate = session.memory.allocator(prod(shape) * stored.size)
    return Plan(key, address, session.launch, allocate, stored.dtype, shape, -(-m // block) * groups * spans, numbers)


def _joined(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, int]:
    """The distances of the rows and columns of all dimensions but the last as one; 0 where the rows are not at one distance."""
    for size, outer, inner in zip(shape[1:-1], strides, strides[1:]):
        if outer != size * inner:
            return 0, 0
    return strides[-2], strides[-1]


def _layout(strides: tuple[int, ...], stored: Stored) -> tuple[bool | None, int]:
    """Whether the columns are in one piece (None: neither they nor the rows are), and the bytes between columns, or rows."""
    rows, columns = strides
    if columns == stored.size:
        return False, rows
    if rows == stored.size:
        return True, columns
    return None, 0


def _divided(rows: int, count: int, many: Many, tile: Tile, threads: int) -> tuple[int, int, int]:
    """Rows of a block, panels of a span, images of a group: enough items, none too small, and as little as can be laid out.

    Every span and group lays out the rows again, every block the columns.
    """
    least, items = -(-rows // BLOCK_ROWS), ITEMS * threads if threads > 1 else 1
    groups = many.images if many.a_image else min(many.images, -(-items // least))
    blocks, spans, items = least, 1, -(-items // groups)
    if items > 1:
        most = max(least, rows // FEWEST_ROWS), max(1, count // FEWEST_PANELS)
        pairs = [(blocks, min(most[1], -(-items // blocks))) for blocks in range(least, min(most[0], 64) + 1)]
        enough = min(items, max(b * s for b, s in pairs))
        blocks, spans = min((p for p in pairs if p[0] * p[1] >= enough), key=lambda p: p[1] * rows + p[0] * count * tile.width)
    even = -(-rows // blocks)
    return -(-even // tile.rows) * tile.rows, -(-count // spans), -(-many.images // groups)


def dot(a: Array, b: Array) -> Any:
    """a @ b by whoever is faster."""
    found = product(a, b)
    return blas.dot(a, b) if found is NotImplemented else found


def affine(rows: Array, weight: Array, bias: Array | None) -> Array:
    """rows @ weight.T + bias by whoever is faster."""
    found: Any = product(rows, weight.T, bias)
    if found is NotImplemented:
        found = blas.dot(rows, weight.T)
        if bias is not None:
            found += bias
    made: Array = found
    return made


def is_affine(input: Any, weight: Any, bias: Any) -> bool:
    """Whether these are rows, a matrix and perhaps a row in one piece, which fit."""
    if input.ndim < 2 or weight.ndim != 2 or input.shape[-1] != weight.shape[1]:
        return False
    return bias is None or (bias.dtype is input.dtype and bias.shape == weight.shape[:1] and bias.flags.carray)


def is_sum(input: Any, mat1: Any, mat2: Any, beta: Any, alpha: Any) -> bool:
    """Whether a product of matrices is added, as it is, to a row or a matrix in one piece."""
    if mat1.ndim != 2 or mat2.ndim != 2 or mat1.shape[1] != mat2.shape[0] or beta != 1 or alpha != 1:
        return False
    whole = mat1.shape[0], mat2.shape[1]
    return input.dtype is mat1.dtype and input.shape in (whole, whole[1:]) and input.flags.carray


def matmul(input: Any, other: Any) -> Any:
    """Two matrices, or a batch of rows with one matrix."""
    if input.ndim < 2 or other.ndim != 2 or input.shape[-1] != other.shape[0]:
        return NotImplemented
    found = product(input, other)
    _enter(input, other.shape, other.strides, False)
    return found


def mm(input: Any, mat2: Any) -> Any:
    return matmul(input, mat2) if input.ndim == 2 else NotImplemented


def linear(input: Any, weight: Any, bias: Any) -> Any:
    """input @ weight.T + bias."""
    if not is_affine(input, weight, bias):
        return NotImplemented
    shape, strides = weight.shape[::-1], weight.strides[::-1]
    found = _product(input, weight, shape, strides, bias)
    _enter(input, shape, strides, bias is not None)
    return found


def addmm(input: Any, mat1: Any, mat2: Any, beta: Any, alpha: Any) -> Any:
    """input + mat1 @ mat2, for a row or a matrix in one piece."""
    return product(mat1, mat2, input) if is_sum(input, mat1, mat2, beta, alpha) else NotImplemented
