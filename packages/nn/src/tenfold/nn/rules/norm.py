"""Gradients of normalization, each one fused operator that reuses the statistics of the forward pass."""

from __future__ import annotations

from typing import Any

from tenfold.autograd.gradients import gradients
from tenfold.nn.ops.norm import batch, group, layer


@gradients(layer.fused_layer_norm, "input", "weight", "bias", node="NativeLayerNormBackward0", results=(0,))
def _layer_norm(g: Any, input: Any, out1: Any, out2: Any, normalized_ndim: int, weight: Any, eps: float) -> Any:
    return layer.fused_layer_norm_grad(g[0], input, out1, out2, normalized_ndim, weight, eps)


@gradients(layer.fused_rms_norm, "input", "weight", node="FusedRmsNormBackward0", results=(0,))
def _rms_norm(g: Any, input: Any, out1: Any, normalized_ndim: int, weight: Any, eps: float) -> Any:
    return layer.fused_rms_norm_grad(g[0], input, out1, normalized_ndim, weight, eps)


@gradients(batch.fused_batch_norm, "input", "weight", "bias", node="NativeBatchNormBackward0", results=(0,))
def _batch_norm(g: Any, input: Any, weight: Any, out1: Any, out3: Any, training: bool, eps: float) -> Any:
    return batch.fused_batch_norm_grad(g[0], input, weight, out1, out3, training, eps)


@gradients(group.fused_group_norm, "input", "weight", "bias", node="NativeGroupNormBackward0", results=(0,))
def _group_norm(g: Any, input: Any, out1: Any, out2: Any, num_groups: int, weight: Any, eps: float) -> Any:
    return group.fused_group_norm_grad(g[0], input, out1, out2, num_groups, weight, eps)
