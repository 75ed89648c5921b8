"""Products of blocks that lie in a cache, as an LLVM function that others call."""

from __future__ import annotations

from tenfold.llvm.products import Tile
from tenfold.llvm.writer import Function, Vectors

PRODUCT = "product_{}x{}_{}"


def product(tile: Tile, fresh: bool) -> str:
    """out[i, j] (+)= sum over p of a[i, p] b[p, j], for j a whole number of tiles.

    Arguments: out, bytes between its rows; a, bytes between its rows and between its columns; b, bytes between its
    rows; m, n, k. `fresh`: `out` is written, not added to.
    """
    f = Function(
        f"internal void @{PRODUCT.format(tile.rows, tile.vectors, 'fresh' if fresh else 'more')}(ptr noalias %out, i64 %row, "
        "ptr noalias %a, i64 %a_row, i64 %a_step, ptr noalias %b, i64 %b_row, i64 %m, i64 %n, i64 %k)"
    )
    v = Vectors(f, tile.stored, tile.lanes)
    with f.loop(0, "%n", tile.width) as j:
        b, out = v.place("%b", j), v.place("%out", j)
        whole = f.mul(f.let(f"udiv i64 %m, {tile.rows}"), tile.rows)
        with f.loop(0, whole, tile.rows) as i:
            _tile(f, v, Tile(tile.stored, tile.rows, tile.vectors), i, out, b, fresh)
        pairs = f.sub("%m", 1)
        with f.loop(whole, pairs, 2) as i:
            _tile(f, v, Tile(tile.stored, 2, tile.vectors), i, out, b, fresh)
        rest = f.add(whole, f.mul(f.let(f"udiv i64 {f.sub('%m', whole)}, 2"), 2))
        with f.loop(rest, "%m") as i:
            _tile(f, v, Tile(tile.stored, 1, tile.vectors), i, out, b, fresh)
    return f.text()


def _tile(f: Function, v: Vectors, tile: Tile, i: str, out: str, b: str, fresh: bool) -> None:
    """The tile whose first row is number i."""
    rows = [f.at("%a", f.mul(f.add(i, m), "%a_row")) for m in range(tile.rows)]
    lines = [f.at(out, f.mul(f.add(i, m), "%row")) for m in range(tile.rows)]
    sums = [[f.variable(v.type) for _ in range(tile.vectors)] for _ in rows]
    for line, row in zip(lines, sums, strict=True):
        for k, place in enumerate(row):
            start = "zeroinitializer" if fresh else v.load(v.place(line, k * v.lanes))
            f.do(f"store {v.type} {start}, ptr {place}")
    with f.loop(0, "%k") as p:
        line, step = f.at(b, f.mul(p, "%b_row")), f.mul(p, "%a_step")
        columns = [v.load(v.place(line, k * v.lanes)) for k in range(tile.vectors)]
        for start, row in zip(rows, sums, strict=True):
            number = v.splat(v.load(f.at(start, step), v.element))
            for column, place in zip(columns, row, strict=True):
                sum_ = v.fma(number, column, f.let(f"load {v.type}, ptr {place}"))
                f.do(f"store {v.type} {sum_}, ptr {place}")
    for line, row in zip(lines, sums, strict=True):
        for k, place in enumerate(row):
            v.store(f.let(f"load {v.type}, ptr {place}"), v.place(line, k * v.lanes))
