"""Reading the sizes that callers give as one number or one for each dimension."""

from __future__ import annotations

from typing import Any


def per_dim(value: Any, ndim: int, what: str) -> tuple[int, ...]:
    """One integer for each of `ndim` dimensions; RuntimeError when the number of them is wrong."""
    if type(value) is int:
        return (value,) * ndim
    sizes = tuple(int(v) for v in value) if hasattr(value, "__len__") else (int(value),)
    if len(sizes) == ndim:
        return sizes
    if len(sizes) == 1:
        return sizes * ndim
    raise RuntimeError(f"{what} must be an int or a tuple of {ndim} ints, got {value!r}")


def conjugate(x: Any) -> Any:
    """The complex conjugate; real tensors as they are."""
    return x.conj() if x._array.dtype.kind == "c" else x


def widened(x: Any) -> Any:
    """float16 and bfloat16 tensors as float32, in which statistics are computed; others as they are."""
    import tenfold

    return x.to(tenfold.float32) if x._array.dtype.itemsize == 2 and x.dtype.is_floating_point else x
