"""What a processor has for products of bfloat16, as LLVM IR: 32 x 32 sums in float32 of tiles that matrix_tiles.py lays out.

Intel's AMX (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, chapter 18) has eight tiles of 16 rows of 64
bytes. One instruction adds to a tile of 16 x 16 float32 the product of 16 x 32 numbers of a and 32 x 16 of b, whose rows come in
pairs: a tile of b has in row p, for each column, the numbers of the rows 2 p and 2 p + 1 side by side. Four tiles of results
are computed at once, of 32 rows and 32 columns, so that each tile that is read serves twice.

AVX512_BF16 (the same manual, volume 2, VDPBF16PS), which AMD's processors have since Zen 4, adds to a vector of 16 float32 the
products of 16 pairs. A row of a tile of b is such pairs; of a, one pair at a time is put beside all of them. The sums of 8 rows
and 32 columns stay in registers. Both count numbers below 2**-126 as 0.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass

from tenfold.llvm.compiler import features
from tenfold.llvm.matrix_tiles import PAIR, SIDE, TILE, WORDS
from tenfold.llvm.writer import Function

_ARCH_PRCTL, _REQUEST, _TILES = 158, 0x1023, 18  # Linux: arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA)
_HEAD = "internal void @multiplied(ptr %strip, i64 %steps, ptr %panel, ptr %sums, i64 %pitch, i1 %fresh, i64 %rows)"
_LANES, _ROWS = 16, 8  # of a vector of sums, and rows of such vectors that registers hold
_FLOATS = f"<{_LANES} x float>"


def _asked() -> bool:
    """Whether Linux lets this process use tiles."""
    return bool(ctypes.CDLL(None).syscall(_ARCH_PRCTL, _REQUEST, _TILES) == 0)


@dataclass(frozen=True)
class Unit:
    """Instructions that multiply bfloat16: what a processor has to have for them, and the IR around them."""

    name: str
    needs: frozenset[str]
    declared: str
    begin: Callable[[Function], None]
    end: Callable[[Function], None]
    multiplied: Callable[[], str]  # what `multiply` calls
    asked: Callable[[], bool] = lambda: True  # whether the system lets this process use them
    systems: tuple[str, ...] = ("linux", "darwin", "win32")

    def there(self) -> bool:
        """Whether the processor has them."""
        return sys.platform in self.systems and self.needs <= {*features().split(",")}


def there() -> bool:
    """Whether the processor has a unit for products of bfloat16."""
    return any(unit.there() for unit in UNITS)


@functools.cache
def usable() -> Unit | None:
    """The fastest that it has and the system lets this process use, which is asked once."""
    return next((unit for unit in UNITS if unit.there() and unit.asked()), None)


def multiply(
    f: Function, strip: str, steps: str | int, panel: str, sums: tuple[str, str | int], fresh: str, rows: str | int
) -> None:
    """Add to 32 rows of 32 sums, so many bytes apart, the products of a strip and a panel; or begin them with these. Of
    rows behind the first `rows` the sums may be anything."""
    where = f"ptr {strip}, i64 {steps}, ptr {panel}, ptr {sums[0]}, i64 {sums[1]}"
    f.do(f"call void @multiplied({where}, i1 {fresh}, i64 {rows})")


def _begin_tiles(f: Function) -> None:
    """Let there be eight tiles of 16 rows of 64 bytes."""
    f.variables.append("%shapes = alloca [8 x i64], align 64")
    # The palette; then bytes of a row, of eight tiles; then rows.
    for k, word in enumerate((1, 0, *[0x0040004000400040] * 2, 0, 0, 0x1010101010101010, 0)):
        f.do(f"store i64 {word}, ptr {f.at('%shapes', k, 'i64')}")
    f.do("call void @llvm.x86.ldtilecfg(ptr %shapes)")


def _end_tiles(f: Function) -> None:
    f.do("call void @llvm.x86.tilerelease()")


def _by_tiles() -> str:
    f = Function(_HEAD, "noinline nounwind")
    lower = f.at("%sums", f.mul("%pitch", 16))
    places = ["%sums", f.at("%sums", 64), lower, f.at(lower, 64)]
    with f.either("%fresh") as otherwise:
        for tile in range(4):
            f.do(f"call void @llvm.x86.tilezero(i8 {tile})")
        otherwise()
        for tile, place in enumerate(places):
            f.do(f"call void @llvm.x86.tileloadd64(i8 {tile}, ptr {place}, i64 %pitch)")
    with f.loop(0, "%steps") as step:
        rows, columns = (f.at(x, f.mul(step, PAIR)) for x in ("%strip", "%panel"))
        for tile, place in {4: rows, 6: columns, 5: f.at(rows, TILE), 7: f.at(columns, TILE)}.items():
            f.do(f"call void @llvm.x86.tileloadd64(i8 {tile}, ptr {place}, i64 64)")
        for tile in range(4):
            f.do(f"call void @llvm.x86.tdpbf16ps(i8 {tile}, i8 {4 + tile // 2}, i8 {6 + tile % 2})")
    for tile, place in enumerate(places):
        f.do(f"call void @llvm.x86.tilestored64(i8 {tile}, ptr {place}, i64 %pitch)")
    return f.text()


def _nothing(f: Function) -> None:
    """Vectors need no preparation."""


def _by_vectors() -> str:
    f = Function(_HEAD, "noinline nounwind")
    with f.loop(0, f.least("%rows", SIDE), _ROWS) as first:
        half, row = f.split(first, "16")
        a = f.at(f.at("%strip", f.mul(half, TILE)), f.mul(row, 64))
        lines = [f.at("%sums", f.mul(f.add(first, m), "%pitch")) for m in range(_ROWS)]
        places = [f.at(line, side) for line in lines for side in (0, 64)]
        sums = [f.variable(_FLOATS) for _ in places]
        with f.either("%fresh") as otherwise:
            for total in sums:
                f.do(f"store {_FLOATS} zeroinitializer, ptr {total}")
            otherwise()
            for total, place in zip(sums, places, strict=True):
                f.do(f"store {_FLOATS} {f.let(f'load {_FLOATS}, ptr {place}, align 64')}, ptr {total}")
        with f.loop(0, "%steps") as step:
            rows, columns = (f.at(x, f.mul(step, PAIR)) for x in (a, "%panel"))
            for p in range(16):
                _add_pairs(f, f.at(rows, 4 * p), f.at(columns, 64 * p), sums)
        for total, place in zip(sums, places, strict=True):
            f.do(f"store {_FLOATS} {f.let(f'load {_FLOATS}, ptr {total}')}, ptr {place}, align 64")
    return f.text()


def _add_pairs(f: Function, a: str, b: str, sums: list[str]) -> None:
    """Add the products of one pair of each row of a with those of 32 columns of b."""
    columns = [f.let(f"load {WORDS}, ptr {f.at(b, side)}, align 64") for side in (0, TILE)]
    for m in range(_ROWS):
        pair = f.let(f"load i32, ptr {f.at(a, 64 * m)}, align 4")
        first = f.let(f"insertelement {WORDS} poison, i32 {pair}, i64 0")
        every = _pairs(f, f.let(f"shufflevector {WORDS} {first}, {WORDS} poison, <{_LANES} x i32> zeroinitializer"))
        for total, column in zip(sums[2 * m : 2 * m + 2], columns, strict=True):
            given = f"{_FLOATS} {f.let(f'load {_FLOATS}, ptr {total}')}, {_PAIRS} {every}, {_PAIRS} {_pairs(f, column)}"
            f.do(f"store {_FLOATS} {f.let(f'call {_FLOATS} @{_DOT}({given})')}, ptr {total}")


def _pairs(f: Function, words: str) -> str:
    return f.let(f"bitcast {WORDS} {words} to {_PAIRS}")


_DOT, _PAIRS = "llvm.x86.avx512bf16.dpbf16ps.512", f"<{2 * _LANES} x bfloat>"
TILES = Unit(
    "AMX",
    frozenset(("+amx-tile", "+amx-bf16", "+avx512bw", "+avx512bf16")),
    """declare void @llvm.x86.ldtilecfg(ptr)
declare void @llvm.x86.tilerelease()
declare void @llvm.x86.tilezero(i8)
declare void @llvm.x86.tileloadd64(i8, ptr, i64)
declare void @llvm.x86.tilestored64(i8, ptr, i64)
declare void @llvm.x86.tdpbf16ps(i8, i8, i8)
""",
    _begin_tiles,
    _end_tiles,
    _by_tiles,
    _asked,
    ("linux",),
)
VECTORS = Unit(
    "AVX512_BF16",
    frozenset(("+avx512bw", "+avx512bf16")),
    f"declare {_FLOATS} @{_DOT}({_FLOATS}, {_PAIRS}, {_PAIRS})\n",
    _nothing,
    _nothing,
    _by_vectors,
)
UNITS = TILES, VECTORS
