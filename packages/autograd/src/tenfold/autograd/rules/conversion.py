"""Gradients of copies and conversions."""

from __future__ import annotations

from tenfold import op
from tenfold.autograd.gradients import gradient

gradient(op.clone, input=lambda g: g)
gradient(
    op.to_dtype,
    input=lambda g, input_dtype: (g.real if g.is_complex() and not input_dtype.is_complex else g).to(input_dtype),
    node="ToCopyBackward0",
)
gradient(op.to_device, input=lambda g, input: g.to(input.device), node="ToCopyBackward0")
