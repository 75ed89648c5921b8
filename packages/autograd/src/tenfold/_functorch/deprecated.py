"""`torch._functorch.deprecated`: what `functorch` gives out, each with a warning that names its place in `torch.func`."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from tenfold import func as _func
from tenfold.autograd.make_functional import (
    combine_state_for_ensemble,
    make_functional,
    make_functional_with_buffers,
)

__all__ = [
    "combine_state_for_ensemble", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp",
    "make_functional", "make_functional_with_buffers", "vjp", "vmap",
]  # fmt: skip


def _older(name: str, place: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(_func, name)

    @functools.wraps(function)
    def warned(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(
            f"`functorch.{name}` is deprecated: functorch is part of the library now. Please use `{place}.{name}` instead.",
            FutureWarning,
            stacklevel=2,
        )
        return function(*args, **kwargs)

    return warned


vmap = _older("vmap", "torch")
grad, grad_and_value, vjp, jvp, jacrev, jacfwd, hessian, functionalize = (
    _older(name, "torch.func") for name in "grad grad_and_value vjp jvp jacrev jacfwd hessian functionalize".split()
)
