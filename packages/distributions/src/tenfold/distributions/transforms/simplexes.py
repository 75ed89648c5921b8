"""Transforms onto probability vectors."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold.distributions import constraints
from tenfold.distributions.transforms.base import Transform


class SoftmaxTransform(Transform):
    """y = softmax(x): easy to optimise in, but not bijective; of the inverses log(y).

    >>> from tenfold.distributions import SoftmaxTransform
    >>> SoftmaxTransform()(tenfold.zeros(2))
    tensor([0.5000, 0.5000])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SoftmaxTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: Any) -> Any:
        weights = (x - x.max(-1, True)[0]).exp()
        return weights / weights.sum(-1, True)

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def forward_shape(self, shape: Any) -> Any:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        return self.forward_shape(shape)


class StickBreakingTransform(Transform):
    """K numbers to K + 1 shares: each breaks sigmoid(x_k - log(K - k)) off what the ones before it left of a stick.

    The offsets take 0 to equal shares. Shape: (..., K) -> (..., K + 1).
    Source: Stan reference manual, "Unit simplex".

    >>> from tenfold.distributions import StickBreakingTransform
    >>> StickBreakingTransform()(tenfold.zeros(3))
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StickBreakingTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: Any) -> Any:
        broken = _clipped_sigmoid(x - _log_remaining(x))
        left = (1 - broken).cumprod(-1)
        first, last = x.new_ones((*x.shape[:-1], 1)), x.new_ones((*x.shape[:-1], 1))
        return tenfold.cat([broken, last], -1) * tenfold.cat([first, left], -1)

    def _inverse(self, y: Any) -> Any:
        shares = y[..., :-1]
        left = 1 - shares.cumsum(-1)
        left = tenfold.clamp(left, min=tenfold.finfo(y.dtype).tiny)
        return shares.log() - left.log() + _log_remaining(shares)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        x = x - _log_remaining(x)
        # dy_k / dx_k = y_k (1 - broken_k), and log(1 - sigmoid(x)) = log(sigmoid(x)) - x
        return (-x + tenfold.log(_clipped_sigmoid(x)) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return (*shape[:-1], shape[-1] + 1)

    def inverse_shape(self, shape: Any) -> Any:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return (*shape[:-1], shape[-1] - 1)


def _log_remaining(x: Any) -> Any:
    """log(K - k) for k = 0 to K - 1: of how many shares each is the first."""
    return tenfold.arange(x.shape[-1], 0, -1, dtype=x.dtype, device=x.device).log()


def _clipped_sigmoid(x: Any) -> Any:
    finfo = tenfold.finfo(x.dtype)
    return tenfold.clamp(tenfold.sigmoid(x), min=finfo.tiny, max=1.0 - finfo.eps)
