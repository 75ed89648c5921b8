"""The line search of LBFGS by PyTorch's private names, which minimizers of other libraries call."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")


def searched(lib: Any, step: float, as_tensors: bool, curve: float) -> list[Any]:
    def value(x: Any) -> Any:
        return (curve * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()

    def at(x: Any, t: Any, d: Any) -> Any:
        place = (x + t * d).requires_grad_()
        loss = value(place)
        (grad,) = lib.autograd.grad(loss, place)
        return loss.detach() if as_tensors else loss.item(), grad

    x = lib.tensor([-1.2, 1.0, 0.5], dtype=lib.float64)
    loss, grad = at(x, 0, x)
    given = lib.tensor(step, dtype=lib.float64) if as_tensors else step
    slope = -grad.dot(grad)
    search = importlib.import_module(f"{lib.__name__}.optim.lbfgs")._strong_wolfe
    found = search(at, x, given, -grad, loss, grad, slope)
    return [float(found[0]), found[1].tolist(), float(found[2]), found[3]]


@pytest.mark.parametrize("as_tensors", [False, True])
@pytest.mark.parametrize(("step", "curve"), [(1.0, 100.0), (1e-6, 100.0), (1e-3, 3.0), (0.2, 0.0), (5.0, 1.0)])
def test_steps_and_evaluations_are_pytorchs(step: float, curve: float, as_tensors: bool) -> None:
    ours, theirs = (searched(lib, step, as_tensors, curve) for lib in (tenfold, torch))
    assert ours[3] == theirs[3]
    assert ours[0] == pytest.approx(theirs[0], rel=1e-9)
    assert ours[1] == pytest.approx(theirs[1], rel=1e-7, abs=1e-9)
    assert ours[2] == pytest.approx(theirs[2], rel=1e-9)


@pytest.mark.parametrize("bounds", [None, (0.1, 0.4)])
@pytest.mark.parametrize(
    "numbers", [(0.0, 1.0, -1.0, 1.0, 0.8, 0.5), (1.0, 0.8, 0.5, 0.0, 1.0, -1.0), (0.0, 1.0, 1.0, 1.0, 9.0, 1.0)]
)
def test_least_places_of_cubics(numbers: Any, bounds: Any) -> None:
    found = []
    for lib in (tenfold, torch):
        least = importlib.import_module(f"{lib.__name__}.optim.lbfgs")._cubic_interpolate
        found.append(float(least(*(lib.tensor(n, dtype=lib.float64) for n in numbers), bounds=bounds)))
    assert found[0] == pytest.approx(found[1], rel=1e-12)


@pytest.mark.parametrize(
    "options", [{"max_iter": 5}, {"max_iter": 3, "max_eval": 4}, {"max_iter": 20}, {"max_iter": 5, "max_eval": 1}]
)
def test_a_search_takes_no_more_evaluations_than_are_left(options: dict[str, int]) -> None:
    found = []
    for lib in (tenfold, torch):
        p = lib.tensor([0.3, -0.2, 0.1], dtype=lib.float64, requires_grad=True)
        optimizer = lib.optim.LBFGS([p], lr=0.1, line_search_fn="strong_wolfe", **options)
        calls: list[int] = []

        def closure(lib: Any = lib, p: Any = p, optimizer: Any = optimizer, calls: list[int] = calls) -> Any:
            calls.append(1)
            optimizer.zero_grad()
            loss = (p * p).sum() + 3 * (p**4).sum() + p[0].exp()
            loss.backward()
            return loss

        for _ in range(2):
            optimizer.step(closure)
        found.append((len(calls), p.tolist()))
    assert found[0][0] == found[1][0]
    assert found[0][1] == pytest.approx(found[1][1], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", ["NAdam", "RAdam", "Adamax", "Adadelta", "RMSprop", "ASGD", "Rprop", "Adam"])
def test_a_learning_rate_that_is_a_tensor_beside_lists(name: str) -> None:
    found = []
    for lib in (tenfold, torch):
        p = lib.ones(3, requires_grad=True)
        try:
            optimizer = getattr(lib.optim, name)([p], lr=lib.tensor(0.1), foreach=True)
        except ValueError as error:
            found.append(str(error))
            continue
        p.grad = lib.tensor([0.1, 0.2, -0.3])
        for _ in range(2):
            optimizer.step()
        found.append(pytest.approx(p.tolist(), rel=1e-5))
    assert found[0] == found[1] if isinstance(found[1], str) else found[0].expected == found[1]
