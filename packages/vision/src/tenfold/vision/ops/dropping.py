"""Regularization by leaving out: whole examples' residuals (stochastic depth), or blocks of pixels."""

from __future__ import annotations

import tenfold
from tenfold import Tensor, nn
from tenfold.nn.functional import max_pool2d, max_pool3d


def stochastic_depth(input: Tensor, p: float, mode: str, training: bool = True) -> Tensor:
    """Set the input to zero with probability ``p``, of each example by itself ("row") or of all together ("batch"); else
    scale by 1 / (1 - p).

    Shape: (N, ...) in and out.

    >>> stochastic_depth(tenfold.ones(2, 1), 0.0, "row")
    tensor([[1.],
            [1.]])

    Raises:
        ValueError: ``p`` is not in 0..1, or there is no such mode.

    Source: G. Huang and others, Deep Networks with Stochastic Depth, arXiv:1603.09382.
    """
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"stochastic_depth: drop probability has to be between 0 and 1, but got {p}")
    if mode not in ("batch", "row"):
        raise ValueError(f"stochastic_depth: mode has to be either 'batch' or 'row', but got {mode!r}")
    if not training or p == 0.0:
        return input
    kept = 1.0 - p
    count = input.shape[0] if mode == "row" else 1
    noise = tenfold.empty([count] + [1] * (input.ndim - 1), dtype=input.dtype, device=input.device).bernoulli_(kept)
    if kept > 0.0:
        noise.div_(kept)
    return input * noise


class StochasticDepth(nn.Module):
    """`stochastic_depth` while training."""

    def __init__(self, p: float, mode: str) -> None:
        super().__init__()
        self.p = p
        self.mode = mode

    def forward(self, input: Tensor) -> Tensor:
        return stochastic_depth(input, self.p, self.mode, self.training)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p={self.p}, mode={self.mode})"


def drop_block2d(
    input: Tensor, p: float, block_size: int, inplace: bool = False, eps: float = 1e-06, training: bool = True
) -> Tensor:
    """Set square blocks of a feature map to zero, a share of about ``p``, and scale the rest so that its sum keeps its size.

    Shape: (N, C, H, W) in and out; blocks are of ``block_size`` or, if that is larger, of the picture's smaller side.

    Raises:
        ValueError: ``p`` is not in 0..1, the block even, or the input not 4-d.

    Source: G. Ghiasi, T.-Y. Lin, Q. V. Le, DropBlock, arXiv:1810.12890, algorithm 1.
    """
    return _drop_blocks("drop_block2d", 2, input, p, block_size, inplace, eps, training)


def drop_block3d(
    input: Tensor, p: float, block_size: int, inplace: bool = False, eps: float = 1e-06, training: bool = True
) -> Tensor:
    """`drop_block2d` with cubes, of (N, C, D, H, W).

    Raises:
        ValueError: ``p`` is not in 0..1, or the input is not 5-d.
    """
    return _drop_blocks("drop_block3d", 3, input, p, block_size, inplace, eps, training)


def _drop_blocks(
    operator: str, rank: int, input: Tensor, p: float, block_size: int, inplace: bool, eps: float, training: bool
) -> Tensor:
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"{operator}: drop probability has to be between 0 and 1, but got {p}.")
    if input.ndim != rank + 2:
        raise ValueError(f"{operator}: input should be {rank + 2} dimensional. Got {input.ndim} dimensions.")
    if block_size % 2 == 0:
        raise ValueError(f"{operator}: block size should be odd. Got {block_size} which is even.")
    if not training or p == 0.0:
        return input
    sizes = input.shape[2:]
    side = min(block_size, *sizes)
    places = [size - side + 1 for size in sizes]  # of a whole block's corner
    rate = p / side**rank
    for size, count in zip(sizes, places, strict=True):
        rate = rate * size / count
    corners = tenfold.empty((*input.shape[:2], *places), dtype=input.dtype, device=input.device).bernoulli_(rate)
    noise = nn.functional.pad(corners, [side // 2] * 2 * rank, value=0)
    pool = max_pool2d if rank == 2 else max_pool3d
    noise = 1 - pool(noise, kernel_size=[side] * rank, stride=[1] * rank, padding=[side // 2] * rank)
    scale = noise.numel() / (eps + noise.sum())
    return input.mul_(noise).mul_(scale) if inplace else input * noise * scale


class DropBlock2d(nn.Module):
    """`drop_block2d` while training."""

    def __init__(self, p: float, block_size: int, inplace: bool = False, eps: float = 1e-06) -> None:
        super().__init__()
        self.p = p
        self.block_size = block_size
        self.inplace = inplace
        self.eps = eps

    def forward(self, input: Tensor) -> Tensor:
        return drop_block2d(input, self.p, self.block_size, self.inplace, self.eps, self.training)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p={self.p}, block_size={self.block_size}, inplace={self.inplace})"


class DropBlock3d(DropBlock2d):
    """`drop_block3d` while training."""

    def forward(self, input: Tensor) -> Tensor:
        return drop_block3d(input, self.p, self.block_size, self.inplace, self.eps, self.training)
