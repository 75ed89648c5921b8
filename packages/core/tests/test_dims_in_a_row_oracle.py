"""Dimensions given in a row, `x.squeeze(0, 2)`, compared with PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")

CALLS = {
    "squeeze": lambda x: x.squeeze(0, 2),
    "squeeze from the end": lambda x: x.squeeze(-2, 0),
    "squeeze one": lambda x: x.squeeze(2),
    "squeeze none": lambda x: x.squeeze([]),
    "squeeze all": lambda x: x.squeeze(),
    "squeeze by name": lambda x: x.squeeze(dim=(0, 2)),
    "squeeze_": lambda x: x.clone().squeeze_(0, 2),
    "count_nonzero": lambda x: x.count_nonzero(0, 1),
    "flip": lambda x: x.flip(1, 3),
}


@pytest.mark.parametrize("name", CALLS)
def test_results(name: str) -> None:
    ours, theirs = (CALLS[name](t.arange(6.0).view(1, 2, 1, 3)) for t in (tenfold, torch))
    assert (tuple(ours.shape), ours.tolist()) == (tuple(theirs.shape), theirs.tolist())


@pytest.mark.parametrize("call", [lambda x: x.squeeze(0, 0), lambda x: x.squeeze(0, 4), lambda x: x.sum(1, 2, 3)])
def test_refusals(call: Any) -> None:
    raised = []
    for t in (tenfold, torch):
        with pytest.raises((RuntimeError, IndexError, TypeError)) as error:
            call(t.ones(1, 2, 1, 3))
        raised.append(error.type)
    assert raised[0] is raised[1]


def test_gradient_and_vmap() -> None:
    def run(t: Any) -> Any:
        x = t.arange(6.0).view(3, 1, 2, 1).requires_grad_()
        y = t.vmap(lambda v: v.squeeze(0, -1).sin())(x)
        return y.tolist(), t.autograd.grad(y.sum(), x)[0].tolist()

    for a, b in zip(run(tenfold), run(torch)):
        tenfold.testing.assert_close(tenfold.tensor(a), tenfold.tensor(b))


@pytest.mark.parametrize("name", ["var", "std", "sum", "mean", "amax"])
def test_dimensions_may_be_tensors(name: str) -> None:
    def results(lib: Any) -> list[Any]:
        x, one = lib.arange(80.0).reshape(2, 40), lib.tensor(1)
        return [getattr(x, name)(dim=dim).tolist() for dim in (one, [one], (one,), (0, one))]

    for ours, theirs in zip(results(tenfold), results(torch), strict=True):
        assert ours == pytest.approx(theirs, rel=1e-6)
