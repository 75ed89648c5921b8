"""Softmax and its kin as modules."""

from __future__ import annotations

from typing import Any

from tenfold import Tensor
from tenfold.nn import functional as F
from tenfold.nn.module import Module


class _OverDim(Module):
    """A softmax along one dimension."""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("dim", None)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmin(_OverDim):
    """exp(-x) / sum(exp(-x)) along `dim`. Shape: any, kept.

    >>> import tenfold
    >>> Softmin(0)(tenfold.tensor([1.0, 1.0])).tolist()
    [0.5, 0.5]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softmin(input, self.dim, _stacklevel=5)


class Softmax(_OverDim):
    """exp(x) / sum(exp(x)) along `dim`. Shape: any, kept.

    >>> import tenfold
    >>> Softmax(dim=0)(tenfold.tensor([1.0, 1.0])).tolist()
    [0.5, 0.5]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim, _stacklevel=5)


class Softmax2d(Module):
    """Softmax over the channels at every place. Shape: (N, C, H, W) or (C, H, W), kept; raises ValueError for others.

    >>> import tenfold
    >>> Softmax2d()(tenfold.zeros(1, 2, 1, 1)).flatten().tolist()
    [0.5, 0.5]
    """

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3, _stacklevel=5)


class LogSoftmax(_OverDim):
    """log(softmax(x)) along `dim`, computed without overflow. Shape: any, kept.

    >>> import tenfold
    >>> LogSoftmax(0)(tenfold.zeros(2))
    tensor([-0.6931, -0.6931])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim, _stacklevel=5)
