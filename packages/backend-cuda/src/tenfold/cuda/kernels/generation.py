"""Makes the Triton kernel of a formula for given operands: where each is read from, and how it is widened.

A kernel is one pass over the elements of the result. An operand is read
    "linear"   at the element's own position (contiguous, in the order of the result),
    "point"    at its only element,
    "strided"  at the sum of index times stride (transposed, sliced), the dimensions having been merged,
    "unit"     so, too, neighbours along the last dimension being neighbours in memory: 16 bytes are read at a time,
    "even"     so, too, all along the last dimension being one element (broadcast),
    "across"   so, too, neighbours along the other dimension of a tile being neighbours in memory,
    "number"   not at all: it is an argument.
Where an operand's neighbours are neighbours along another dimension than the result's, as in a transposed copy, a program has a
tile of both dimensions: both sides are read and written in whole lines, and the compiler exchanges them in shared memory.
"""

from __future__ import annotations

import importlib
import linecache
from dataclasses import dataclass
from typing import Any

from tenfold.cuda.kernels.formulas import FORMULAS, OF_ROUNDED_NUMBERS
from tenfold.cuda.kernels.formulas_special import LONG, MODULES

HALVES = ("float16", "bfloat16")
BLOCK = 1024  # elements of a program, but of a tile
APART = ("strided", "unit", "even", "across")  # what is read by strides
# Triton's names of the element types.
TRITON_TYPES = {
    "bool": "i1", "uint8": "u8", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint16": "u16",
    "uint32": "u32", "uint64": "u64", "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Generated:
    """The identity of a generated kernel: equal ones have the same text."""

    formula: str
    kind: str  # the NumPy kind of dtype that the formula is for
    reads: tuple[str, ...]  # of each operand, and first of the result
    widening: tuple[str, ...]  # of each operand: "", "half" or "bool"; of another dtype than others "single", "double", "rounded"
    ndim: int  # of what is strided
    wide: bool  # whether positions need 64 bits
    tile: tuple[int, int, int] = (0, 0, 0)  # (the other dimension of a tile, indices along it, along the last one); 0: no tile

    @property
    def name(self) -> str:
        reads = "".join(read[0] for read in self.reads)
        widening = "".join(w[:1] or "_" for w in self.widening)
        tile = "x".join(map(str, self.tile)) if self.tile[1] else ""
        return f"{self.formula}_{self.kind}_{reads}{self.ndim}{widening}{'w' if self.wide else ''}{tile}"

    @property
    def letters(self) -> str:
        return FORMULAS[self.formula].operands

    def arguments(self) -> list[str]:
        """The parameters' names, in the order in which a launch passes them."""
        names = ["out_ptr"]
        names += [letter if read == "number" else f"{letter}_ptr" for letter, read in zip(self.letters, self.reads[1:])]
        names.append("count")
        names += [f"size{d}" for d in range(self.ndim)]
        for letter, read in zip(("out", *self.letters), self.reads):
            names += [f"{letter}_stride{d}" for d in self.steps(read)]
        return names

    def steps(self, read: str) -> list[int]:
        """The dimensions along which an operand's stride is an argument."""
        known = {"strided": -1, "unit": self.ndim - 1, "even": self.ndim - 1, "across": self.tile[0]}
        return [d for d in range(self.ndim) if d != known[read]] if read in APART else []

    def constants(self) -> dict[str, int]:
        """What is fixed when the kernel is compiled."""
        return {"BLOCK": BLOCK}

    @property
    def warps(self) -> int:
        """Groups of 32 threads in a program: more where the functions called need the registers of more elements."""
        return 16 if self.formula in LONG else 8 if self.programs() or self.tile[1] * self.tile[2] > 2048 else 4

    def source(self) -> str:
        """The kernel's text."""
        integer = "tl.int64" if self.wide else "tl.int32"
        lines = [
            f"def {self.name}({', '.join(self.arguments())}, BLOCK: tl.constexpr):",
        ]
        if self.tile[1]:
            lines += self._tile_lines(integer)
        else:
            lines += [f"    i = tl.program_id(0).to({integer}) * BLOCK + tl.arange(0, BLOCK)", "    mask = i < count"]
            lines += self._index_lines() if self.ndim else []
        programs = bool(self.programs())
        for letter, read, widening in zip(self.letters, self.reads[1:], self.widening):
            lines += _read_lines(letter, read, widening, self._place(letter, read), programs)
        half = next((letter for letter, widening in zip(self.letters, self.widening) if widening == "half"), None)
        for letter, widening in zip(self.letters, self.widening):  # another dtype beside half precision
            if widening == "rounded":
                lines.append(f"    {letter} = {letter}.to({half}_ptr.dtype.element_ty).to(tl.float32)")
        if half is not None and self.formula in OF_ROUNDED_NUMBERS:
            lines += [
                f"    {letter} = {letter}.to({half}_ptr.dtype.element_ty).to(tl.float32)"
                for letter, read in zip(self.letters, self.reads[1:])
                if read == "number" and letter not in "ab"
            ]
        if self.kind in "iu":  # a whole number meets an array in the array's dtype, whose arithmetic wraps around
            like = next(letter for letter, read in zip(self.letters, self.reads[1:]) if read != "number" and letter not in "cab")
            for letter, read in zip(self.letters, self.reads[1:]):
                lines += (
                    [f"    {letter} = {letter}.to({like}_ptr.dtype.element_ty)"]
                    if read == "number" and letter not in "ab"
                    else []
                )
        return "\n".join([*lines, *self.results()]) + "\n"

    def results(self) -> list[str]:
        """The lines that compute and store what the formula says."""
        return self._stored(self.formula, "out_ptr")

    def _stored(self, formula: str, pointer: str) -> list[str]:
        text = FORMULAS[formula].text(self.kind)
        assert text is not None
        *statements, result = text.split("\n")
        place = self._place("out", self.reads[0])
        return [
            *[f"    {statement}" for statement in statements],
            f"    result = {result}",
            f"    tl.store({pointer} + {place}, result.to(out_ptr.dtype.element_ty), mask)",
        ]

    def programs(self) -> list[str]:
        """The modules whose functions the formula calls."""
        text = FORMULAS[self.formula].text(self.kind) or ""
        return [name for name in MODULES if f"{name}." in text]

    def helpers(self) -> dict[str, Any]:
        """What the text calls besides Triton's language and `math`."""
        return {}

    def _place(self, letter: str, read: str) -> str:
        """How far an element of an operand lies from the first one."""
        if read == "linear":
            return "i"
        last = self.ndim - 1
        end = {"unit": [f"k{last}"], "even": [f"k{last} * 0"], "across": [f"k{self.tile[0]}"]}  # of each element of a tile, too
        return " + ".join([*[f"k{d} * {letter}_stride{d}" for d in self.steps(read)], *end.get(read, [])])

    def _index_lines(self) -> list[str]:
        """The index along each dimension, the last one running fastest."""
        lines, rest = [], "i"
        for d in range(self.ndim - 1, 0, -1):
            lines += [f"    k{d} = {rest} % size{d}", f"    rest{d} = {rest} // size{d}"]
            rest = f"rest{d}"
        return [*lines, f"    k0 = {rest}"]

    def _tile_lines(self, integer: str) -> list[str]:
        """The index along each dimension, of a tile of two; `i` is the element's own position."""
        (other, down, across), last = self.tile, self.ndim - 1
        lines = [
            f"    tiles_across = (size{last} + {across - 1}) // {across}",
            f"    tiles_down = (size{other} + {down - 1}) // {down}",
            f"    k{last} = (tl.program_id(0) % tiles_across * {across} + tl.arange(0, {across})).to({integer})[None, :]",
            "    rest = tl.program_id(0) // tiles_across",
            f"    k{other} = (rest % tiles_down * {down} + tl.arange(0, {down})).to({integer})[:, None]",
            f"    mask = (k{other} < size{other}) & (k{last} < size{last})",
            "    rest = rest // tiles_down",
        ]
        for d in reversed([d for d in range(last) if d != other]):
            lines += [f"    k{d} = (rest % size{d}).to({integer})", f"    rest = rest // size{d}"]
        place = "k0"
        for d in range(1, self.ndim):
            place = f"({place}) * size{d} + k{d}"
        return [*lines, f"    i = {place}"]

    def programs_of(self, sizes: tuple[int, ...], count: int) -> int:
        """How many programs the launch has for a result of these dimensions and so many elements."""
        other, down, across = self.tile
        if not down:
            return -(-count // BLOCK)
        rest = count // (sizes[other] * sizes[-1])
        return rest * -(-sizes[other] // down) * -(-sizes[-1] // across)

    def function(self, library: Any) -> Any:
        """The Python function, undecorated; `library` is what it calls `math`."""
        from triton import language as tl

        filename = f"<tenfold.cuda {self.name}>"
        text = self.source()
        linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)  # Triton reads a kernel's text
        namespace: dict[str, Any] = {"tl": tl, "math": library, "__name__": "tenfold.cuda.kernels.generated"}
        for name in self.programs():
            namespace[name] = importlib.import_module(f"tenfold.cuda.kernels.programs.special_{name}")
        namespace.update(self.helpers())
        exec(compile(text, filename, "exec"), namespace)  # noqa: S102 - the text above
        return namespace[self.name]


_SINGLE = dict.fromkeys(("half", "single", "rounded"), ".to(tl.float32)")
_WIDENED = {"bool": ".to(tl.int8)", **_SINGLE, "double": ".to(tl.float64)"}


def _read_lines(letter: str, read: str, widening: str, place: str, programs: bool) -> list[str]:
    """Programs loop until the last lane is done: they get blocks, and 0 where there is no element."""
    block = [f"    {letter} = tl.broadcast_to({letter}, (BLOCK,))"] if programs and read in ("number", "point") else []
    if read == "number":
        return block
    if read == "point":
        load = f"tl.load({letter}_ptr)"
    else:
        load = f"tl.load({letter}_ptr + {place}, mask{', 0' if programs else ''})"
    suffix = _WIDENED.get(widening, "")
    return [f"    {letter} = {load}{suffix}", *block]
