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


@pytest.mark.parametrize("name", ["bitwise_left_shift", "bitwise_and", "gcd", "heaviside", "floor_divide"])
def test_an_output_with_a_gradient_takes_what_has_no_derivative(name):
    out = tenfold.ones(2, requires_grad=True) * 1
    ones = tenfold.ones(2) if name in ("heaviside", "floor_divide") else tenfold.ones(2, dtype=tenfold.int64)
    getattr(tenfold, name)(ones, ones, out=out)
    assert out.tolist() == ([2.0, 2.0] if name == "bitwise_left_shift" else [1.0, 1.0])
    leaf = tenfold.ones(2, requires_grad=True)
    for refused in (leaf, leaf[:]):
        with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
            getattr(tenfold, name)(ones, ones, out=refused)


@pytest.mark.parametrize("name", ["var", "std"])
def test_a_recorded_spread_of_too_few_numbers_warns_once(name):
    with pytest.warns(UserWarning, match=rf"^{name}\(\): degrees of freedom is <= 0") as told:
        assert getattr(tenfold, name)(tenfold.ones(1, requires_grad=True)).isnan().item()
    assert len(told) == 1
