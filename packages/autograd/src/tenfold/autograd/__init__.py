"""Differentiation: the tape, gradients of functions, and how operators get their gradient rules."""

from __future__ import annotations

from tenfold.autograd.function import Function
from tenfold.autograd.gradcheck import gradcheck, gradgradcheck
from tenfold.autograd.gradients import gradient, gradients
from tenfold.autograd.nodes import Node
from tenfold.autograd.tape import backward, grad
from tenfold.gradmode import enable_grad, inference_mode, no_grad, set_grad_enabled
from tenfold.tensor import Tensor as Variable

__all__ = [
    "Function", "Node", "Variable", "backward", "enable_grad", "grad", "gradcheck", "gradgradcheck", "gradient", "gradients",
    "inference_mode", "no_grad",
    "set_grad_enabled",
]  # fmt: skip
