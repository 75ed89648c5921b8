"""Gradients of grouped products, which are grouped products: where rows came in slices, the sum of the weights' does."""

from __future__ import annotations

from tenfold.autograd.gradients import gradient
from tenfold.nn.ops.grouped import _grouped_mm

gradient(
    _grouped_mm,
    input=lambda g, mat2, offs: _grouped_mm(g, mat2.mT, offs),
    mat2=lambda g, input, offs: _grouped_mm(input.mT, g, offs),
    node="GroupedMmBackward0",
)
