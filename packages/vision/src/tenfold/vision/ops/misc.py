"""Layers that detection models are made of."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor, nn

__all__ = ["FrozenBatchNorm2d"]


class FrozenBatchNorm2d(nn.Module):
    """Batch normalization whose statistics and affine parameters are fixed buffers.

    y = (x - running_mean) / sqrt(running_var + eps) * weight + bias, of each channel. Shape: (N, C, H, W) in and out.

    >>> FrozenBatchNorm2d(2)
    FrozenBatchNorm2d(2, eps=1e-05)
    """

    def __init__(self, num_features: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.register_buffer("weight", tenfold.ones(num_features))
        self.register_buffer("bias", tenfold.zeros(num_features))
        self.register_buffer("running_mean", tenfold.zeros(num_features))
        self.register_buffer("running_var", tenfold.ones(num_features))

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        # A checkpoint of BatchNorm2d fits, whose count of batches has no meaning here.
        state_dict.pop(prefix + "num_batches_tracked", None)
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def forward(self, x: Tensor) -> Tensor:
        shape = (1, -1, 1, 1)
        scale = (self.weight * (self.running_var + self.eps).rsqrt()).reshape(shape)
        result: Tensor = x * scale + (self.bias.reshape(shape) - self.running_mean.reshape(shape) * scale)
        return result

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.weight.shape[0]}, eps={self.eps})"
