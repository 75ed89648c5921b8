"""Recorded writes to expanded views: elements that share a place are written and differentiated as the one number it is."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold

WRITES = {
    "diagonal": lambda y: y.fill_diagonal_(5.0),
    "mask": lambda y: y.masked_fill_(tenfold.eye(3) > 0, 5.0),
    "mask of a column": lambda y: y.masked_fill_(tenfold.tensor([[True, False, False]] * 3), 5.0),
    "place": lambda y: y.index_put_((tenfold.tensor([0]), tenfold.tensor([1])), tenfold.tensor(5.0, dtype=tenfold.float64)),
    "added": lambda y: y.index_put_((tenfold.tensor([0]), tenfold.tensor([1])), tenfold.tensor(5.0).double(), accumulate=True),
    "row": lambda y: y.index_fill_(0, tenfold.tensor([0]), 5.0),
    "zero": lambda y: y.zero_(),
    "threshold": lambda y: tenfold.nn.functional.threshold_(y, 1.5, 7.0),
}


@pytest.mark.filterwarnings("ignore:Use of")
@pytest.mark.parametrize("shape", [(3, 1), (1, 3), (1, 1), (3,)], ids=str)
@pytest.mark.parametrize("write", WRITES)
def test_gradients_are_those_of_differences(write: str, shape: tuple[int, ...]) -> None:
    weights = tenfold.arange(9.0).double().view(3, 3)

    def of(x: tenfold.Tensor) -> tenfold.Tensor:
        base = x * 1
        expanded = base.expand(3, 3)
        WRITES[write](expanded)
        return (expanded * weights).sum() + 2 * base.sum()

    x = (tenfold.arange(float(np.prod(shape))).double() + 1).reshape(shape).requires_grad_()
    of(x).backward()
    expected = np.zeros(shape)
    for place in np.ndindex(*shape):
        step = np.zeros(shape)
        step[place] = 1e-4
        step_up, step_down = (of(x.detach() + sign * tenfold.from_numpy(step)) for sign in (1, -1))
        expected[place] = (step_up - step_down).item() / 2e-4
    np.testing.assert_allclose(x.grad.numpy(), expected, atol=1e-6)


@pytest.mark.filterwarnings("ignore:Use of")
@pytest.mark.parametrize(("adds", "expected"), [(False, [0.0, 12.0, 21.0]), (True, [3.0, 12.0, 21.0])])
def test_what_is_written_has_a_gradient(adds: bool, expected: list[float]) -> None:
    x, value = tenfold.ones(3, 1, requires_grad=True), tenfold.tensor(5.0, requires_grad=True)
    expanded = (x * 1).expand(3, 3)
    expanded.index_put_((tenfold.tensor([0]), tenfold.tensor([1])), value, accumulate=adds)
    (expanded * tenfold.arange(9.0).view(3, 3)).sum().backward()
    assert x.grad.flatten().tolist() == expected
    assert value.grad.item() == 3
