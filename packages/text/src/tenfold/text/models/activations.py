"""Activations by the names in published configurations."""

from __future__ import annotations

from collections.abc import Callable

import tenfold
from tenfold import Tensor
from tenfold.nn import functional as F


def _gelu_tanh(x: Tensor) -> Tensor:
    return F.gelu(x, approximate="tanh")


def _quick_gelu(x: Tensor) -> Tensor:
    return x * tenfold.sigmoid(1.702 * x)


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": F.gelu,
    "gelu_new": _gelu_tanh,
    "gelu_pytorch_tanh": _gelu_tanh,
    "gelu_fast": _gelu_tanh,
    "quick_gelu": _quick_gelu,
    "relu": F.relu,
    "silu": F.silu,
    "swish": F.silu,
    "tanh": tenfold.tanh,
}


def activation(name: str) -> Callable[[Tensor], Tensor]:
    """The function of this name.

    Raises: ValueError for an unknown one.
    """
    if name not in ACTIVATIONS:
        raise ValueError(f"activation {name!r} is unknown; there are {', '.join(ACTIVATIONS)}")
    return ACTIVATIONS[name]
