"""A loss with the linear map that makes its scores."""

from __future__ import annotations

from math import prod
from typing import Any

from tenfold import Tensor
from tenfold.nn import functional as F
from tenfold.nn.functional.linear_loss import LinearCrossEntropyOptions
from tenfold.nn.layers.linear import Linear
from tenfold.nn.layers.loss.layers import _WeightedLoss


class LinearCrossEntropyLoss(_WeightedLoss):
    """Cross entropy of `linear(x)`, a map to `num_classes` scores, or to that many for each of `out_features` places.

    With `options` the scores are made in chunks of the batch. Shape: (E) or (N, E), and classes (), (N), (N, *out_features), or
    probabilities (C), (N, C, *out_features). Raises: RuntimeError for a `weight` that is not (C,), for `label_smoothing`
    outside [0, 1].

    >>> import tenfold
    >>> loss = LinearCrossEntropyLoss(4, 3)
    >>> loss(tenfold.zeros(2, 4), tenfold.tensor([0, 2]))
    tensor(1.0986, grad_fn=<NllLossBackward0>)
    >>> list(loss.state_dict())
    ['linear.weight']
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: Any = None,
        dtype: Any = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: LinearCrossEntropyOptions | None = None,
    ) -> None:
        if weight is not None and weight.shape != (num_classes,):
            raise RuntimeError(f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}")
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(f"expected label_smoothing to be in range [0, 1], got {label_smoothing}")
        super().__init__(weight, reduction=reduction)
        self.num_classes, self.out_features = num_classes, out_features
        self.ignore_index, self.label_smoothing, self.options = ignore_index, label_smoothing, options
        self.linear = Linear(in_features, num_classes * prod(out_features), bias, device, dtype)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        scores = (self.num_classes, *self.out_features)
        bias = self.linear.bias
        return F.linear_cross_entropy(
            input,
            self.linear.weight.reshape(*scores, self.linear.in_features),
            target,
            linear_bias=None if bias is None else bias.reshape(scores),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        told = {"in_features": self.linear.in_features, "num_classes": self.num_classes, "out_features": self.out_features,
                "bias": self.linear.bias is not None}  # fmt: skip
        for name in ("reduction", "ignore_index", "label_smoothing", "options"):
            told[name] = getattr(self, name)
        return ", ".join(f"{name}={value}" for name, value in told.items())
