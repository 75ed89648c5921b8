"""Forward mode: jvp, dual tensors, rules and their fallback, custom Functions, and what functions of functions close over."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold import func, op
from tenfold.autograd import Function, forward_ad, functional, tangents


def vector(*values):
    return tenfold.tensor(values, dtype=tenfold.float64)


def test_dual_level():
    with forward_ad.dual_level():
        x = forward_ad.make_dual(vector(2.0, 3.0), vector(1.0, 10.0))
        y = x * x + 1
        primal, tangent = forward_ad.unpack_dual(y)
        assert primal.tolist() == [5.0, 10.0]
        assert tangent.tolist() == [4.0, 60.0]
        assert y.tolist() == [5.0, 10.0]
        assert forward_ad.unpack_dual(vector(1.0)).tangent is None
        with pytest.raises(RuntimeError, match="Nested"):
            forward_ad.enter_dual_level()
    assert forward_ad.unpack_dual(y).tangent is None
    assert (y + 1).tolist() == [6.0, 11.0]
    with pytest.raises(RuntimeError, match="no level exists"):
        forward_ad.make_dual(vector(1.0), vector(1.0))
    with pytest.raises(RuntimeError, match="not the last"):
        forward_ad.exit_dual_level()


@pytest.mark.parametrize(
    ("primal", "tangent", "kind"),
    [(tenfold.tensor([1]), vector(1.0), ValueError), (vector(1.0), vector(1.0, 2.0), RuntimeError)],
)
def test_dual_errors(primal, tangent, kind):
    with forward_ad.dual_level(), pytest.raises(kind):
        forward_ad.make_dual(primal, tangent)


@pytest.mark.parametrize("rule", [tangents.ELEMENTWISE, tangents.DOUBLE_BACKWARD])
def test_rules_agree(rule):
    x, y, t = vector(0.5, 2.0), vector(3.0, -1.0), vector(1.0, 0.25)
    out, tangent = rule(op.div, {"input": x, "other": y, "rounding_mode": None}, {"input": t, "other": y})
    assert np.allclose(out.numpy(), x.numpy() / y.numpy())
    assert np.allclose(tangent.numpy(), t.numpy() / y.numpy() - x.numpy() / y.numpy())
    assert not tangent.requires_grad


def test_double_backward_of_several_results():
    value, tangent = func.jvp(
        lambda x: tenfold.max(x, 1), (vector(1.0, 3.0, 2.0).view(1, 3),), (vector(5.0, 7.0, 9.0).view(1, 3),)
    )
    assert (value[0].tolist(), value[1].tolist()) == ([3.0], [1])
    assert tangent[0].tolist() == [7.0]


def test_perturbations_do_not_mix():
    one, two = tenfold.tensor(1.0), tenfold.tensor(2.0)
    assert func.grad(lambda x: x * func.grad(lambda y: x + y)(one))(two).item() == 1.0
    inner = lambda x: func.jvp(lambda y: x + y, (one,), (one,))[1]  # noqa: E731
    assert func.jvp(lambda x: x * inner(x), (two,), (one,))[1].item() == 1.0
    assert func.grad(lambda x: x * inner(x))(two).item() == 1.0
    assert func.jvp(lambda x: x * func.grad(lambda y: x + y)(one), (two,), (one,))[1].item() == 1.0
    assert func.grad(lambda x: x * func.grad(lambda y: x * y)(one))(two).item() == 4.0


def test_results_leave_the_graph_unless_someone_outside_differentiates():
    x, w = vector(1.0, 2.0), vector(3.0, 4.0).requires_grad_()
    assert not func.grad(lambda x: (x * x).sum())(x).requires_grad
    value, pullback = func.vjp(lambda x: x * x, x)
    assert not value.requires_grad
    assert not pullback(x)[0].requires_grad
    gradient = func.grad(lambda x: (x * x * w).sum())(x)
    assert gradient.requires_grad
    gradient.sum().backward()
    assert w.grad.tolist() == [2.0, 4.0]
    with tenfold.no_grad():
        assert func.grad(lambda x: (x * w).sum())(x).tolist() == [3.0, 4.0]
        assert not func.grad(lambda x: (x * w).sum())(x).requires_grad
    assert x.grad is None


def test_aux_and_argnums():
    x, y = vector(1.0, 2.0), vector(3.0, 4.0)
    gradients, aux = func.grad(lambda x, y: ((x * y).sum(), x + 1), argnums=(1, 0), has_aux=True)(x, y)
    assert [g.tolist() for g in gradients] == [[1.0, 2.0], [3.0, 4.0]]
    assert aux.tolist() == [2.0, 3.0]
    gradients, (value, aux) = func.grad_and_value(lambda p: (p["a"].sum() * 2, p), has_aux=True)({"a": x})
    assert gradients["a"].tolist() == [2.0, 2.0]
    assert (value.item(), aux["a"].tolist()) == (6.0, [1.0, 2.0])
    value, tangent, aux = func.jvp(lambda x: (x * x, x), (x,), (y,), has_aux=True)
    assert (tangent.tolist(), aux.tolist()) == ([6.0, 16.0], [1.0, 2.0])
    jacobian, aux = func.jacrev(lambda x: (x * x, x), has_aux=True)(x)
    assert (jacobian.tolist(), aux.tolist()) == ([[2.0, 0.0], [0.0, 4.0]], [1.0, 2.0])
    jacobian, aux = func.jacfwd(lambda x: (x * x, x), has_aux=True)(x)
    assert (jacobian.tolist(), aux.tolist()) == ([[2.0, 0.0], [0.0, 4.0]], [1.0, 2.0])


@pytest.mark.parametrize(
    ("call", "kind", "match"),
    [
        (lambda: func.grad(lambda x: x)(tenfold.ones(2)), RuntimeError, "scalar Tensor"),
        (lambda: func.grad(lambda x: 3.0)(tenfold.ones(2)), RuntimeError, "return a Tensor"),
        (lambda: func.grad(lambda x: x.sum(), 1)(tenfold.ones(2)), RuntimeError, "argnum=1"),
        (lambda: func.grad(lambda x: x.sum(), (0, 0))(tenfold.ones(2)), RuntimeError, "unique"),
        (lambda: func.grad(lambda x: x.sum(), has_aux=True)(tenfold.ones(2)), RuntimeError, "has_aux"),
        (lambda: func.grad(lambda x: x.sum())(tenfold.tensor([1])), RuntimeError, "floating point"),
        (lambda: func.jvp(lambda x: x, tenfold.ones(1), tenfold.ones(1)), RuntimeError, "to be a tuple"),
        (lambda: func.jvp(lambda x: x, (tenfold.ones(1),), (tenfold.ones(2),)), RuntimeError, "shape"),
        (
            lambda: func.jvp(lambda x: tenfold.ones(1), (tenfold.ones(1),), (tenfold.ones(1),), strict=True),
            RuntimeError,
            "strict",
        ),
        (lambda: func.vjp(lambda x: x, tenfold.ones(2))[1](tenfold.ones(3)), RuntimeError, "Mismatch in shape"),
        (lambda: func.functional_call(_Scale(), {"v.w": tenfold.ones(1)}, tenfold.ones(1)), AttributeError, "no attribute `v`"),
        (lambda: func.functional_call(_Scale(), {}, tenfold.ones(1), strict=True), RuntimeError, "Missing key"),
    ],
)
def test_errors(call, kind, match):
    with pytest.raises(kind, match=match):
        call()


class _Scale:
    """What functional_call needs of a module."""

    training = True

    def __init__(self, w=1.0):
        self._parameters, self._buffers, self._modules = {"w": vector(w).requires_grad_()}, {}, {}

    def __call__(self, x):
        return x * self._parameters["w"]

    def named_parameters(self):
        return self._parameters.items()

    def named_buffers(self):
        return self._buffers.items()


def test_functional_call_and_stacked_modules():
    models = [_Scale(2.0), _Scale(5.0)]
    parameters, buffers = func.stack_module_state(models)
    assert parameters["w"].tolist() == [[2.0], [5.0]]
    assert parameters["w"].requires_grad
    assert buffers == {}
    x = vector(1.0, 3.0)
    got = func.vmap(lambda p, x: func.functional_call(models[0], p, (x,)), (0, None))(parameters, x)
    assert got.tolist() == [[2.0, 6.0], [5.0, 15.0]]
    gradient = func.grad(lambda p: func.functional_call(models[0], p, (x,)).sum())({"w": vector(1.0)})
    assert gradient["w"].tolist() == [4.0]
    assert models[0]._parameters["w"].tolist() == [2.0]


def test_in_place_under_forward_mode():
    def f(x):
        buffer = tenfold.zeros(3, dtype=tenfold.float64)
        other = buffer[1:]
        buffer[0:2].add_(x[1:] * x[:2])
        return buffer + other.sum()

    value, tangent = func.jvp(f, (vector(1.0, 2.0, 3.0),), (vector(1.0, 1.0, 1.0),))
    assert value.tolist() == [8.0, 12.0, 6.0]
    assert tangent.tolist() == [8.0, 10.0, 5.0]


def test_random_numbers_are_constants():
    tenfold.manual_seed(0)
    value, tangent = func.jvp(lambda x: x * tenfold.rand(2, dtype=tenfold.float64), (vector(1.0, 1.0),), (vector(2.0, 2.0),))
    assert (tangent.numpy() == 2 * value.numpy()).all()


class _Old(Function):
    """forward with ctx: forward mode works at one level, vmap refuses."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.saved_tensors[0] * g

    @staticmethod
    def jvp(ctx, t):
        return 2 * ctx.saved_tensors[0] * t


class _NoRules(Function):
    @staticmethod
    def forward(x):
        return x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.saved_tensors[0] * g


def test_custom_functions_of_the_old_form_and_without_rules():
    x = vector(3.0)
    assert func.jvp(_Old.apply, (x,), (x,))[1].tolist() == [18.0]
    with pytest.raises(RuntimeError, match="setup_context"):
        func.grad(lambda x: func.jvp(_Old.apply, (x,), (vector(1.0),))[1].sum())(x)
    with pytest.raises(RuntimeError, match="setup_context"):
        func.vmap(_Old.apply)(x)
    assert func.grad(lambda x: _NoRules.apply(x).sum())(x).tolist() == [6.0]
    with pytest.raises(RuntimeError, match="generate_vmap_rule"):
        func.vmap(_NoRules.apply)(x)
    with pytest.raises(RuntimeError, match="jvp"):
        func.jvp(_NoRules.apply, (x,), (x,))


def test_functional_errors():
    x = vector(1.0, 2.0)
    with pytest.raises(TypeError, match="the given inputs has type"):
        functional.jacobian(lambda x: x, 3)
    with pytest.raises(RuntimeError, match="single element"):
        functional.hessian(lambda x: x, x)
    with pytest.raises(RuntimeError, match="strict"):
        functional.jacobian(lambda x: tenfold.ones(2), x, strict=True)
    with pytest.raises(RuntimeError, match="can only be None"):
        functional.vjp(lambda x: x, x)
    with pytest.raises(ValueError, match="strategy"):
        functional.jacobian(lambda x: x, x, strategy="sideways")


def test_what_a_module_assigns_to_a_buffer_is_in_the_dictionary():
    class Counting(_Scale):
        def __init__(self):
            super().__init__()
            self._buffers = {"calls": tenfold.tensor(5.0)}

        def __call__(self, x):
            self._buffers["calls"] = self._buffers["calls"] + 1
            return x + self._buffers["calls"]

    module, given = Counting(), {"calls": tenfold.tensor(1.0)}
    assert tenfold.func.functional_call(module, given, (tenfold.tensor(0.0),)).item() == 2
    assert given["calls"].item() == 2
    assert module._buffers["calls"].item() == 5


@pytest.mark.parametrize(("of", "along"), [("float64", "float32"), ("float32", "float64"), ("complex64", "float32")])
def test_a_tangent_may_have_another_dtype(of, along):
    primal, tangent = tenfold.ones(2, dtype=getattr(tenfold, of)), tenfold.tensor([2.0, 3.0], dtype=getattr(tenfold, along))
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(primal, tangent)
        assert forward_ad.unpack_dual(dual).tangent.dtype is tangent.dtype
        assert forward_ad.unpack_dual(dual * 2).tangent.tolist() == [4.0, 6.0]


DRAWS_INTO = {
    "uniform_": (), "normal_": (), "exponential_": (), "random_": (), "bernoulli_": (0.5,),
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWS_INTO)
def test_numbers_drawn_into_a_dual_tensor_are_constants(name):
    with forward_ad.dual_level():
        base = forward_ad.make_dual(tenfold.zeros(2, 2), tenfold.ones(2, 2))
        getattr(base[0], name)(*DRAWS_INTO[name])
        tangent = forward_ad.unpack_dual(base).tangent
    assert tangent.tolist() == [[0, 0], [1, 1]]  # the other row keeps its own
    tenfold.manual_seed(3)
    plain = getattr(tenfold.zeros(2), name)(*DRAWS_INTO[name])
    tenfold.manual_seed(3)
    with forward_ad.dual_level():
        drawn = getattr(forward_ad.make_dual(tenfold.zeros(2), tenfold.ones(2)), name)(*DRAWS_INTO[name])
        assert forward_ad.unpack_dual(drawn).primal.tolist() == plain.tolist()


def test_numbers_drawn_into_a_recorded_dual_tensor_cut_the_gradient():
    w = tenfold.ones(2, requires_grad=True)
    with forward_ad.dual_level():
        y = forward_ad.make_dual(w * 2, tenfold.ones(2))
        y.normal_()
        forward_ad.unpack_dual(y * 3).primal.sum().backward()
    assert w.grad.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("draw", [tenfold.bernoulli, lambda x: tenfold.normal(x, 1.0), lambda x: tenfold.normal(0.0, x)])
def test_numbers_drawn_around_a_dual_tensor_have_no_slope(draw):
    with forward_ad.dual_level():
        x = forward_ad.make_dual(tenfold.full((3,), 0.5), tenfold.ones(3))
        assert forward_ad.unpack_dual(draw(x)).tangent.tolist() == [0, 0, 0]
        assert forward_ad.unpack_dual(tenfold.rand_like(x)).tangent is None
