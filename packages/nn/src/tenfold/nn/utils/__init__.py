"""Helpers around modules: gradient clipping, vectors of parameters, sequences, parametrizations, pruning."""

from __future__ import annotations

import inspect
from typing import Any

from tenfold.nn.module import Module
from tenfold.nn.utils import parametrizations, parametrize, prune, rnn
from tenfold.nn.utils.clip_grad import (
    clip_grad_norm,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from tenfold.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters
from tenfold.nn.utils.fusion import (
    fuse_conv_bn_eval,
    fuse_conv_bn_weights,
    fuse_linear_bn_eval,
    fuse_linear_bn_weights,
)
from tenfold.nn.utils.spectral_norm import remove_spectral_norm, spectral_norm
from tenfold.nn.utils.weight_norm import remove_weight_norm, weight_norm

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
    "get_total_norm",
    "parameters_to_vector",
    "parametrizations",
    "parametrize",
    "prune",
    "remove_spectral_norm",
    "remove_weight_norm",
    "rnn",
    "skip_init",
    "spectral_norm",
    "vector_to_parameters",
    "weight_norm",
]


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """A module with uninitialized parameters on `device` (a keyword, the CPU if missing).

    Raises RuntimeError for something else than a module class, and for one without a parameter `device`.
    """
    if not (isinstance(module_cls, type) and issubclass(module_cls, Module)):
        raise RuntimeError(f"skip_init: expected a Module class, got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, device="meta", **kwargs).to_empty(device=device)
