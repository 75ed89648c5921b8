"""Transforms of functions (PyTorch's `torch.func`): gradients, Jacobians and batching that nest in any order.

They differentiate by their own arguments only, return new tensors, and leave `.grad` alone.
"""

from __future__ import annotations

from tenfold.autograd.derivatives import grad, grad_and_value, jvp, vjp
from tenfold.autograd.jacobians import hessian, jacfwd, jacrev
from tenfold.autograd.linearize import linearize
from tenfold.autograd.stateless import functional_call, stack_module_state
from tenfold.autograd.vmap import vmap

__all__ = [
    "functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "stack_module_state",
    "vjp", "vmap",
]  # fmt: skip
