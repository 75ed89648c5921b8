"""Numbers sent to places along a dimension, where they add up, multiply or give an extreme, as LLVM IR.

Arrays are seen as (outer, size, inner); items are outer parts and tiles of the inner numbers, so that no two threads write to one
place. What meets at a place is taken in the order in which it comes, half precision in float32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tenfold.llvm.products import HEAD
from tenfold.llvm.storage import BFLOAT16, FLOAT16, INT64, Stored
from tenfold.llvm.writer import Function

HALVES = (FLOAT16, BFLOAT16)
_NEUTRAL = {"sum": "0.0", "mean": "0.0", "prod": "1.0", "amax": "0xFFF0000000000000", "amin": "0x7FF0000000000000"}
_NEUTRAL_WHOLE = {"sum": "0", "prod": "1", "amax": str(-(2**63)), "amin": str(2**63 - 1)}
_COMBINED = {"sum": "add", "mean": "add", "prod": "mul"}
_BEYOND = {"amax": "gt", "amin": "lt"}


def read(f: Function, stored: Stored, array: str, index: str) -> str:
    """An element in the type that is computed in."""
    return _widened(f, stored, f.let(f"load {stored.memory}, ptr {f.at(array, index, stored.memory)}"))


def _widened(f: Function, stored: Stored, value: str) -> str:
    """Half precision as it lies in memory as a float; other numbers as they are."""
    if stored is FLOAT16:
        return f.let(f"fpext half {value} to float")
    if stored is BFLOAT16:
        wide = f.let(f"shl i32 {f.let(f'zext i16 {value} to i32')}, 16")
        return f.let(f"bitcast i32 {wide} to float")
    return value


def rounded(f: Function, stored: Stored, value: str) -> str:
    """A float as half precision has it in memory; other numbers as they are."""
    if stored is FLOAT16:
        return f.let(f"fptrunc float {value} to half")
    if stored is not BFLOAT16:
        return value
    bits = f.let(f"bitcast float {value} to i32")
    odd = f.let(f"and i32 {f.let(f'lshr i32 {bits}, 16')}, 1")
    up = f.let(f"add i32 {bits}, {f.let(f'add i32 {odd}, 32767')}")
    quiet = f.let(f"or i32 {bits}, 4194304")
    chosen = f.let(f"select i1 {f.let(f'fcmp uno float {value}, {value}')}, i32 {quiet}, i32 {up}")
    return f.let(f"trunc i32 {f.let(f'lshr i32 {chosen}, 16')} to i16")


def held(f: Function, stored: Stored, value: str) -> str:
    """A float rounded to half precision and back; other numbers as they are."""
    return _widened(f, stored, rounded(f, stored, value))


def write(f: Function, stored: Stored, value: str, array: str, index: str) -> None:
    """Store a value of the type that is computed in."""
    f.do(f"store {stored.memory} {rounded(f, stored, value)}, ptr {f.at(array, index, stored.memory)}")


def note(f: Function, variable: str, bits: str) -> None:
    """Set further bits in a variable."""
    known = f.let(f"load i64, ptr {variable}")
    f.do(f"store i64 {f.let(f'or i64 {known}, {bits}')}, ptr {variable}")


def _met(f: Function, type: str, kind: str, known: str, value: str) -> str:
    """What is at a place after a value came there."""
    if kind in _COMBINED:
        return f.let(f"{'' if type == 'i64' else 'f'}{_COMBINED[kind]} {type} {known}, {value}")
    if type == "i64":
        beyond = f.let(f"icmp s{_BEYOND[kind]} i64 {value}, {known}")
    else:  # nan is what remains
        further = f.let(f"fcmp o{_BEYOND[kind]} {type} {value}, {known}")
        beyond = f.let(f"or i1 {further}, {f.let(f'fcmp uno {type} {value}, {value}')}")
    return f.let(f"select i1 {beyond}, {type} {value}, {type} {known}")


@contextmanager
def _inner(f: Function, first: str, last: str, thin: bool) -> Iterator[str]:
    """The inner numbers of an item; where a place is one number, that."""
    if thin:
        yield "0"
    else:
        with f.loop(first, last) as i:
            yield i


def sent(stored: Stored, kind: str, own: bool, slices: bool, thin: bool) -> str:
    """What is at each place when all has been sent there; `own`: with what was there; `slices`: a place is that of a slice.

    A place beyond the dimension sets the flag, and nothing is sent in its item. `thin`: there is one inner number.

    Context: input, places, what is sent, result, sums (the result but for half precision), counts, flag; places of the dimension,
    how many are sent, inner numbers, those of a tile, tiles.
    """
    f = Function(HEAD)
    x, places, source, out, work, counts, flag, size, many, inner, tile, tiles = f.words(
        ["*x", "*places", "*source", "*out", "*work", "*counts", "*flag", "size", "many", "inner", "tile", "tiles"]
    )
    type = stored.computed
    with f.loop("%lo", "%hi") as item:
        outer, part = f.split(item, tiles)
        first = f.mul(part, tile)
        end = f.add(first, tile)
        last = f.let(f"select i1 {f.let(f'icmp slt i64 {end}, {inner}')}, i64 {end}, i64 {inner}")
        base, given = (f.mul(f.mul(outer, count), inner) for count in (size, many))

        def each_place() -> Iterator[str]:
            with f.loop(0, size) as j, _inner(f, first, last, thin) as i:
                yield f.add(f.add(base, f.mul(j, inner)), i)

        def each_sent() -> Iterator[tuple[str, str]]:
            with f.loop(0, many) as k:
                row = f.add(given, f.mul(k, inner))
                slice_at = f.mul(f.whole(places, k), inner) if slices else ""
                with _inner(f, first, last, thin) as i:
                    at = f.add(row, i)
                    yield at, f.add(f.add(base, slice_at or f.mul(f.whole(places, at), inner)), i)

        bad = f.variable("i64", "0")
        with f.loop(0, many) as k, _inner(f, first, last, thin or slices) as i:
            place = f.whole(places, k if slices else f.add(f.add(given, f.mul(k, inner)), i))
            beyond = f.let(f"zext i1 {f.let(f'icmp uge i64 {place}, {size}')} to i64")
            note(f, bad, beyond)
        with f.either(f.let(f"icmp ne i64 {f.let(f'load i64, ptr {bad}')}, 0")) as otherwise:
            f.do(f"store i64 1, ptr {flag}")
            otherwise()
            for at in each_place():
                f.do(f"store {type} {read(f, stored, x, at)}, ptr {f.at(work, at, type)}")
                if kind == "mean":
                    f.do(f"store i64 {int(own)}, ptr {f.at(counts, at, 'i64')}")
            if not own:
                for _, goal in each_sent():
                    f.do(f"store {type} {(_NEUTRAL_WHOLE if stored is INT64 else _NEUTRAL)[kind]}, ptr {f.at(work, goal, type)}")
            for at, goal in each_sent():
                there = f.at(work, goal, type)
                met = _met(f, type, kind, f.let(f"load {type}, ptr {there}"), read(f, stored, source, at))
                f.do(f"store {type} {met}, ptr {there}")
                if kind == "mean":
                    count = f.at(counts, goal, "i64")
                    f.do(f"store i64 {f.add(f.let(f'load i64, ptr {count}'), 1)}, ptr {count}")
            if stored in HALVES or kind == "mean":
                for at in each_place():
                    value = f.let(f"load {type}, ptr {f.at(work, at, type)}")
                    write(f, stored, _averaged(f, stored, value, counts, at) if kind == "mean" else value, out, at)
    return f.text()


def _averaged(f: Function, stored: Stored, total: str, counts: str, at: str) -> str:
    """A sum over its count, both as elements of the dtype."""
    count = f.whole(counts, at)
    some = f.let(f"select i1 {f.let(f'icmp sgt i64 {count}, 1')}, i64 {count}, i64 1")
    over = held(f, stored, f.let(f"sitofp i64 {some} to {stored.computed}"))
    return f.let(f"fdiv {stored.computed} {held(f, stored, total)}, {over}")


def added_halves(stored: Stored, thin: bool) -> str:
    """out[index[i]] += rows[i] for all i in their order, of half precision, rounded each time. Items are columns; one if `thin`.

    Context: rows, index, out; number of rows, columns.
    """
    f = Function(HEAD)
    rows, index, out, count, columns = f.words(["*rows", "*index", "*out", "count", "columns"])
    with f.loop(0, count) as i:
        source, goal = (f.at(a, f.mul(k, columns), stored.memory) for a, k in ((rows, i), (out, f.whole(index, i))))
        with _inner(f, "%lo", "%hi", thin) as j:
            total = f.let(f"fadd float {read(f, stored, goal, j)}, {read(f, stored, source, j)}")
            write(f, stored, total, goal, j)
    return f.text()


def flattened(dimensions: int) -> str:
    """Positions of rows, of which each has a place in so many dimensions; places below 0 count from the end.

    A place that is none sets the flag. Context: position, flag, places of each dimension; sizes.
    """
    f = Function(HEAD)
    out, flag, *places = f.words(["*out", "*flag", *["*places"] * dimensions])
    sizes = f.words(["size"] * dimensions, 2 + dimensions)
    bad = f.variable("i64", "0")
    with f.loop("%lo", "%hi") as i:
        total = "0"
        for given, size in zip(places, sizes, strict=True):
            place = f.whole(given, i)
            below = f.let(f"icmp slt i64 {place}, 0")
            inside = f.let(f"select i1 {below}, i64 {f.add(place, size)}, i64 {place}")
            beyond = f.let(f"zext i1 {f.let(f'icmp uge i64 {inside}, {size}')} to i64")
            note(f, bad, beyond)
            total = f.add(f.mul(total, size), inside)
        f.do(f"store i64 {total}, ptr {f.at(out, i, 'i64')}")
    with f.when(f.let(f"icmp ne i64 {f.let(f'load i64, ptr {bad}')}, 0")):
        f.do(f"store i64 1, ptr {flag}")
    return f.text()
