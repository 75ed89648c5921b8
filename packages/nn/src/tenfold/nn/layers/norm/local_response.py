"""Normalization by neighbouring channels."""

from __future__ import annotations

import tenfold
from tenfold import Tensor
from tenfold.nn import functional as F
from tenfold.nn.module import Module


class LocalResponseNorm(Module):
    """x (k + alpha / size sum x^2)^-beta, the sum over `size` neighbouring channels. Shape: (N, C, ...), kept.

    Source: Krizhevsky et al. 2012.

    >>> LocalResponseNorm(2, alpha=1.0, beta=1.0)(tenfold.ones(1, 2, 1)).flatten()
    tensor([0.6667, 0.5000])
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(LocalResponseNorm):
    """`LocalResponseNorm` of images over floor((size - 1) / 2) channels to each side. Shape: (N, C, H, W), kept.

    As in PyTorch, channels beyond the first window also count the first channel. Raises ValueError unless 4-d.

    >>> CrossMapLRN2d(2, alpha=1.0, beta=1.0)(tenfold.ones(1, 2, 1, 1)).flatten()
    tensor([0.6667, 0.5000])
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__(size, alpha, beta, k)

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        reach = (self.size - 1) // 2
        squares = input * input
        channels = input.size(1)
        padded = F.pad(squares, (0, 0, 0, 0, reach, reach))
        sums = sum(padded[:, start : start + channels] for start in range(2 * reach + 1))
        # PyTorch's running sum never drops the first channel; checkpoints trained with it expect that.
        late = (tenfold.arange(channels, device=input.device) > reach).to(input.dtype).view(-1, 1, 1)
        return input * (self.k + self.alpha / self.size * (sums + late * squares[:, :1])) ** -self.beta
