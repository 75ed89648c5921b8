"""Layers that multiply by a learned matrix."""

from __future__ import annotations

import math
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.nn import functional as F, init
from tenfold.nn.lazy import LazyModuleMixin
from tenfold.nn.module import Module
from tenfold.nn.parameter import Parameter, UninitializedParameter


class Identity(Module):
    """Returns its input; takes, and forgets, any arguments.

    >>> Identity(54, unused=None)(tenfold.ones(2)).tolist()
    [1.0, 1.0]
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        return input


class Linear(Module):
    """y = x W^T + b. Shape: (..., in_features) -> (..., out_features).

    `weight` (out_features, in_features) and `bias` (out_features) start in U(-k, k), k = 1 / sqrt(in_features).

    >>> list(Linear(3, 2)(tenfold.ones(5, 3)).shape)
    [5, 2]
    """

    weight: Tensor

    def __init__(self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(tenfold.empty((out_features, in_features), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(tenfold.empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws weight and bias anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.weight.size(1)) if self.weight.size(1) > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class NonDynamicallyQuantizableLinear(Linear):
    """The Linear at the end of `MultiheadAttention`, under the name that it has in PyTorch's repr."""


class LazyLinear(LazyModuleMixin, Linear):
    """A Linear that takes `in_features` from its first input. Shape: (..., *) -> (..., out_features).

    >>> layer = LazyLinear(2)
    >>> list(layer(tenfold.ones(5, 3)).shape), layer.in_features
    ([5, 2], 3)
    """

    cls_to_become = Linear
    weight: UninitializedParameter
    bias: UninitializedParameter | None

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draws weight and bias anew, once they have a shape."""
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Takes in_features from the last dimension of `input`."""
        if not self.has_uninitialized_params():
            self.in_features = self.weight.shape[1] if self.in_features == 0 else self.in_features
            return
        self.in_features = input.shape[-1]
        with tenfold.no_grad():
            self.weight.materialize((self.out_features, self.in_features))
            if self.bias is not None:
                self.bias.materialize((self.out_features,))
            self.reset_parameters()


class Bilinear(Module):
    """y_o = x1 W_o x2 + b_o. Shape: (..., in1_features), (..., in2_features) -> (..., out_features).

    Raises ValueError unless in1_features > 0.

    >>> list(Bilinear(3, 4, 2)(tenfold.ones(5, 3), tenfold.ones(5, 4)).shape)
    [5, 2]
    """

    weight: Tensor

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"Bilinear: in1_features must be > 0, but got {in1_features}")
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        self.weight = Parameter(tenfold.empty((out_features, in1_features, in2_features), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(tenfold.empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws weight and bias anew from U(-k, k), k = 1 / sqrt(in1_features)."""
        bound = 1 / math.sqrt(self.weight.size(1))
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )
