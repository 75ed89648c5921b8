"""Recurrent layers over all steps in one call, as LLVM IR: the products with the state's weight and the gates between them.

A cell is data: what one element of a step's results is, in terms of elements of its arguments, by their roles (`Place` says
where each lies). Sequences do not meet, so that rows of the batch are shared out to threads and every thread walks over all
steps of its own; the weight, laid out in panels, is read by all. Source: Appleyard, Kocisky and Blunsom, "Optimizing
Performance of Recurrent Neural Networks on GPUs" (2016), for the weight that is laid out once for all steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tenfold.llvm.blocks import Product
from tenfold.llvm.expressions import Expr, load
from tenfold.llvm.loops import ATTRIBUTES, TAGS, with_loops
from tenfold.llvm.lowering import Lowering, indented
from tenfold.llvm.products import HEAD, Tile
from tenfold.llvm.storage import Stored
from tenfold.llvm.writer import Function, Vectors, registers

NUMBERS = ("steps", "hidden", "depth", "blocks", "wide", "share", "row", "offset")
TABLES = ("starts", "counts", "starts_before", "counts_before")
CELL = f"""
define void @cell({{}}, i64 %n) {ATTRIBUTES} {{{{
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
{{}}
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done, !llvm.loop !1
done:
  ret void
}}}}
"""
METADATA = """
!0 = distinct !{}
!1 = distinct !{!1, !2}
!2 = !{!"llvm.loop.parallel_accesses", !0}
"""


@dataclass(frozen=True)
class Place:
    """Where an argument's elements lie: `kind` says it, `parts` how many times the hidden size a row has.

    "steps": rows (sum of batch_sizes); "turned": those, but each step has its rows of one part, then those of the next;
    "state": rows (batch); "before": the step before's rows among all steps, or those of a first state; "sums" and "flow": rows
    (batch), padded to whole panels.
    """

    kind: str
    parts: int = 1


@dataclass(frozen=True, eq=False)  # each there once, compared by identity
class Cell:
    """A cell on its way forwards, where the product comes first and begins with the bias, or back, where it comes last.

    `formulas` gets the elements of the arguments by name and part, such as "x2", and returns those of the results.
    """

    name: str
    forwards: bool
    places: dict[str, Place]
    formulas: Callable[[Elements], dict[str, Expr]]

    @property
    def arrays(self) -> list[str]:
        """The arrays in the order of the context, after the sums."""
        return [name for role in self.places if role != "sums" for name in ((role, "first") if role == "before" else (role,))]


class Elements:
    """The elements of a cell's arguments, numbered as they are asked for."""

    def __init__(self, type: str) -> None:
        self.type = type
        self.roles: list[str] = []

    def __getitem__(self, role: str) -> Expr:
        if role not in self.roles:
            self.roles.append(role)
        return load(self.roles.index(role), self.type)


def tile_for(stored: Stored, rows: int) -> Tile:
    """The tile that leaves the fewest of its rows over, the highest of those."""
    choices = (12, 10, 8, 6) if registers().count == 32 else (6, 5, 4)
    return Tile(stored, min(choices, key=lambda n: -(-rows // n) * n), 2)


def recurrence(tile: Tile, cell: Cell) -> str:
    """The module, whose items are shares of the batch's rows.

    Context: TABLES (of each step in the order of calculation its first row and its number of rows; the same of the step that
    "before" means), panels of the weight, bias, sums, the cell's arrays; NUMBERS: `depth` and `blocks` are the panels' rows
    and number, `share` the rows of an item, `row` and `offset` say where a row of what is multiplied begins.
    """
    return _Writer(tile, cell).module()


class _Writer:
    def __init__(self, tile: Tile, cell: Cell) -> None:
        self.cell, self.tile, self.stored = cell, tile, tile.stored
        self.f = Function(HEAD)
        self.v = Vectors(self.f, tile.stored, tile.lanes)
        self.product = Product(tile, a_step=tile.stored.size, b_row=tile.width * tile.stored.size, unrolled=4)
        addresses = [*TABLES, "panels", "bias", "sums", *cell.arrays]
        found = self.f.words([*(f"*{name}" for name in addresses), *NUMBERS])
        self.at = dict(zip([*addresses, *NUMBERS], found, strict=True))
        elements = Elements(self.stored.computed)
        self.results = cell.formulas(elements)
        self.read = elements.roles

    def module(self) -> str:
        f, at = self.f, self.at
        with f.loop("%lo", "%hi") as item:
            first = f.mul(item, at["share"])
            with f.loop(0, at["steps"]) as step:
                start, active = f.whole(at["starts"], step), f.whole(at["counts"], step)
                count = f.least(f.sub(active, first), at["share"])
                with f.when(f.let(f"icmp sgt i64 {count}, 0")):  # of packed sequences, some have ended
                    self._step(step, start, active, first, count)
        return with_loops(f"{self.v.declarations()}\n{self.product.text()}\n{f.text()}", self._cell(), METADATA)

    def _step(self, step: str, start: str, active: str, first: str, count: str) -> None:
        if self.cell.forwards:
            self._begin(first, count)
            self._product("sums", first, "h", first, count)
        with self.f.loop(0, count) as i:
            self._row(step, start, active, self.f.add(first, i))
        if not self.cell.forwards:
            self._product("flow", first, "inner", self.f.add(start, first), count)

    def _begin(self, first: str, count: str) -> None:
        """The sums begin with the bias."""
        f, v, wide = self.f, self.v, self.at["wide"]
        with f.loop(0, count) as i:
            line = v.place(self.at["sums"], f.mul(f.add(first, i), wide))
            with f.loop(0, wide, v.lanes) as j:
                v.store(v.load(v.place(self.at["bias"], j)), v.place(line, j))

    def _product(self, out: str, to: str, a: str, source: str, count: str) -> None:
        """Add to rows of `out` rows of `a` times the weight."""
        f, v, at, width, size = self.f, self.v, self.at, self.tile.width, self.stored.size
        target = v.place(at[out], f.mul(to, at["wide"]))
        rows = v.place(at[a], f.add(f.mul(source, at["row"]), at["offset"]))
        with f.loop(0, at["blocks"]) as p:
            panel = v.place(at["panels"], f.mul(f.mul(p, at["depth"]), width))
            goal = v.place(target, f.mul(p, width)), f.mul(at["wide"], size)
            sizes = count, width, at["depth"]
            self.product.call(f, goal, (rows, f.mul(at["row"], size), size), (panel, width * size), sizes)

    def _row(self, step: str, start: str, active: str, row: str) -> None:
        """Call the cell on one row of a step."""
        places = [self._place(role, step, start, active, row) for role in (*self.read, *self.results)]
        self.f.do(f"call void @cell({', '.join(f'ptr {place}' for place in places)}, i64 {self.at['hidden']})")

    def _place(self, role: str, step: str, start: str, active: str, row: str) -> str:
        f, v, at = self.f, self.v, self.at
        name = role.rstrip("0123456789")
        part, place = role[len(name) :] or "0", self.cell.places[name]
        if place.kind in ("sums", "flow"):
            return v.place(at[name], f.add(f.mul(row, at["wide"]), f.mul(part, at["hidden"])))
        if place.kind == "before":
            began = f.let(f"icmp slt i64 {row}, {f.whole(at['counts_before'], step)}")
            array = f.let(f"select i1 {began}, ptr {at[name]}, ptr {at['first']}")
            skip = f.let(f"select i1 {began}, i64 {f.whole(at['starts_before'], step)}, i64 0")
            return v.place(array, f.mul(f.add(skip, row), at["hidden"]))
        line = row if place.kind == "state" else f.add(start, row)
        if place.kind == "turned":
            line = f.add(f.add(f.mul(start, place.parts), row), f.mul(active, part))
        else:
            line = f.add(f.mul(line, place.parts), part)
        return v.place(at[name], f.mul(line, at["hidden"]))

    def _cell(self) -> str:
        """The function that computes a row of the results; a result may be an argument, too."""
        stored, lines = self.stored, []
        for k in range(len(self.read)):
            lines.append(f"%p{k} = getelementptr {stored.memory}, ptr %a{k}, i64 %i")
            lines += stored.read(f"%p{k}", f"%l{k}", stored.size, TAGS)
        lowering = Lowering(lambda e: f"%l{e.value}" if e.op == "load" else None)
        names = [lowering.name(e) for e in self.results.values()]
        stores = []
        for k, name in enumerate(names):
            stores.append(f"%q{k} = getelementptr {stored.memory}, ptr %b{k}, i64 %i")
            stores += stored.write(name, f"%q{k}", stored.size, TAGS)
        arguments = ", ".join([*(f"ptr %a{k}" for k in range(len(self.read))), *(f"ptr %b{k}" for k in range(len(names)))])
        return CELL.format(arguments, indented([*lines, *lowering.lines, *stores]))
