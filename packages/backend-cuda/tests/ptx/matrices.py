"""Matrices that lie in the registers of 32 threads: mma.sync, ldmatrix, stmatrix and movmatrix.

Registers are arrays (groups of 32 threads, 32, registers) of uint32, of f64 uint64; matrices (groups, rows, columns). A product
sums in float32 (f64: float64; whole numbers: int32), as the hardware does but for its order and the bits that it drops.

Source: NVIDIA, "Parallel Thread Execution ISA", matrix fragments of mma, ldmatrix, stmatrix and movmatrix.
"""

from __future__ import annotations

import re
from functools import lru_cache

import ml_dtypes
import numpy as np

THREADS = 32
SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")
# Operands' types: how they lie in registers, and in what they are multiplied.
NARROW = {
    "f16": np.float16, "bf16": np.uint16, "tf32": np.uint32, "f64": np.float64, "s8": np.int8, "u8": np.uint8,
    "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "f32": np.float32, "s32": np.int32,
}  # fmt: skip
WIDE = {"f64": np.float64, "s8": np.int32, "u8": np.int32, "s32": np.int32}
TF32 = np.uint32(0xFFFFE000)  # what the units read of a float32


def size_of(kind):
    """Bytes of an element."""
    return np.dtype(NARROW[kind]).itemsize


def numbers(registers, kind):
    """The elements of registers, lowest bits first, in the type in which they are multiplied: (..., n) -> (..., elements)."""
    found = np.ascontiguousarray(registers).view(NARROW[kind])
    if kind == "bf16":
        return (found.astype(np.uint32) << 16).view(np.float32)
    if kind == "tf32":
        return (found & TF32).view(np.float32)
    return found.astype(WIDE.get(kind, np.float32), copy=False)


def registers(values, kind):
    """The registers that hold these elements: the inverse of `numbers`, rounded to the nearest, halfway to the even one."""
    if kind == "bf16":
        narrow = np.ascontiguousarray(values, np.float32).astype(ml_dtypes.bfloat16)
    else:
        narrow = np.ascontiguousarray(values).astype(NARROW[kind])
    return narrow.view(np.uint64 if kind == "f64" else np.uint32)


def shape_of(opcode):
    """(M, N, K) of an instruction's name.

    >>> shape_of("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")
    (16, 8, 16)
    """
    found = SHAPE.search(opcode)
    return int(found[1]), int(found[2]), int(found[3])


# Where the elements of a thread belong: pairs of arrays (32, elements), rows and columns.


@lru_cache(maxsize=64)
def left(M, K, packed):
    """Of the left matrix, `packed` elements a register: registers go down 8 rows, then to the right."""
    thread, i = np.arange(THREADS)[:, None], np.arange(M * K // THREADS)[None, :]
    down = M // 8
    register = i // packed
    rows = thread // 4 + 8 * (register % down)
    return np.broadcast_arrays(rows, thread % 4 * packed + i % packed + 4 * packed * (register // down))


@lru_cache(maxsize=64)
def right(K, N, packed):
    """Of the right matrix of 8 columns."""
    thread, i = np.arange(THREADS)[:, None], np.arange(K * N // THREADS)[None, :]
    rows = thread % 4 * packed + i % packed + 4 * packed * (i // packed)
    return np.broadcast_arrays(rows, thread // 4)


@lru_cache(maxsize=64)
def result(M, N):
    """Of the matrix that is added to, and of the result: pairs of columns; rows 8 apart; then the next 8 columns."""
    thread, i = np.arange(THREADS)[:, None], np.arange(M * N // THREADS)[None, :]
    down = M // 8
    rows = thread // 4 + 8 * (i // 2 % down)
    return np.broadcast_arrays(rows, thread % 4 * 2 + i % 2 + 8 * (i // 2 // down))


def collected(values, places, shape):
    """The matrices of elements that lie in threads: (groups, 32, elements) -> (groups, *shape)."""
    found = np.empty((len(values), *shape), values.dtype)
    found[:, places[0], places[1]] = values
    return found


def spread(matrices, places):
    """The elements that each thread has of the matrices."""
    return matrices[:, places[0], places[1]]


def multiplied(a, b, c, saturates=False):
    """a @ b + c, without what NumPy says of infinities; whole numbers wrap, or stop at their ends."""
    with np.errstate(all="ignore"):
        if a.dtype != np.int32:
            return np.matmul(a, b) + c
        exact = np.matmul(a.astype(np.float64), b.astype(np.float64)).astype(np.int64) + c
        if saturates:
            exact = np.clip(exact, -(2**31), 2**31 - 1)
        return exact.astype(np.int32)


def mma(opcode, a, b, c):
    """mma.sync: the result's registers of (left, right, added) registers, each (groups, 32, registers).

    Raises: NotImplementedError for other layouts than row by column, and for shapes with threads of several matrices.
    """
    M, N, K = shape_of(opcode)
    parts = opcode.split(".")
    place = next(i for i, part in enumerate(parts) if SHAPE.fullmatch(part))
    *order, to, of_a, of_b, of_c = [p for p in parts[place + 1 :] if p not in ("satfinite", "and", "xor", "popc")]
    if order != ["row", "col"] or N != 8 or of_a not in NARROW or (M == 8 and of_a != "f64"):
        raise NotImplementedError(f"{opcode}: the emulator multiplies matrices in rows with ones in columns")
    packed = max(1, 4 // size_of(of_a))
    x = collected(numbers(a, of_a), left(M, K, packed), (M, K))
    y = collected(numbers(b, of_b), right(K, N, packed), (K, N))
    z = collected(numbers(c, of_c), result(M, N), (M, N))
    found = multiplied(x, y, z, "satfinite" in parts)
    return registers(spread(found, result(M, N)), to)


def loaded(rows, transposed=False):
    """ldmatrix: registers (groups, 32, matrices) of the rows (groups, matrices, 8, 16 bytes) of 8 x 8 matrices of 16 bits."""
    x = np.ascontiguousarray(rows).view(np.uint16)  # groups, matrices, 8, 8
    if transposed:
        x = x.swapaxes(-1, -2)
    pairs = np.ascontiguousarray(x).view(np.uint32)  # groups, matrices, 8, 4
    return pairs.reshape(*pairs.shape[:2], THREADS).swapaxes(1, 2)


def stored(held, transposed=False):
    """stmatrix: the rows (groups, matrices, 8, 16 bytes) that registers (groups, 32, matrices) become."""
    pairs = np.ascontiguousarray(held.swapaxes(1, 2)).reshape(len(held), -1, 8, 4)
    x = pairs.view(np.uint16)
    if transposed:
        x = np.ascontiguousarray(x.swapaxes(-1, -2))
    return x.view(np.uint8)


def moved(held):
    """movmatrix: the transpose of a matrix of 8 x 8 elements of 16 bits, in the registers (groups, 32)."""
    return loaded(stored(held[..., None]), transposed=True)[..., 0]
