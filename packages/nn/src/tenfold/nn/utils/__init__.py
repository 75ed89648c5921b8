"""Helpers around modules: gradient clipping, vectors of parameters, sequences, parametrizations, pruning."""

from __future__ import annotations

from importlib import import_module
from typing import Any

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
from tenfold.nn.utils.init import skip_init
from tenfold.nn.utils.memory_format import convert_conv2d_weight_memory_format, convert_conv3d_weight_memory_format
from tenfold.nn.utils.spectral_norm import remove_spectral_norm, spectral_norm
from tenfold.nn.utils.weight_norm import remove_weight_norm, weight_norm

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "convert_conv2d_weight_memory_format",
    "convert_conv3d_weight_memory_format",
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


def __getattr__(name: str) -> Any:
    if name == "stateless":  # loads `tenfold.func`, which `import tenfold.nn` does not need
        return import_module("tenfold.nn.utils.stateless")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
