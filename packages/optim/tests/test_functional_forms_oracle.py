"""Optimizers as functions of lists against PyTorch's: parameters and all state after five steps, for each form and option."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import tenfold
from tenfold.optim import _functional as ours_of

torch = pytest.importorskip("torch")
theirs_of = pytest.importorskip("torch.optim._functional")

ADAM = {"beta1": 0.9, "beta2": 0.99, "lr": 0.1, "weight_decay": 0.1, "eps": 1e-8}
CASES: list[tuple[str, dict[str, Any]]] = [
    ("adadelta", {"lr": 0.5, "rho": 0.9, "eps": 1e-6, "weight_decay": 0.1, "maximize": False}),
    ("adagrad", {"lr": 0.5, "weight_decay": 0.1, "lr_decay": 0.1, "eps": 1e-8, "maximize": True}),
    ("adam", {**ADAM, "amsgrad": False, "maximize": False}),
    ("adam", {**ADAM, "amsgrad": True, "maximize": True}),
    ("adam", {**ADAM, "amsgrad": False, "maximize": False, "decoupled_weight_decay": True}),
    ("adamw", {**ADAM, "amsgrad": True, "maximize": False}),
    ("adamax", ADAM),
    ("adamax", {**ADAM, "maximize": True}),
    ("asgd", {"lambd": 0.1, "lr": 0.1, "t0": 2.0, "alpha": 0.75, "weight_decay": 0.1}),
    ("nadam", {**ADAM, "momentum_decay": 0.004}),
    ("nadam", {**ADAM, "momentum_decay": 0.004, "decoupled_weight_decay": True}),
    ("radam", ADAM),
    ("radam", {**ADAM, "decoupled_weight_decay": True, "maximize": True}),
    ("rmsprop", {"lr": 0.1, "alpha": 0.9, "eps": 1e-8, "weight_decay": 0.1, "momentum": 0.5, "centered": True}),
    ("rmsprop", {"lr": 0.1, "alpha": 0.9, "eps": 1e-8, "weight_decay": 0, "momentum": 0, "centered": False}),
    ("rprop", {"step_size_min": 1e-6, "step_size_max": 50, "etaminus": 0.5, "etaplus": 1.2}),
    ("sgd", {"weight_decay": 0.1, "momentum": 0.9, "lr": 0.1, "dampening": 0.2, "nesterov": False, "maximize": False}),
    ("sgd", {"weight_decay": 0, "momentum": 0.9, "lr": 0.1, "dampening": 0, "nesterov": True, "maximize": True}),
    ("sgd", {"weight_decay": 0, "momentum": 0, "lr": 0.1, "dampening": 0, "nesterov": False, "maximize": False}),
]
EMPTY = {"max_exp_avg_sqs": "amsgrad", "grad_avgs": "centered", "momentum_buffer_list": "momentum"}
SHAPES = [(3, 2), (4,)]


def steps(lib: Any, form: Any, lists: list[str], options: dict[str, Any], kind: Any) -> list[Any]:
    """The lists after five steps, and what was drawn for them."""
    generator = torch.Generator().manual_seed(0)

    def made() -> list[Any]:
        drawn = [torch.randn(shape, generator=generator, dtype=getattr(torch, kind)) for shape in SHAPES]
        return [lib.tensor(x.tolist(), dtype=getattr(lib, kind)) for x in drawn]

    params, state = made(), {}
    for name in lists[2:]:
        if name in EMPTY and not options.get(EMPTY[name]):
            state[name] = [None] * len(SHAPES) if lists[1] == "d_p_list" else []
        elif name == "momentum_buffer_list" and lists[1] == "d_p_list":
            state[name] = [None] * len(SHAPES)
        elif name in ("state_steps", "mus", "etas", "mu_products"):
            state[name] = [lib.tensor({"mus": 1.0, "etas": 0.1, "mu_products": 1.0}.get(name, 0.0)) for _ in SHAPES]
        else:
            state[name] = [lib.full_like(p, 0.1) if name == "step_sizes" else lib.zeros_like(p) for p in params]
    for _ in range(5):
        with lib.no_grad():
            form(params, made(), *state.values(), **options)
    return [[None if x is None else x.tolist() for x in held] for held in (params, *state.values())]


@pytest.mark.parametrize("kind", ["float64", "complex128"])
@pytest.mark.parametrize(("name", "options"), CASES, ids=str)
def test_five_steps(name: str, options: dict[str, Any], kind: str) -> None:
    theirs = getattr(theirs_of, name)
    lists = [p.name for p in inspect.signature(theirs).parameters.values() if p.default is p.empty and p.kind != p.KEYWORD_ONLY]
    complex_kind = {"has_complex": True} if kind == "complex128" and name != "sgd" else {}
    expected = steps(torch, theirs, lists, {**options, **complex_kind, "foreach": False}, kind)
    got = steps(tenfold, getattr(ours_of, name), lists, options, kind)
    for mine, wanted in zip(got, expected, strict=True):
        for a, b in zip(mine, wanted, strict=True):
            if b is None:
                assert a is None
            else:
                torch.testing.assert_close(torch.tensor(a), torch.tensor(b), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", [name for name in ours_of.__all__ if name != "sparse_adam"])
def test_signatures_and_paths_are_pytorchs(name: str) -> None:
    ours = getattr(getattr(tenfold.optim, name), name)
    assert ours is getattr(ours_of, name)
    theirs = inspect.signature(getattr(theirs_of, name)).parameters.values()
    mine = inspect.signature(ours).parameters.values()
    assert [(p.name, p.kind, p.default) for p in mine] == [(p.name, p.kind, p.default) for p in theirs]


def test_what_is_refused() -> None:
    x, options = tenfold.ones(2), {"beta1": 0.9, "beta2": 0.9, "lr": 0.1, "weight_decay": 0, "eps": 1e-8}
    with pytest.raises(RuntimeError, match="tensors of one element"):
        ours_of.adamax([x], [x], [x.clone()], [x.clone()], [1], **options)
    with pytest.raises(TypeError, match="misses the arguments eps"):
        ours_of.adamax([x], [x], [x], [x], [x], **{k: v for k, v in options.items() if k != "eps"})
    with pytest.raises(TypeError, match="unexpected keyword argument 'speed'"):
        ours_of.adamax([x], [x], [x], [x], [x], **options, speed=1)


def test_a_gradient_that_overflowed_is_left_out_and_a_scale_taken_off() -> None:
    x = tenfold.ones(2)
    options = {"weight_decay": 0, "momentum": 0, "lr": 1.0, "dampening": 0, "nesterov": False, "maximize": False}
    ours_of.sgd([x], [tenfold.ones(2)], [None], **options, found_inf=tenfold.tensor(1.0))
    assert x.tolist() == [1, 1]
    ours_of.sgd([x], [tenfold.ones(2)], [None], **options, found_inf=tenfold.tensor(0.0), grad_scale=tenfold.tensor(4.0))
    assert x.tolist() == [0.75, 0.75]
