"""Pooling: one value for every window of the input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from tenfold import Tensor
from tenfold.nn import functional as F
from tenfold.nn.layers.sizes import as_tuple
from tenfold.nn.module import Module


class _MaxPoolNd(Module):
    """Options of the max poolings."""

    pool: ClassVar[str]

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, input: Tensor) -> Any:
        return getattr(F, self.pool)(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices
        )

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, dilation={self.dilation}, "
            f"ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPoolNd):
    """The greatest value of every window over a sequence. Shape: (N, C, L) or (C, L) -> (N, C, L') or (C, L').

    L' = floor((L + 2 padding - dilation (kernel_size - 1) - 1) / stride) + 1, ceil instead with `ceil_mode`. With
    `return_indices` the result is (values, indices) as `MaxUnpool1d` takes them.

    >>> import tenfold
    >>> MaxPool1d(2)(tenfold.arange(4.0).reshape(1, 4)).tolist()
    [[1.0, 3.0]]
    """

    pool = "max_pool1d"


class MaxPool2d(_MaxPoolNd):
    """The greatest value of every window over an image. Shape: (N, C, H, W) or (C, H, W) -> (N, C, H', W') or (C, H', W').

    Sizes and `return_indices` as for `MaxPool1d`.

    >>> import tenfold
    >>> MaxPool2d(2)(tenfold.arange(16.0).reshape(1, 4, 4)).tolist()
    [[[5.0, 7.0], [13.0, 15.0]]]
    """

    pool = "max_pool2d"


class MaxPool3d(_MaxPoolNd):
    """The greatest value of every window over a volume. Shape: (N, C, D, H, W) or (C, D, H, W) -> (N, C, D', H', W') or
    (C, D', H', W').

    Sizes and `return_indices` as for `MaxPool1d`.

    >>> import tenfold
    >>> MaxPool3d(2)(tenfold.arange(8.0).reshape(1, 2, 2, 2)).tolist()
    [[[[7.0]]]]
    """

    pool = "max_pool3d"


class _MaxUnpoolNd(Module):
    """Options of the inverses of max pooling."""

    ndim: ClassVar[int]
    unpool: ClassVar[str]

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = as_tuple(kernel_size, self.ndim)
        self.stride = as_tuple(kernel_size if stride is None else stride, self.ndim)
        self.padding = as_tuple(padding, self.ndim)

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        unpool: Callable[..., Tensor] = getattr(F, self.unpool)
        return unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """Puts pooled values back at the indices `MaxPool1d` gave, zeros elsewhere. Shape: (N, C, L') -> (N, C, L).

    `forward(input, indices, output_size)` picks one of the sizes that pool to the same.

    >>> import tenfold
    >>> from tenfold import nn
    >>> pooled, places = nn.MaxPool1d(2, return_indices=True)(tenfold.arange(4.0).reshape(1, 4))
    >>> MaxUnpool1d(2)(pooled, places).tolist()
    [[0.0, 1.0, 0.0, 3.0]]
    """

    ndim = 1
    unpool = "max_unpool1d"


class MaxUnpool2d(_MaxUnpoolNd):
    """Puts pooled values back at the indices `MaxPool2d` gave, zeros elsewhere. Shape: (N, C, H', W') -> (N, C, H, W).

    `forward(input, indices, output_size)` picks one of the sizes that pool to the same.

    >>> import tenfold
    >>> from tenfold import nn
    >>> pooled, places = nn.MaxPool2d(2, return_indices=True)(tenfold.arange(4.0).reshape(1, 2, 2))
    >>> MaxUnpool2d(2)(pooled, places).tolist()
    [[[0.0, 0.0], [0.0, 3.0]]]
    """

    ndim = 2
    unpool = "max_unpool2d"


class MaxUnpool3d(_MaxUnpoolNd):
    """Puts pooled values back at the indices `MaxPool3d` gave, zeros elsewhere. Shape: (N, C, D', H', W') -> (N, C, D, H, W).

    `forward(input, indices, output_size)` picks one of the sizes that pool to the same.

    >>> import tenfold
    >>> from tenfold import nn
    >>> pooled, places = nn.MaxPool3d(2, return_indices=True)(tenfold.arange(8.0).reshape(1, 2, 2, 2))
    >>> MaxUnpool3d(2)(pooled, places).flatten().tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 7.0]
    """

    ndim = 3
    unpool = "max_unpool3d"


class AvgPool1d(Module):
    """The mean of every window over a sequence. Shape: (N, C, L) or (C, L) -> (N, C, L') or (C, L').

    L' = floor((L + 2 padding - kernel_size) / stride) + 1, ceil instead with `ceil_mode`.

    >>> import tenfold
    >>> AvgPool1d(2)(tenfold.tensor([[1.0, 3.0, 5.0, 7.0]])).tolist()
    [[2.0, 6.0]]
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = as_tuple(kernel_size, 1)
        self.stride = as_tuple(kernel_size if stride is None else stride, 1)
        self.padding = as_tuple(padding, 1)
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class _AvgPoolNd(Module):
    """Options of the average poolings over 2 and 3 dimensions."""

    pool: ClassVar[str]

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding, self.ceil_mode = padding, ceil_mode
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override

    def forward(self, input: Tensor) -> Tensor:
        pool: Callable[..., Tensor] = getattr(F, self.pool)
        return pool(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool2d(_AvgPoolNd):
    """The mean of every window over an image. Shape: (N, C, H, W) or (C, H, W) -> (N, C, H', W') or (C, H', W').

    Sizes as for `AvgPool1d`; `divisor_override` divides the sums by another number than the window's size.

    >>> import tenfold
    >>> AvgPool2d(2)(tenfold.arange(8.0).reshape(1, 2, 4)).tolist()
    [[[2.5, 4.5]]]
    """

    pool = "avg_pool2d"


class AvgPool3d(_AvgPoolNd):
    """The mean of every window over a volume. Shape: (N, C, D, H, W) or (C, D, H, W) -> (N, C, D', H', W') or (C, D',
    H', W').

    Sizes as for `AvgPool1d`; `divisor_override` divides the sums by another number than the window's size.

    >>> import tenfold
    >>> AvgPool3d(2)(tenfold.arange(8.0).reshape(1, 2, 2, 2)).tolist()
    [[[[3.5]]]]
    """

    pool = "avg_pool3d"


class _LPPoolNd(Module):
    """Options of the power-mean poolings."""

    pool: ClassVar[str]

    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        pool: Callable[..., Tensor] = getattr(F, self.pool)
        return pool(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self) -> str:
        return f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, ceil_mode={self.ceil_mode}"


class LPPool1d(_LPPoolNd):
    """(sum x^p)^(1/p), p = norm_type, of every window over a sequence. Shape: (N, C, L) or (C, L) -> (N, C, L') or (C, L').

    >>> import tenfold
    >>> LPPool1d(2, 2)(tenfold.tensor([[3.0, 4.0]])).tolist()
    [[5.0]]
    """

    pool = "lp_pool1d"


class LPPool2d(_LPPoolNd):
    """(sum x^p)^(1/p), p = norm_type, of every window over an image. Shape: (N, C, H, W) or (C, H, W) -> (N, C, H', W')
    or (C, H', W').

    >>> import tenfold
    >>> LPPool2d(2, 2)(tenfold.ones(1, 2, 4)).tolist()
    [[[2.0, 2.0]]]
    """

    pool = "lp_pool2d"


class LPPool3d(_LPPoolNd):
    """(sum x^p)^(1/p), p = norm_type, of every window over a volume. Shape: (N, C, D, H, W) or (C, D, H, W) -> (N, C,
    D', H', W') or (C, D', H', W').

    >>> import tenfold
    >>> LPPool3d(1, 2)(tenfold.ones(1, 2, 2, 2)).tolist()
    [[[[8.0]]]]
    """

    pool = "lp_pool3d"


class _FractionalMaxPoolNd(Module):
    """Options of the max poolings with windows at random places."""

    ndim: ClassVar[int]
    pool: ClassVar[str]

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio; got neither")
        if output_size is not None and output_ratio is not None:
            raise ValueError(f"{name}: only one of output_size and output_ratio may be specified, got both")
        self.kernel_size = as_tuple(kernel_size, self.ndim)
        self.return_indices = return_indices
        self.output_size = None if output_size is None else as_tuple(output_size, self.ndim)
        self.output_ratio = None if output_ratio is None else as_tuple(output_ratio, self.ndim)
        self.register_buffer("_random_samples", _random_samples)
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"{name}: output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Any:
        return getattr(F, self.pool)(
            input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples
        )


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """Max pooling over an image to any smaller size, windows spaced at random. Shape: (N, C, H, W) or (C, H, W) -> (N,
    C, H', W') or (C, H', W').

    The size is `output_size` or the fraction `output_ratio` of the input's. Raises ValueError unless exactly one is given.
    Source: Graham 2014.

    >>> import tenfold
    >>> list(FractionalMaxPool2d(2, output_size=3)(tenfold.ones(1, 7, 7)).shape)
    [1, 3, 3]
    """

    ndim = 2
    pool = "fractional_max_pool2d"


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """Max pooling over a volume to any smaller size, windows spaced at random. Shape: (N, C, D, H, W) or (C, D, H, W)
    -> (N, C, D', H', W') or (C, D', H', W').

    The size is `output_size` or the fraction `output_ratio` of the input's. Raises ValueError unless exactly one is given.
    Source: Graham 2014.

    >>> import tenfold
    >>> list(FractionalMaxPool3d(2, output_ratio=0.5)(tenfold.ones(1, 8, 8, 8)).shape)
    [1, 4, 4, 4]
    """

    ndim = 3
    pool = "fractional_max_pool3d"
