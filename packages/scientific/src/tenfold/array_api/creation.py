"""Making arrays."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.array_api.data_types import promoted


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Tensor:
    """An array of numbers, nested sequences, or whatever has DLPack or the buffer protocol; copied only where it has to be.

    Raises:
        ValueError: with `copy=False`, where a copy is needed.
    """
    if copy is not False:
        return tenfold.asarray(obj, dtype=dtype, device=device, copy=copy)
    if isinstance(obj, (bool, int, float, complex, list, tuple)):
        raise ValueError("asarray: Python numbers cannot be an array without a copy; leave copy=False out")
    x = tenfold.asarray(obj)
    if (dtype is not None and x.dtype is not dtype) or (device is not None and x.device != tenfold.device(device)):
        raise ValueError(f"asarray: {x.dtype} on {x.device} cannot be {dtype or x.dtype} on {device or x.device} without a copy")
    return x


def arange(
    start: float, /, stop: float | None = None, step: float = 1, *, dtype: Any = None, device: Any = None
) -> Tensor:  # fmt: skip
    """start, start + step, ... up to stop, which is not in it."""
    if stop is None:
        start, stop = 0, start
    if (stop - start) * step <= 0:
        whole = all(isinstance(v, int) for v in (start, stop, step))
        return tenfold.empty(0, dtype=dtype or (tenfold.int64 if whole else None), device=device)
    return tenfold.arange(start, stop, step, dtype=dtype, device=device)


def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """An array of numbers that are not set."""
    return tenfold.empty(shape, dtype=dtype, device=device)


def empty_like(x: Tensor, /, *, dtype: Any = None, device: Any = None) -> Tensor:
    """An array of another's shape, of numbers that are not set."""
    return tenfold.empty_like(x, dtype=dtype, device=device)


def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None) -> Tensor:
    """Ones on a diagonal, k above the main one, zeros elsewhere."""
    made = tenfold.zeros(n_rows, n_rows if n_cols is None else n_cols, dtype=dtype, device=device)
    if -made.shape[0] < k < made.shape[1]:
        made.diagonal(k).fill_(1)
    return made


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """An array on another library's memory, or of a copy of it."""
    made = tenfold.from_dlpack(x)
    if device is not None and made.device != tenfold.device(device):
        if copy is False:
            raise ValueError(f"from_dlpack: from {made.device} to {device} there is no way without a copy")
        return made.to(device)
    return made.clone() if copy else made


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """An array of one number."""
    return tenfold.full((shape,) if isinstance(shape, int) else tuple(shape), fill_value, dtype=dtype, device=device)


def full_like(x: Tensor, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """An array of another's shape, of one number."""
    return tenfold.full_like(x, fill_value, dtype=dtype, device=device)


def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None, endpoint: bool = True
) -> Tensor:  # fmt: skip
    """`num` numbers equally far apart; with `endpoint` the last is `stop`."""
    if endpoint:
        return tenfold.linspace(start, stop, num, dtype=dtype, device=device)
    return tenfold.linspace(start, stop, num + 1, dtype=dtype, device=device)[:num]


def meshgrid(*arrays: Tensor, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Coordinates of a grid from those along its axes."""
    if len({x.dtype for x in arrays}) > 1:
        dtype = arrays[0].dtype
        for x in arrays[1:]:
            dtype = promoted(dtype, x.dtype)
        arrays = tuple(x.to(dtype) for x in arrays)
    return tuple(tenfold.meshgrid(*arrays, indexing=indexing))


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """An array of ones."""
    return tenfold.ones(shape, dtype=dtype, device=device)


def ones_like(x: Tensor, /, *, dtype: Any = None, device: Any = None) -> Tensor:
    """An array of another's shape, of ones."""
    return tenfold.ones_like(x, dtype=dtype, device=device)


def tril(x: Tensor, /, *, k: int = 0) -> Tensor:
    """What is on and below a diagonal of each matrix, zeros above."""
    return tenfold.tril(x, k)


def triu(x: Tensor, /, *, k: int = 0) -> Tensor:
    """What is on and above a diagonal of each matrix, zeros below."""
    return tenfold.triu(x, k)


def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """An array of zeros."""
    return tenfold.zeros(shape, dtype=dtype, device=device)


def zeros_like(x: Tensor, /, *, dtype: Any = None, device: Any = None) -> Tensor:
    """An array of another's shape, of zeros."""
    return tenfold.zeros_like(x, dtype=dtype, device=device)
