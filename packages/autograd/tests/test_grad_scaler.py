"""Loss scaling beside PyTorch's."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")


def trained(lib: Any) -> list[Any]:
    """Scales and weights of a few steps, one of which overflows."""
    w = lib.tensor([1.0, 2.0], requires_grad=True)
    scaler = lib.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    seen = []
    for i in range(5):
        w.grad = None
        loss = (w * w).sum() * (float("inf") if i == 2 else 1.0)
        scaler.scale(loss).backward()
        if i == 3:
            scaler.unscale_(Step([w]))
        else:
            scaler.step(Step([w]))
        scaler.update()
        seen += [scaler.get_scale(), scaler._get_growth_tracker(), [round(v, 5) for v in w.detach().tolist()]]
    return [*seen, scaler.state_dict()]


class Step:
    """Gradient descent."""

    def __init__(self, params: list[Any]) -> None:
        self.param_groups = [{"params": params}]

    def step(self) -> None:
        for p in self.param_groups[0]["params"]:
            p.data -= 0.1 * p.grad


def test_as_pytorch() -> None:
    assert trained(tenfold) == trained(torch)


def test_refusals_and_pickles() -> None:
    scaler = tenfold.GradScaler("cpu", init_scale=2.0)
    step = Step([tenfold.ones(1, requires_grad=True)])
    with pytest.raises(AssertionError, match="_scale is None"):
        scaler.step(step)
    scaler.scale(step.param_groups[0]["params"][0].sum()).backward()
    scaler.unscale_(step)
    with pytest.raises(RuntimeError, match="already been called"):
        scaler.unscale_(step)
    with pytest.raises(AssertionError, match="pickled"):
        pickle.dumps(scaler)
    scaler.update()
    assert pickle.loads(pickle.dumps(scaler)).get_scale() == 2.0
    off = tenfold.GradScaler("cpu", enabled=False)
    assert off.get_scale() == 1.0
    assert off.state_dict() == {}


def scaled_by_itself(lib: Any, passes_itself: bool, unscaled: bool, factor: float) -> Any:
    """What an optimizer that unscales by itself is told."""
    told: list[Any] = []

    class Own(lib.optim.SGD):
        _step_supports_amp_scaling = True

    if passes_itself:

        def step(self: Any, closure: Any = None, *, grad_scaler: Any = None) -> None:
            told.extend([isinstance(grad_scaler, lib.amp.GradScaler), hasattr(self, "grad_scale")])
    else:

        def step(self: Any, closure: Any = None) -> None:  # type: ignore[misc]
            told.extend([None if self.grad_scale is None else self.grad_scale.item(), self.found_inf.item()])

    Own.step = step
    w = lib.ones(2, requires_grad=True)
    scaler, optimizer = lib.amp.GradScaler("cpu", init_scale=4.0), Own([w], lr=0.1)
    scaler.scale((w * factor).sum()).backward()
    if unscaled:
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    return [*told, w.grad.tolist(), hasattr(optimizer, "grad_scale"), hasattr(optimizer, "found_inf")]


@pytest.mark.filterwarnings("ignore:GradScaler is going to stop passing itself:FutureWarning")
@pytest.mark.parametrize("factor", [1.0, float("inf")])
@pytest.mark.parametrize("unscaled", [False, True])
@pytest.mark.parametrize("passes_itself", [False, True])
def test_optimizers_that_unscale_by_themselves(passes_itself: bool, unscaled: bool, factor: float) -> None:
    pytest.importorskip("tenfold.optim")
    case = (passes_itself, unscaled, factor)
    assert scaled_by_itself(tenfold, *case) == scaled_by_itself(torch, *case)


def refusals(lib: Any) -> list[str]:
    """What is said of a scaler that has scaled nothing, of an optimizer without gradients and of a wrong new scale."""
    scaler, told = lib.amp.GradScaler("cpu", init_scale=4.0), []
    with_gradients, without = (Step([lib.ones(2, requires_grad=True)]) for _ in range(2))
    for call in (lambda: scaler.step(without), scaler.update):
        with pytest.raises(AssertionError) as caught:
            call()
        told.append(str(caught.value))
    scaler.scale(with_gradients.param_groups[0]["params"][0].sum()).backward()
    with pytest.raises(AssertionError, match=r"No inf checks were recorded for this optimizer\."):
        scaler.step(without)
    scaler.step(with_gradients)
    for new in (lib.ones(2), lib.ones((), requires_grad=True)):
        with pytest.raises(AssertionError, match="new_scale should be a float or a 1-element"):
            scaler.update(new)
    scaler.update(lib.tensor(8.0))
    return [*told, scaler.get_scale()]


def test_refusals_as_pytorch() -> None:
    assert refusals(tenfold) == refusals(torch)
