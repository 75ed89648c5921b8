"""`torch.cond`: one of two functions, by a tensor's value. Nothing is recorded here, so that it is Python's own `if`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenfold import Tensor

__all__ = ["cond"]


def cond(pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: Sequence[Any] = ()) -> Any:
    """`true_fn(*operands)` if `pred` is true, otherwise `false_fn(*operands)`; gradients go through the one that ran.

    `pred` is a number or a tensor with one element. Differs from PyTorch: what the functions return is not compared.

    Raises: RuntimeError for another predicate; TypeError for what cannot be called.

    >>> import tenfold
    >>> cond(tenfold.tensor(False), tenfold.sin, tenfold.neg, (tenfold.ones(1),))
    tensor([-1.])
    """
    for name, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if not callable(function):
            raise TypeError(f"cond: {name} must be callable, but got {type(function).__name__}")
    if not isinstance(pred, (bool, int, float, Tensor)):
        raise RuntimeError(f"cond: Expected pred to be bool or tensor, but got {pred!r:.100}.")
    if isinstance(pred, Tensor) and pred.numel() != 1:
        raise RuntimeError(f"cond: Expected pred to be bool or single-element tensor, but got {pred!r:.100}.")
    if not isinstance(operands, (tuple, list)):
        raise RuntimeError(f"cond: Expected operands to be a tuple or list, but got {type(operands).__name__}.")
    return (true_fn if pred else false_fn)(*operands)
