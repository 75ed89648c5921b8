"""Optimizers and learning rate schedulers."""

from __future__ import annotations

import importlib
from typing import Any

from tenfold.optim import lr_scheduler
from tenfold.optim.adadelta import Adadelta
from tenfold.optim.adafactor import Adafactor
from tenfold.optim.adagrad import Adagrad
from tenfold.optim.adam import Adam
from tenfold.optim.adamax import Adamax
from tenfold.optim.adamw import AdamW
from tenfold.optim.asgd import ASGD
from tenfold.optim.lbfgs import LBFGS
from tenfold.optim.muon import Muon
from tenfold.optim.nadam import NAdam
from tenfold.optim.optimizer import Optimizer
from tenfold.optim.radam import RAdam
from tenfold.optim.rmsprop import RMSprop
from tenfold.optim.rprop import Rprop
from tenfold.optim.sgd import SGD
from tenfold.optim.sparse_adam import SparseAdam
from tenfold.optim.swapping import swap_in_optimizer_params_and_state

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SparseAdam",
    "lr_scheduler",
    "swap_in_optimizer_params_and_state",
]


def __getattr__(name: str) -> Any:
    """Import `swa_utils` on first use: it averages modules, and so it needs tenfold-nn."""
    if name == "swa_utils":
        return importlib.import_module("tenfold.optim.swa_utils")
    raise AttributeError(f"module 'tenfold.optim' has no attribute {name!r}")
