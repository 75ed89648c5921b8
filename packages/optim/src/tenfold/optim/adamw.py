"""AdamW under PyTorch's path, and as a function."""

from __future__ import annotations

from tenfold.optim.adam import AdamW
from tenfold.optim.functional_form import FunctionalForm

__all__ = ["AdamW", "adamw"]

adamw = FunctionalForm(
    AdamW,
    "params grads exp_avgs exp_avg_sqs max_exp_avg_sqs state_steps",
    "foreach capturable differentiable fused grad_scale found_inf has_complex",
    "amsgrad beta1 beta2 lr weight_decay eps maximize",
    fixed={"decoupled_weight_decay": True},
)
