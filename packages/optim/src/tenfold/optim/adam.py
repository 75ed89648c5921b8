"""Adam, and AdamW, which decays weights apart from the gradient."""

from __future__ import annotations

from math import sqrt

import tenfold
from tenfold import Tensor
from tenfold.optim.optimizer import Group, Params, State
from tenfold.optim.rule import RuleOptimizer, check_betas, check_fused, check_lr, check_not_negative, plain_number


def update(
    param: Tensor,
    grad: Tensor,
    exp_avg: Tensor,
    exp_avg_sq: Tensor,
    max_exp_avg_sq: Tensor | None,
    step: int,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    decoupled: bool,
    differentiable: bool,
) -> None:
    """Move `param` once: Kingma and Ba 2015, section 2's efficient order; `max_exp_avg_sq` is Reddi et al. 2018's AMSGrad."""
    if weight_decay:
        if decoupled:
            param.mul_(1 - lr * weight_decay)
        else:
            grad = grad.add(param, alpha=weight_decay)
    exp_avg.lerp_(grad, 1 - beta1)
    exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
    if max_exp_avg_sq is not None:
        max_exp_avg_sq.copy_(tenfold.maximum(max_exp_avg_sq, exp_avg_sq))
        exp_avg_sq = max_exp_avg_sq
    root = sqrt(1 - beta2**step)
    denom = exp_avg_sq.sqrt()
    denom = denom.add(eps * root) if differentiable else denom.add_(eps * root)
    param.addcdiv_(exp_avg, denom, value=-lr * root / (1 - beta1**step))


class Adam(RuleOptimizer):
    """Steps scaled by running averages of the gradient and of its square.

    `m = beta1 m + (1 - beta1) g`, `v = beta2 v + (1 - beta2) g^2`,
    `param -= lr * (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps)`; with `amsgrad`, `v` is its running maximum.
    `weight_decay * param` is added to `g`, or with `decoupled_weight_decay` taken off the parameter, times lr.

    Raises:
        ValueError: a negative lr, eps or weight_decay; a beta outside [0, 1).
        RuntimeError: `fused` with `foreach` or `differentiable`; a sparse gradient in `step`.

    Differs from PyTorch: `state[param]["step"]` is a Python number, and a tensor in `state_dict()`; a tensor lr or beta is
    read as a number, so no gradient flows to it.
    Source: Kingma, Ba: Adam, ICLR 2015 (arXiv 1412.6980); Reddi, Kale, Kumar: On the convergence of Adam, ICLR 2018.

    >>> import tenfold
    >>> x = tenfold.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = tenfold.optim.Adam([x], lr=0.1)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> [round(value, 4) for value in x.tolist()]
    [0.9, -1.9]
    """

    rule = "adam"
    sparse_hint = ", please consider SparseAdam instead"

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        check_lr(lr, foreach, capturable)
        check_not_negative(eps=eps)
        check_betas(betas)
        check_not_negative(weight_decay=weight_decay)
        check_fused(fused, foreach, differentiable)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)

    def init_state(self, param: Tensor, group: Group) -> State:
        names = ["exp_avg", "exp_avg_sq", *(["max_exp_avg_sq"] if group["amsgrad"] else [])]
        return {"step": 0, **{name: tenfold.zeros_like(param) for name in names}}

    def update_group(self, group: Group) -> None:
        lr, eps, weight_decay = plain_number(group["lr"]), group["eps"], group["weight_decay"]
        beta1, beta2 = map(plain_number, group["betas"])
        amsgrad, decoupled, differentiable = group["amsgrad"], group["decoupled_weight_decay"], group["differentiable"]
        for param, grad, state in self.ready(group):
            update(
                param,
                grad,
                state["exp_avg"],
                state["exp_avg_sq"],
                state["max_exp_avg_sq"] if amsgrad else None,
                state["step"],
                lr,
                beta1,
                beta2,
                eps,
                weight_decay,
                decoupled,
                differentiable,
            )


class AdamW(Adam):
    """Adam with `param -= lr * weight_decay * param` in place of a penalty in the gradient.

    Raises:
        ValueError, RuntimeError: see `Adam`.

    Source: Loshchilov, Hutter: Decoupled weight decay regularization, ICLR 2019 (arXiv 1711.05101).

    >>> import tenfold
    >>> x = tenfold.tensor([1.0], requires_grad=True)
    >>> optimizer = tenfold.optim.AdamW([x], lr=0.1, weight_decay=0.5)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> round(x.item(), 4)
    0.85
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )
