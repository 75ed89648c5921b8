"""Averages of a model's weights over training (SWA and EMA), and the schedule that goes with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import chain
from math import cos, pi
from typing import Any, Literal

import tenfold
from tenfold import Tensor
from tenfold.foreach import at_once
from tenfold.nn import BatchNorm1d, BatchNorm2d, BatchNorm3d, Module, SyncBatchNorm
from tenfold.optim.lr_scheduler.base import LRScheduler, Rate, per_group
from tenfold.optim.optimizer import Optimizer

AverageOne = Callable[[Tensor, Tensor, Any], Tensor]
AverageAll = Callable[[list[Tensor], list[Tensor], Any], None]


def _check_decay(decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def get_ema_avg_fn(decay: float = 0.999) -> AverageOne:
    """Return the update `decay * average + (1 - decay) * current` of one tensor.

    Raises:
        ValueError: decay outside [0, 1].
    """
    _check_decay(decay)

    def ema_update(ema_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        with tenfold.no_grad():
            mean: Tensor = decay * ema_param + (1 - decay) * current_param
            return mean

    return ema_update


def get_swa_avg_fn() -> AverageOne:
    """Return the update of one tensor to the mean of all values so far."""

    def swa_update(averaged_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        with tenfold.no_grad():
            mean: Tensor = averaged_param + (current_param - averaged_param) / (num_averaged + 1)
            return mean

    return swa_update


def get_ema_multi_avg_fn(decay: float = 0.999) -> AverageAll:
    """Return the update of `get_ema_avg_fn` for lists of tensors, in place.

    Raises:
        ValueError: decay outside [0, 1].
    """
    _check_decay(decay)

    def ema_update(ema_param_list: list[Tensor], current_param_list: list[Tensor], _: Any) -> None:
        with tenfold.no_grad():
            _move_towards(ema_param_list, current_param_list, 1 - decay)

    return ema_update


def get_swa_multi_avg_fn() -> AverageAll:
    """Return the update of `get_swa_avg_fn` for lists of tensors, in place."""

    def swa_update(averaged_param_list: list[Tensor], current_param_list: list[Tensor], num_averaged: Any) -> None:
        weight = 1 / (float(num_averaged) + 1)
        with tenfold.no_grad():
            _move_towards(averaged_param_list, current_param_list, weight)

    return swa_update


def _move_towards(averages: list[Tensor], currents: list[Tensor], weight: float) -> None:
    """Let averages go so much of the way to the present values: all at once where their device does that."""
    between: list[Tensor] = []
    ends: list[Tensor] = []
    for average, current in zip(averages, currents, strict=True):
        if average.is_floating_point() or average.is_complex():
            between.append(average)
            ends.append(current.to(average.dtype))
        else:  # a counter, such as batch normalization's: the mean is rounded back to its dtype
            average.copy_(average + (current - average) * weight)
    if between and not at_once("lerp", between, [ends], weight):
        for average, end in zip(between, ends, strict=True):
            average.lerp_(end, weight)


class AveragedModel(Module):
    """A copy of `model` that holds the average of the weights it was shown.

    Args:
        device: where the copy lives; the model's own device where None.
        avg_fn: the new average of one tensor from (average, current, count).
        multi_avg_fn: updates lists of averages in place; (averages, currents, count).
        use_buffers: average buffers too, instead of copying them.

    Raises:
        AssertionError: both functions given.

    Source: Izmailov et al.: Averaging weights leads to wider optima, UAI 2018 (arXiv 1803.05407).
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: AverageOne | None = None,
        multi_avg_fn: AverageAll | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tenfold.tensor(0, dtype=tenfold.long, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Run the averaged model."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Take `model`'s present weights into the average; the first ones are the average."""
        averages, currents = self._pairs(self.module), self._pairs(model)
        currents = [current.detach().to(mine.device) for mine, current in zip(averages, currents, strict=True)]
        with tenfold.no_grad():
            if int(self.n_averaged) == 0:
                for average, current in zip(averages, currents, strict=True):
                    average.copy_(current)
            elif self.avg_fn is not None:
                for average, current in zip(averages, currents, strict=True):
                    average.copy_(self.avg_fn(average.detach(), current, self.n_averaged))
            else:
                function = self.multi_avg_fn or get_swa_multi_avg_fn()
                function([average.detach() for average in averages], currents, self.n_averaged)
            if not self.use_buffers:
                for mine, current in zip(self.module.buffers(), model.buffers(), strict=True):
                    mine.copy_(current)
            self.n_averaged += 1

    def _pairs(self, model: Module) -> list[Tensor]:
        return list(chain(model.parameters(), model.buffers()) if self.use_buffers else model.parameters())


def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Compute the running statistics of `model`'s batch normalizations anew, in one pass over `loader`.

    Batches are tensors, or lists or tuples whose first item goes to the model.
    """
    norms: list[Any] = [
        module for module in model.modules() if isinstance(module, (BatchNorm1d, BatchNorm2d, BatchNorm3d, SyncBatchNorm))
    ]
    if not norms:
        return
    momenta = [norm.momentum for norm in norms]
    was_training = model.training
    model.train()
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # the mean over all batches
    with tenfold.no_grad():
        for batch in loader:
            inputs = batch[0] if isinstance(batch, (list, tuple)) else batch
            model(inputs if device is None else inputs.to(device))
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Anneals each group's rate to the constant `swa_lr` within `anneal_epochs`.

    Raises:
        ValueError: an unknown anneal_strategy; negative anneal_epochs; another number of swa_lr than groups.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | list[float],
        anneal_epochs: int = 10,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        last_epoch: int = -1,
    ) -> None:
        for rate, group in zip(per_group("swa_lr", swa_lr, optimizer), optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if type(anneal_epochs) is not int or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _weight(self, step: int) -> float:
        """The share of swa_lr in the rate at `step`."""
        done = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return (1 - cos(pi * done)) / 2 if self._anneal_strategy == "cos" else done

    def get_lr(self) -> list[Rate]:
        self._warn_outside_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._weight(step - 1), self._weight(step)
        rates = []
        for group in self.optimizer.param_groups:
            goal, lr = group["swa_lr"], group["lr"]
            start = goal if before == 1 else (lr - before * goal) / (1 - before)  # the rate that annealing began at
            rates.append(goal * now + start * (1 - now))
        return rates


__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]
