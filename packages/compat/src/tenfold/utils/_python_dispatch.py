"""`torch.utils._python_dispatch`: what libraries ask of tensors that wrap others."""

from __future__ import annotations

from typing import Any

from tenfold import Tensor

__all__ = ["is_traceable_wrapper_subclass"]


def is_traceable_wrapper_subclass(t: Any) -> bool:
    """Whether a tensor's class says how it is taken apart into plain tensors and made again.

    >>> import tenfold
    >>> is_traceable_wrapper_subclass(tenfold.ones(2))
    False
    """
    taken_apart = hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")
    return isinstance(t, Tensor) and type(t) is not Tensor and taken_apart
