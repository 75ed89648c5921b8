"""What schedulers do around their formulas: warnings, errors, checkpoints of functions, user classes."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import tenfold
from tenfold.optim import SGD, lr_scheduler


def optimizer_of(lr: Any = 0.1, groups: int = 1, **options: Any) -> SGD:
    return SGD([{"params": [tenfold.ones(1, requires_grad=True)]} for _ in range(groups)], lr=lr, **options)


def test_stepping_before_the_optimizer_warns_once() -> None:
    scheduler = lr_scheduler.StepLR(optimizer_of(), 3)
    with pytest.warns(UserWarning, match="before `optimizer.step"):
        scheduler.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scheduler.step()


def test_the_right_order_does_not_warn() -> None:
    optimizer = optimizer_of()
    scheduler = lr_scheduler.StepLR(optimizer, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizer.step()
        scheduler.step()
    assert scheduler.last_epoch == 1


def test_a_wrapper_around_an_optimizer_can_be_scheduled() -> None:
    class Wrapper(tenfold.optim.Optimizer):
        def __init__(self, inner: SGD) -> None:  # as training libraries do: no call of the base's __init__
            self.inner = inner
            self.param_groups, self.defaults = inner.param_groups, inner.defaults

        def step(self, closure: Any = None) -> Any:
            return self.inner.step(closure)

    wrapper = Wrapper(optimizer_of(1.0))
    scheduler = lr_scheduler.StepLR(wrapper, 1)
    wrapper.step()
    scheduler.step()
    assert wrapper.inner.param_groups[0]["lr"] == pytest.approx(0.1)


def test_get_lr_outside_step_warns() -> None:
    scheduler = lr_scheduler.ExponentialLR(optimizer_of(), 0.5)
    with pytest.warns(UserWarning, match="get_last_lr"):
        scheduler.get_lr()


def test_epoch_argument_is_deprecated() -> None:
    optimizer = optimizer_of(1.0)
    scheduler = lr_scheduler.StepLR(optimizer, 2, gamma=0.5)
    optimizer.step()
    with pytest.warns(UserWarning, match="epoch parameter"):
        scheduler.step(5)
    assert scheduler.get_last_lr() == [0.25]


def test_a_tensor_lr_is_written_in_place() -> None:
    rate = tenfold.tensor(1.0)
    optimizer = optimizer_of(rate)
    scheduler = lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    optimizer.step()
    scheduler.step()
    assert optimizer.param_groups[0]["lr"] is rate
    assert rate.item() == 0.5
    assert scheduler.base_lrs[0].item() == 1.0


def test_checkpoint_of_a_callable_object() -> None:
    class Warm:
        def __init__(self, length: int) -> None:
            self.length = length

        def __call__(self, epoch: int) -> float:
            return min(1.0, (epoch + 1) / self.length)

    saved = lr_scheduler.LambdaLR(optimizer_of(), Warm(10)).state_dict()
    assert saved["lr_lambdas"] == [{"length": 10}]
    scheduler = lr_scheduler.LambdaLR(optimizer_of(), Warm(5))
    scheduler.load_state_dict(saved)
    assert scheduler.lr_lambdas[0].length == 10  # type: ignore[attr-defined]
    assert lr_scheduler.LambdaLR(optimizer_of(), lambda _: 1.0).state_dict()["lr_lambdas"] == [None]


def test_restarts_take_fractions_of_epochs() -> None:
    scheduler = lr_scheduler.CosineAnnealingWarmRestarts(optimizer_of(1.0), T_0=2, T_mult=2)
    scheduler.step(0.5)
    assert scheduler.get_last_lr() == pytest.approx([(1 + 0.5**0.5) / 2])
    scheduler.step(4.0)
    assert (scheduler.T_i, scheduler.T_cur, scheduler.get_last_lr()) == (4, 2.0, pytest.approx([0.5]))


def test_a_sequence_inside_a_sequence_starts_at_its_milestone() -> None:
    optimizer = optimizer_of(1.0)
    first = lr_scheduler.ConstantLR(optimizer, 0.5, 100)
    inner = [lr_scheduler.ConstantLR(optimizer, 0.25, 100), lr_scheduler.ConstantLR(optimizer, 0.125, 100)]
    second = lr_scheduler.SequentialLR(optimizer, inner, [2])
    scheduler = lr_scheduler.SequentialLR(optimizer, [first, second], [2])
    rates = []
    for _ in range(6):
        rates += scheduler.get_last_lr()
        optimizer.step()
        scheduler.step()
    assert rates == [0.5, 0.5, 0.25, 0.25, 0.125, 0.125]


def test_plateau_after_a_group_was_added() -> None:
    optimizer = optimizer_of(1.0)
    scheduler = lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, min_lr=[0.5])
    everywhere = lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, factor=0.5)
    optimizer.add_param_group({"params": [tenfold.ones(1, requires_grad=True)]})
    everywhere.step(1.0)
    everywhere.step(tenfold.tensor(1.0))
    assert everywhere.get_last_lr() == [0.5, 0.5]
    scheduler.step(1.0)
    with pytest.raises(RuntimeError, match="number of param groups"):
        scheduler.step(1.0)


def test_older_base_class_name() -> None:
    class Halving(lr_scheduler._LRScheduler):
        def get_lr(self) -> list[float]:
            return [base / 2**self.last_epoch for base in self.base_lrs]

    optimizer = optimizer_of(1.0)
    scheduler = Halving(optimizer)
    optimizer.step()
    scheduler.step()
    assert optimizer.param_groups[0]["lr"] == 0.5
    assert isinstance(scheduler, lr_scheduler.LRScheduler)


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("LambdaLR", {"lr_lambda": [abs]}, "Expected 2 lr_lambdas, but got 1"),
    ("ConstantLR", {"factor": 2}, "between 0 and 1"),
    ("LinearLR", {"start_factor": 0}, "greater than 0"),
    ("LinearLR", {"end_factor": 2}, "between 0 and 1"),
    ("CosineAnnealingWarmRestarts", {"T_0": 0}, "positive integer T_0"),
    ("CosineAnnealingWarmRestarts", {"T_0": 1, "T_mult": 0}, "T_mult >= 1"),
    ("CosineAnnealingWarmRestarts", {"T_0": 1, "eta_min": "low"}, "Expected float or int eta_min"),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 0.2, "mode": "square"}, "mode is invalid"),
    ("CyclicLR", {"base_lr": [0.1], "max_lr": 0.2}, "base_lr has 1 values, param_groups has 2"),
    ("OneCycleLR", {"max_lr": 0.1}, "You must define either total_steps"),
    ("OneCycleLR", {"max_lr": 0.1, "total_steps": 0}, "positive integer total_steps"),
    ("OneCycleLR", {"max_lr": 0.1, "total_steps": 9, "pct_start": 2}, "pct_start"),
    ("OneCycleLR", {"max_lr": 0.1, "total_steps": 9, "anneal_strategy": "step"}, "anneal_strategy"),
    ("ReduceLROnPlateau", {"factor": 1.0}, "Factor should be < 1.0"),
    ("ReduceLROnPlateau", {"mode": "low"}, "mode low is unknown"),
    ("ReduceLROnPlateau", {"threshold_mode": "low"}, "threshold mode low is unknown"),
    ("ReduceLROnPlateau", {"min_lr": [0.1]}, "expected 2 min_lrs, got 1"),
    ("SequentialLR", {"schedulers": [], "milestones": []}, "at least one scheduler"),
]


@pytest.mark.parametrize(("name", "options", "message"), WRONG, ids=[f"{name}-{list(o)[-1]}" for name, o, _ in WRONG])
def test_wrong_options(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        getattr(lr_scheduler, name)(optimizer_of(groups=2, momentum=0.9), **options)


def test_wrong_optimizers_and_resumes() -> None:
    with pytest.raises(TypeError, match="int is not an Optimizer"):
        lr_scheduler.StepLR(3, 3)  # type: ignore[arg-type]
    with pytest.raises(KeyError, match="initial_lr"):
        lr_scheduler.StepLR(optimizer_of(), 3, last_epoch=3)
    without_momentum = tenfold.optim.Adagrad([tenfold.ones(1, requires_grad=True)])
    with pytest.raises(ValueError, match="must support momentum or beta1"):
        lr_scheduler.CyclicLR(without_momentum, 0.1, 0.2)


def test_one_step_too_many() -> None:
    optimizer = optimizer_of(momentum=0.9)
    scheduler = lr_scheduler.OneCycleLR(optimizer, 0.1, 2)
    optimizer.step()
    scheduler.step()
    scheduler.step()
    with pytest.raises(ValueError, match="Tried to step 3 times"):
        scheduler.step()


def test_combining_other_peoples_schedulers() -> None:
    optimizer, other = optimizer_of(), optimizer_of()
    mine, theirs = lr_scheduler.ConstantLR(optimizer), lr_scheduler.ConstantLR(other)
    with pytest.raises(ValueError, match="same optimizer"):
        lr_scheduler.SequentialLR(optimizer, [mine, theirs], [3])
    with pytest.raises(ValueError, match="same optimizer"):
        lr_scheduler.ChainedScheduler([mine, theirs])
    with pytest.raises(ValueError, match="does not support `ReduceLROnPlateau`"):
        lr_scheduler.SequentialLR(optimizer, [mine, lr_scheduler.ReduceLROnPlateau(optimizer)], [3])
    with pytest.raises(ValueError, match="one more than the number of milestone"):
        lr_scheduler.SequentialLR(optimizer, [mine], [3])
    with pytest.raises(TypeError, match="should have `optimizer`"):
        lr_scheduler.ChainedScheduler([3])  # type: ignore[list-item]


@pytest.mark.parametrize("strategy", ["cos", "linear"])
def test_old_checkpoints_of_one_cycle_hold_the_function(strategy: str) -> None:
    rates = []
    for old in (False, True):
        optimizer = SGD([tenfold.ones(1)], lr=1.0, momentum=0.9)
        scheduler = lr_scheduler.OneCycleLR(optimizer, max_lr=5.0, total_steps=6, anneal_strategy="cos" if old else strategy)
        if old:
            del scheduler._anneal_func_type
            state = scheduler.state_dict()
            assert "_anneal_func_type" not in state
            scheduler.load_state_dict({**state, "anneal_func": getattr(lr_scheduler.OneCycleLR, f"_annealing_{strategy}")})
        for _ in range(4):
            optimizer.step()
            scheduler.step()
        rates.append(optimizer.param_groups[0]["lr"])
    assert rates[0] == rates[1]
