"""PyTorch's older path of `tenfold.func.functional_call`, and the block under it that libraries enter themselves."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager
from typing import Any

from tenfold.autograd.stateless import reparametrized
from tenfold.func import functional_call as _functional_call

__all__ = ["functional_call"]


def functional_call(
    module: Any, parameters_and_buffers: Any, args: Any = None, kwargs: dict[str, Any] | None = None, *,
    tie_weights: bool = True, strict: bool = False,
) -> Any:  # fmt: skip
    """`tenfold.func.functional_call`, with a warning that this path is old."""
    warnings.warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a future version of "
        "PyTorch. Please use `torch.func.functional_call` instead which is a drop-in replacement.",
        FutureWarning,
        stacklevel=2,
    )
    return _functional_call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)


def _reparametrize_module(
    module: Any, parameters_and_buffers: dict[str, Any], tie_weights: bool = False, strict: bool = False,
    stack_weights: bool = False,
) -> AbstractContextManager[None]:  # fmt: skip
    """A block in which `module` has the given tensors; PyTorch's private name.

    `stack_weights` says in PyTorch in which order the tensors are put back, which makes no difference afterwards.
    """
    return reparametrized(module, parameters_and_buffers, tie_weights=tie_weights, strict=strict)
