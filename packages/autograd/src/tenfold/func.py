"""PyTorch's `torch.func`: see `tenfold.autograd.func`."""

from __future__ import annotations

from typing import Any

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
from tenfold.autograd.rearranging import rearrange
from tenfold.autograd.unwrapping import debug_unwrap, functionalize, replace_all_batch_norm_modules_

__all__ = [
    "debug_unwrap", "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp",
    "linearize", "rearrange", "replace_all_batch_norm_modules_", "stack_module_state", "vjp", "vmap",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in ("combine_state_for_ensemble", "make_functional", "make_functional_with_buffers"):
        from tenfold.autograd import make_functional  # deprecated, and loaded by who still asks for it

        return getattr(make_functional, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
