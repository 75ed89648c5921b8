"""PyTorch's switches of precision, kept for programs that set them: products are exact to float32, no number is flushed to 0."""

from __future__ import annotations

_LEVELS = ("highest", "high", "medium")
_state = {"level": "highest"}
# What `fp32_precision` of each part of the libraries was set to (tenfold.backends).
OWN = dict.fromkeys(("generic", "cuda", "matmul", "conv", "rnn"), "none")


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
    OWN["matmul"] = "ieee" if precision == "highest" else "tf32"


def follow(value: str) -> None:
    """Let the level be what `fp32_precision` of products says."""
    _state["level"] = "high" if value in ("tf32", "bf16") else "highest"


def get_float32_matmul_precision() -> str:
    """What `set_float32_matmul_precision` said."""
    return _state["level"]


def set_flush_denormal(mode: bool, /) -> bool:
    """Whether numbers below the smallest normal one are taken for 0 from now on: they never are, so that `True` is not heeded.

    >>> set_flush_denormal(True)
    False
    """
    if not isinstance(mode, bool):
        raise RuntimeError(f"set_flush_denormal expects a bool, but got {type(mode).__name__}")
    return not mode
