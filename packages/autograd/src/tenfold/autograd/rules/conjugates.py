"""Complex conjugates in gradients of what may be real, a number too."""

from __future__ import annotations

from typing import Any


def is_complex(x: Any) -> bool:
    """Whether a tensor or number is complex."""
    return bool(x.dtype.is_complex) if hasattr(x, "_array") else isinstance(x, complex)


def conj(x: Any) -> Any:
    """The complex conjugate; real tensors and numbers are their own."""
    if hasattr(x, "_array"):
        return x.conj() if x._array.dtype.kind in "cV" else x  # V: ml_dtypes' reals, and complex32
    return x.conjugate()
