"""Batch normalization in evaluation folded into the layer before it."""

from __future__ import annotations

import copy
from functools import partial
from typing import Any, TypeVar

import tenfold
from tenfold import Tensor
from tenfold.nn.module import Module
from tenfold.nn.parameter import Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]

Layer = TypeVar("Layer", bound=Module)


def fuse_conv_bn_eval(conv: Layer, bn: Any, transpose: bool = False) -> Layer:
    """A copy of a convolution that computes what it and the batch normalization behind it compute in evaluation.

    Raises AssertionError while one of them is training.
    """
    return _fused(conv, bn, partial(fuse_conv_bn_weights, transpose=transpose), "Fusion only for eval!")


def fuse_linear_bn_eval(linear: Layer, bn: Any) -> Layer:
    """A copy of a linear layer that computes what it and the batch normalization behind it compute in evaluation.

    Raises AssertionError while one of them is training or where sizes do not fit.
    """
    outputs: Any = linear.out_features
    if outputs != bn.num_features and bn.num_features != 1:
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, "
            f"got linear.out_features={outputs} and bn.num_features={bn.num_features}"
        )
    return _fused(linear, bn, fuse_linear_bn_weights, "Fusion only for eval!")


def _fused(layer: Layer, bn: Any, weights: Any, refusal: str) -> Layer:
    if layer.training or bn.training:
        raise AssertionError(refusal)
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None: without them there is nothing to fold in")
    made: Any = copy.deepcopy(layer)
    made.weight, made.bias = weights(made.weight, made.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias)
    return made  # type: ignore[no-any-return]


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of the folded convolution: w s, (b - mean) s + shift, with s = scale / sqrt(variance + eps)."""
    shape = [1, -1] if transpose else [-1, 1]
    return _folded(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, shape + [1] * (conv_w.dim() - 2))


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of the folded linear layer."""
    return _folded(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, [-1, 1])


def _folded(
    weight: Tensor, bias: Tensor | None, mean: Tensor, variance: Tensor, eps: float, scale: Any, shift: Any, shape: list[int]
) -> tuple[Parameter, Parameter]:
    scale = tenfold.ones_like(mean) if scale is None else scale
    shift = tenfold.zeros_like(mean) if shift is None else shift
    factor = scale * tenfold.rsqrt(variance + eps)
    folded = (weight * factor.reshape(shape)).to(weight.dtype)
    offset = ((0 if bias is None else bias) - mean) * factor + shift
    learns = bias is not None and bias.requires_grad
    return Parameter(folded, weight.requires_grad), Parameter(offset.to(weight.dtype), learns)
