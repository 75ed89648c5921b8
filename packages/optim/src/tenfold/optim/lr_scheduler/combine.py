"""Schedulers made of schedulers: one after another, or all at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from tenfold.optim.lr_scheduler.base import LRScheduler
from tenfold.optim.lr_scheduler.plateau import ReduceLROnPlateau
from tenfold.optim.optimizer import Optimizer


def _check_same_optimizer(name: str, schedulers: Sequence[Any], optimizer: Any) -> None:
    for i, scheduler in enumerate(schedulers):
        if not hasattr(scheduler, "optimizer"):
            raise TypeError(f"{name} at index {i} should have `optimizer` as its attribute.")
        if scheduler.optimizer is not optimizer:
            raise ValueError(
                f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                f"{type(scheduler).__name__} at index {i} has {scheduler.optimizer}, which is different from "
                f"{type(optimizer).__name__}."
            )


class _CombinedLR(LRScheduler):
    """What both share: checkpoints that hold their parts' checkpoints."""

    _schedulers: list[LRScheduler]

    def state_dict(self) -> dict[str, Any]:
        """Return every attribute but the optimizer, with the state_dict of each scheduler."""
        state = {name: value for name, value in super().state_dict().items() if name != "_schedulers"}
        state["_schedulers"] = [scheduler.state_dict() for scheduler in self._schedulers]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a checkpoint, each scheduler its own part."""
        self.__dict__.update({name: value for name, value in state_dict.items() if name != "_schedulers"})
        for scheduler, saved in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            scheduler.load_state_dict(saved)


class SequentialLR(_CombinedLR):
    """Runs `schedulers[i + 1]` in place of `schedulers[i]` from epoch `milestones[i]` on, each from its own epoch 0.

    Raises:
        TypeError: something that is not a scheduler.
        ValueError: no schedulers; not one more of them than milestones; another optimizer's; a ReduceLROnPlateau.

    >>> import tenfold
    >>> optimizer = tenfold.optim.SGD([tenfold.ones(1, requires_grad=True)], lr=1.0)
    >>> warm = tenfold.optim.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=9)
    >>> decay = tenfold.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
    >>> scheduler = tenfold.optim.lr_scheduler.SequentialLR(optimizer, [warm, decay], milestones=[2])
    >>> rates = []
    >>> for _ in range(4):
    ...     rates += scheduler.get_last_lr()
    ...     optimizer.step()
    ...     scheduler.step()
    >>> rates
    [0.5, 0.5, 1.0, 0.9]
    """

    def __init__(self, optimizer: Optimizer, schedulers: list[LRScheduler], milestones: list[int], last_epoch: int = -1) -> None:
        if len(schedulers) < 1:
            raise ValueError("SequentialLR expects at least one scheduler, but got no scheduler.")
        _check_same_optimizer("SequentialLR", schedulers, optimizer)
        for i, scheduler in enumerate(schedulers):
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(
                    "SequentialLR does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs to be "
                    f"specified when calling `step`, but got one at index {i} in the given schedulers sequence."
                )
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of milestone "
                f"points, but got number of schedulers {len(schedulers)} and the number of milestones to be equal to "
                f"{len(milestones)}"
            )
        self._schedulers = list(schedulers)
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        for group in optimizer.param_groups:  # every scheduler has set its own first rate: undo, then let the first
            group["lr"] = group["initial_lr"]
        self.recursive_undo()
        self._schedulers[0]._initial_step()
        self._last_lr = schedulers[0].get_last_lr()

    def recursive_undo(self, sched: Any = None) -> None:
        """Take back the first step that each scheduler inside `sched`, this one if None, made when it was built."""
        _undo_initial_step(self if sched is None else sched)

    def step(self) -> None:  # type: ignore[override]
        """Set the rates of the next epoch."""
        self.last_epoch += 1
        i = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[i]
        if i > 0 and self._milestones[i - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()

    def _update_lr(self, epoch: int | None = None) -> None:
        """Start again at 0: what a sequence around this one does at its milestone, always with epoch 0."""
        self.last_epoch = 0
        self._schedulers[0]._update_lr(0)
        self._last_lr = self._schedulers[0].get_last_lr()


def _undo_initial_step(scheduler: LRScheduler) -> None:
    for part in getattr(scheduler, "_schedulers", [scheduler]):
        if part is scheduler:
            part.last_epoch -= 1
        else:
            _undo_initial_step(part)


class ChainedScheduler(_CombinedLR):
    """Steps all `schedulers` each time, each changing the rate that the one before it left.

    Raises:
        TypeError: something that is not a scheduler.
        ValueError: no schedulers; another optimizer's.
    """

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        if len(schedulers) < 1:
            raise ValueError("ChainedScheduler expects at least one scheduler to be chained, but got no scheduler.")
        optimizer = optimizer or getattr(schedulers[0], "optimizer", None)
        _check_same_optimizer("ChainedScheduler", schedulers, optimizer)
        self._schedulers = list(schedulers)
        self.optimizer = schedulers[0].optimizer
        self._last_lr = self._present()

    def step(self) -> None:  # type: ignore[override]
        """Set the rates of the next epoch."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self._present()
