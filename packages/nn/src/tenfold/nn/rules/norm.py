"""Gradients of normalization, each one fused operator that reuses the statistics of the forward pass."""

from __future__ import annotations

from typing import Any

from tenfold.autograd.gradients import gradients
from tenfold.autograd.rules.passing import is_unseen, whole
from tenfold.dispatch.devices import CPU
from tenfold.dispatch.kernels import table
from tenfold.nn.ops.norm import batch, group, layer, lengths, scaling
from tenfold.tensor.tensor import wrap


def _as_parameters(grads: tuple[Any, ...], *dtypes: Any) -> tuple[Any, ...]:
    """The input's gradient, then the parameters', summed in float32 at least, in their own dtypes."""
    first, *others = grads
    return (first, *[g if dtype is None or g.dtype is dtype else g.to(dtype) for g, dtype in zip(others, dtypes, strict=True)])


@gradients(layer.fused_layer_norm, "input", "weight", "bias", node="NativeLayerNormBackward0", results=(0,))
def _layer_norm(
    g: Any, input: Any, out1: Any, out2: Any, normalized_ndim: int, weight: Any, eps: float, weight_dtype: Any, bias_dtype: Any
) -> Any:
    first = g[0]
    found = whole("fused_layer_norm", first, input, out1, out2, normalized_ndim, weight, weight_dtype, bias_dtype)
    if found is not None:
        return found
    found = _unseen(first, input, out1, out2, normalized_ndim, weight, eps)
    if found is None:
        found = layer.fused_layer_norm_grad(first, input, out1, out2, normalized_ndim, weight, eps)
    return _as_parameters(found, weight_dtype, bias_dtype)


def _unseen(g: Any, input: Any, mean: Any, rstd: Any, normalized_ndim: int, weight: Any, eps: float) -> tuple[Any, ...] | None:
    """The gradients of layer norm by the kernel itself where nobody can see how: an operator's call costs more than few rows."""
    kernel = table("cpu").fused_layer_norm_grad
    if kernel is None or not is_unseen(g) or not input._key is mean._key is rstd._key is CPU:
        return None
    if weight is not None and weight._key is not CPU:
        return None
    w = None if weight is None else weight._array
    found = kernel(g._array, input._array, mean._array, rstd._array, normalized_ndim, w, eps)
    if found is NotImplemented:
        return None
    a, b, c = found
    return wrap(a, CPU), wrap(b, CPU), wrap(c, CPU)


@gradients(layer.fused_rms_norm, "input", "weight", node="FusedRmsNormBackward0", results=(0,))
def _rms_norm(g: Any, input: Any, out1: Any, normalized_ndim: int, weight: Any, eps: float, weight_dtype: Any) -> Any:
    found = whole("fused_rms_norm", g[0], input, out1, normalized_ndim, weight, weight_dtype)
    if found is not None:
        return found
    return _as_parameters(layer.fused_rms_norm_grad(g[0], input, out1, normalized_ndim, weight, eps), weight_dtype)


@gradients(batch.fused_batch_norm, "input", "weight", "bias", node="NativeBatchNormBackward0", results=(0,))
def _batch_norm(
    g: Any, input: Any, weight: Any, out1: Any, out3: Any, training: bool, eps: float, weight_dtype: Any, bias_dtype: Any
) -> Any:
    found = whole("fused_batch_norm", g[0], input, weight, out1, out3, training, weight_dtype, bias_dtype)
    if found is not None:
        return found
    grads = batch.fused_batch_norm_grad(g[0], input, weight, out1, out3, training, eps)
    return _as_parameters(grads, weight_dtype, bias_dtype)


@gradients(group.fused_group_norm, "input", "weight", "bias", node="NativeGroupNormBackward0", results=(0,))
def _group_norm(
    g: Any, input: Any, out1: Any, out2: Any, num_groups: int, weight: Any, eps: float, weight_dtype: Any, bias_dtype: Any
) -> Any:
    grads = group.fused_group_norm_grad(g[0], input, out1, out2, num_groups, weight, eps)
    return _as_parameters(grads, weight_dtype, bias_dtype)


@gradients(scaling.fused_scaled_rows, "input", node="DivBackward0", results=(0,))
def _scaled_rows(g: Any, input: Any, out1: Any, p: float, kind: str, bound: float) -> Any:
    return (scaling.fused_scaled_rows_grad(g[0], input, out1, p, kind, bound),)


@gradients(lengths.fused_response_norm, "input", node="DivBackward0", results=(0,))
def _response_norm(g: Any, input: Any, out1: Any, size: int, alpha: float, beta: float, k: float) -> Any:
    return (lengths.fused_response_norm_grad(g[0], input, out1, size, alpha, beta, k),)
