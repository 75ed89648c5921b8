"""Kernels with one fault each, such as a GPU would have to be very unlucky, or lucky, to show; and right ones beside them."""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import inspect
from dataclasses import dataclass

import triton
from triton import language as tl


@dataclass(frozen=True)
class Kernel:
    """A function as the backend's launch takes it (tenfold.cuda.kernels.handwritten.Handwritten)."""

    written: object
    fixed: tuple = (("BLOCK", 16),)
    warps: int = 4

    @property
    def name(self):
        return self.written.__name__

    def arguments(self):
        return [name for name in inspect.signature(self.written).parameters if name not in dict(self.fixed)]

    def constants(self):
        return dict(self.fixed)

    def function(self, library):
        return self.written


def copied(out_ptr, x_ptr, count, BLOCK: tl.constexpr):
    """Right."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, i < count), i < count)


def copied_too_far(out_ptr, x_ptr, count, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, i < count), i <= count)


def read_too_early(out_ptr, x_ptr, count, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i - 1, i < count), i < count)


def copied_overlapping(out_ptr, x_ptr, count, BLOCK: tl.constexpr):
    """Programs begin where the one before has an element left."""
    i = tl.program_id(0) * (BLOCK - 1) + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, i < count) + tl.program_id(0), i < count)


def same_everywhere(out_ptr, x_ptr, count, BLOCK: tl.constexpr):
    tl.store(out_ptr, 7.0)


def same_and_said(out_ptr, x_ptr, count, BLOCK: tl.constexpr):
    """Right."""
    tl.store(out_ptr, 7.0)  # same value: all programs say that there is something


def carried(out_ptr, x_ptr, count, BLOCK: tl.constexpr):
    """Each program needs what the one before has written."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    before = tl.load(out_ptr + tl.program_id(0) * BLOCK - 1, tl.program_id(0) > 0, other=0.0)
    tl.store(out_ptr + i, tl.load(x_ptr + i, i < count) + before, i < count)


def counted(out_ptr, x_ptr, count, BLOCK: tl.constexpr):
    """Some programs add by atomic operations, one of them without."""
    if tl.program_id(0) == 1:
        tl.store(out_ptr, tl.load(out_ptr) + 1.0)
    else:
        tl.atomic_add(out_ptr, 1.0, sem="relaxed")


def turned(out_ptr, x_ptr, count, BLOCK: tl.constexpr):
    """What a lane stored is loaded by another."""
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i))
    tl.store(x_ptr + i, tl.load(out_ptr + BLOCK - 1 - i))


def turned_after_all(out_ptr, x_ptr, count, BLOCK: tl.constexpr):
    """Right."""
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i))
    tl.debug_barrier()
    tl.store(x_ptr + i, tl.load(out_ptr + BLOCK - 1 - i))


def moved(out_ptr, x_ptr, count, BLOCK: tl.constexpr):
    """What a lane is to load another may have stored to already."""
    i = tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i + 1, i + 1 < count, other=0.0))


def both_to_one(out_ptr, x_ptr, count, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i // 2, tl.load(x_ptr + i))


def added_to(out_ptr, x_ptr, count, BLOCK: tl.constexpr):
    """The result is taken for zeros."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(out_ptr + i, i < count) + tl.load(x_ptr + i, i < count), i < count)


@triton.jit
def last_one(out_ptr, x_ptr, before):
    if before == tl.num_programs(0) - 1:
        i = tl.arange(0, 16)
        tl.store(out_ptr, tl.sum(tl.load(x_ptr + i, i < tl.num_programs(0), other=0.0, volatile=True), 0))


def summed_by_the_last(out_ptr, x_ptr, done_ptr, BLOCK: tl.constexpr):
    """Right."""
    tl.store(x_ptr + tl.program_id(0), 1.0)
    tl.debug_barrier()
    last_one(out_ptr, x_ptr, tl.atomic_add(done_ptr, 1, sem="acq_rel"))


def summed_relaxed(out_ptr, x_ptr, done_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.program_id(0), 1.0)
    tl.debug_barrier()
    last_one(out_ptr, x_ptr, tl.atomic_add(done_ptr, 1, sem="relaxed"))


def summed_without_a_barrier(out_ptr, x_ptr, done_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.program_id(0), 1.0)
    last_one(out_ptr, x_ptr, tl.atomic_add(done_ptr, 1, sem="acq_rel"))


def filled_by_address(table_ptr, count, BLOCK: tl.constexpr):
    """A table's row has an address first and a length last (multi_tensor.py), which `count` is added to."""
    row = table_ptr + tl.program_id(0) * 7
    i = tl.arange(0, BLOCK)
    tl.store(tl.load(row).to(tl.pointer_type(tl.float32)) + i, tl.zeros([BLOCK], tl.float32), i < tl.load(row + 6) + count)
