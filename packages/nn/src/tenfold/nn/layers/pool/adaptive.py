"""Pooling to a fixed output size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from tenfold import Tensor
from tenfold.nn import functional as F
from tenfold.nn.module import Module


class _AdaptiveAvgPoolNd(Module):
    """Options of the average poolings to a fixed size."""

    pool: ClassVar[str]

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        pool: Callable[..., Tensor] = getattr(F, self.pool)
        return pool(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class _AdaptiveMaxPoolNd(Module):
    """Options of the max poolings to a fixed size."""

    pool: ClassVar[str]

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def forward(self, input: Tensor) -> Any:
        return getattr(F, self.pool)(input, self.output_size, self.return_indices)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """The mean of windows over a sequence that are sized to give `output_size`. Shape: (N, C, L) or (C, L) -> (N, C,
    L') or (C, L').

    >>> import tenfold
    >>> AdaptiveAvgPool1d(2)(tenfold.arange(4.0).reshape(1, 4)).tolist()
    [[0.5, 2.5]]
    """

    pool = "adaptive_avg_pool1d"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The greatest value of windows over a sequence that are sized to give `output_size`. Shape: (N, C, L) or (C, L) ->
    (N, C, L') or (C, L').

    >>> import tenfold
    >>> AdaptiveMaxPool1d(2)(tenfold.arange(4.0).reshape(1, 4)).tolist()
    [[1.0, 3.0]]
    """

    pool = "adaptive_max_pool1d"


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """The mean of windows over an image that are sized to give `output_size`. Shape: (N, C, H, W) or (C, H, W) -> (N,
    C, H', W') or (C, H', W').

    >>> import tenfold
    >>> AdaptiveAvgPool2d((1, 2))(tenfold.arange(8.0).reshape(1, 2, 4)).tolist()
    [[[2.5, 4.5]]]
    """

    pool = "adaptive_avg_pool2d"


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The greatest value of windows over an image that are sized to give `output_size`. Shape: (N, C, H, W) or (C, H,
    W) -> (N, C, H', W') or (C, H', W').

    >>> import tenfold
    >>> AdaptiveMaxPool2d((1, 2))(tenfold.arange(8.0).reshape(1, 2, 4)).tolist()
    [[[5.0, 7.0]]]
    """

    pool = "adaptive_max_pool2d"


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """The mean of windows over a volume that are sized to give `output_size`. Shape: (N, C, D, H, W) or (C, D, H, W) ->
    (N, C, D', H', W') or (C, D', H', W').

    >>> import tenfold
    >>> AdaptiveAvgPool3d(1)(tenfold.arange(8.0).reshape(1, 2, 2, 2)).tolist()
    [[[[3.5]]]]
    """

    pool = "adaptive_avg_pool3d"


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """The greatest value of windows over a volume that are sized to give `output_size`. Shape: (N, C, D, H, W) or (C,
    D, H, W) -> (N, C, D', H', W') or (C, D', H', W').

    >>> import tenfold
    >>> AdaptiveMaxPool3d(1)(tenfold.arange(8.0).reshape(1, 2, 2, 2)).tolist()
    [[[[7.0]]]]
    """

    pool = "adaptive_max_pool3d"
