"""Sums, products and extremes of all elements up to each, as LLVM IR.

Sums and products are kept in float64, those of whole numbers in int64, as PyTorch keeps them. Arrays are seen as (outer, length,
inner), of which the middle is gone through.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from tenfold.llvm.products import HEAD
from tenfold.llvm.storage import BFLOAT16
from tenfold.llvm.writer import Function

TILE = 512  # columns that are gone down together
LLVM = {"f": {2: "half", 4: "float", 8: "double"}, "i": {1: "i8", 2: "i16", 4: "i32", 8: "i64"}}
# An operation's instructions for floats and whole numbers, and what it begins with: -0.0 leaves the first sum as it is, -0.0 too.
OPERATIONS = {"sum": ("fadd", "add", -0.0, 0), "product": ("fmul", "mul", 1.0, 1)}


def memory(dtype: np.dtype[Any]) -> str:
    """How elements lie in memory."""
    return "i16" if dtype == BFLOAT16.dtype else LLVM["f" if dtype.kind == "f" else "i"][dtype.itemsize]


def wide(dtype: np.dtype[Any]) -> str:
    """The type in which sums and products are kept."""
    return "i64" if dtype.kind in "biu" else "double"


def _read(f: Function, dtype: np.dtype[Any], place: str, type: str) -> str:
    """The element at an address, in another type."""
    value = f.let(f"load {memory(dtype)}, ptr {place}")
    if dtype == BFLOAT16.dtype:  # the upper half of a float32
        upper = f.let(f"shl i32 {f.let(f'zext i16 {value} to i32')}, 16")
        value = f.let(f"bitcast i32 {upper} to float")
        return value if type == "float" else f.let(f"fpext float {value} to {type}")
    if memory(dtype) == type:
        return value
    how = "fpext" if dtype.kind == "f" else "sext" if dtype.kind == "i" else "zext"
    return f.let(f"{how} {memory(dtype)} {value} to {type}")


def _write(f: Function, dtype: np.dtype[Any], value: str, type: str, place: str) -> None:
    """A value rounded to the result's dtype; to half precision through float32, as in PyTorch."""
    if type == "double" and dtype.itemsize == 2:
        value, type = f.let(f"fptrunc double {value} to float"), "float"
    if dtype == BFLOAT16.dtype:
        pattern = f.let(f"bitcast float {value} to i32")
        odd = f.let(f"and i32 {f.let(f'lshr i32 {pattern}, 16')}, 1")
        up = f.let(f"add i32 {f.let(f'add i32 {pattern}, 32767')}, {odd}")
        is_nan = f.let(f"fcmp uno float {value}, {value}")
        chosen = f.let(f"select i1 {is_nan}, i32 {f.let(f'or i32 {pattern}, 4194304')}, i32 {up}")
        value = f.let(f"trunc i32 {f.let(f'lshr i32 {chosen}, 16')} to i16")
    elif dtype.kind == "f" and memory(dtype) != type:
        value = f.let(f"fptrunc {type} {value} to {memory(dtype)}")
    f.do(f"store {memory(dtype)} {value}, ptr {place}")


def _start(kind: str, type: str) -> str:
    floating, whole = OPERATIONS[kind][2:]
    return str(whole) if type == "i64" else f"0x{struct.unpack('<Q', struct.pack('<d', floating))[0]:016X}"


def running(dtype: np.dtype[Any], kind: str) -> str:
    """out[o, j, i] = x[o, 0, i] + ... + x[o, j, i], or the product. Items are outer and inner, the last fastest.

    Context: x, out; length, inner.
    """
    f = Function(HEAD)
    type, result = wide(dtype), np.dtype(np.int64) if dtype.kind in "biu" else dtype
    x, out, length, inner = f.words(["*x", "*out", "length", "inner"])
    with f.loop("%lo", "%hi") as item:
        outer, i = f.split(item, inner)
        start = f.add(f.mul(f.mul(outer, length), inner), i)
        so_far = f.variable(type, _start(kind, type))
        with f.loop(0, length) as j:
            place = f.add(start, f.mul(j, inner))
            value = _read(f, dtype, f.at(x, place, memory(dtype)), type)
            joined = f.let(f"{OPERATIONS[kind][type == 'i64']} {type} {f.let(f'load {type}, ptr {so_far}')}, {value}")
            f.do(f"store {type} {joined}, ptr {so_far}")
            _write(f, result, joined, type, f.at(out, place, memory(result)))
    return f.text()


def running_down(dtype: np.dtype[Any], kind: str) -> str:
    """The same for wide arrays: items are outer and tiles of columns, whose sums are kept side by side.

    Context: x, out; length, inner, tiles.
    """
    f = Function(HEAD)
    type, result = wide(dtype), np.dtype(np.int64) if dtype.kind in "biu" else dtype
    x, out, length, inner, tiles = f.words(["*x", "*out", "length", "inner", "tiles"])
    sums = f.variable(f"[{TILE} x {type}]")
    with f.loop("%lo", "%hi") as item:
        outer, tile = f.split(item, tiles)
        first = f.mul(tile, TILE)
        columns = f.least(f.sub(inner, first), TILE)
        with f.loop(0, columns) as i:
            f.do(f"store {type} {_start(kind, type)}, ptr {f.at(sums, i, type)}")
        with f.loop(0, length) as j:
            row = f.add(f.mul(f.add(f.mul(outer, length), j), inner), first)
            source, goal = f.at(x, row, memory(dtype)), f.at(out, row, memory(result))
            with f.loop(0, columns) as i:
                value, so_far = _read(f, dtype, f.at(source, i, memory(dtype)), type), f.at(sums, i, type)
                joined = f.let(f"{OPERATIONS[kind][type == 'i64']} {type} {f.let(f'load {type}, ptr {so_far}')}, {value}")
                f.do(f"store {type} {joined}, ptr {so_far}")
                _write(f, result, joined, type, f.at(goal, i, memory(result)))
    return f"declare i64 @llvm.smin.i64(i64, i64)\n{f.text()}"


def _bits(dtype: np.dtype[Any]) -> str:
    return f"i{8 * dtype.itemsize}"


def _ordered(dtype: np.dtype[Any]) -> str:
    """The type of the whole numbers in whose order the elements are: one step of a chain is two instructions."""
    return "i64" if dtype.kind in "biu" or dtype.itemsize == 8 else "i32"


def extremes(dtype: np.dtype[Any], kind: str) -> str:
    """The largest or smallest so far and the last position of it, from a NaN on that. Items are outer and inner, last fastest.

    Context: x, values, positions; length, inner.
    """
    f = Function(HEAD)
    x, values, positions, length, inner = f.words(["*x", "*values", "*positions", "length", "inner"])
    with f.loop("%lo", "%hi") as item:
        outer, i = f.split(item, inner)
        start = f.add(f.mul(f.mul(outer, length), inner), i)
        kept = tuple(f.variable(type, first) for type, first in zip(_kept(dtype), _firsts(dtype), strict=True))
        with f.loop(0, length) as j:
            place = f.add(start, f.mul(j, inner))
            _extreme(f, kind, dtype, x, j, kept, (values, positions), place)
    return f.text()


def extremes_down(dtype: np.dtype[Any], kind: str) -> str:
    """The same for wide arrays: items are outer and tiles of columns.

    Context: x, values, positions; length, inner, tiles.
    """
    f = Function(HEAD)
    x, values, positions, length, inner, tiles = f.words(["*x", "*values", "*positions", "length", "inner", "tiles"])
    kept = [f.variable(f"[{TILE} x {type}]") for type in _kept(dtype)]
    with f.loop("%lo", "%hi") as item:
        outer, tile = f.split(item, tiles)
        first = f.mul(tile, TILE)
        columns = f.least(f.sub(inner, first), TILE)
        top = f.add(f.mul(f.mul(outer, length), inner), first)
        with f.loop(0, columns) as i:
            for place, type, start in zip(kept, _kept(dtype), _firsts(dtype), strict=True):
                f.do(f"store {type} {start}, ptr {f.at(place, i, type)}")
        with f.loop(0, length) as j:
            row = f.add(top, f.mul(j, inner))
            with f.loop(0, columns) as i:
                here = tuple(f.at(place, i, type) for place, type in zip(kept, _kept(dtype), strict=True))
                _extreme(f, kind, dtype, x, j, here, (values, positions), f.add(row, i))
    return f"declare i64 @llvm.smin.i64(i64, i64)\n{f.text()}"


def _kept(dtype: np.dtype[Any]) -> tuple[str, str, str]:
    """What is kept of an extreme: its place in the order, its bits and its position."""
    return _ordered(dtype), _bits(dtype), "i64"


def _firsts(dtype: np.dtype[Any]) -> tuple[str, str, str]:
    return str(-(2 ** (int(_ordered(dtype)[1:]) - 1))), "0", "0"


def _extreme(
    f: Function, kind: str, dtype: np.dtype[Any], x: str, j: str, kept: tuple[str, ...], out: tuple[str, str], place: str
) -> None:
    """Keep and write the extreme of what was kept and an element with its position."""
    at = f.at(x, place, memory(dtype))
    new = _order(f, kind, dtype, at), f.let(f"load {_bits(dtype)}, ptr {at}"), j
    types = _kept(dtype)
    old = [f.let(f"load {type}, ptr {p}") for type, p in zip(types, kept, strict=True)]
    reached = f.let(f"icmp sge {types[0]} {new[0]}, {old[0]}")
    now = [f.let(f"select i1 {reached}, {type} {a}, {type} {b}") for type, a, b in zip(types, new, old, strict=True)]
    for type, value, p in zip(types, now, kept, strict=True):
        f.do(f"store {type} {value}, ptr {p}")
    f.do(f"store {types[1]} {now[1]}, ptr {f.at(out[0], place, types[1])}")
    f.do(f"store i64 {now[2]}, ptr {f.at(out[1], place, 'i64')}")


def _order(f: Function, kind: str, dtype: np.dtype[Any], at: str) -> str:
    """An element's place in the order as a whole number, those of NaN the greatest; -0.0 and 0.0 have the same."""
    if dtype.kind in "biu":
        value = _read(f, dtype, at, "i64")
        return value if kind == "largest" else f.let(f"xor i64 {value}, -1")
    whole = _ordered(dtype)
    type, top = ("double", 2**63 - 1) if whole == "i64" else ("float", 2**31 - 1)
    value = _read(f, dtype, at, type)
    if kind == "smallest":
        value = f.let(f"fneg {type} {value}")
    value = f.let(f"fadd {type} {value}, 0.0")  # of -0.0 it is 0.0
    pattern = f.let(f"bitcast {type} {value} to {whole}")
    turned = f.let(f"and {whole} {f.let(f'ashr {whole} {pattern}, {int(whole[1:]) - 1}')}, {top}")
    order = f.let(f"xor {whole} {pattern}, {turned}")
    is_nan = f.let(f"fcmp uno {type} {value}, {value}")
    return f.let(f"select i1 {is_nan}, {whole} {top}, {whole} {order}")
