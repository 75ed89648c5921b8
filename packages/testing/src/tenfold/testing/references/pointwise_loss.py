"""The losses that are one operator, each by the formula of the loss that it is of."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.testing.references import NO_REFERENCE, REFERENCES
from tenfold.testing.references.loss import (
    cross_entropy_of,
    hinge_embedding,
    huber,
    kl_div,
    poisson,
    ranking,
    with_logits,
)

Array = Any
KINDS: dict[str, Any] = {
    "square": lambda x, t, third, a, b: (x - t) ** 2,
    "absolute": lambda x, t, third, a, b: np.abs(x - t),
    "bent": lambda x, t, third, a, b: b / a * huber(x, t, a),
    "binary": lambda x, t, third, a, b: cross_entropy_of(x, t),
    "logits": lambda x, t, third, a, b: with_logits(x, t, third),
    "labels": lambda x, t, third, a, b: with_logits(x, t, third),
    "divergence": lambda x, t, third, a, b: kl_div(x, t, "none"),
    "log_divergence": lambda x, t, third, a, b: kl_div(x, t, "none", log_target=True),
    "soft_margin": lambda x, t, third, a, b: np.logaddexp(0, -t * x),
    "log_poisson": lambda x, t, third, a, b: poisson(x, t, reduction="none"),
    "poisson": lambda x, t, third, a, b: poisson(x, t, log_input=False, eps=a, reduction="none"),
    "full_log_poisson": lambda x, t, third, a, b: poisson(x, t, full=True, reduction="none"),
    "full_poisson": lambda x, t, third, a, b: poisson(x, t, log_input=False, full=True, eps=a, reduction="none"),
    "hinge": lambda x, t, third, a, b: hinge_embedding(x, t, a, "none"),
    "ranking": lambda x, t, third, a, b: ranking(x, t, third, a, "none"),
    "gaussian": lambda x, t, third, a, b: 0.5 * (np.log(np.maximum(third, a)) + (x - t) ** 2 / np.maximum(third, a)) + b,
    "alike": lambda x, t, third, a, b: np.where(t == 1, 1 - x, np.where(t == -1, np.maximum(x - a, 0), 0)),
}


def _loss(input: Array, target: Array, weight: Any, third: Any, kind: str, a: float, b: float, divisor: int) -> Array:
    losses = KINDS[kind](input, target, third, a, b) * (1 if weight is None else weight)
    return losses.sum() / divisor if divisor else losses


REFERENCES["fused_pointwise_loss"] = _loss
NO_REFERENCE["fused_pointwise_loss_grad"] = "it is a gradient, which is compared with that of the loss's body"
