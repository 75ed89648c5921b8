"""Padding: the input with a border."""

from __future__ import annotations

from typing import Any, ClassVar

from tenfold import Tensor
from tenfold.nn import functional as F
from tenfold.nn.layers.sizes import as_tuple
from tenfold.nn.module import Module


class _PaddingNd(Module):
    """A padding of the last `ndim` dimensions; `padding` is one size or (before, after) pairs, last dimension first."""

    ndim: ClassVar[int]
    mode: ClassVar[str] = "constant"
    padding: tuple[int, ...]

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = as_tuple(padding, 2 * self.ndim)

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ZeroPad:
    """Makes the constant padding behind it in the bases one with zeros."""

    padding: tuple[int, ...]

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)  # type: ignore[call-arg] # a _ConstantPadNd follows

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPadNd(_PaddingNd):
    """Padding with one value."""

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class _CircularPadNd(_PaddingNd):
    """Padding with the values of the other end, which needs an input of `ndim` + 1 or + 2 dimensions."""

    mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() not in (self.ndim + 1, self.ndim + 2):
            raise ValueError(
                f"{type(self).__name__}: expected {self.ndim + 1}D or {self.ndim + 2}D input (got {input.dim()}D input)"
            )
        return F.pad(input, self.padding, "circular")


class ConstantPad1d(_ConstantPadNd):
    """Pads a sequence with `value`. Shape: (N, C, L) or (C, L) -> (N, C, L') or (C, L').

    >>> import tenfold
    >>> ConstantPad1d((1, 0), 9.0)(tenfold.tensor([[1.0]])).tolist()
    [[9.0, 1.0]]
    """

    ndim = 1


class ZeroPad1d(_ZeroPad, ConstantPad1d):
    """Pads a sequence with zeros. Shape: (N, C, L) or (C, L) -> (N, C, L') or (C, L').

    >>> import tenfold
    >>> ZeroPad1d(1)(tenfold.tensor([[1.0, 2.0]])).tolist()
    [[0.0, 1.0, 2.0, 0.0]]
    """


class ReflectionPad1d(_PaddingNd):
    """Pads a sequence with its mirror image, the edge value not repeated. Shape: (N, C, L) or (C, L) -> (N, C, L') or
    (C, L').

    >>> import tenfold
    >>> ReflectionPad1d(1)(tenfold.tensor([[1.0, 2.0, 3.0]])).tolist()
    [[2.0, 1.0, 2.0, 3.0, 2.0]]
    """

    ndim = 1
    mode = "reflect"


class ReplicationPad1d(_PaddingNd):
    """Pads a sequence with its edge values. Shape: (N, C, L) or (C, L) -> (N, C, L') or (C, L').

    >>> import tenfold
    >>> ReplicationPad1d(1)(tenfold.tensor([[1.0, 2.0]])).tolist()
    [[1.0, 1.0, 2.0, 2.0]]
    """

    ndim = 1
    mode = "replicate"


class CircularPad1d(_CircularPadNd):
    """Pads a sequence with the values of its other end. Shape: (N, C, L) or (C, L) -> (N, C, L') or (C, L').

    >>> import tenfold
    >>> CircularPad1d(1)(tenfold.tensor([[1.0, 2.0, 3.0]])).tolist()
    [[3.0, 1.0, 2.0, 3.0, 1.0]]
    """

    ndim = 1


class ConstantPad2d(_ConstantPadNd):
    """Pads an image with `value`. Shape: (N, C, H, W) or (C, H, W) -> (N, C, H', W') or (C, H', W').

    >>> import tenfold
    >>> ConstantPad2d((1, 0, 0, 1), 9.0)(tenfold.tensor([[[1.0, 2.0]]])).tolist()
    [[[9.0, 1.0, 2.0], [9.0, 9.0, 9.0]]]
    """

    ndim = 2


class ZeroPad2d(_ZeroPad, ConstantPad2d):
    """Pads an image with zeros. Shape: (N, C, H, W) or (C, H, W) -> (N, C, H', W') or (C, H', W').

    >>> import tenfold
    >>> ZeroPad2d((1, 0, 0, 1))(tenfold.tensor([[[1.0, 2.0]]])).tolist()
    [[[0.0, 1.0, 2.0], [0.0, 0.0, 0.0]]]
    """


class ReflectionPad2d(_PaddingNd):
    """Pads an image with its mirror image, the edge value not repeated. Shape: (N, C, H, W) or (C, H, W) -> (N, C, H',
    W') or (C, H', W').

    >>> import tenfold
    >>> ReflectionPad2d((0, 1, 1, 0))(tenfold.tensor([[[1.0, 2.0], [3.0, 4.0]]])).tolist()
    [[[3.0, 4.0, 3.0], [1.0, 2.0, 1.0], [3.0, 4.0, 3.0]]]
    """

    ndim = 2
    mode = "reflect"


class ReplicationPad2d(_PaddingNd):
    """Pads an image with its edge values. Shape: (N, C, H, W) or (C, H, W) -> (N, C, H', W') or (C, H', W').

    >>> import tenfold
    >>> ReplicationPad2d((0, 1, 1, 0))(tenfold.tensor([[[1.0, 2.0]]])).tolist()
    [[[1.0, 2.0, 2.0], [1.0, 2.0, 2.0]]]
    """

    ndim = 2
    mode = "replicate"


class CircularPad2d(_CircularPadNd):
    """Pads an image with the values of its other end. Shape: (N, C, H, W) or (C, H, W) -> (N, C, H', W') or (C, H', W').

    >>> import tenfold
    >>> CircularPad2d((1, 1, 0, 0))(tenfold.tensor([[[1.0, 2.0, 3.0]]])).tolist()
    [[[3.0, 1.0, 2.0, 3.0, 1.0]]]
    """

    ndim = 2


class ConstantPad3d(_ConstantPadNd):
    """Pads a volume with `value`. Shape: (N, C, D, H, W) or (C, D, H, W) -> (N, C, D', H', W') or (C, D', H', W').

    >>> import tenfold
    >>> list(ConstantPad3d(1, 9.0)(tenfold.ones(2, 1, 2, 3)).shape)
    [2, 3, 4, 5]
    """

    ndim = 3


class ZeroPad3d(_ZeroPad, ConstantPad3d):
    """Pads a volume with zeros. Shape: (N, C, D, H, W) or (C, D, H, W) -> (N, C, D', H', W') or (C, D', H', W').

    >>> import tenfold
    >>> list(ZeroPad3d((1, 0, 0, 1, 0, 0))(tenfold.ones(2, 1, 2, 3)).shape)
    [2, 1, 3, 4]
    """


class ReflectionPad3d(_PaddingNd):
    """Pads a volume with its mirror image, the edge value not repeated. Shape: (N, C, D, H, W) or (C, D, H, W) -> (N,
    C, D', H', W') or (C, D', H', W').

    >>> import tenfold
    >>> list(ReflectionPad3d(1)(tenfold.ones(2, 2, 3, 4)).shape)
    [2, 4, 5, 6]
    """

    ndim = 3
    mode = "reflect"


class ReplicationPad3d(_PaddingNd):
    """Pads a volume with its edge values. Shape: (N, C, D, H, W) or (C, D, H, W) -> (N, C, D', H', W') or (C, D', H', W').

    >>> import tenfold
    >>> list(ReplicationPad3d(1)(tenfold.ones(2, 1, 2, 3)).shape)
    [2, 3, 4, 5]
    """

    ndim = 3
    mode = "replicate"


class CircularPad3d(_CircularPadNd):
    """Pads a volume with the values of its other end. Shape: (N, C, D, H, W) or (C, D, H, W) -> (N, C, D', H', W') or
    (C, D', H', W').

    >>> import tenfold
    >>> list(CircularPad3d(1)(tenfold.ones(2, 1, 2, 3)).shape)
    [2, 3, 4, 5]
    """

    ndim = 3
