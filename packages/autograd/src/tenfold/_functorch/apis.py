"""`torch._functorch.apis`: vmap and grad under PyTorch's own path."""

from __future__ import annotations

from tenfold.autograd.func import grad, grad_and_value, vmap

__all__ = ["grad", "grad_and_value", "vmap"]
