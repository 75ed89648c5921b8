"""The base of every learning rate scheduler."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tenfold import Tensor
from tenfold.optim.optimizer import Optimizer

Rate = Any  # a float, or the one-element tensor that the user gave as lr

EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
    "`scheduler.step()` to step the scheduler; with an epoch, the closed form is used instead of the chainable one."
)


class LRScheduler:
    """Sets the learning rate of each parameter group at each step; subclasses give `get_lr`.

    Args:
        last_epoch: -1 to start; else the last epoch of the run to resume, whose groups hold "initial_lr".

    Raises:
        TypeError: `optimizer` is not an Optimizer.
        KeyError: resuming without "initial_lr" in the groups.

    A subclass may also give `_get_closed_form_lr`, the rates from the epoch alone.

    >>> import tenfold
    >>> class Halving(tenfold.optim.lr_scheduler.LRScheduler):
    ...     def get_lr(self):
    ...         return [base / 2**self.last_epoch for base in self.base_lrs]
    >>> optimizer = tenfold.optim.SGD([tenfold.ones(1, requires_grad=True)], lr=0.8)
    >>> scheduler = Halving(optimizer)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.4]
    """

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with "
                    f"last_epoch >= 0 (got {last_epoch}); load the optimizer's state_dict first, or start with last_epoch=-1"
                )
        self.base_lrs: list[Rate] = [copied(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch: Any = last_epoch
        self._initial_step()

    def _initial_step(self) -> None:
        """Set the rates of the first epoch."""
        self._step_count = 0
        with self._flag("_is_initial"):
            self.step()

    @contextmanager
    def _flag(self, name: str) -> Iterator[None]:
        setattr(self, name, True)
        try:
            yield
        finally:
            setattr(self, name, False)

    def state_dict(self) -> dict[str, Any]:
        """Return every attribute but the optimizer."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the attributes that `state_dict()` returned; load the optimizer's state before."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[Rate]:
        """Return the rate that each group was given last."""
        return self._last_lr

    def get_lr(self) -> list[Rate]:
        """Compute the rates of `last_epoch` from the groups' present ones."""
        raise NotImplementedError(f"{type(self).__name__} does not define get_lr()")

    def step(self, epoch: int | None = None) -> None:
        """Set the rates of the next epoch, or (deprecated) of `epoch`."""
        if self._step_count == 1:
            self._check_order()
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _check_order(self) -> None:
        """Warn at the second step if the optimizer has not made one, or where that cannot be seen."""
        # An optimizer that wraps another without calling Optimizer.__init__ does not tell whether it has stepped.
        if not getattr(type(self.optimizer).step, "hooked", False):
            return
        if not getattr(self.optimizer.step, "hooked", False):
            problem = "`optimizer.step()` has been overridden after the scheduler was made, so its calls are not seen."
        elif not self.optimizer._opt_called:
            problem = "Detected call of `lr_scheduler.step()` before `optimizer.step()`."
        else:
            return
        warnings.warn(
            f"{problem} Call them in this order: `optimizer.step()` before `lr_scheduler.step()`, else the first value of the "
            f"schedule is skipped (PyTorch's page on optimizers explains it under how-to-adjust-learning-rate).",
            UserWarning,
            stacklevel=3,
        )

    def _update_lr(self, epoch: int | None = None) -> None:
        with self._flag("_get_lr_called_within_step"):
            if epoch is None:
                self.last_epoch += 1
                rates = self.get_lr()
            else:
                self.last_epoch = epoch
                rates = getattr(self, "_get_closed_form_lr", self.get_lr)()
        self._set_rates(rates)

    def _set_rates(self, rates: Sequence[Rate]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates, strict=False):
            set_option(group, "lr", rate)
        self._last_lr = self._present()

    def _present(self) -> list[Rate]:
        return [copied(group["lr"]) for group in self.optimizer.param_groups]

    def _warn_outside_step(self) -> None:
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
                UserWarning,
                stacklevel=3,
            )


class _LRScheduler(LRScheduler):
    """The name of `LRScheduler` in older programs."""


def check_optimizer(optimizer: Any) -> None:
    """Raise TypeError unless `optimizer` is one."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def copied(value: Any) -> Any:
    """A copy of a tensor that will be changed in place; any other value as it is."""
    return value.clone() if isinstance(value, Tensor) else value


def set_option(group: dict[str, Any], name: str, value: Any) -> None:
    """Write an option of a group, into the tensor where the option is one."""
    if isinstance(group[name], Tensor):
        group[name].fill_(value.item() if isinstance(value, Tensor) else value)
    else:
        group[name] = value


def per_group(name: str, value: Any, optimizer: Optimizer) -> list[Any]:
    """One value for each parameter group, from one for all or a sequence; tensors are copied, a schedule writes into its own.

    Raises:
        ValueError: the sequence has another length.
    """
    groups = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [copied(value) for _ in range(groups)]
    if len(value) != groups:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. "
            f"{name} has {len(value)} values, param_groups has {groups}."
        )
    return [copied(item) for item in value]
