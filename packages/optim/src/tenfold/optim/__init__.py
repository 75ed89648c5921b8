"""Optimizers and learning rate schedulers."""

from __future__ import annotations

from tenfold.optim.adam import Adam, AdamW
from tenfold.optim.optimizer import Optimizer
from tenfold.optim.sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer"]
