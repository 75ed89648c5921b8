"""Sums that the program which is done last puts together, always in the same order."""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

import triton
from triton import language as tl


@triton.jit
def total_by_the_last(out_ptr, partial_ptr, done_ptr, part, divisor):
    """All programs' parts together, over `divisor`; `done_ptr` is 0 before and after."""
    here = tl.program_id(0)
    programs = tl.num_programs(0)
    tl.store(partial_ptr + here, part)
    tl.debug_barrier()  # all of this program's stores come before it says that it is done
    before = tl.atomic_add(done_ptr, 1, sem="acq_rel")
    if before == programs - 1:
        sums = tl.zeros([256], partial_ptr.dtype.element_ty)
        for start in range(0, programs, 256):
            k = start + tl.arange(0, 256)
            sums += tl.load(partial_ptr + k, k < programs, other=0.0, volatile=True)
        tl.store(out_ptr, (tl.sum(sums, 0) / divisor).to(out_ptr.dtype.element_ty))
        tl.store(done_ptr, 0)  # for the next launch on this stream
