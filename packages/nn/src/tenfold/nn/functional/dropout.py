"""Dropout under the names and signatures of `torch.nn.functional`.

Source: Srivastava et al., "Dropout", 2014; Tompson et al., 2015 (whole channels); Klambauer et al., 2017 (alpha).
"""

from __future__ import annotations

import warnings
from typing import Any

import tenfold as tf
from tenfold.tensor.tensor import Tensor

__all__ = ["alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]


def _stays(input: Any, p: float, training: bool) -> bool:
    """Whether the form in place leaves a tensor unwritten: what the operator before it saved for its gradient stays valid."""
    return isinstance(input, Tensor) and not input._key.override and 0 <= p <= 1 and (p == 0 or not training)


def _run(plain: Any, input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    if p < 0.0 or p > 1.0:  # nan is refused further down
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if inplace and _stays(input, p, training):
        return input
    name = plain.op.name
    return getattr(tf, name + "_" if inplace else name)(input, p, training)  # type: ignore[no-any-return]


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In training, zero each element with probability p and divide the others by 1 - p.

    >>> from tenfold.nn.functional import dropout
    >>> import tenfold
    >>> dropout(tenfold.ones(2), 0.5, training=False)
    tensor([1., 1.])
    """
    return _run(tf.dropout, input, p, training, inplace)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps the mean and variance of SELU's outputs."""
    return _run(tf.alpha_dropout, input, p, training, inplace)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """`alpha_dropout` of whole channels."""
    return _run(tf.feature_alpha_dropout, input, p, training, inplace)


def _of_channels(name: str, n: int, input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    if input.dim() not in (n + 1, n + 2):
        if n == 1:
            raise RuntimeError(
                f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. Note that dropout1d exists to do "
                f"channel-wise dropout on inputs with 1 spatial dimension and an optional batch dimension."
            )
        warnings.warn(
            f"{name}: Received a {input.dim()}-D input to {name}, which is deprecated and will result in an error in a future "
            f"release. Channels are dropped of inputs with {n} spatial dimensions, with or without a batch.",
            stacklevel=3,
        )
    if n == 2 and input.dim() == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired - "
            "input is interpreted as shape (N, C, L). Use dropout1d for that.",
            stacklevel=3,
        )
    if (n == 1 and input.dim() == n + 1) or (n == 3 and input.dim() == n + 1):
        dropped = _run(tf.feature_dropout, input.unsqueeze_(0) if inplace else input.unsqueeze(0), p, training, inplace)
        return dropped.squeeze_(0) if inplace else dropped.squeeze(0)
    return _run(tf.feature_dropout, input, p, training, inplace)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of (N, C, L) or (C, L)."""
    return _of_channels("dropout1d", 1, input, p, training, inplace)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of (N, C, H, W); as in PyTorch, (N, C, L) counts as a batch too."""
    return _of_channels("dropout2d", 2, input, p, training, inplace)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of (N, C, D, H, W) or (C, D, H, W)."""
    return _of_channels("dropout3d", 3, input, p, training, inplace)
