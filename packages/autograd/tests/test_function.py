"""Custom functions: what ctx offers, and the errors of its wrong use."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.autograd import Function, grad
from tenfold.autograd.function import once_differentiable


class Scale(Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.k = k
        return x * k

    @staticmethod
    def backward(ctx, g):
        return g * ctx.k, None


def test_saves_numbers_and_names_its_node():
    x = tenfold.tensor([1.0], requires_grad=True)
    y = Scale.apply(x, 4)
    assert y.grad_fn.name() == "ScaleBackward"
    y.backward()
    assert x.grad.tolist() == [4.0]


def test_several_results_and_double_backward():
    class Powers(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x, x * x * x

        @staticmethod
        def backward(ctx, g2, g3):
            (x,) = ctx.saved_tensors
            return 2 * x * g2 + 3 * x * x * g3

    x = tenfold.tensor([2.0], requires_grad=True)
    a, b = Powers.apply(x)
    (g,) = grad((a * b).sum(), x, create_graph=True)
    assert g.tolist() == [5 * 2.0**4]
    assert grad(g.sum(), x)[0].tolist() == [20 * 2.0**3]
    a, _ = Powers.apply(x)  # the gradient of an unused result arrives as zeros
    assert grad(a.sum(), x)[0].tolist() == [4.0]


def test_setup_context_form_and_needs_input_grad():
    class Multiply(Function):
        @staticmethod
        def forward(x, y):
            return x * y

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
            ctx.needs = ctx.needs_input_grad

        @staticmethod
        def backward(ctx, g):
            _, y = ctx.saved_tensors
            assert ctx.needs == (True, False)
            return g * y, None

    x, y = tenfold.tensor([2.0], requires_grad=True), tenfold.tensor([5.0])
    assert grad(Multiply.apply(x, y), x)[0].tolist() == [5.0]


def test_saved_output_makes_no_cycle_and_is_checked():
    class Exp(Function):
        @staticmethod
        def forward(ctx, x):
            out = x.exp()
            ctx.save_for_backward(out)
            return out

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    x = tenfold.tensor([0.0], requires_grad=True)
    y = Exp.apply(x)
    (g,) = grad(y, x, create_graph=True)
    assert grad(g, x)[0].tolist() == [1.0]
    y = Exp.apply(x)
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_mark_dirty_and_non_differentiable():
    class AddOne(Function):
        @staticmethod
        def forward(ctx, x):
            x.add_(1)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g

    x = tenfold.tensor([1.0], requires_grad=True)
    h = x * 2
    out = AddOne.apply(h)
    assert out is h
    assert out.tolist() == [3.0]
    out.backward()
    assert x.grad.tolist() == [2.0]

    class Rounded(Function):
        @staticmethod
        def forward(ctx, x):
            out = x * 1
            ctx.mark_non_differentiable(out)
            return out

        @staticmethod
        def backward(ctx, g):
            return g

    assert not Rounded.apply(x).requires_grad


def test_once_differentiable():
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @once_differentiable
        def backward(ctx, g):
            return 2 * ctx.saved_tensors[0] * g

    x = tenfold.tensor([3.0], requires_grad=True)
    assert grad(Square.apply(x), x)[0].tolist() == [6.0]
    (g,) = grad(Square.apply(x), x, tenfold.ones(1, requires_grad=True), create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.sum().backward()


def test_wrong_number_of_gradients():
    class Bad(Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, g):
            return g

    x = tenfold.tensor([1.0], requires_grad=True)
    with pytest.raises(RuntimeError, match=r"BadBackward returned an incorrect number of gradients \(expected 2, got 1\)"):
        Bad.apply(x, x).backward()


def test_save_for_backward_takes_tensors_only():
    class Bad(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(3)
            return x

        @staticmethod
        def backward(ctx, g):
            return g

    with pytest.raises(TypeError, match=r"save_for_backward can only save variables.*int"):
        Bad.apply(tenfold.tensor([1.0], requires_grad=True))


@pytest.mark.parametrize("hooks", [False, True])
def test_one_of_several_results_may_be_saved(hooks):
    """The gradient that reads it leads back through the function, at that result's place."""

    class Exponential(Function):
        @staticmethod
        def forward(ctx, x, y):
            other, made = y * 2, x.exp()
            ctx.save_for_backward(made)
            return other, made

        @staticmethod
        def backward(ctx, h, g):
            (made,) = ctx.saved_tensors
            return g * made, h * 2

    x, y = tenfold.tensor([0.0, 1.0], requires_grad=True), tenfold.tensor([3.0, 4.0], requires_grad=True)
    with tenfold.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t) if hooks else tenfold.enable_grad():
        other, made = Exponential.apply(x, y)
    (g,) = tenfold.autograd.grad((made * made + other).sum(), x, create_graph=True)
    second, none = tenfold.autograd.grad(g.sum(), (x, y))
    np.testing.assert_allclose(second.numpy(), 4 * np.exp([0.0, 2.0]), rtol=1e-6)
    assert none.tolist() == [0.0, 0.0]
