"""Optimizers and learning rate schedulers."""

from __future__ import annotations

from tenfold.optim import lr_scheduler
from tenfold.optim.adadelta import Adadelta
from tenfold.optim.adagrad import Adagrad
from tenfold.optim.adam import Adam, AdamW
from tenfold.optim.adamax import Adamax
from tenfold.optim.asgd import ASGD
from tenfold.optim.nadam import NAdam
from tenfold.optim.optimizer import Optimizer
from tenfold.optim.radam import RAdam
from tenfold.optim.rmsprop import RMSprop
from tenfold.optim.rprop import Rprop
from tenfold.optim.sgd import SGD

__all__ = [
    "ASGD",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "lr_scheduler",
]
