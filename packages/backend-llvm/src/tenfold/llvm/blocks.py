"""Products of blocks that lie in a cache, as an LLVM function that others call."""

from __future__ import annotations

from dataclasses import dataclass

from tenfold.llvm.products import Tile
from tenfold.llvm.writer import Function, Vectors

# Of a triangle, row r of whose matrix has its columns c with c + %first <= r, what the product leaves out.
RESULTS = "results"  # those outside of it, in whole tiles: the matrix is `out`
STEPS = "steps"  # those at which a row of `a` is zero: the matrix is `a`
TURNED = "turned"  # those at which a row of `a` is zero: `a` is the matrix transposed


@dataclass(frozen=True)
class Product:
    """out[i, j] (+)= sum over p of a[i, p] b[p, j], for j a whole number of tiles.

    `a_row`, `a_step`, `b_row`: bytes from a row of `a` to the next, from a column to the next, and from a row of `b`, where the
    code has them as constants, for which it needs no registers. `fresh`: `out` is written, not added to. `unrolled`: steps in a
    row, which long products gain by, and which take as much more compiling.
    """

    tile: Tile
    a_row: int = 0
    a_step: int = 0
    b_row: int = 0
    fresh: bool = False
    triangle: str = ""
    unrolled: int = 1

    @property
    def name(self) -> str:
        numbers = (self.tile.rows, self.tile.vectors, self.a_row, self.a_step, self.b_row, int(self.fresh), self.unrolled)
        return "_".join(("product", *map(str, numbers), self.triangle))

    def call(
        self, f: Function, out: tuple[str, str | int], a: tuple[str, str | int, str | int], b: tuple[str, str | int],
        sizes: tuple[str | int, str | int, str | int], first: str | int = 0,
    ) -> None:  # fmt: skip
        """Call it with each array and its distances, with m, n and k, and where a triangle begins."""
        (m, n, k), (start, a_row, a_step) = sizes, a
        f.do(
            f"call void @{self.name}(ptr {out[0]}, i64 {out[1]}, ptr {start}, i64 {a_row}, i64 {a_step}, ptr {b[0]}, i64 {b[1]}, "
            f"i64 {m}, i64 {n}, i64 {k}, i64 {first})"
        )

    def text(self) -> str:
        """The function."""
        tile = self.tile
        f = Function(
            f"internal void @{self.name}(ptr noalias %out, i64 %row, ptr noalias %a, i64 %a_row, i64 %a_step, ptr noalias %b, "
            "i64 %b_row, i64 %m, i64 %n, i64 %k, i64 %first)"
        )
        v = Vectors(f, tile.stored, tile.lanes)
        with f.loop(0, "%n", tile.width) as j:
            b, out = v.place("%b", j), v.place("%out", j)
            whole = f.mul(f.let(f"udiv i64 %m, {tile.rows}"), tile.rows)
            with f.loop(self._begin(f, j), whole, tile.rows) as i:
                self._tile(f, v, tile.rows, i, out, b)
            with f.loop(whole, f.sub("%m", 1), 2) as i:
                self._tile(f, v, 2, i, out, b)
            rest = f.add(whole, f.mul(f.let(f"udiv i64 {f.sub('%m', whole)}, 2"), 2))
            with f.loop(rest, "%m") as i:
                self._tile(f, v, 1, i, out, b)
        return f.text()

    def _begin(self, f: Function, j: str) -> str:
        """The first row of the first tile in some columns."""
        if self.triangle != RESULTS:
            return "0"
        rows = self.tile.rows
        return f.mul(f.let(f"udiv i64 {f.most(f.add(j, '%first'), 0)}, {rows}"), rows)

    def _steps(self, f: Function, i: str, rows: int) -> tuple[str, str]:
        """The first step of a tile and the end of its steps."""
        if self.triangle == STEPS:
            return "0", f.least("%k", f.sub(f.add(i, rows), "%first"))
        return f.most(f.add(i, "%first"), 0) if self.triangle == TURNED else "0", "%k"

    def _tile(self, f: Function, v: Vectors, rows: int, i: str, out: str, b: str) -> None:
        """The tile whose first row is number i."""
        lines = [f.at(out, f.mul(f.add(i, m), "%row")) for m in range(rows)]
        sums = [[f.variable(v.type) for _ in range(self.tile.vectors)] for _ in lines]
        for line, row in zip(lines, sums, strict=True):
            for k, place in enumerate(row):
                start = "zeroinitializer" if self.fresh else v.load(v.place(line, k * v.lanes))
                f.do(f"store {v.type} {start}, ptr {place}")
        begin, end = self._steps(f, i, rows)
        loops = [(begin, end, 1)]
        if self.unrolled > 1:
            middle = f.add(begin, f.let(f"and i64 {f.most(f.sub(end, begin), 0)}, {-self.unrolled}"))
            loops = [(begin, middle, self.unrolled), (middle, end, 1)]
        for start, stop, count in loops:
            with f.loop(start, stop, count) as p:
                a = f.at(f.at("%a", f.mul(i, self.a_row or "%a_row")), f.mul(p, self.a_step or "%a_step"))
                self._added(f, v, sums, a, f.at(b, f.mul(p, self.b_row or "%b_row")), count)
        for line, row in zip(lines, sums, strict=True):
            for k, place in enumerate(row):
                v.store(f.let(f"load {v.type}, ptr {place}"), v.place(line, k * v.lanes))

    def _added(self, f: Function, v: Vectors, sums: list[list[str]], a: str, b: str, count: int) -> None:
        """The products of some steps, the first of which begins at these places."""
        for u in range(count):
            line = f.at(b, f.mul(u, self.b_row or "%b_row"))
            columns = [v.load(v.place(line, k * v.lanes)) for k in range(self.tile.vectors)]
            for m, row in enumerate(sums):
                there = f.add(f.mul(m, self.a_row or "%a_row"), f.mul(u, self.a_step or "%a_step"))
                number = v.splat(v.load(f.at(a, there), v.element))
                for column, place in zip(columns, row, strict=True):
                    sum_ = v.fma(number, column, f.let(f"load {v.type}, ptr {place}"))
                    f.do(f"store {v.type} {sum_}, ptr {place}")
