"""`torch._functorch.eager_transforms`: differentiation of functions under PyTorch's own path."""

import tenfold

__all__ = ["hessian", "jacfwd", "jacrev", "jvp", "vjp"]

hessian, jacfwd, jacrev = tenfold.func.hessian, tenfold.func.jacfwd, tenfold.func.jacrev
jvp, vjp = tenfold.func.jvp, tenfold.func.vjp
