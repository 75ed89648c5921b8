"""Copies and products that end with a wait, in PTX by hand: right with the waits, not a number or refused without them."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("triton")  # of which the emulator runs what it compiles

from ptx.machine import Machine
from ptx.spans import MemoryFault, Spans
from ptx.translation import Program

KERNEL = """
.version 8.7
.target sm_90a
.address_size 64
.extern .shared .align 16 .b8 memory[];
.visible .entry kernel(.param .u64 from, .param .u64 to)
{{
.reg .pred %p<4>; .reg .b32 %r<99>; .reg .b64 %rd<9>;
ld.param.b64 %rd1, [from];
ld.param.b64 %rd2, [to];
mov.u32 %r1, %tid.x;
mov.b32 %r2, memory;
{body}
ret;
}}
"""


def run(body, given, result, threads=32, shared_bytes=8192, blocks=1):
    """What the kernel makes of `result`: %rd1 and %rd2 are the arrays, %r1 the thread, %r2 where shared memory begins."""
    program, memory = Program(KERNEL.format(body=body), shared_bytes), Spans()
    machine = Machine(program, np.arange(blocks), (blocks, 1, 1), threads, memory)
    slots = program.codes["kernel"].parameters
    for name, array in (("from", given), ("to", result)):
        low = array.__array_interface__["data"][0]
        memory.add(low, low + array.nbytes)
        machine.R[slots[name]] = np.array([[low]], np.uint64)
    machine.run()
    return result


def aligned(*shape, dtype):
    """Zeros at a multiple of 16 bytes."""
    dtype = np.dtype(dtype)
    size_bytes = int(np.prod(shape)) * dtype.itemsize
    memory = np.zeros(size_bytes + 16, np.uint8)
    first = -memory.__array_interface__["data"][0] % 16
    return memory[first : first + size_bytes].view(dtype).reshape(shape)


# Two groups of copies of 16 bytes by each thread; what is stored is the first one's.
COPIES = """
shl.b32 %r3, %r1, 4;
add.s32 %r4, %r2, %r3;
cvt.u64.u32 %rd3, %r3;
add.s64 %rd4, %rd1, %rd3;
cp.async.cg.shared.global [ %r4 + 0 ], [ %rd4 + 0 ], 0x10, {size};
cp.async.commit_group;
cp.async.cg.shared.global [ %r4 + 1024 ], [ %rd4 + 512 ], 0x10, 0x10;
cp.async.commit_group;
{wait}
add.s64 %rd5, %rd2, %rd3;
ld.shared.v4.b32 {{%r5, %r6, %r7, %r8}}, [%r4{which}];
st.global.v4.b32 [%rd5], {{%r5, %r6, %r7, %r8}};
"""


def copied(wait, size="0x10", which=""):
    given, result = aligned(256, dtype=np.float32), aligned(128, dtype=np.float32)
    given[:] = np.arange(256) + 1
    return given, run(COPIES.format(wait=wait, size=size, which=which), given, result)


@pytest.mark.parametrize("wait", ["cp.async.wait_group 1;", "cp.async.wait_group 0;", "cp.async.wait_all;"])
def test_copies_are_there_after_the_wait(wait):
    given, result = copied(wait)
    np.testing.assert_array_equal(result, given[:128])


@pytest.mark.parametrize("wait", ["", "cp.async.wait_group 2;"])
def test_copies_are_not_there_before(wait):
    assert np.isnan(copied(wait)[1]).all()


def test_a_wait_for_some_groups_leaves_the_others():
    assert np.isnan(copied("cp.async.wait_group 1;", which="+1024")[1]).all()


def test_what_is_not_copied_is_zero_and_is_not_read():
    given, result = copied("cp.async.wait_all;", "0x8")
    expected = given[:128].reshape(32, 4).copy()
    expected[:, 2:] = 0
    np.testing.assert_array_equal(result.reshape(32, 4), expected)
    body = COPIES.format(wait="cp.async.wait_all;", size="0x0", which="").replace("[ %rd4 + 0 ]", "[ %rd4 + 1048576 ]")
    assert not run(body, given, np.ones_like(result)).any()


def test_addresses_that_are_not_aligned_are_refused():
    given, result = aligned(257, dtype=np.float32), aligned(128, dtype=np.float32)
    with pytest.raises(MemoryFault, match="misaligned"):
        run(COPIES.format(wait="", size="0x10", which=""), given[1:], result)


# A product of 64 x 16 and 16 x 8 elements of bfloat16, as they lie without a pattern: units of 8 rows and 16 bytes.
PRODUCT = """
shl.b32 %r3, %r1, 4;
add.s32 %r4, %r2, %r3;
cvt.u64.u32 %rd3, %r3;
add.s64 %rd4, %rd1, %rd3;
ld.global.v4.b32 {{%r5, %r6, %r7, %r8}}, [%rd4];
st.shared.v4.b32 [%r4], {{%r5, %r6, %r7, %r8}};
ld.global.v4.b32 {{%r5, %r6, %r7, %r8}}, [%rd4 + 2048];
st.shared.v4.b32 [%r4 + 2048], {{%r5, %r6, %r7, %r8}};
bar.sync 0;
mov.b32 %r9, 0f3F800000;
mov.b32 %r10, %r9;
mov.b32 %r11, %r9;
mov.b32 %r12, %r9;
bfe.u32 %r13, %r2, 4, 14;
cvt.u64.u32 %rd5, %r13;
add.s64 %rd6, %rd5, {a};
add.s64 %rd7, %rd5, {b};
mov.pred %p1, -1;
fence.proxy.async.shared::cta;
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {{%r9,%r10,%r11,%r12}}, %rd6, %rd7, {adds}, 1, 1, 0, 0;
{more}
wgmma.commit_group.sync.aligned;
{wait}
shl.b32 %r14, %r1, 4;
cvt.u64.u32 %rd3, %r14;
add.s64 %rd4, %rd2, %rd3;
st.global.v4.b32 [%rd4], {{%r9, %r10, %r11, %r12}};
"""
WAIT = "wgmma.wait_group.sync.aligned 0;"
AGAIN = "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {{%r9,%r10,%r11,%r12}}, %rd6, %rd7, %p1, 1, 1, 0, 0;"


def product(adds="%p1", more="", wait=WAIT):
    """(the product, registers of the result)."""
    rng = np.random.default_rng(0)
    x, y = rng.integers(-4, 5, (64, 16)), rng.integers(-4, 5, (8, 16))
    memory = aligned(4096 // 2, dtype=np.uint16)
    for matrix, start in ((x, 0), (y, 1024)):
        units = matrix.reshape(-1, 8, 2, 8).transpose(0, 2, 1, 3)  # 8 rows, the two halves of the sum
        bits = (units.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).reshape(-1)
        memory[start : start + bits.size] = bits
    offsets = 128 >> 4 << 16 | 256 >> 4 << 32
    body = PRODUCT.format(a=offsets, b=offsets + (2048 >> 4), adds=adds, more=more.format(), wait=wait)
    found = run(body, memory, aligned(128, 4, dtype=np.float32), threads=128)
    rows = 16 * (np.arange(128) // 32) + np.arange(128) % 32 // 4
    columns = np.arange(128) % 4 * 2
    return x @ y.T, found, (np.stack([rows, rows, rows + 8, rows + 8], 1), np.stack([columns, columns + 1] * 2, 1))


def test_a_product_is_there_after_the_wait():
    expected, found, places = product()
    np.testing.assert_array_equal(found, expected[places] + 1)


def test_a_product_that_does_not_add_and_one_that_adds_to_it():
    expected, found, places = product("0", AGAIN)
    np.testing.assert_array_equal(found, 2 * expected[places])


@pytest.mark.parametrize("wait", ["", "wgmma.wait_group.sync.aligned 1;"])
def test_a_product_is_not_there_before(wait):
    assert np.isnan(product(wait=wait)[1]).all()


def test_shared_memory_that_a_product_reads_is_not_written_before_the_wait():
    with pytest.raises(MemoryFault, match="written before"):
        product(wait="st.shared.b32 [%r4], %r1;\n" + WAIT)
