"""NAdam, Adam with Nesterov momentum."""

from __future__ import annotations

from typing import Any

from tenfold import Tensor
from tenfold.optim.functional_form import FunctionalForm
from tenfold.optim.optimizer import Group, Params, State, scalar_state
from tenfold.optim.options import given
from tenfold.optim.rule import RuleOptimizer, averages, counter, decayed, moments, root


class NAdam(RuleOptimizer):
    """Adam whose step looks ahead along its momentum `mu_t = beta1 (1 - 0.5 * 0.96^(t * momentum_decay))`.

    `param -= lr * (mu_{t+1} m / (1 - prod mu_{1..t+1}) + (1 - mu_t) g / (1 - prod mu_{1..t})) / (sqrt(v_hat) + eps)`.

    Raises:
        ValueError: a negative lr, eps, weight_decay or momentum_decay; a beta outside [0, 1).
        RuntimeError: a sparse gradient in `step`.

    Source: Dozat: Incorporating Nesterov momentum into Adam, ICLR workshop 2016.

    >>> import tenfold
    >>> x = tenfold.tensor([1.0], requires_grad=True)
    >>> optimizer = tenfold.optim.NAdam([x], lr=0.1)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> round(x.item(), 4)
    0.8944
    """

    rule = "nadam"
    scalars = ("step", "mu_product")

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, given(locals(), last="foreach capturable differentiable"))

    def init_state(self, param: Tensor, group: Group) -> State:
        return {"step": counter(), "mu_product": scalar_state(1.0), **averages(param, "exp_avg", "exp_avg_sq")}

    @staticmethod
    def update(param: Tensor, grad: Tensor, state: State, group: Any) -> None:
        """Dozat 2016, algorithm 2 with its section 2.2 schedule."""
        t, (beta1, beta2) = float(state["step"]), group.betas
        grad = decayed(param, grad, group)
        mean, square = moments(grad, state, group)
        mu, mu_next = (beta1 * (1 - 0.5 * 0.96 ** (step * group.momentum_decay)) for step in (t, t + 1))
        state["mu_product"] *= mu
        product = state["mu_product"] if group.differentiable else float(state["mu_product"])
        denom = root(square.div(1 - beta2**t), group.eps, group)
        ahead = -group.lr * (1 - mu) / (1 - product), -group.lr * mu_next / (1 - product * mu_next)
        if group.differentiable:  # the factors are tensors with gradients of their own
            param.add_((grad * ahead[0] + mean * ahead[1]) / denom)
        else:
            param.addcdiv_(grad, denom, value=ahead[0])
            param.addcdiv_(mean, denom, value=ahead[1])


nadam = FunctionalForm(
    NAdam,
    "params grads exp_avgs exp_avg_sqs mu_products state_steps",
    "decoupled_weight_decay foreach capturable differentiable has_complex maximize",
    "beta1 beta2 lr weight_decay momentum_decay eps",
)

__all__ = ["NAdam", "nadam"]
