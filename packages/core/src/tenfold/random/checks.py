"""What samplers refuse, with PyTorch's exception types, and the facts about dtypes that they ask for."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import DTypeLike, NDArray

Array = NDArray[Any]


def greatest(dtype: np.dtype[Any]) -> float:
    """The greatest finite number of a floating point dtype."""
    return float(ml_dtypes.finfo(dtype).max)  # type: ignore[no-untyped-call]


def least(dtype: np.dtype[Any]) -> float:
    """The least positive normal number of a floating point dtype."""
    return float(ml_dtypes.finfo(dtype).tiny)  # type: ignore[no-untyped-call]


def floating(name: str, dtype: DTypeLike) -> np.dtype[Any]:
    dtype = np.dtype(dtype)
    if dtype.kind in "fc" or dtype == ml_dtypes.bfloat16:
        return dtype
    raise NotImplementedError(f"{name}: got dtype {dtype}, accepted are floating point and complex dtypes")


def real_floating(name: str, dtype: DTypeLike) -> np.dtype[Any]:
    dtype = np.dtype(dtype)
    if dtype.kind == "f" or dtype == ml_dtypes.bfloat16:
        return dtype
    raise RuntimeError(f"{name}: got dtype {dtype}, the distribution is continuous and needs a floating point dtype")


def precision(dtype: np.dtype[Any]) -> int:
    """The bits of a float's significand: whole numbers up to two to that power are exact."""
    return int(ml_dtypes.finfo(real_floating("random integers", dtype)).nmant) + 1  # type: ignore[no-untyped-call]


def real_part(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(f"f{dtype.itemsize // 2}")


def check_interval(low: float, high: float, dtype: np.dtype[Any]) -> None:
    limit = greatest(dtype)
    if not (-limit <= low <= limit and -limit <= high <= limit):
        raise RuntimeError(f"uniform: got [{low}, {high}), which is outside the range of {dtype}")
    if low > high:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={low} > to={high}")
    if high - low > limit:
        raise RuntimeError(
            f"uniform_ expects to-from <= std::numeric_limits<{dtype}>::max(), but found to={high} and from={low} which "
            f"result in to-from to exceed the limit"
        )


def check_range(first: int, last: int, dtype: np.dtype[Any]) -> None:
    """Refuse integers beyond the dtype's least and greatest number."""
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        least, most = int(info.min), int(info.max)
    elif dtype == np.bool_:
        least, most = 0, 1
    else:
        most = int(greatest(real_floating("random integers", dtype)))
        least = -most
    for name, value in (("from", first), ("to - 1", last)):
        if not least <= value <= most:
            raise RuntimeError(f"random: {name} is out of bounds for {dtype}: {value} is not from {least} to {most}")
    exact = 2 ** precision(dtype) if dtype.kind not in "iub" else None
    for name, value in (("from", first), ("to - 1", last)):
        if exact is not None and abs(value) > exact:
            warnings.warn(
                f"{name} is out of bounds [-(2^{precision(dtype)}), 2^{precision(dtype)}]. Due to precision limitations {dtype} "
                f"can support discrete uniform distribution only within this range.",
                UserWarning,
                stacklevel=2,
            )


def check_multinomial(shape: Sequence[int], dtype: np.dtype[Any], num_samples: int, replacement: bool) -> None:
    """Refuse what no weights of this shape and dtype allow."""
    if dtype.kind not in "fV" or len(shape) not in (1, 2):
        raise RuntimeError(f"multinomial: got {len(shape)} dimensions of {dtype}, accepted are 1 or 2 of floats")
    if num_samples <= 0:
        raise RuntimeError(f"multinomial: cannot sample n_sample <= 0 samples, got {num_samples}")
    if not replacement and num_samples > shape[-1]:
        raise RuntimeError(
            f"multinomial: cannot sample n_sample > prob_dist.size(-1) samples without replacement, got {num_samples} of "
            f"{shape[-1]}"
        )


def check_weights(weights: Array) -> None:
    if not ((weights >= 0) & (weights < np.inf)).all():
        raise RuntimeError("multinomial: probability tensor contains either `inf`, `nan` or element < 0")
    if (weights.sum(axis=-1, dtype=np.float64) == 0).any():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
