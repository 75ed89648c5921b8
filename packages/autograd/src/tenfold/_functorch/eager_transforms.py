"""`torch._functorch.eager_transforms`: differentiation of functions under PyTorch's own path."""

from __future__ import annotations

from typing import Any

from tenfold.autograd.derivatives import selected
from tenfold.autograd.func import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp
from tenfold.autograd.unwrapping import functionalize

__all__ = ["functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "vjp"]


def _slice_argnums(args: tuple[Any, ...], argnums: int | tuple[int, ...], as_tuple: bool = True) -> Any:
    """The arguments at these positions, in their order; a single one by itself without `as_tuple`."""
    chosen = tuple(args[i] for i in selected("grad", argnums, args))
    return chosen[0] if isinstance(argnums, int) and not as_tuple else chosen
