"""Products of small matrices, of any strides, in one native call: where a call of BLAS costs more than the product.

The second matrix is laid into a panel of whole vectors, unless it lies so already; tiles of results stay in registers, as in
blocks.py. A bias is what the sums begin with.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.llvm import session as sessions
from tenfold.llvm.blocks import Product
from tenfold.llvm.products import HEAD, Tile
from tenfold.llvm.programs import Compiled
from tenfold.llvm.storage import BY_DTYPE, FLOAT32, FLOAT64, Stored
from tenfold.llvm.writer import Function, Vectors, registers

PANEL = 1 << 12  # elements of the panel, and of the results that wait to be cut to their columns
MOST = 1 << 16  # multiplications up to which it is faster
# The words of a gate, as native/products.ll reads them.
BENEATH, COMPILE, ARGUMENTS, TURNED, ROOM, LIMIT, ROUND = range(7)
DTYPES, ADDRESSES, WORDS = 8, 16, 18


def _tile(stored: Stored) -> Tile:
    lanes = registers().lanes(stored)
    return Tile(stored, 8 if registers().count == 32 else 6, 2 if lanes > 2 else 4)


def _text(stored: Stored) -> str:
    """out = bias + a @ b, one product."""
    tile = _tile(stored)
    f = Function(HEAD)
    v = Vectors(f, stored, tile.lanes)
    size, lanes = stored.size, tile.lanes
    a, b, out, bias, a_row, a_step, b_row, b_step, m, n, k = f.words(["*a", "*b", "*out", "*bias", *["number"] * 7])
    f.variables += [
        f"%panel = alloca [{PANEL} x {stored.memory}], align 64",
        f"%wide = alloca [{PANEL} x {stored.memory}], align 64",
    ]
    units = f.let(f"udiv i64 {f.add(n, tile.width - 1)}, {tile.width}")
    width = f.mul(units, tile.width)
    whole = f.let(f"icmp eq i64 {width}, {n}")
    beside = f.let(f"icmp eq i64 {b_step}, {size}")
    as_it_is = f.let(f"and i1 {whole}, {beside}")
    panel, panel_row = f.variable("ptr", "%panel"), f.variable("i64", f.mul(width, size))
    with f.either(as_it_is) as otherwise:
        f.do(f"store ptr {b}, ptr {panel}")
        f.do(f"store i64 {b_row}, ptr {panel_row}")
        otherwise()
        _lay_out(f, v, b, b_row, b_step, n, k, width)
    lines = f.let(f"select i1 {whole}, ptr {out}, ptr %wide")
    biased = f.let(f"icmp ne ptr {bias}, null")
    with f.loop(0, m) as i:
        line = v.place(lines, f.mul(i, width))
        with f.loop(0, width, lanes) as j:
            v.store("zeroinitializer", v.place(line, j))
        with f.when(biased), f.loop(0, n) as j:
            f.do(f"store {v.element} {v.load(v.place(bias, j), v.element)}, ptr {v.place(line, j)}")
    from_panel = f.let(f"load ptr, ptr {panel}")
    row_bytes = f.let(f"load i64, ptr {panel_row}")
    product = Product(tile)
    row = f.mul(width, tile.stored.size)
    product.call(f, (lines, row), (a, a_row, a_step), (from_panel, row_bytes), (m, width, k))
    with f.when(f.let(f"xor i1 {whole}, true")), f.loop(0, m) as i:
        line, target = v.place("%wide", f.mul(i, width)), v.place(out, f.mul(i, n))
        with f.loop(0, n) as j:
            f.do(f"store {v.element} {v.load(v.place(line, j), v.element)}, ptr {v.place(target, j)}")
    return v.declarations() + product.text() + f.text()


def _lay_out(f: Function, v: Vectors, b: str, b_row: str, b_step: str, n: str, k: str, width: str) -> None:
    """b into the panel, with zeros behind its columns. Where its columns lie in one piece, squares are turned in registers."""
    lanes = v.lanes
    turns = f.let(f"icmp eq i64 {b_row}, {v.stored.size}")
    squares = f.variable("i64", "0")  # rows, then columns, that are done in squares
    square_columns = f.variable("i64", "0")
    with f.when(turns):
        f.do(f"store i64 {f.mul(f.let(f'udiv i64 {k}, {lanes}'), lanes)}, ptr {squares}")
        f.do(f"store i64 {f.mul(f.let(f'udiv i64 {n}, {lanes}'), lanes)}, ptr {square_columns}")
    rows, columns = f.let(f"load i64, ptr {squares}"), f.let(f"load i64, ptr {square_columns}")
    with f.loop(0, columns, lanes) as j, f.loop(0, rows, lanes) as p:
        start = f.at(f.at(b, f.mul(j, b_step)), f.mul(p, b_row))
        found = v.transposed([v.load(f.at(start, f.mul(i, b_step))) for i in range(lanes)])
        for i, line in enumerate(found):
            v.store(line, v.place("%panel", f.add(f.mul(f.add(p, i), width), j)))
    with f.loop(0, k) as p:
        line, source = v.place("%panel", f.mul(p, width)), f.at(b, f.mul(p, b_row))
        in_square = f.let(f"icmp slt i64 {p}, {rows}")
        first = f.let(f"select i1 {in_square}, i64 {columns}, i64 0")
        with f.loop(first, n) as j:
            f.do(f"store {v.element} {v.load(f.at(source, f.mul(j, b_step)), v.element)}, ptr {v.place(line, j)}")
        with f.loop(n, width) as j:
            f.do(f"store {v.element} 0.0, ptr {v.place(line, j)}")


LITTLE = Compiled("small products", _text, vectors=True)


def product_gated(beneath: Any, arguments: int, turned: bool) -> Any:
    """The kernel around the one beneath it: `turned` says that the second matrix comes transposed."""
    session = sessions.session()
    if session is None:
        return beneath
    words = np.zeros(WORDS, np.int64)
    session.native.keep.append((words, beneath, compile_for))
    words[[BENEATH, COMPILE, ARGUMENTS, TURNED]] = id(beneath), id(compile_for), arguments, turned
    words[[ROOM, LIMIT, ROUND]] = PANEL, MOST, _tile(FLOAT32).width  # no tile is wider
    for i, stored in enumerate((FLOAT32, FLOAT64)):
        words[DTYPES + i] = id(stored.dtype)
        LITTLE.enter((stored,), words, ADDRESSES + i)
    return session.native.builtin("product_gate", words)


def compile_for(a: Any) -> None:
    """Compile the product of this array's dtype."""
    LITTLE.address(BY_DTYPE[a.dtype])
