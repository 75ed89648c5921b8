"""How much pruning takes away: what amounts and dimensions are accepted, and how many entries or channels an amount is."""

from __future__ import annotations

import numbers
from typing import Any

from tenfold import Tensor


def _validate_pruning_amount_init(amount: Any) -> None:
    """Raises TypeError for an amount that is no number, ValueError for a fraction outside [0, 1] or a negative number."""
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    value: Any = amount
    if value < 0 or (not isinstance(amount, numbers.Integral) and value > 1):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _validate_pruning_amount(amount: Any, tensor_size: int) -> None:
    """Raises ValueError for a number above `tensor_size`; a fraction always fits."""
    if isinstance(amount, numbers.Integral) and int(amount) > tensor_size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={tensor_size}")


def _validate_structured_pruning(t: Tensor) -> None:
    if t.dim() <= 1:
        raise ValueError(
            "Structured pruning can only be applied to multidimensional tensors. "
            f"Found tensor of shape {t.shape} with {t.dim()} dims"
        )


def _validate_pruning_dim(t: Tensor, dim: int) -> None:
    if not -t.dim() <= dim < t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


def _compute_nparams_toprune(amount: Any, tensor_size: int) -> int:
    """A number as it is, a fraction of `tensor_size` rounded to the nearest."""
    return int(amount) if isinstance(amount, numbers.Integral) else round(amount * tensor_size)
