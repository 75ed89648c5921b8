"""Exchanges of rows, as LAPACK's factorisations note them: matrix by matrix, one exchange after another."""

# mypy: disable-error-code="no-untyped-def"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

from triton import language as tl


def exchange_rows(order_ptr, pivots_ptr, count, steps, width, rows, LANES: tl.constexpr):
    """In each of `count` rows of order: element i changes places with element pivots[i] - 1, for i from 0 to steps.

    A lane follows a matrix. A pivot that is out of bounds changes nothing.
    """
    matrix = tl.program_id(0).to(tl.int64) * LANES + tl.arange(0, LANES)
    mask = matrix < count
    order = order_ptr + matrix * rows
    pivots = pivots_ptr + matrix * width
    for i in range(steps):
        other = tl.load(pivots + i, mask, other=1).to(tl.int64) - 1
        valid = mask & (other >= 0) & (other < rows)
        here = tl.load(order + i, valid)
        there = tl.load(order + other, valid)
        tl.debug_barrier()  # the compiler may give lanes of loads and stores to different threads
        tl.store(order + i, there, valid)
        tl.store(order + other, here, valid)
        tl.debug_barrier()
