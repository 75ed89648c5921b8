"""Normalizations that take the number of channels from their first input."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.nn.layers.norm import layers as normalization
from tenfold.nn.lazy import LazyModuleMixin
from tenfold.nn.parameter import UninitializedBuffer, UninitializedParameter


class _LazyNorm(LazyModuleMixin, normalization._NormBase):
    """What a lazy normalization adds to the one it becomes."""

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False, device, dtype)
        self.affine, self.track_running_stats = affine, track_running_stats
        if affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                self.bias = UninitializedParameter(device=device, dtype=dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = tenfold.tensor(0, dtype=tenfold.long, device=device)

    def reset_parameters(self) -> None:
        """Sets statistics and parameters to their first values, once they have a shape."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Takes num_features from dimension 1 of `input`."""
        if not self.has_uninitialized_params():
            return
        self.num_features = input.shape[1]
        waiting: tuple[Any, ...] = (self.weight, self.bias, self.running_mean, self.running_var)
        for tensor in waiting:
            if tensor is not None:
                tensor.materialize((self.num_features,))
        self.reset_parameters()


class LazyBatchNorm1d(_LazyNorm, normalization.BatchNorm1d):
    """A `BatchNorm1d` that takes `num_features` from its first input.

    >>> layer = LazyBatchNorm1d()
    >>> list(layer(tenfold.ones(2, 3, 4)).shape), layer.num_features
    ([2, 3, 4], 3)
    """

    cls_to_become = normalization.BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, normalization.BatchNorm2d):
    """A `BatchNorm2d` that takes `num_features` from its first input.

    >>> layer = LazyBatchNorm2d()
    >>> list(layer(tenfold.ones(2, 3, 4, 4)).shape), layer.num_features
    ([2, 3, 4, 4], 3)
    """

    cls_to_become = normalization.BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, normalization.BatchNorm3d):
    """A `BatchNorm3d` that takes `num_features` from its first input.

    >>> layer = LazyBatchNorm3d()
    >>> list(layer(tenfold.ones(2, 3, 4, 4, 4)).shape), layer.num_features
    ([2, 3, 4, 4, 4], 3)
    """

    cls_to_become = normalization.BatchNorm3d


class LazyInstanceNorm1d(_LazyNorm, normalization.InstanceNorm1d):
    """A `InstanceNorm1d` that takes `num_features` from its first input.

    >>> layer = LazyInstanceNorm1d()
    >>> list(layer(tenfold.ones(2, 3, 4)).shape), layer.num_features
    ([2, 3, 4], 3)
    """

    cls_to_become = normalization.InstanceNorm1d


class LazyInstanceNorm2d(_LazyNorm, normalization.InstanceNorm2d):
    """A `InstanceNorm2d` that takes `num_features` from its first input.

    >>> layer = LazyInstanceNorm2d()
    >>> list(layer(tenfold.ones(2, 3, 4, 4)).shape), layer.num_features
    ([2, 3, 4, 4], 3)
    """

    cls_to_become = normalization.InstanceNorm2d


class LazyInstanceNorm3d(_LazyNorm, normalization.InstanceNorm3d):
    """A `InstanceNorm3d` that takes `num_features` from its first input.

    >>> layer = LazyInstanceNorm3d()
    >>> list(layer(tenfold.ones(2, 3, 4, 4, 4)).shape), layer.num_features
    ([2, 3, 4, 4, 4], 3)
    """

    cls_to_become = normalization.InstanceNorm3d
