"""Gradients of the reductions."""

from __future__ import annotations

from typing import Any

from tenfold import op
from tenfold.autograd.gradients import gradient
from tenfold.ops.rules import wrap_dims


def restore_dims(g: Any, shape: Any, dim: Any, keepdim: bool) -> Any:
    """The gradient of a reduction with the reduced dimensions back, of size 1."""
    if keepdim or not shape:
        return g
    dims = wrap_dims(dim, len(shape))
    return g.view(*[1 if i in dims else n for i, n in enumerate(shape)])


gradient(op.sum, input=lambda g, input_shape, dim, keepdim: restore_dims(g, input_shape, dim, keepdim).expand(input_shape))
