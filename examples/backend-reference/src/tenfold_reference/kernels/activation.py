"""Activations that Tenfold declares as primitives; the others are bodies in elementwise operators."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tenfold_reference import numbers
from tenfold_reference.attach import attach
from tenfold_reference.loops import along, mapper


def softmax(xs: list[float]) -> list[float]:
    """exp(x) divided by the sum of all exp(x), shifted by the maximum so that none overflows."""
    peak = max(xs, key=lambda x: math.inf if x != x else x)
    powers = [numbers.exp(x - peak) for x in xs]
    total = sum(powers)
    return [power / total for power in powers]


def log_softmax(xs: list[float]) -> list[float]:
    peak = max(xs, key=lambda x: math.inf if x != x else x)
    rest = numbers.log(sum(numbers.exp(x - peak) for x in xs))
    return [x - peak - rest for x in xs]


ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "relu": lambda x: x if x != x else max(x, 0),
    "threshold_backward": lambda g, x, threshold: 0 if x <= threshold else g,
}
ALONG: dict[str, Callable[[list[float]], list[float]]] = {"softmax": softmax, "log_softmax": log_softmax}

attach(mapper, ELEMENTWISE)
attach(along, ALONG)
