"""Schedulers that cycle the learning rate, and the momentum against it."""

from __future__ import annotations

import types
from collections.abc import Callable
from math import cos, floor, pi
from typing import Any, Literal

from tenfold.optim.lr_scheduler.base import LRScheduler, Rate, check_optimizer, per_group, set_option
from tenfold.optim.optimizer import Group, Optimizer


def _uses_beta1(optimizer: Optimizer) -> bool:
    """Whether the momentum to cycle is the first of `betas`; ValueError where the optimizer has none at all."""
    if "betas" not in optimizer.defaults and "momentum" not in optimizer.defaults:
        raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
    return "betas" in optimizer.defaults


def _set_momentum(group: Group, momentum: float, use_beta1: bool) -> None:
    if use_beta1:
        group["betas"] = (momentum, *group["betas"][1:])
    else:
        group["momentum"] = momentum


def _constant(x: float, gamma: float) -> float:
    return 1.0


def _halved(x: float, gamma: float) -> float:
    return float(1 / 2.0 ** (x - 1))


def _decaying(x: float, gamma: float) -> float:
    return float(gamma**x)


_HEIGHTS: dict[str, Callable[[float, float], float]] = {  # of cycles in each mode, by cycle or iteration
    "triangular": _constant, "triangular2": _halved, "exp_range": _decaying,
}  # fmt: skip


class CyclicLR(LRScheduler):
    """The rate runs up from `base_lr` to `max_lr` in `step_size_up` steps and down in `step_size_down`, again and again.

    Args:
        mode: "triangular"; "triangular2" halves the height each cycle; "exp_range" scales it by gamma^iteration.
        scale_fn: another scaling of the height, of the cycle or of the iteration, as `scale_mode` says.
        cycle_momentum: run the momentum, or Adam's beta1, the other way, from `max_momentum` to `base_momentum`.

    Raises:
        TypeError: `optimizer` is not an Optimizer.
        ValueError: an unknown mode; a list of another length than the groups; an optimizer without momentum.

    Source: Smith: Cyclical learning rates for training neural networks, WACV 2017 (arXiv 1506.01186).

    >>> import tenfold
    >>> optimizer = tenfold.optim.SGD([tenfold.ones(1, requires_grad=True)], lr=1.0, momentum=0.9)
    >>> scheduler = tenfold.optim.lr_scheduler.CyclicLR(optimizer, base_lr=0.0, max_lr=1.0, step_size_up=2)
    >>> rates = []
    >>> for _ in range(5):
    ...     rates += scheduler.get_last_lr()
    ...     optimizer.step()
    ...     scheduler.step()
    >>> rates
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: Literal["triangular", "triangular2", "exp_range"] = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: Literal["cycle", "iterations"] = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError(f"mode is invalid and scale_fn is None: got mode {mode!r}")
        base_lrs = per_group("base_lr", base_lr, optimizer)
        self.max_lrs = per_group("max_lr", max_lr, optimizer)
        if last_epoch == -1:
            for lr, group in zip(base_lrs, optimizer.param_groups, strict=True):
                set_option(group, "lr", lr)
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up) + float(down)
        self.step_ratio = float(step_size_up) / self.total_size
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._set_up_momentum(optimizer, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _set_up_momentum(self, optimizer: Optimizer, base: float, top: float, last_epoch: int) -> None:
        self.use_beta1 = _uses_beta1(optimizer)
        self.base_momentums = per_group("base_momentum", base, optimizer)
        self.max_momentums = per_group("max_momentum", top, optimizer)
        if last_epoch != -1:
            return
        for low, high, group in zip(self.base_momentums, self.max_momentums, optimizer.param_groups, strict=True):
            _set_momentum(group, high, self.use_beta1)
            group["max_momentum"] = high
            group["base_momentum"] = low

    def scale_fn(self, x: float) -> float:
        """Return the height of the cycle at cycle or iteration `x`, 1 for the full one."""
        if self._scale_fn_custom is not None:
            return float(self._scale_fn_custom(x))
        return _HEIGHTS[self.mode](x, self.gamma)

    @property
    def _scale_fn_ref(self) -> Callable[..., float]:
        """PyTorch's name for the function that `scale_fn` calls."""
        return self._scale_fn_custom or _HEIGHTS[self.mode]

    def get_lr(self) -> list[Rate]:
        self._warn_outside_step()
        cycle = floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            ranges = zip(self.base_momentums, self.max_momentums, self.optimizer.param_groups, strict=True)
            for low, high, group in ranges:
                _set_momentum(group, high - (high - low) * height * scale, self.use_beta1)
        return [low + (high - low) * height * scale for low, high in zip(self.base_lrs, self.max_lrs, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """Return every attribute but the optimizer; of `scale_fn`, the attributes of a callable object."""
        state = super().state_dict()
        custom = state.pop("_scale_fn_custom")
        plain = custom is None or isinstance(custom, types.FunctionType)
        state["_scale_fn_custom"] = None if plain else dict(custom.__dict__)
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a checkpoint; `scale_fn` stays this object's own."""
        super().load_state_dict({name: value for name, value in state_dict.items() if name != "_scale_fn_custom"})
        saved = state_dict.get("_scale_fn_custom")
        if saved is not None and self._scale_fn_custom is not None:
            self._scale_fn_custom.__dict__.update(saved)


def _cosine(start: float, end: float, done: float) -> float:
    return end + (start - end) / 2.0 * (1 + cos(pi * done))


def _line(start: float, end: float, done: float) -> float:
    return (end - start) * done + start


class OneCycleLR(LRScheduler):
    """One cycle for the whole run: up from `max_lr / div_factor` to `max_lr`, then down to a `final_div_factor`th of the start.

    Args:
        total_steps: or `epochs` and `steps_per_epoch`.
        pct_start: the share of the steps that the rise takes.
        three_phase: fall to the first rate as steeply as the rise, then to the last; else in one.
        cycle_momentum: run the momentum, or Adam's beta1, the other way.

    Raises:
        TypeError: `optimizer` is not an Optimizer.
        ValueError: no number of steps or not a positive one; pct_start outside [0, 1]; an unknown anneal_strategy; an optimizer
            without momentum; a step after the last.

    Source: Smith, Topin: Super-convergence, arXiv 1708.07120.

    >>> import tenfold
    >>> optimizer = tenfold.optim.SGD([tenfold.ones(1, requires_grad=True)], lr=1.0, momentum=0.9)
    >>> scheduler = tenfold.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=10)
    >>> rates = []
    >>> for _ in range(3):
    ...     rates += scheduler.get_last_lr()
    ...     optimizer.step()
    ...     scheduler.step()
    >>> [round(rate, 2) for rate in rates]
    [0.04, 0.52, 1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.total_steps = _count_steps(total_steps, epochs, steps_per_epoch)
        if not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._schedule_phases = _phases(self.total_steps, float(pct_start), three_phase)
        self._anneal_func_type = anneal_strategy
        max_lrs = per_group("max_lr", max_lr, optimizer)
        if last_epoch == -1:
            for top, group in zip(max_lrs, optimizer.param_groups, strict=True):
                group["initial_lr"] = top / div_factor
                group["max_lr"] = top
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = _uses_beta1(optimizer)
            lows = per_group("base_momentum", base_momentum, optimizer)
            highs = per_group("max_momentum", max_momentum, optimizer)
            if last_epoch == -1:
                for low, high, group in zip(lows, highs, optimizer.param_groups, strict=True):
                    _set_momentum(group, high, self.use_beta1)
                    group["max_momentum"] = high
                    group["base_momentum"] = low
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        self._warn_outside_step()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The specified number of total steps is {self.total_steps}")
        phase, done = self._phase_at(step)
        anneal = self._anneal_func
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(anneal(group[phase["start_lr"]], group[phase["end_lr"]], done))
            if self.cycle_momentum:
                momentum = anneal(group[phase["start_momentum"]], group[phase["end_momentum"]], done)
                _set_momentum(group, momentum, self.use_beta1)
        return rates

    _annealing_cos = staticmethod(_cosine)
    _annealing_linear = staticmethod(_line)

    def _anneal_func(self, start: Any, end: Any, done: float) -> Any:
        """The value at a part of the way; the function itself is what checkpoints before PyTorch 2.0 keep in `anneal_func`."""
        named: Any = {"cos": _cosine, "linear": _line}.get(self.__dict__.get("_anneal_func_type", ""))
        return (named or self.anneal_func)(start, end, done)  # type: ignore[attr-defined]

    def _phase_at(self, step: int) -> tuple[dict[str, Any], float]:
        start = 0.0
        for phase in self._schedule_phases:
            end = phase["end_step"]
            if step <= end or phase is self._schedule_phases[-1]:
                return phase, (step - start) / (end - start)
            start = end
        raise AssertionError("a schedule has at least two phases")


def _count_steps(total_steps: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    if total_steps is not None:
        return _positive("total_steps", total_steps)
    if epochs is None or steps_per_epoch is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    return _positive("epochs", epochs) * _positive("steps_per_epoch", steps_per_epoch)


def _positive(name: str, value: Any) -> int:
    if not isinstance(value, int) or value <= 0:
        raise ValueError(f"Expected positive integer {name}, but got {value}")
    return value


def _phases(total_steps: int, pct_start: float, three_phase: bool) -> list[dict[str, Any]]:
    """What runs from where to where until which step, by the names of the groups' options."""
    up = ("initial_lr", "max_lr", "max_momentum", "base_momentum")
    down = ("max_lr", "initial_lr", "base_momentum", "max_momentum")
    out = ("initial_lr", "min_lr", "max_momentum", "max_momentum")
    rise = pct_start * total_steps
    if three_phase:
        plan = [(rise - 1, up), (2 * rise - 2, down), (total_steps - 1, out)]
    else:
        plan = [(rise - 1, up), (total_steps - 1, ("max_lr", "min_lr", "base_momentum", "max_momentum"))]
    names = ("start_lr", "end_lr", "start_momentum", "end_momentum")
    return [{"end_step": end, **dict(zip(names, options, strict=True))} for end, options in plan]
