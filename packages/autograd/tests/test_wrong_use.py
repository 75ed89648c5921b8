"""Wrong use of recorded tensors: PyTorch's exception type and a message that says what to do."""

from __future__ import annotations

import pytest

import tenfold


def ones(*shape: int, **options: object) -> tenfold.Tensor:
    return tenfold.ones(*shape, **options)


def test_in_place_on_a_leaf():
    w = ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"add_.*leaf Variable that requires grad"):
        w.add_(1)
    with pytest.raises(RuntimeError, match=r"mul_.*view of a leaf"):
        w.view(2).mul_(2)
    with tenfold.no_grad():
        w.add_(1)
    assert w.tolist() == [2.0, 2.0]


def test_out_refuses_gradients():
    x = ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"out=... arguments don't support automatic differentiation"):
        tenfold.add(x, 1, out=tenfold.empty(2))


def test_numpy_of_a_recorded_tensor():
    with pytest.raises(RuntimeError, match=r"detach\(\).numpy\(\)"):
        ones(1, requires_grad=True).numpy()
