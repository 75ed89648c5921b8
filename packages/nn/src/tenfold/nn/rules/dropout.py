"""The gradient of dropout by the mask that it drew."""

from __future__ import annotations

from typing import Any

from tenfold.autograd.gradients import gradients
from tenfold.nn.ops import dropout as ops


@gradients(ops.fused_dropout, "input", node="NativeDropoutBackward0", results=(0,))
def _dropout(g: Any, out1: Any, scale: float) -> Any:
    return (ops.fused_dropout_grad(g[0], out1, scale),)
