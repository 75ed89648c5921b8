"""The Triton types of what a launch passes to a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenfold.cuda.kernels.generation import TRITON_TYPES
from tenfold.types.dtypes import BY_NAME

TYPE_OF = {BY_NAME[name].numpy: kind for name, kind in TRITON_TYPES.items()}


class Word(int):
    """A whole number that is 64 bits to a kernel whatever its value, such as a seed."""


def described(kernel: Any, arguments: Sequence[Any]) -> tuple[str, ...]:
    """The Triton types of a launch's arguments."""
    real = "fp64" if dict(kernel.fixed).get("DOUBLE") else "fp32"
    return tuple(
        [("i64" if abs(x) >= 2**31 else "i32") if type(x) is int else real if type(x) is float else _kind(x) for x in arguments]
    )


def _kind(x: Any) -> str:
    return "u64" if type(x) is Word else "*" + TYPE_OF[x.dtype]
