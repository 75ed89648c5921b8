"""Gradients of copies and conversions."""

from __future__ import annotations

from typing import Any

from tenfold import op
from tenfold.autograd.gradients import gradient

gradient(op.clone, input=lambda g: g)
_to_dtype = op.to_dtype.fn


def cast_back(g: Any, input_dtype: Any) -> Any:
    if g._array.dtype.kind == "c" and not input_dtype.is_complex:
        g = g.real
    return g if g.dtype is input_dtype else _to_dtype(g, input_dtype)


gradient(op.to_dtype, input=cast_back, node="ToCopyBackward0")
gradient(op.to_device, input=lambda g, input: g.to(input.device), node="ToCopyBackward0")
