"""Distances of the rows of one matrix, row by row: the body makes all differences at once."""

from __future__ import annotations

from typing import Any

from tenfold.cpu.quiet import quiet
from tenfold.cpu.reduction.distances import condensed
from tenfold.dispatch.kernels import kernel
from tenfold.nn.ops import distance as ops


@kernel(ops.pdist, device="cpu")
@quiet
def pdist(input: Any, p: float) -> Any:
    if input.ndim != 2 or input.dtype.char not in "fd" or len(input) < 2 or not input.shape[1] or p < 0:
        return NotImplemented
    return condensed(input, p)
