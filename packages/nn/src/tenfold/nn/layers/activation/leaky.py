"""Activations with a slope below zero: given, learned or drawn."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.nn import functional as F, init
from tenfold.nn.layers.activation.layers import with_inplace
from tenfold.nn.module import Module
from tenfold.nn.parameter import Parameter


class LeakyReLU(Module):
    """x where x > 0, else negative_slope x. Shape: any, kept.

    >>> LeakyReLU(0.5)(tenfold.tensor([-2.0, 1.0])).tolist()
    [-1.0, 1.0]
    """

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        return with_inplace(self, f"negative_slope={self.negative_slope}")


class PReLU(Module):
    """x where x >= 0, else a x with a learned, one for all channels or one each. Shape: (N, C, ...), kept.

    Args: num_parameters, 1 or C; init, the first value of a. Source: He et al. 2015.

    >>> PReLU()(tenfold.tensor([-2.0, 2.0])).tolist()
    [-0.5, 2.0]
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(tenfold.empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Sets a to its first value again."""
        init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class RReLU(Module):
    """x where x >= 0, else a x with a drawn from U(lower, upper) in training and their mean in evaluation. Shape: any, kept.

    Source: Xu et al. 2015.

    >>> RReLU().eval()(tenfold.tensor([-2.4, 2.0])).tolist()
    [-0.550000011920929, 2.0]
    """

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        return with_inplace(self, f"lower={self.lower}, upper={self.upper}")
