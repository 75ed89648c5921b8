"""Adam for sparse gradients, as those of large embeddings."""

from __future__ import annotations

from math import sqrt
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.optim.optimizer import Group, Params, State
from tenfold.optim.rule import RuleOptimizer, check_betas, plain_number


def update(
    param: Tensor,
    grad: Any,  # sparse
    exp_avg: Tensor,
    exp_avg_sq: Tensor,
    step: int,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
) -> None:
    """Adam's rule where `grad` (coalesced) has values; averages and weights stay as they are everywhere else."""
    at, values = tuple(grad.indices()), grad.values()
    if values.numel() == 0:
        return
    mean = exp_avg[at].lerp(values, 1 - beta1)
    square = exp_avg_sq[at].lerp(values * values, 1 - beta2)
    exp_avg[at] = mean
    exp_avg_sq[at] = square
    size = lr * sqrt(1 - beta2**step) / (1 - beta1**step)
    param[at] -= size * mean / (square.sqrt() + eps)


class SparseAdam(RuleOptimizer):
    """Adam that touches only the rows whose gradient is in a sparse tensor, its moments included.

    Raises:
        ValueError: lr or eps not positive; a beta outside [0, 1); a sparse parameter.
        RuntimeError: a dense gradient in `step`.
    """

    rule = "sparse_adam"
    accepts_sparse = True
    _number_state = ()

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr > 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps > 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        everything = [param for group in self.param_groups for param in group["params"]]
        sparse = [i for i, param in enumerate(everything) if param.is_sparse]
        if sparse:
            raise ValueError(f"Sparse params at indices {sparse}: SparseAdam requires dense parameter tensors")

    def init_state(self, param: Tensor, group: Group) -> State:
        return {"step": 0, "exp_avg": tenfold.zeros_like(param), "exp_avg_sq": tenfold.zeros_like(param)}

    def update_group(self, group: Group) -> None:
        lr, (beta1, beta2), eps = plain_number(group["lr"]), group["betas"], group["eps"]
        for param, given, state in self.ready(group):
            grad: Any = given
            if not grad.is_sparse:
                raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
            exp_avg, exp_avg_sq, step = state["exp_avg"], state["exp_avg_sq"], state["step"]
            update(param, grad.coalesce(), exp_avg, exp_avg_sq, step, lr, beta1, beta2, eps)
