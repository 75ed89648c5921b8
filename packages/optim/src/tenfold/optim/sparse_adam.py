"""Adam for sparse gradients, as those of large embeddings."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any, ClassVar

from tenfold import Tensor
from tenfold.optim.optimizer import Group, Params, State
from tenfold.optim.options import Check, accept, given
from tenfold.optim.rule import RuleOptimizer, averages


class SparseAdam(RuleOptimizer):
    """Adam that touches only the rows whose gradient is in a sparse tensor, its moments included.

    Raises:
        ValueError: lr or eps not positive; a beta outside [0, 1); a sparse parameter.
        RuntimeError: a dense gradient in `step`.
    """

    rule = "sparse_adam"
    checks: ClassVar[Mapping[str, Check]] = {
        "lr": accept(lambda lr: lr > 0.0, "Invalid learning rate: {}"),
        "eps": accept(lambda eps: eps > 0.0, "Invalid epsilon value: {}"),
    }
    accepts_sparse = True
    scalars = ()  # PyTorch counts SparseAdam's steps in an int

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, given(locals()))
        groups = enumerate(self.param_groups)
        sparse = [[g, i] for g, group in groups for i, param in enumerate(group["params"]) if param.is_sparse]
        if sparse:
            raise ValueError(f"Sparse params at indices {sparse}: SparseAdam requires dense parameter tensors")
        groups = enumerate(self.param_groups)
        pairs = [[g, i] for g, group in groups for i, param in enumerate(group["params"]) if param.is_complex()]
        if pairs:
            raise ValueError(f"Complex params at indices {pairs}: SparseAdam does not support complex parameters")

    def init_state(self, param: Tensor, group: Group) -> State:
        return {"step": 0, **averages(param, "exp_avg", "exp_avg_sq")}

    @staticmethod
    def update(param: Tensor, grad: Any, state: State, group: Any) -> None:
        """Adam's rule where `grad` has values; averages and weights stay as they are everywhere else."""
        if not grad.is_sparse:
            raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
        grad = grad.coalesce()
        at, values = tuple(grad.indices()), grad.values()
        if values.numel() == 0:
            return
        t, (beta1, beta2) = state["step"], group.betas
        mean = state["exp_avg"][at].lerp(values, 1 - beta1)
        square = state["exp_avg_sq"][at].lerp(values * values, 1 - beta2)
        state["exp_avg"][at], state["exp_avg_sq"][at] = mean, square
        param[at] -= group.lr * sqrt(1 - beta2**t) / (1 - beta1**t) * mean / (square.sqrt() + group.eps)


__all__ = ["SparseAdam"]
