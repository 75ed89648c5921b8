"""Helpers of PyTorch's `optim.optimizer` that optimizers of other libraries are written with, under its names."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import tenfold
from tenfold import Tensor

__all__ = [
    "_default_to_fused_or_foreach", "_disable_dynamo_if_unsupported", "_get_capturable_supported_devices", "_get_scalar_dtype",
    "_get_value", "_stack_if_compiling", "_to_scalar", "_use_grad_for_differentiable", "_view_as_real",
]  # fmt: skip


def _use_grad_for_differentiable(func: Callable[..., Any]) -> Callable[..., Any]:
    """A `step` that records its graph only where the optimizer's option "differentiable" is set."""

    @functools.wraps(func)
    def step(self: Any, *args: Any, **kwargs: Any) -> Any:
        with tenfold.set_grad_enabled(bool(self.defaults["differentiable"])):
            return func(self, *args, **kwargs)

    return step


def _disable_dynamo_if_unsupported(single_tensor_fn: Any = None) -> Callable[[Any], Any]:
    """A decorator that changes nothing: nothing is compiled here."""
    return lambda func: func


def _get_value(x: Any) -> Any:
    """The number in a tensor of one; what is no tensor as it is."""
    return x.item() if isinstance(x, Tensor) else x


def _to_scalar(x: Any) -> Any:
    """A tensor of one number without dimensions; what is no tensor as it is."""
    return x.squeeze() if isinstance(x, Tensor) and x.dim() else x


def _stack_if_compiling(x: Any) -> Any:
    """As it is: nothing is compiled here."""
    return x


def _get_scalar_dtype(is_fused: bool | None = None) -> Any:
    """The dtype of state such as "step"."""
    if is_fused:
        return tenfold.float32
    return tenfold.float64 if tenfold.get_default_dtype() == tenfold.float64 else tenfold.float32


def _default_to_fused_or_foreach(params: list[Tensor], differentiable: bool, use_fused: bool = False) -> tuple[bool, bool]:
    """Whether (fused, foreach) is what tensors on these devices take unasked: neither."""
    return False, False


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    """The devices whose graphs may record a step with `capturable=True`."""
    return ["cuda"]


def _view_as_real(params: list[Tensor], *state_and_grads: list[Tensor]) -> None:
    """Complex tensors in the lists become pairs of real numbers, on the same memory."""
    for i, param in enumerate(params):
        if tenfold.is_complex(param):
            params[i] = tenfold.view_as_real(param)
            for tensors in state_and_grads:
                tensors[i] = tenfold.view_as_real(tensors[i])
