"""PyTorch's path of the numbers behind a loss's `reduction`, which the losses of libraries hand to operators."""

from __future__ import annotations

import warnings

_NUMBERS = {"none": 0, "mean": 1, "sum": 2}


def get_enum(reduction: str) -> int:
    """The number of a reduction: none 0, mean 1, sum 2; raises ValueError for another word.

    >>> get_enum("sum")
    2
    """
    if reduction == "elementwise_mean":
        warnings.warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.", stacklevel=2)
        return 1
    if reduction not in _NUMBERS:
        raise ValueError(f"{reduction} is not a valid value for reduction; accepted are {', '.join(_NUMBERS)}")
    return _NUMBERS[reduction]


def legacy_get_string(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> str:
    """The reduction that the older arguments `size_average` and `reduce` ask for, each None counting as True.

    >>> legacy_get_string(False, None, emit_warning=False)
    'sum'
    """
    chosen = "none" if reduce is not None and not reduce else "mean" if size_average is None or size_average else "sum"
    if emit_warning:
        warnings.warn(f"size_average and reduce args will be deprecated, please use reduction='{chosen}' instead.", stacklevel=2)
    return chosen


def legacy_get_enum(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> int:
    """The number of `legacy_get_string`'s reduction."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
