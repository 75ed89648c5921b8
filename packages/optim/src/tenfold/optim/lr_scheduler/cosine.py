"""Schedulers that follow half cosine waves."""

from __future__ import annotations

from math import cos, floor, log, pi
from typing import Any

from tenfold.optim.lr_scheduler.base import LRScheduler, Rate
from tenfold.optim.optimizer import Optimizer


class CosineAnnealingLR(LRScheduler):
    """`lr = eta_min + (base_lr - eta_min) * (1 + cos(pi * epoch / T_max)) / 2`, computed from the present rate.

    Source: Loshchilov, Hutter: SGDR, ICLR 2017 (arXiv 1608.03983), equation 5, without restarts.

    >>> import tenfold
    >>> optimizer = tenfold.optim.SGD([tenfold.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = tenfold.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> [round(rate, 4) for rate in scheduler.get_last_lr()]
    [0.5]
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        self._warn_outside_step()
        epoch, low = self.last_epoch, self.eta_min
        if self._is_initial:
            return self._present()
        if self._step_count == 1 and epoch > 0:
            return self._get_closed_form_lr()
        if (epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # the previous rate was eta_min: no ratio from there
            rise = (1 - cos(pi / self.T_max)) / 2
            return [lr + (base - low) * rise for base, lr in zip(self.base_lrs, self._present(), strict=False)]
        ratio = (1 + cos(pi * epoch / self.T_max)) / (1 + cos(pi * (epoch - 1) / self.T_max))
        return [ratio * (lr - low) + low for lr in self._present()]

    def _get_closed_form_lr(self) -> list[Rate]:
        wave = (1 + cos(pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * wave for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """A half cosine of `T_0` epochs from `base_lr` to `eta_min`, started again each time, `T_mult` times longer.

    `step` also takes a fraction of an epoch: `scheduler.step(epoch + batch / batches)`.

    Raises:
        ValueError: T_0 not a positive int; T_mult not an int of at least 1; eta_min not a number; `step` with a negative epoch.

    Source: Loshchilov, Hutter: SGDR, ICLR 2017 (arXiv 1608.03983), equation 5.
    """

    def __init__(self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: Any = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        self._warn_outside_step()
        wave = (1 + cos(pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * wave for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Set the rates of the next epoch, or of `epoch`, which may lie between two."""
        self._update_lr(epoch)

    def _update_lr(self, epoch: Any = None) -> None:
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        else:
            if epoch < 0:
                raise ValueError(f"Expected non-negative epoch, but got {epoch}")
            self._find_cycle(epoch)
        self.last_epoch = floor(epoch)
        with self._flag("_get_lr_called_within_step"):
            rates = self.get_lr()
        self._set_rates(rates)

    def _find_cycle(self, epoch: float) -> None:
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_i, self.T_cur = self.T_0, epoch % self.T_0
        else:  # the cycles before number n last T_0 (T_mult^n - 1) / (T_mult - 1) together
            n = int(log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**n
