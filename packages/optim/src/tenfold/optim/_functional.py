"""Every optimizer's rule as a function, under PyTorch's path; `sparse_adam` counts steps by numbers that are counted already."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.optim.adadelta import adadelta
from tenfold.optim.adagrad import adagrad
from tenfold.optim.adam import adam
from tenfold.optim.adamax import adamax
from tenfold.optim.adamw import adamw
from tenfold.optim.asgd import asgd
from tenfold.optim.nadam import nadam
from tenfold.optim.radam import radam
from tenfold.optim.rmsprop import rmsprop
from tenfold.optim.rprop import rprop
from tenfold.optim.sgd import sgd
from tenfold.optim.sparse_adam import SparseAdam

__all__ = ["adadelta", "adagrad", "adam", "adamax", "adamw", "asgd", "nadam", "radam", "rmsprop", "rprop", "sgd", "sparse_adam"]


def sparse_adam(
    params: list[Tensor], grads: list[Tensor], exp_avgs: list[Tensor], exp_avg_sqs: list[Tensor], state_steps: list[int], *,
    eps: float, beta1: float, beta2: float, lr: float, maximize: bool,
) -> None:  # fmt: skip
    """One step of `SparseAdam` over lists; `state_steps` count the step that is taken."""
    group = SimpleNamespace(eps=eps, betas=(beta1, beta2), lr=float(lr))
    with tenfold.no_grad():
        for i, (param, grad) in enumerate(zip(params, grads, strict=True)):
            state: dict[str, Any] = {"step": state_steps[i], "exp_avg": exp_avgs[i], "exp_avg_sq": exp_avg_sqs[i]}
            SparseAdam.update(param, -grad if maximize else grad, state, group)
