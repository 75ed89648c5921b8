"""Gradients of normalization, each one fused operator that reuses the statistics of the forward pass."""

from __future__ import annotations

from typing import Any

from tenfold.autograd.gradients import gradients
from tenfold.nn.ops.norm import batch, group, layer


def _as_parameters(grads: tuple[Any, ...], *dtypes: Any) -> tuple[Any, ...]:
    """The input's gradient, then the parameters', summed in float32 at least, in their own dtypes."""
    first, *others = grads
    return (first, *(g if dtype is None or g.dtype is dtype else g.to(dtype) for g, dtype in zip(others, dtypes, strict=True)))


@gradients(layer.fused_layer_norm, "input", "weight", "bias", node="NativeLayerNormBackward0", results=(0,))
def _layer_norm(
    g: Any, input: Any, out1: Any, out2: Any, normalized_ndim: int, weight: Any, eps: float, weight_dtype: Any, bias_dtype: Any
) -> Any:
    grads = layer.fused_layer_norm_grad(g[0], input, out1, out2, normalized_ndim, weight, eps)
    return _as_parameters(grads, weight_dtype, bias_dtype)


@gradients(layer.fused_rms_norm, "input", "weight", node="FusedRmsNormBackward0", results=(0,))
def _rms_norm(g: Any, input: Any, out1: Any, normalized_ndim: int, weight: Any, eps: float, weight_dtype: Any) -> Any:
    return _as_parameters(layer.fused_rms_norm_grad(g[0], input, out1, normalized_ndim, weight, eps), weight_dtype)


@gradients(batch.fused_batch_norm, "input", "weight", "bias", node="NativeBatchNormBackward0", results=(0,))
def _batch_norm(
    g: Any, input: Any, weight: Any, out1: Any, out3: Any, training: bool, eps: float, weight_dtype: Any, bias_dtype: Any
) -> Any:
    grads = batch.fused_batch_norm_grad(g[0], input, weight, out1, out3, training, eps)
    return _as_parameters(grads, weight_dtype, bias_dtype)


@gradients(group.fused_group_norm, "input", "weight", "bias", node="NativeGroupNormBackward0", results=(0,))
def _group_norm(
    g: Any, input: Any, out1: Any, out2: Any, num_groups: int, weight: Any, eps: float, weight_dtype: Any, bias_dtype: Any
) -> Any:
    grads = group.fused_group_norm_grad(g[0], input, out1, out2, num_groups, weight, eps)
    return _as_parameters(grads, weight_dtype, bias_dtype)
