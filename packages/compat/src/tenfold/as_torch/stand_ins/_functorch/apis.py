"""`torch._functorch.apis`: vmap and grad under PyTorch's own path."""

import tenfold

__all__ = ["grad", "grad_and_value", "vmap"]

grad, grad_and_value, vmap = tenfold.func.grad, tenfold.func.grad_and_value, tenfold.func.vmap
