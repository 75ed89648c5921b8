"""Instructions of matrix units as the emulator of compiled kernels has them, one by one: NumPy's products say what is right.

Here elements are put into registers and memory one by one, by the tables of the PTX ISA; the emulator's own way is another.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from ptx import asynchronous, matrices, warpgroups

TYPES = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32, "f64": np.float64, "s8": np.int8, "u8": np.uint8,
    "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "f32": np.float32, "s32": np.int32,
}  # fmt: skip


def drawn(seed, kind, *shape):
    found = np.random.default_rng(seed).integers(-8, 9, shape)
    return abs(found).astype(TYPES[kind]) if kind == "u8" else found.astype(TYPES[kind])


def packed(elements, kind):
    """Registers of a thread's elements."""
    return np.ascontiguousarray(elements).view(np.uint64 if kind == "f64" else np.uint32)


def a_place(i, g, t, M, K, kind):
    """(row, column) of element i of the left matrix, of thread 4 g + t."""
    size = np.dtype(TYPES[kind]).itemsize
    if size == 2:
        row = g if i < 2 or 4 <= i < 6 else g + 8
        return row, 2 * t + (i & 1) + (0 if i < 4 else 8)
    if size == 1:
        row = g if i < 4 or 8 <= i < 12 else g + 8
        return row, 4 * t + (i & 3) + (0 if i < 8 else 16)
    if M == 8:
        return g, t
    return (g, g + 8)[i % 2], t + 4 * (i // 2)


def b_place(i, g, t, kind):
    size = np.dtype(TYPES[kind]).itemsize
    if size == 2:
        return 2 * t + (i & 1) + (0 if i < 2 else 8), g
    if size == 1:
        return 4 * t + (i & 3) + (0 if i < 4 else 16), g
    return t + 4 * i, g


def c_place(i, g, t):
    return (g if i < 2 else g + 8), 2 * t + (i & 1)


def in_threads(matrix, place, kind):
    count = matrix.size // 32
    held = [[matrix[place(i, thread // 4, thread % 4)] for i in range(count)] for thread in range(32)]
    return packed(np.array(held, matrix.dtype), kind)


MMA = [
    ("m16n8k16", "f32", "bf16"), ("m16n8k16", "f32", "f16"), ("m16n8k8", "f32", "bf16"), ("m16n8k8", "f16", "f16"),
    ("m16n8k16", "f16", "f16"), ("m16n8k8", "f32", "tf32"), ("m16n8k4", "f32", "tf32"), ("m8n8k4", "f64", "f64"),
    ("m16n8k4", "f64", "f64"), ("m16n8k8", "f64", "f64"), ("m16n8k16", "f64", "f64"), ("m16n8k32", "s32", "s8"),
    ("m16n8k16", "s32", "u8"), ("m16n8k32", "f32", "e4m3"), ("m16n8k32", "f32", "e5m2"),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "to", "of"), MMA)
def test_products_of_32_threads(shape, to, of):
    opcode = f"mma.sync.aligned.{shape}.row.col.{to}.{of}.{of}.{to}"
    M, N, K = matrices.shape_of(opcode)
    groups = 3
    a, b, c = drawn(0, of, groups, M, K), drawn(1, of, groups, K, N), drawn(2, to, groups, M, N)
    given = (
        np.stack([in_threads(x, lambda i, g, t: a_place(i, g, t, M, K, of), of) for x in a]),
        np.stack([in_threads(x, lambda i, g, t: b_place(i, g, t, of), of) for x in b]),
        np.stack([in_threads(x, c_place, to) for x in c]),
    )
    expected = a.astype(np.float64) @ b.astype(np.float64) + c.astype(np.float64)
    expected = np.stack([in_threads(x.astype(TYPES[to]), c_place, to) for x in expected])
    np.testing.assert_array_equal(matrices.mma(opcode, *given), expected)


def test_tf32_leaves_out_the_last_13_bits_and_other_layouts_are_refused():
    one = np.full((1, 32, 4), np.float32(1 + 2**-10 + 2**-11)).view(np.uint32)
    none = np.zeros((1, 32, 4), np.uint32)
    found = matrices.mma("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", one, one[..., :2], none)
    assert (found.view(np.float32) == 8 * (1 + 2**-10) ** 2).all()
    with pytest.raises(NotImplementedError, match="rows"):
        matrices.mma("mma.sync.aligned.m16n8k8.col.col.f32.tf32.tf32.f32", one, one[..., :2], none)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_matrices_from_memory_and_back(count, transposed):
    x = np.arange(2 * count * 64, dtype=np.uint16).reshape(2, count, 8, 8)
    found = matrices.loaded(x.view(np.uint8), transposed)
    for group, i, thread, half in np.ndindex(2, count, 32, 2):
        row, column = thread // 4, thread % 4 * 2 + half
        expected = x[group, i, column, row] if transposed else x[group, i, row, column]
        assert found[group, thread, i] >> 16 * half & 0xFFFF == expected
    np.testing.assert_array_equal(matrices.stored(found, transposed).view(np.uint16), x)


def test_a_matrix_that_is_transposed_in_registers():
    x = np.arange(64, dtype=np.uint16).reshape(1, 1, 8, 8)
    held = matrices.loaded(x.view(np.uint8))[..., 0]
    expected = matrices.loaded(np.ascontiguousarray(x.swapaxes(2, 3)).view(np.uint8))[..., 0]
    np.testing.assert_array_equal(matrices.moved(held), expected)


# wgmma: matrices are put into shared memory unit by unit of 16 bytes, as the figures of the ISA have them.

START = 2048
WIDTH_CODES = {128: 1, 64: 2, 32: 3, 16: 0}


def descriptor(start, leading, stride, width):
    return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | WIDTH_CODES[width] << 62


def mixed(address, width):
    """Where a byte of a pattern lies: bits 4 and up are changed by those from 7 on."""
    return address ^ ((address >> 7) % (width // 16)) << 4


def put_rows(memory, x, width):
    """Rows of x, (width of the other dimension, K), K being 32 bytes or more; the descriptor."""
    rows, size_bytes = x.shape[0], x.shape[1] * x.itemsize
    data = np.ascontiguousarray(x).view(np.uint8)
    stride, leading = 8 * width, 16
    if width == 16:
        leading, stride = 128, 128 * (size_bytes // 16)
    for row in range(rows):
        for unit in range(size_bytes // 16):
            if width == 16:
                place = unit * leading + row // 8 * stride + row % 8 * 16
            else:
                panel = unit * 16 // width * rows * width  # what is wider than a pattern lies behind it
                place = panel + row // 8 * stride + row % 8 * width + unit * 16 % width
            at = mixed(START + place, width) if width > 16 else START + place
            memory[at : at + 16] = data[row, 16 * unit : 16 * unit + 16]
    return descriptor(START, leading, stride, width)


def put_columns(memory, x, width):
    """x (width of the other dimension, K), of which that dimension's elements are neighbours; the descriptor."""
    lines = np.ascontiguousarray(x.T)  # (K, elements)
    data = lines.view(np.uint8)
    K, size_bytes = data.shape
    for line in range(K):
        for unit in range(size_bytes // 16):
            if width == 16:  # units of 8 elements of 8 lines are together
                place = line % 8 * 16 + line // 8 * 128 + unit * 128 * (K // 8)
                leading, stride = 128, 128 * (K // 8)
            else:
                leading, stride = K * width, 8 * width
                place = unit * 16 // width * leading + line * width + unit * 16 % width
            at = mixed(START + place, width) if width > 16 else START + place
            memory[at : at + 16] = data[line, 16 * unit : 16 * unit + 16]
    return descriptor(START, leading, stride, width)


def operand(memories, words, width, kind, transposed):
    places = warpgroups.units(warpgroups.described(words), width, kind, transposed)
    data = memories[np.arange(len(memories))[:, None, None, None], places[..., None] + np.arange(16)]
    return warpgroups.operand_of(data, width, kind, transposed)


@pytest.mark.parametrize("width", [128, 64, 32, 16])
@pytest.mark.parametrize(("of", "K"), [("bf16", 16), ("f16", 16), ("tf32", 8), ("e4m3", 32), ("s8", 32)])
def test_operands_by_rows(width, of, K):
    x = drawn(3, of, 2, 64, max(K, width // np.dtype(TYPES[of]).itemsize))
    memories = np.zeros((2, 1 << 16), np.uint8)
    words = [put_rows(memory, m, width) for memory, m in zip(memories, x)]
    for step in range(x.shape[2] // K):  # the next terms of the sum are 32 bytes further in the pattern
        found = operand(memories, np.array(words) + 2 * step * (8 if width == 16 else 1), 64, of, False)
        np.testing.assert_array_equal(found, x[:, :, step * K : (step + 1) * K].astype(found.dtype))


# A pattern is no wider than the matrix.
BY_COLUMNS = [(N, width) for N in (8, 16, 32, 64, 128, 256) for width in (128, 64, 32, 16) if width <= 2 * N]


@pytest.mark.parametrize(("N", "width"), BY_COLUMNS)
def test_operands_by_columns(N, width):
    x = drawn(4, "bf16", 2, N, 32)
    memories = np.zeros((2, 1 << 16), np.uint8)
    words = np.array([put_columns(memory, m, width) for memory, m in zip(memories, x)])
    for step in range(2):
        further = step * 16 * width if width > 16 else step * 256
        found = operand(memories, words + (further >> 4), N, "bf16", True)
        np.testing.assert_array_equal(found, x[:, :, 16 * step : 16 * step + 16].astype(np.float32))


@pytest.mark.parametrize("to", ["f32", "f16"])
@pytest.mark.parametrize("N", [8, 24, 64, 256])
def test_registers_of_128_threads(N, to):
    a, c = drawn(5, "f16", 2, 64, 16), drawn(6, to, 2, 64, N)
    held = np.empty((2, 128, 8), np.float16)
    added = np.empty((2, 128, N // 2), TYPES[to])
    for thread in range(128):
        warp, g, t = thread // 32, thread % 32 // 4, thread % 4
        for i in range(8):
            row, column = a_place(i, g, t, 16, 16, "f16")
            held[:, thread, i] = a[:, 16 * warp + row, column]
        for i in range(N // 2):
            added[:, thread, i] = c[:, 16 * warp + g + 8 * (i % 4 // 2), 8 * (i // 4) + 2 * t + i % 2]
    np.testing.assert_array_equal(warpgroups.left_of_registers(packed(held, "f16"), "f16"), a.astype(np.float32))
    given = packed(added, to)
    np.testing.assert_array_equal(warpgroups.result_of_registers(given, N, to), c.astype(np.float32))
    np.testing.assert_array_equal(warpgroups.registers_of_result(c, to), given)


def test_a_product_of_128_threads():
    product = warpgroups.product_of("wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16")
    assert (product.N, product.K, product.to, product.of_a) == (32, 16, "f32", "bf16")
    a, b, c = drawn(7, "f32", 2, 64, 16), drawn(8, "f32", 2, 32, 16), drawn(9, "f32", 2, 64, 32)
    np.testing.assert_array_equal(warpgroups.wgmma(product, a, b, c, (-1, 1)), c - a @ b.swapaxes(1, 2))


def test_a_base_offset_is_refused():
    with pytest.raises(NotImplementedError, match="base offset"):
        warpgroups.described([1 << 49])


# What ends with a wait.


def test_work_ends_with_the_wait_for_its_group_of_each_thread():
    done, groups = [], asynchronous.Groups(4)
    everyone, two = np.arange(4), np.array([1, 3])
    groups.begin(everyone, lambda places: done.append(("first", *places)))
    groups.close(everyone)
    groups.begin(two, lambda places: done.append(("second", *two[places])))
    groups.close(two)
    groups.wait(two, 1)
    assert done == [("first", 1, 3)]
    groups.wait(np.array([0]), 1)  # its only group is the one that may go on
    assert done == [("first", 1, 3)]
    groups.wait(everyone)
    assert done[1:] == [("first", 0, 2), ("second", 1, 3)]
    assert not groups.work


def test_work_in_no_group_goes_on():
    done, groups = [], asynchronous.Groups(1)
    here = np.arange(1)
    groups.begin(here, done.append)
    groups.wait(here)
    assert not done
    groups.wait_for_all(here)
    assert len(done) == 1
