"""gradcheck and gradgradcheck accept right derivatives and catch wrong ones."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold
from tenfold.autograd import gradcheck, gradgradcheck, gradient
from tenfold.autograd.gradients import GRADIENTS
from tenfold.dispatch.kernels import KERNELS, kernel
from tenfold.dispatch.operators import OPERATORS, primitive
from tenfold.dispatch.shape_rules import pointwise
from tenfold.tensor.tensor import Tensor


def leaf(*values: Any) -> Tensor:
    return tenfold.tensor(list(values), dtype=tenfold.float64, requires_grad=True)


@primitive("pointwise", name="cube_for_gradcheck", method=None, rule=pointwise)
def cube(input: Tensor, error: Any) -> Tensor:
    """The cube, with a gradient that is wrong by a factor 1 + error."""


kernel(cube, device="cpu")(lambda input, error: input**3)
gradient(cube, input=lambda g, input, error: g * 3 * (1 + error) * input * input)


def teardown_module() -> None:
    for table in (OPERATORS, GRADIENTS):
        table.pop("cube_for_gradcheck", None)
    KERNELS.pop(("cube_for_gradcheck", "cpu"), None)


@pytest.mark.parametrize("fast_mode", [False, True])
def test_right_gradients_pass(fast_mode: bool) -> None:
    x, y = leaf(0.5, -1.5), leaf(2.0, 1.0)
    assert gradcheck(lambda a, b: (a * b, a / b, (a * a).sum()), (x, y), fast_mode=fast_mode, check_grad_dtypes=True)
    assert gradgradcheck(lambda a, b: (a * b, a / b), (x, y), fast_mode=fast_mode)


@pytest.mark.parametrize("fast_mode", [False, True])
def test_a_wrong_gradient_is_located(fast_mode: bool) -> None:
    with pytest.raises(RuntimeError, match="numerical: "):
        gradcheck(lambda x: cube(x, 0.01), (leaf(0.5, -1.5),), fast_mode=fast_mode)
    assert gradcheck(lambda x: cube(x, 0.01), (leaf(0.5, -1.5),), fast_mode=fast_mode, raise_exception=False) is False


def test_tolerances_decide() -> None:
    x = leaf(0.5, -1.5)
    assert gradcheck(lambda x: cube(x, 0.0005), (x,), rtol=1e-3)
    assert not gradcheck(lambda x: cube(x, 0.0005), (x,), rtol=1e-5, atol=1e-7, raise_exception=False)


def test_second_order_alone_may_be_wrong() -> None:
    def detached(x: Tensor) -> Tensor:
        return x * x.detach() + x.detach() * x - x.detach() * x.detach()

    assert gradcheck(detached, (leaf(0.5),))
    for fast_mode in (False, True):
        with pytest.raises(RuntimeError, match="numerical: "):
            gradgradcheck(detached, (leaf(0.5),), fast_mode=fast_mode)


def test_inputs_are_not_changed() -> None:
    x = leaf(0.5, -1.5)
    assert gradcheck(lambda x: x * x, (x,))
    assert x.tolist() == [0.5, -1.5]
    assert x.grad is None


def test_inputs_that_need_no_gradient() -> None:
    constant = tenfold.tensor([3.0, 4.0], dtype=tenfold.float64)
    assert gradcheck(lambda a, b: a * b, (leaf(1.0, 2.0), constant))
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        gradcheck(lambda a: a * 2, (constant,))


def test_strided_inputs() -> None:
    x = tenfold.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=tenfold.float64).transpose(0, 1).requires_grad_(True)
    assert gradcheck(lambda x: x * x, (x,))
    assert gradgradcheck(lambda x: x * x, (x,), gen_non_contig_grad_outputs=True)


def test_complex_inputs() -> None:
    z = tenfold.tensor([1 + 2j, -0.5j], requires_grad=True, dtype=tenfold.complex128)
    assert gradcheck(lambda z: z + z, (z,))
    assert gradcheck(lambda z: z + z, (z,), fast_mode=True)


def test_results_that_change_between_passes() -> None:
    calls = []

    def hook(g: Tensor) -> Tensor:
        calls.append(1)
        return g * (1 + 1e-3 * (len(calls) % 2))

    def noisy(x: Tensor) -> Tensor:
        y = x * x
        y.register_hook(hook)
        return y

    with pytest.raises(RuntimeError, match="not reentrant"):
        gradcheck(noisy, (leaf(1.0),), rtol=1.0)
    assert gradcheck(noisy, (leaf(1.0),), rtol=1.0, nondet_tol=0.1)


def test_an_input_that_the_function_also_reaches_by_itself():
    weight = tenfold.tensor([0.5, -2.0], dtype=tenfold.float64, requires_grad=True)
    x = tenfold.tensor([3.0, 4.0], dtype=tenfold.float64, requires_grad=True)
    assert gradcheck(lambda x, w: x * weight * weight, (x, weight))
    assert weight.tolist() == [0.5, -2.0]


def test_inputs_and_outputs_without_elements():
    w = tenfold.ones(3, dtype=tenfold.float64, requires_grad=True)
    empty = tenfold.ones(0, 3, dtype=tenfold.float64, requires_grad=True)
    assert gradcheck(lambda x, w: x * w, (empty, w))
