"""How losses are reduced: each by itself, their mean, their sum."""

from __future__ import annotations

import warnings
from typing import Any

from tenfold.tensor.tensor import Tensor

REDUCTIONS = ("none", "mean", "sum")


def reduction_of(name: str, size_average: Any, reduce: Any, reduction: str) -> str:
    """The reduction, also from PyTorch's two deprecated flags; ValueError for an unknown one."""
    if size_average is not None or reduce is not None:
        parts, total = (flag is not None and not flag for flag in (reduce, size_average))
        by_flags = "none" if parts else "sum" if total else "mean"
        warnings.warn(
            f"{name}: size_average and reduce args will be deprecated, please use reduction='{by_flags}' instead.", stacklevel=4
        )
        return by_flags
    if reduction not in REDUCTIONS:
        raise ValueError(f"{name}: {reduction} is not a valid value for reduction; it must be one of {', '.join(REDUCTIONS)}")
    return reduction


def reduced(losses: Tensor, reduction: str) -> Tensor:
    """The losses themselves, their mean or their sum."""
    if reduction == "none":
        return losses
    return losses.mean() if reduction == "mean" else losses.sum()
