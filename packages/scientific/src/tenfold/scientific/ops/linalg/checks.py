"""What the linear algebra operators ask of their arguments, and how they report a matrix that has no result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold.settings.warnings import warn_once
from tenfold.tensor.tensor import host


class LinAlgError(RuntimeError):
    """The matrix has no such result: it is singular, not positive definite, or the iteration did not converge."""


LinAlgError.__module__ = "tenfold.linalg"


def require_floating(name: str, *arrays: Any) -> None:
    """Refuse integers, and half precision, for which no factorisation exists; arrays, Metas or tensors."""
    for a in arrays:
        dtype = getattr(a.dtype, "numpy", a.dtype)
        if dtype.kind not in "fcV":
            raise RuntimeError(
                f"{name}: Expected a floating point or complex tensor as input. Got {dtype}; convert with .float()"
            )
        if dtype.itemsize == 2 or dtype.kind == "V":
            raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {dtype}; convert with .float()")


def require_matrix(name: str, a: Any, letter: str = "A") -> None:
    """Refuse what is no matrix or batch of matrices of a dtype that can be factorised."""
    if len(a.shape) < 2:
        raise RuntimeError(f"{name}: The input tensor {letter} must have at least 2 dimensions, got shape {list(a.shape)}")
    require_floating(name, a)


def require_square(name: str, a: Any, letter: str = "A") -> None:
    """Refuse what is no square matrix or batch of them."""
    require_matrix(name, a, letter)
    rows, columns = a.shape[-2:]
    if rows != columns:
        raise RuntimeError(f"{name}: {letter} must be batches of square matrices, but they are {rows} by {columns} matrices")


def same_dtype(name: str, a: Any, b: Any) -> None:
    """Refuse operands of two dtypes."""
    if a.dtype != b.dtype:
        raise RuntimeError(f"{name}: Expected both inputs to have the same dtype, but got {a.dtype} and {b.dtype}")


def real_dtype(dtype: Any) -> Any:
    """The NumPy dtype of a number's parts: float32 for complex64."""
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype


def numbers(tensor: Any) -> Any:
    """The elements as a NumPy array; inside vmap those of all examples, where one decision serves them all."""
    while tensor._key.level is not None:
        tensor = tensor._key.transform.unwrap(tensor)[0]
    return tensor._array if type(tensor._array) is np.ndarray else host(tensor.detach())


def raise_if_failed(name: str, info: Any, say: Callable[[int], str]) -> None:
    """Raise LinAlgError for the first matrix of the batch whose `info` is not zero; a meta tensor has nothing to read."""
    if info.is_meta:
        return
    codes = numbers(info)
    if not np.count_nonzero(codes):
        return
    failed = np.flatnonzero(codes)
    if failed.size:
        where = f"(Batch element {failed[0]}): " if codes.ndim else ""
        raise LinAlgError(f"{name}: {where}{say(int(codes.reshape(-1)[failed[0]]))}")


def warn_of_older(name: str, instead: str, difference: str) -> None:
    """Say once that a function is the older name of one in `linalg`, and how the two differ."""
    warn_once(
        name,
        f"torch.{name} is deprecated in favor of torch.{instead} and will be removed in a future PyTorch release. {difference}",
        stacklevel=4,
    )
