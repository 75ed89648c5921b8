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


@primitive("pointwise", name="square_for_gradcheck", method=None, rule=pointwise)
def square(input: Tensor, error: Any) -> Tensor:
    """The square, with a gradient that is wrong by a factor 1 + error."""


kernel(square, device="cpu")(lambda input, error: input**2)
gradient(square, input=lambda g, input, error: g * 2 * (1 + error) * input)


@primitive("pointwise", name="curve_for_gradcheck", method=None, rule=pointwise)
def curve(input: Tensor, error: Any) -> Tensor:
    """The cube again, whose gradient is right and has itself a gradient that is wrong by a factor 1 + error."""


kernel(curve, device="cpu")(lambda input, error: input**3)
gradient(curve, input=lambda g, input, error: g * 3 * square(input, error))


def teardown_module() -> None:
    for name in ("cube_for_gradcheck", "square_for_gradcheck", "curve_for_gradcheck"):
        for table in (OPERATORS, GRADIENTS):
            table.pop(name, None)
        KERNELS.pop((name, "cpu"), None)


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
    assert gradcheck(noisy, (leaf(1.0),), rtol=1.0, nondet_tol=0.1, check_undefined_grad=False)


def test_an_input_that_the_function_also_reaches_by_itself():
    weight = tenfold.tensor([0.5, -2.0], dtype=tenfold.float64, requires_grad=True)
    x = tenfold.tensor([3.0, 4.0], dtype=tenfold.float64, requires_grad=True)
    assert gradcheck(lambda x, w: x * weight * weight, (x, weight))
    assert weight.tolist() == [0.5, -2.0]


def test_inputs_and_outputs_without_elements():
    w = tenfold.ones(3, dtype=tenfold.float64, requires_grad=True)
    empty = tenfold.ones(0, 3, dtype=tenfold.float64, requires_grad=True)
    assert gradcheck(lambda x, w: x * w, (empty, w))


def test_sparse_inputs_by_stored_elements_or_by_all():
    pytest.importorskip("tenfold.sparse")
    x = tenfold.tensor([[1.0, 0.0], [0.0, 2.0]], dtype=tenfold.float64)
    for layout in (tenfold.sparse_coo, tenfold.sparse_csr, tenfold.sparse_csc):
        for fast in (False, True):
            for masked in (False, True):
                sparse = x.to_sparse(layout=layout).requires_grad_()
                assert gradcheck(lambda s: s.to_dense() ** 2, (sparse,), masked=masked, fast_mode=fast)
    with pytest.raises(ValueError, match="Sparse output is not supported"):
        gradcheck(lambda s: s * 2, (x.to_sparse().requires_grad_(),))


def test_a_backward_that_cannot_do_without_gradients():
    def fragile(x: Tensor) -> Tensor:
        y = x.clone()
        y.register_hook(lambda g: _refuse() if g is None else None)
        return y

    with (
        pytest.warns(UserWarning, match="undefined gradient support"),
        pytest.raises(RuntimeError, match="Expected backward function to handle undefined output grads"),
    ):
        gradcheck(fragile, (leaf(1.0),))


def _refuse() -> None:
    raise RuntimeError("no gradient")


def test_inputs_of_low_precision_or_repeated_memory():
    with pytest.warns(UserWarning, match="not a double precision"):
        assert gradcheck(lambda x: x, (tenfold.ones(1, requires_grad=True),), atol=1e-1)
    with pytest.raises(RuntimeError, match="The 0th input has a dimension with stride 0"):
        gradcheck(lambda x: x, (leaf(1.0).expand(2, 2),))


def test_jacobians_as_older_programs_ask_for_them():
    from tenfold.autograd.gradcheck import get_analytical_jacobian, get_numerical_jacobian

    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    with pytest.warns(FutureWarning, match="private API"):
        numerical = get_numerical_jacobian(lambda xs: xs[0] * xs[1], (x, y), eps=1e-4)
    with pytest.warns(FutureWarning, match="private API"):
        found, reentrant, sizes, dtypes = get_analytical_jacobian((x, y), x * y)
    assert (reentrant, sizes, dtypes) == (True, True, True)
    for a, b, expected in zip(numerical, found, ([3.0, 4.0], [1.0, 2.0])):
        assert b.diagonal().tolist() == expected
        assert tenfold.allclose(a, b)
    with pytest.warns(FutureWarning), pytest.raises(ValueError, match=r"Expected grad_out to be 1\.0"):
        get_numerical_jacobian(lambda xs: xs[0], (x,), grad_out=2.0)


@pytest.mark.parametrize("fast", [False, True])
def test_forward_over_reverse(fast: bool) -> None:
    x, w = leaf(0.5, 2.0), leaf(1.5, -1.0)
    options = {"check_fwd_over_rev": True, "fast_mode": fast}
    assert gradgradcheck(lambda x, n, w: (x**n * w, w.sin()), (x, 3, w), **options)
    assert gradgradcheck(lambda x: 2 * x, (x,), **options)
    assert gradgradcheck(lambda x: curve(x, 0.0), (x,), **options)
    with pytest.raises(RuntimeError, match="computed with forward mode"):
        gradgradcheck(lambda x: curve(x, 0.01), (x,), check_rev_over_rev=False, **options)


@pytest.mark.parametrize("fast", [False, True])
def test_a_gradient_that_does_not_scale_with_what_comes_in(fast: bool) -> None:
    def shifted(x: Tensor) -> Tensor:
        y = x.clone()
        y.register_hook(lambda g: g + 1e-2)
        return y

    with pytest.raises(RuntimeError, match="backward not multiplied by grad_output"):
        gradcheck(shifted, (leaf(1.0),), atol=0.1, fast_mode=fast)


def test_a_gradient_of_another_layout_than_its_input() -> None:
    pytest.importorskip("tenfold.sparse")

    class Sparse(tenfold.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g.to_sparse()

    with pytest.raises(RuntimeError, match="grad is incorrect layout"):
        gradcheck(Sparse.apply, (leaf(1.0),))


def test_fast_mode_sees_that_single_precision_does_not_do() -> None:
    """The step along a direction is of length eps, which float32 cannot tell from nothing: PyTorch passes 1 of 60."""
    passed = 0
    for seed in range(20):
        tenfold.manual_seed(seed)
        x = tenfold.rand(10, requires_grad=True)
        with pytest.warns(UserWarning, match="not a double precision"):
            passed += gradcheck(lambda x: x.clone(), (x,), fast_mode=True, raise_exception=False)
    assert passed <= 1


def test_fast_mode_allows_each_entry_its_tolerance():
    """As PyTorch does: of a thousand elements a slope of 2.01 for 2 passes, of two it does not."""

    class Doubled(tenfold.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2.01

    for size, passes in ((2, False), (1000, True)):
        x = tenfold.ones(size, dtype=tenfold.float64, requires_grad=True)
        assert gradcheck(Doubled.apply, (x,), fast_mode=True, raise_exception=False) is passes


def test_batched_gradients_of_inputs_that_are_not_used():
    x, y = (tenfold.ones(n, dtype=tenfold.float64, requires_grad=True) for n in (3, 2))
    assert gradcheck(lambda x, y: x * 2, (x, y), check_batched_grad=True)
    assert gradgradcheck(lambda x: x * 2, (x,), check_batched_grad=True)
