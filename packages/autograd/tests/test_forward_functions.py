"""Custom Functions in forward mode: written arguments, views, results without a derivative, what `jvp` may read."""

from __future__ import annotations

import pytest

import tenfold
from tenfold.autograd import Function, forward_ad as fwad, functional
from tenfold.func import grad, jvp, vmap


def doubling(push):
    """A Function that doubles its argument in place, with `push` as its derivative."""

    class Doubled(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def jvp(ctx, t):
            return push(t)

        @staticmethod
        def backward(ctx, g):
            return 2 * g

    return Doubled


@pytest.mark.parametrize("recorded", [False, True])
def test_a_written_argument_stays_the_tensor_it_is(recorded):
    x = tenfold.ones(2, requires_grad=recorded).clone()
    tangent = tenfold.tensor([1.0, 3.0])
    with fwad.dual_level():
        dual = fwad.make_dual(x, tangent)
        out = doubling(lambda t: t.mul_(2)).apply(dual)
        assert out is dual
        primal, pushed = fwad.unpack_dual(out)
    assert pushed is tangent
    assert primal.tolist() == [2.0, 2.0]  # written once
    assert tangent.tolist() == [2.0, 6.0]
    assert x.requires_grad is recorded


@pytest.mark.parametrize("push", [lambda t: 2 * t, lambda t: t])
def test_its_tangent_has_to_be_written(push):
    with fwad.dual_level():
        dual = fwad.make_dual(tenfold.ones(2), tenfold.ones(2))
        with pytest.raises(RuntimeError, match="jvp function must modify the corresponding gradient inplace"):
            doubling(push).apply(dual)


def looking(look, push):
    class Looked(Function):
        @staticmethod
        def forward(ctx, x):
            return look(x)

        @staticmethod
        def jvp(ctx, t):
            return push(t)

    return Looked


@pytest.mark.parametrize(
    ("look", "push", "words"),
    [
        (lambda x: x[:2], lambda t: t[:2].clone(), "is not returning a view"),
        (lambda x: x[:2], lambda t: (lambda c: c.view_as(c))(t[:2].clone()), "is not returning a view of the given"),
        (lambda x: x, lambda t: t, r"is returning a view \(or an input as-is\)"),
        (lambda x: x, lambda t: t * 2, r"is returning a view \(or an input as-is\)"),
    ],
)
def test_views_have_views_as_tangents(look, push, words):
    with fwad.dual_level():
        dual = fwad.make_dual(tenfold.ones(4), tenfold.ones(4))
        with pytest.raises(RuntimeError, match=words):
            looking(look, push).apply(dual)
        out = looking(lambda x: x[:2], lambda t: t[:2]).apply(dual)
        assert fwad.unpack_dual(out).tangent.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("whole", [False, True])
def test_what_has_no_derivative_has_no_tangent(whole):
    class Two(Function):
        @staticmethod
        def forward(ctx, x):
            other = x.long() if whole else x.clone()
            ctx.mark_non_differentiable(other)
            return x.clone(), other

        @staticmethod
        def jvp(ctx, t):
            return t, t

    with fwad.dual_level():
        dual = fwad.make_dual(tenfold.ones(2), tenfold.ones(2))
        with pytest.raises(RuntimeError, match="You should return None at that position instead"):
            Two.apply(dual)


def test_jvp_reads_what_was_saved_for_forward():
    seen = []

    class Product(Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x, y)
            return x * y

        @staticmethod
        def jvp(ctx, s, t):
            seen.append(len(ctx.saved_tensors))
            x, y = ctx.saved_tensors
            return s * y + t * x

        @staticmethod
        def backward(ctx, g):
            seen.append(len(ctx.saved_tensors))
            return g, g

    x, y = tenfold.tensor(3.0, requires_grad=True), tenfold.tensor(5.0, requires_grad=True)
    with fwad.dual_level():
        out = Product.apply(fwad.make_dual(x, tenfold.tensor(1.0)), y)
        assert fwad.unpack_dual(out).tangent.item() == 5.0
        out.backward()
    assert seen == [2, 1]


def test_what_transforms_refuse():
    def asks(x):
        x.requires_grad_()
        return x.sin().sum()

    def keeps(x):
        y = x.sin()
        y.retain_grad()
        return y.sum()

    x = tenfold.ones(3)
    for call in (grad(asks), vmap(asks), vmap(grad(asks))):
        with pytest.raises(RuntimeError, match=r"Tensor\.requires_grad_\(\)"):
            call(x)
    with pytest.raises(RuntimeError, match=r"Tensor\.retain_grad\(\)"):
        grad(keeps)(x)
    for inner in (
        lambda x: functional.jacobian(lambda y: y.sin().sum(), x).sum(),
        lambda x: functional.vjp(lambda y: y.sin().sum(), x)[1].sum(),
    ):
        with pytest.raises(RuntimeError, match=r"torch\.autograd\.functional"):
            grad(inner)(x)
        with pytest.raises(RuntimeError, match=r"torch\.autograd\.functional"):
            vmap(inner)(tenfold.ones(2, 3))
    assert jvp(lambda y: y.sin(), (x,), (x,))[1].tolist() == x.cos().tolist()
