"""PyTorch's `torch.func`: see `tenfold.autograd.func`."""

from __future__ import annotations

from tenfold.autograd.func import (
    functional_call,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    stack_module_state,
    vjp,
    vmap,
)

__all__ = [
    "functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "stack_module_state",
    "vjp", "vmap",
]  # fmt: skip
