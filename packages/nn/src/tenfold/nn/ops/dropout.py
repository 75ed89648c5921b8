"""Dropout and its variants: multiplication with random masks."""

from __future__ import annotations

from math import sqrt

from tenfold.dispatch.devices import CPU
from tenfold.dispatch.operators import composite, op
from tenfold.dispatch.runtime import STATE
from tenfold.ops.creation.factories import empty_on
from tenfold.ops.creation.like import empty_like
from tenfold.ops.random import bernoulli, bernoulli_
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import bool_, type_name

# The value that SELU tends to for large negative inputs, with opposite sign: scale * alpha.
_SATURATION = 1.7580993408473766


def _mask(input: Tensor, p: float, whole_features: bool) -> Tensor:
    """Ones with probability 1 - p: for every element, or one for each feature map."""
    # Inside vmap each example may get numbers of its own, which cannot be written into a tensor that all share.
    draw = bernoulli if STATE.transforms else bernoulli_
    if not whole_features:
        return draw(empty_like(input), 1 - p)
    if input.dim() < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    shape = (*input.shape[:2], *[1] * (input.dim() - 2))
    return draw(empty_on(shape, input.dtype, input.device), 1 - p)


def _idle(input: Tensor, p: float, train: bool) -> bool:
    """Whether nothing is to be dropped; refuses what is no probability."""
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p}")
    return p == 0 or not train or input.numel() == 0


def _in_one_pass(input: Tensor) -> bool:
    """Whether the device has a kernel that draws, drops and scales: for plain tensors outside of transforms."""
    key = input._key
    return not (key is CPU or key.level is not None or key.override or STATE.transforms) and (
        input.dtype.is_floating_point and key.kernels.fused_dropout is not None
    )


def _dropped(input: Tensor, p: float, train: bool, whole_features: bool) -> Tensor:
    if _idle(input, p, train):
        return input
    if p == 1:
        return input * op.zeros((), dtype=input.dtype, device=input.device)
    if input.dtype.category < 2:
        raise RuntimeError(f"result type Float can't be cast to the desired output type {type_name(input.dtype)}")
    if _in_one_pass(input):
        return fused_dropout(input, p, whole_features, 1 / (1 - p), 0.0, 0.0)[0]
    return input * (_mask(input, p, whole_features) / (1 - p))


def _dropped_to_saturation(input: Tensor, p: float, train: bool, whole_features: bool) -> Tensor:
    if _idle(input, p, train):
        return input
    if p == 1:
        return input * op.zeros((), dtype=input.dtype, device=input.device)
    a = 1.0 / sqrt((_SATURATION**2 * p + 1) * (1 - p))
    if _in_one_pass(input):
        return fused_dropout(input, p, whole_features, a, _SATURATION * a * p, _SATURATION * a * (p - 1))[0]
    noise = _mask(input, p, whole_features)
    shift = (noise - 1) * (_SATURATION * a) + _SATURATION * a * p
    return input * (noise * a) + shift


@composite("dropout", method=None, random=True)
def fused_dropout(
    input: Tensor, p: float, whole_features: bool, scale: float, shift: float, rest: float
) -> tuple[Tensor, Tensor]:
    """input * scale + shift where an element (or feature map) is kept, `rest` elsewhere; and the mask of what is kept.

    >>> import tenfold
    >>> tenfold.op.fused_dropout(tenfold.ones(2), 0.0, False, 2.0, 0.0, 0.0)
    (tensor([2., 2.]), tensor([True, True]))
    """
    mask = _mask(input, p, whole_features)
    out = input * (mask * scale)
    return out + (mask * (shift - rest) + rest) if shift or rest else out, mask.to(bool_)


@composite("dropout", method=None)
def fused_dropout_grad(grad: Tensor, mask: Tensor, scale: float) -> Tensor:
    """The gradient of `fused_dropout` for its input: that of what was kept, times `scale`.

    >>> import tenfold
    >>> tenfold.op.fused_dropout_grad(tenfold.ones(2), tenfold.tensor([True, False]), 2.0)
    tensor([2., 0.])
    """
    return grad * (mask.to(grad.dtype) * scale)


@composite("dropout", method=None, inplace=True, random=True)
def dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Zero elements with probability p and scale the others by 1 / (1 - p), when training.

    Source: N. Srivastava et al., "Dropout: a simple way to prevent neural networks from overfitting" (2014).

    >>> import tenfold
    >>> tenfold.dropout(tenfold.ones(2), 0.5, False)
    tensor([1., 1.])
    """
    return _dropped(input, p, train, False)


@composite("dropout", method=None, inplace=True, random=True)
def feature_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Dropout of whole feature maps. Shape: (N, C, ...).

    Source: J. Tompson et al., "Efficient object localization using convolutional networks" (2015).

    >>> import tenfold
    >>> tenfold.feature_dropout(tenfold.ones(1, 2, 3), 0.5, False).shape
    tenfold.Size([1, 2, 3])
    """
    return _dropped(input, p, train, True)


@composite("dropout", method=None, inplace=True, random=True)
def alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Dropout that keeps mean and variance of SELU activations: dropped elements take SELU's saturation value.

    Source: G. Klambauer et al., "Self-normalizing neural networks" (2017).

    >>> import tenfold
    >>> tenfold.alpha_dropout(tenfold.ones(2), 0.5, False)
    tensor([1., 1.])
    """
    return _dropped_to_saturation(input, p, train, False)


@composite("dropout", method=None, inplace=True, random=True)
def feature_alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Alpha dropout of whole feature maps. Shape: (N, C, ...).

    >>> import tenfold
    >>> tenfold.feature_alpha_dropout(tenfold.ones(1, 2, 3), 0.5, False).shape
    tenfold.Size([1, 2, 3])
    """
    return _dropped_to_saturation(input, p, train, True)


@composite("dropout", method=None, random=True)
def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """Dropout, and which elements it kept; without `train` all of them.

    >>> import tenfold
    >>> tenfold.native_dropout(tenfold.ones(2), 1.0, True)
    (tensor([0., 0.]), tensor([False, False]))
    """
    if _idle(input, p, train is not False):
        return input.clone(), op.ones_like(input, dtype=bool_)
    if p == 1:
        return input * op.zeros((), dtype=input.dtype, device=input.device), op.zeros_like(input, dtype=bool_)
    if _in_one_pass(input):
        return fused_dropout(input, p, False, 1 / (1 - p), 0.0, 0.0)
    mask = _mask(input, p, False)
    return input * mask * (1 / (1 - p)), mask.to(bool_)
