"""Products of 128 threads, wgmma.mma_async: what its descriptors say of matrices in shared memory, and the product.

A matrix lies in units of 16 bytes. By rows of the sum (not transposed) a unit has elements along the sum, by columns along the
matrix's other dimension; 8 such lines are together, so many bytes apart as the pattern is wide, and the two offsets say how
far the next lines, and the next units beyond the pattern, are. The pattern exchanges units: it depends on the address alone.

Source: NVIDIA, "Parallel Thread Execution ISA", asynchronous warpgroup level matrix instructions: shared memory layouts and
matrix descriptors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ptx.matrices import THREADS, multiplied, numbers, registers, shape_of, size_of

UNIT, LINES = 16, 8
WARPS, ROWS = 4, 64
WIDTHS = np.array([UNIT, 128, 64, 32])  # bytes of a pattern by a descriptor's two highest bits
MIXED = np.array([0, 7, 3, 1])  # which of a unit's address bits 4 to 6 are exchanged, by bits 7 to 9
SUM_BYTES = 32  # of a matrix that an instruction multiplies


class Descriptor(NamedTuple):
    """Where a matrix lies in shared memory, for each group of 128 threads; all in bytes."""

    start: np.ndarray
    leading: np.ndarray
    stride: np.ndarray
    pattern: np.ndarray


def described(words):
    """What descriptors of 64 bits say.

    Raises: NotImplementedError where a pattern begins elsewhere than at a multiple of its own size.
    """
    words = np.asarray(words, np.uint64)

    def field(low, bits):
        return ((words >> np.uint64(low)) & np.uint64((1 << bits) - 1)).astype(np.int64)

    if field(49, 3).any():
        raise NotImplementedError("wgmma: a descriptor with a base offset")
    return Descriptor(field(0, 14) * UNIT, field(16, 14) * UNIT, field(32, 14) * UNIT, field(62, 2))


def units(found, width, kind, transposed):
    """Addresses of a matrix's units of 16 bytes, in which the instruction reads them.

    Not transposed: (groups, width, units along the sum); transposed: (groups, elements along the sum, units along the width).
    """
    size = size_of(kind)
    start, leading, stride, pattern = (part[:, None, None] for part in found)
    wide = WIDTHS[pattern]
    in_pattern = wide // UNIT  # units that lie side by side
    if not transposed:
        line, unit = np.arange(width)[None, :, None], np.arange(SUM_BYTES // UNIT)[None, None, :]
        beside = np.where(pattern == 0, unit * leading, unit * UNIT)
        place = line % LINES * wide + line // LINES * stride + beside
    else:
        if size != 2:
            raise NotImplementedError("wgmma: only matrices of 16 bits are transposed")
        line, unit = np.arange(SUM_BYTES // size)[None, :, None], np.arange(-(-width * size // UNIT))[None, None, :]
        plain = line % LINES * UNIT + line // LINES * leading + unit * stride
        mixed = line % LINES * wide + line // LINES * stride + unit % in_pattern * UNIT + unit // in_pattern * leading
        place = np.where(pattern == 0, plain, mixed)
    address = start + place
    return address ^ ((address >> 7 & MIXED[pattern]) << 4)


def operand_of(data, width, kind, transposed):
    """The matrices (groups, width, K) of bytes that lie at the addresses of `units`, (groups, lines, units, 16)."""
    lines = numbers(data.reshape(*data.shape[:2], -1), kind)
    return lines[:, :, :width].swapaxes(1, 2) if transposed else lines


def left_of_registers(held, kind):
    """The matrix (groups, 64, K) of its registers (groups, 128, 4): each 32 threads have 16 rows, as of mma's left matrix."""
    from_ptx = numbers(held, kind).reshape(len(held), WARPS, 8, 4, 2, 2, -1)  # group, warp, row, column, across, down, packed
    return from_ptx.transpose(0, 1, 5, 2, 4, 3, 6).reshape(len(held), ROWS, -1)


def result_of_registers(held, N, kind):
    """The matrix (groups, 64, N) of the registers of what is added to."""
    found = numbers(held, kind).reshape(len(held), WARPS, 8, 4, N // 8, 2, 2)  # group, warp, row, column, across, down, pair
    return found.transpose(0, 1, 5, 2, 4, 3, 6).reshape(len(held), ROWS, N)


def registers_of_result(matrices, kind):
    """Registers (groups, 128, registers) of a result (groups, 64, N)."""
    G, _, N = matrices.shape
    found = matrices.reshape(G, WARPS, 2, 8, N // 8, 4, 2).transpose(0, 1, 3, 5, 4, 2, 6)
    return registers(found.reshape(G, WARPS * THREADS, -1), kind)


class Product(NamedTuple):
    """What a wgmma.mma_async's name says."""

    N: int
    K: int
    to: str
    of_a: str
    of_b: str
    saturates: bool


def product_of(opcode):
    """The parts of a name such as wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16."""
    _, N, K = shape_of(opcode)
    to, of_a, of_b = [part for part in opcode.split(".") if part != "satfinite"][-3:]
    if K * size_of(of_a) != SUM_BYTES:
        raise NotImplementedError(opcode)
    return Product(N, K, to, of_a, of_b, "satfinite" in opcode)


def wgmma(product, a, b, added, scales=(1, 1)):
    """The result (groups, 64, N): a (groups, 64, K), b (groups, N, K), `added` (groups, 64, N), or 0; scales are 1 or -1."""
    sign = scales[0] * scales[1]
    return multiplied(sign * a if sign != 1 else a, b.swapaxes(1, 2), added, product.saturates)
