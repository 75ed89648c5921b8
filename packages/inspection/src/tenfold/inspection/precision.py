"""PyTorch's switch for products of float32 matrices: kept for programs that set it, products here are exact to float32."""

from __future__ import annotations

_LEVELS = ("highest", "high", "medium")
_state = {"level": "highest"}


def set_float32_matmul_precision(precision: str) -> None:
    """Say how exact products of float32 matrices have to be: "highest", "high" or "medium"; all are "highest" here.

    >>> set_float32_matmul_precision("high")
    >>> get_float32_matmul_precision()
    'high'
    >>> set_float32_matmul_precision("highest")
    """
    if precision not in _LEVELS:
        raise RuntimeError(f"set_float32_matmul_precision: expected one of {', '.join(_LEVELS)}, got {precision!r}")
    _state["level"] = precision


def get_float32_matmul_precision() -> str:
    """What `set_float32_matmul_precision` said."""
    return _state["level"]
