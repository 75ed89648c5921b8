"""Dropout: noise in training that forbids units to rely on each other."""

from __future__ import annotations

from tenfold import Tensor
from tenfold.nn import functional as F
from tenfold.nn.module import Module


class _DropoutNd(Module):
    """The probability of a dropout, checked."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"{type(self).__name__}: dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """In training, zeroes each value with probability p and divides the others by 1 - p; in evaluation does nothing.
    Shape: any, kept.

    Raises ValueError unless 0 <= p <= 1. Source: Hinton et al. 2012.

    >>> import tenfold
    >>> Dropout(0.5).eval()(tenfold.ones(2)).tolist()
    [1.0, 1.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """Dropout of whole channels of a sequence. Shape: (N, C, L) or (C, L), kept.

    >>> import tenfold
    >>> layer = Dropout1d(0.5).eval()
    >>> layer(tenfold.ones(1, 2, 3)).tolist()
    [[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """Dropout of whole channels of an image. Shape: (N, C, H, W) or (N, C, L), kept. Source: Tompson et al. 2014.

    >>> import tenfold
    >>> layer = Dropout2d(0.5).eval()
    >>> layer(tenfold.ones(1, 2, 1, 3)).tolist()
    [[[[1.0, 1.0, 1.0]], [[1.0, 1.0, 1.0]]]]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """Dropout of whole channels of a volume. Shape: (N, C, D, H, W) or (C, D, H, W), kept.

    >>> import tenfold
    >>> layer = Dropout3d(0.5).eval()
    >>> layer(tenfold.ones(1, 2, 1, 1, 2)).tolist()
    [[[[[1.0, 1.0]]], [[[1.0, 1.0]]]]]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Dropout that keeps mean 0 and variance 1 of what `SELU` gives. Shape: any, kept. Source: Klambauer et al.
    2017.

    >>> import tenfold
    >>> layer = AlphaDropout(0.5).eval()
    >>> layer(tenfold.ones(3)).tolist()
    [1.0, 1.0, 1.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """Alpha dropout of whole channels. Shape: (N, C, ...), kept. Source: Klambauer et al. 2017.

    >>> import tenfold
    >>> layer = FeatureAlphaDropout(0.5).eval()
    >>> layer(tenfold.ones(1, 2, 1)).tolist()
    [[[1.0], [1.0]]]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.feature_alpha_dropout(input, self.p, self.training)
