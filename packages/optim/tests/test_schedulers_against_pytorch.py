"""Learning rates equal PyTorch's, step by step."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")

STEPS = 40


def halved(epoch: int) -> float:
    return 0.5 ** (epoch // 7)


# name, options: the class called with the optimizer and these
SCHEDULERS: list[tuple[str, dict[str, Any]]] = [
    ("LambdaLR", {"lr_lambda": halved}),
    ("LambdaLR", {"lr_lambda": [halved, lambda epoch: 1 / (1 + epoch)]}),
    ("MultiplicativeLR", {"lr_lambda": lambda epoch: 0.95}),
    ("StepLR", {"step_size": 7}),
    ("StepLR", {"step_size": 3, "gamma": 0.5}),
    ("MultiStepLR", {"milestones": [5, 5, 12], "gamma": 0.3}),
    ("ConstantLR", {}),
    ("ConstantLR", {"factor": 0.5, "total_iters": 12}),
    ("LinearLR", {}),
    ("LinearLR", {"start_factor": 1.0, "end_factor": 0.1, "total_iters": 20}),
    ("ExponentialLR", {"gamma": 0.9}),
    ("PolynomialLR", {}),
    ("PolynomialLR", {"total_iters": 30, "power": 2.0}),
    ("CosineAnnealingLR", {"T_max": 10, "eta_min": 0.01}),
    ("CosineAnnealingLR", {"T_max": 40}),
    ("CosineAnnealingWarmRestarts", {"T_0": 6}),
    ("CosineAnnealingWarmRestarts", {"T_0": 3, "T_mult": 2, "eta_min": 0.001}),
    ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.2, "step_size_up": 5}),
    (
        "CyclicLR",
        {"base_lr": [0.01, 0.02], "max_lr": [0.2, 0.1], "step_size_up": 4, "step_size_down": 7, "mode": "triangular2"},
    ),
    ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.2, "step_size_up": 5, "mode": "exp_range", "gamma": 0.97}),
    (
        "CyclicLR",
        {"base_lr": 0.01, "max_lr": 0.2, "step_size_up": 5, "scale_fn": lambda x: 1 / x, "cycle_momentum": False},
    ),
    ("OneCycleLR", {"max_lr": 0.4, "total_steps": 41}),
    ("OneCycleLR", {"max_lr": [0.4, 0.2], "epochs": 9, "steps_per_epoch": 5, "three_phase": True}),
    ("OneCycleLR", {"max_lr": 0.4, "total_steps": 50, "anneal_strategy": "linear", "pct_start": 0.5}),
    ("SWALR", {"swa_lr": 0.05}),
    ("SWALR", {"swa_lr": [0.05, 0.01], "anneal_epochs": 4, "anneal_strategy": "linear"}),
    ("SWALR", {"swa_lr": 0.05, "anneal_epochs": 0}),
]
IDS = [f"{name}-{'-'.join(options)}" for name, options in SCHEDULERS]


def optimizer_of(lib: Any, kind: str = "SGD", lr: float = 0.1) -> Any:
    groups = [{"params": [lib.ones(2, requires_grad=True)]}, {"params": [lib.ones(1, requires_grad=True)], "lr": 0.03}]
    options = {"momentum": 0.9} if kind == "SGD" else {}
    return getattr(lib.optim, kind)(groups, lr=lr, **options)


def scheduler_class(lib: Any, name: str) -> Any:
    if name == "SWALR":
        if lib is tenfold:
            pytest.importorskip("tenfold.nn", reason="swa_utils averages modules")
        return lib.optim.swa_utils.SWALR
    return getattr(lib.optim.lr_scheduler, name)


def run(optimizer: Any, scheduler: Any, steps: int = STEPS) -> list[list[float]]:
    seen = []
    for _ in range(steps):
        groups = optimizer.param_groups
        assert scheduler.get_last_lr() == [group["lr"] for group in groups]
        momenta = [group["betas"][0] if "betas" in group else group["momentum"] for group in groups]
        seen.append([group["lr"] for group in groups] + momenta)
        optimizer.step()
        scheduler.step()
    return seen


def assert_same(got: list[list[float]], expected: list[list[float]]) -> None:
    """To the last bit: a run that goes on elsewhere takes the same steps."""
    assert got == expected


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
@pytest.mark.parametrize(("name", "options"), SCHEDULERS, ids=IDS)
def test_rates_and_momenta(name: str, options: dict[str, Any], kind: str) -> None:
    rates = []
    for lib in (tenfold, torch):
        optimizer = optimizer_of(lib, kind)
        rates.append(run(optimizer, scheduler_class(lib, name)(optimizer, **options)))
    assert_same(*rates)


@pytest.mark.parametrize(("name", "options"), SCHEDULERS, ids=IDS)
def test_checkpoints_move_in_both_directions(name: str, options: dict[str, Any]) -> None:
    runs = {}
    for lib in (tenfold, torch):
        optimizer = optimizer_of(lib)
        scheduler = scheduler_class(lib, name)(optimizer, **options)
        run(optimizer, scheduler, 9)
        runs[lib] = optimizer, scheduler
    assert list(runs[tenfold][1].state_dict()) == list(runs[torch][1].state_dict())
    expected = None
    for here, there in ((tenfold, torch), (torch, tenfold), (torch, torch)):
        optimizer = optimizer_of(here)
        scheduler = scheduler_class(here, name)(optimizer, **options)
        other_optimizer, other_scheduler = runs[there]
        for group, other in zip(optimizer.param_groups, other_optimizer.param_groups, strict=True):
            group.update({key: value for key, value in other.items() if key != "params"})
        scheduler.load_state_dict(other_scheduler.state_dict())
        rates = run(optimizer, scheduler, 20)
        expected = expected or rates
        assert_same(rates, expected)


@pytest.mark.parametrize(("name", "options"), SCHEDULERS, ids=IDS)
def test_resuming_by_last_epoch(name: str, options: dict[str, Any]) -> None:
    rates = []
    for lib in (tenfold, torch):
        optimizer = optimizer_of(lib)
        scheduler = scheduler_class(lib, name)(optimizer, **options)
        run(optimizer, scheduler, 9)
        resumed = scheduler_class(lib, name)(optimizer, **options, last_epoch=8)
        rates.append(run(optimizer, resumed, 10))
    assert_same(*rates)


@pytest.mark.parametrize("epoch", [0, 1, 4, 10, 23])
@pytest.mark.parametrize(("name", "options"), SCHEDULERS, ids=IDS)
@pytest.mark.filterwarnings("ignore:The epoch parameter")
def test_epoch_argument(name: str, options: dict[str, Any], epoch: int) -> None:
    rates = []
    for lib in (tenfold, torch):
        optimizer = optimizer_of(lib)
        scheduler = scheduler_class(lib, name)(optimizer, **options)
        optimizer.step()
        scheduler.step(epoch)
        rates.append([scheduler.get_last_lr(), [scheduler.last_epoch]])
    assert_same(*rates)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"patience": 2, "cooldown": 3},
        {"mode": "max", "threshold_mode": "abs", "factor": 0.5},
        {"patience": 1, "min_lr": [0.01, 0.02]},
    ],
    ids=str,
)
def test_plateau(options: dict[str, Any]) -> None:
    rates = []
    for lib in (tenfold, torch):
        optimizer = optimizer_of(lib)
        scheduler = lib.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **options)
        seen = []
        for i in range(STEPS):
            scheduler.step(max(1 / (i + 1), 0.1) + 0.01 * (i % 3))
            seen.append([*scheduler.get_last_lr(), scheduler.num_bad_epochs, scheduler.best])
        rates.append(seen)
    assert_same(*rates)


def combined(lib: Any, kind: str) -> tuple[Any, Any]:
    schedulers, optimizer = lib.optim.lr_scheduler, optimizer_of(lib)
    parts = [
        schedulers.LinearLR(optimizer, 0.1, total_iters=5),
        schedulers.CosineAnnealingLR(optimizer, 10),
        schedulers.ExponentialLR(optimizer, 0.9),
        schedulers.CosineAnnealingWarmRestarts(optimizer, 4),
    ]
    if kind == "sequential":
        return optimizer, schedulers.SequentialLR(optimizer, parts, [5, 15, 25])
    if kind == "chained":
        return optimizer, schedulers.ChainedScheduler(parts[:3])
    inner = schedulers.SequentialLR(optimizer, parts[1:3], [6])
    return optimizer, schedulers.SequentialLR(optimizer, [inner, parts[0]], [12])


@pytest.mark.parametrize("kind", ["sequential", "chained", "nested"])
@pytest.mark.filterwarnings("ignore:Detected call of `lr_scheduler.step:UserWarning")  # nested: in PyTorch too
def test_combined(kind: str) -> None:
    rates = [run(*combined(lib, kind)) for lib in (tenfold, torch)]
    assert_same(*rates)


@pytest.mark.parametrize("kind", ["sequential", "chained"])
def test_combined_checkpoints(kind: str) -> None:
    optimizer, scheduler = combined(torch, kind)
    run(optimizer, scheduler, 12)
    mine, resumed = combined(tenfold, kind)
    for group, other in zip(mine.param_groups, optimizer.param_groups, strict=True):
        group["lr"] = other["lr"]
    resumed.load_state_dict(scheduler.state_dict())
    assert_same(run(mine, resumed, 20), run(optimizer, scheduler, 20))


@pytest.mark.parametrize(
    ("name", "rates"),
    [("CyclicLR", {"base_lr": 0.01, "max_lr": 0.2}), ("OneCycleLR", {"max_lr": 0.2}), ("SWALR", {"swa_lr": 0.05})],
)
@pytest.mark.filterwarnings("ignore:Detected call of:UserWarning")
def test_rates_given_as_tensors_stay_the_callers(name: str, rates: dict[str, float]) -> None:
    found = []
    for lib in (tenfold, torch):
        home = lib.optim.swa_utils if name == "SWALR" else lib.optim.lr_scheduler
        given = {key: lib.tensor(rate) for key, rate in rates.items()}
        optimizer = lib.optim.SGD([lib.ones(1, requires_grad=True)], lr=lib.tensor(0.1), momentum=0.9)
        scheduler = getattr(home, name)(optimizer, **given, **({"total_steps": 10} if name == "OneCycleLR" else {}))
        for _ in range(4):
            optimizer.step()
            scheduler.step()
        assert {key: round(t.item(), 6) for key, t in given.items()} == rates
        found.append(round(float(optimizer.param_groups[0]["lr"]), 6))
    assert found[0] == found[1]


def test_plateau_saves_its_numbers_in_pytorchs_order() -> None:
    mine, theirs = (lib.optim.lr_scheduler.ReduceLROnPlateau(optimizer_of(lib)).state_dict() for lib in (tenfold, torch))
    assert list(mine) == list(theirs)
