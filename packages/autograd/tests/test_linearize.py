"""`linearize`: the function runs once, and its derivative is that of `jvp` for every direction, inside other transforms too."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold
from tenfold.func import grad, jvp, linearize, vjp, vmap

F64 = tenfold.float64


def rows(*shape: int, seed: int = 0) -> Any:
    return tenfold.randn(*shape, dtype=F64, generator=tenfold.Generator().manual_seed(seed))


def same(got: Any, expected: Any) -> None:
    if isinstance(expected, dict):
        got, expected = [got[k] for k in expected], list(expected.values())
    if isinstance(expected, (list, tuple)):
        assert len(got) == len(expected)
        for pair in zip(got, expected):
            same(*pair)
    else:
        assert got.dtype is expected.dtype
        assert got.shape == expected.shape
        assert tenfold.allclose(got, expected, rtol=1e-10, atol=1e-12)
        assert got.requires_grad == expected.requires_grad


def written(x: Any) -> Any:
    y = x.exp()
    y.mul_(x)
    y[0] = x.sum()
    return y.tanh_()


def counted(x: Any) -> Any:
    total = tenfold.zeros_like(x)
    for row in x:
        total += row * x
    return total


def captured(x: Any) -> Any:
    table = tenfold.zeros(3, dtype=F64)
    table.copy_(x[0])
    return table * x


FUNCTIONS = {
    "products": lambda x: (x @ x.T).sin() @ x,
    "several results": lambda x: (x.exp(), {"sums": [x.sum(0), x.mean()]}, x.sort(1)[0]),
    "a constant among them": lambda x: (x * 2, tenfold.ones(2)),
    "the argument itself": lambda x: x,
    "views": lambda x: tenfold.stack(x.t().unbind(0)[::-1]).reshape(-1)[2:],
    "writes": written,
    "sums written in place": counted,
    "a captured tensor written": captured,
    "second derivatives inside": lambda x: grad(lambda v: (v**3).prod())(x),
    "a pullback inside": lambda x: vjp(lambda v: v.cumsum(0) * v, x)[1](x)[0],
    "vmap inside": lambda x: vmap(lambda r: r.softmax(0) * r.square().sum().sqrt())(x),
    "jvp inside": lambda x: jvp(lambda v: v.sin() * v, (x,), (x.cos(),))[1],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_function_runs_once_and_derivatives_are_those_of_jvp(name: str) -> None:
    calls = []

    def function(x: Any) -> Any:
        calls.append(name)
        return FUNCTIONS[name](x)

    x = rows(2, 3) + 2
    value, derivative = linearize(function, x)
    for seed in (1, 2):
        given = rows(2, 3, seed=seed)
        kept = given.clone()
        expected, along = jvp(FUNCTIONS[name], (x.clone(),), (given.clone(),))
        same(value, expected)
        same(derivative(given), along)
        assert given.equal(kept)
    assert len(calls) == 1
    assert x.equal(rows(2, 3) + 2)


def test_several_arguments_of_any_form() -> None:
    def function(pair: Any, z: Any) -> Any:
        return pair["a"] * z, pair["b"].exp()

    primals = ({"a": rows(3), "b": rows(2, seed=1)}, rows(3, seed=2))
    tangents = ({"a": rows(3, seed=3), "b": rows(2, seed=4)}, rows(3, seed=5))
    same(linearize(function, *primals)[1](*tangents), jvp(function, primals, tangents)[1])


def test_inside_and_around_other_transforms() -> None:
    def function(x: Any) -> Any:
        return (x @ x.T).tanh().sum(0) * x[:, 0]

    def along(x: Any, t: Any) -> Any:
        return linearize(function, x)[1](t)

    def expected(x: Any, t: Any) -> Any:
        return jvp(function, (x,), (t,))[1]

    xs, ts = rows(4, 3, 3), rows(4, 3, 3, seed=1)
    derivative = linearize(function, xs[0])[1]
    same(vmap(derivative)(ts), vmap(lambda t: expected(xs[0], t))(ts))
    same(vmap(along)(xs, ts), vmap(expected)(xs, ts))
    for i in (0, 1):
        same(grad(lambda *a: along(*a).sum(), i)(xs[0], ts[0]), grad(lambda *a: expected(*a).sum(), i)(xs[0], ts[0]))
    same(linearize(lambda x: along(x, ts[0]), xs[0])[1](ts[1]), jvp(lambda x: expected(x, ts[0]), (xs[0],), (ts[1],))[1])
    leaf = xs[0].clone().requires_grad_()
    along(leaf, ts[0]).sum().backward()
    same(leaf.grad, grad(lambda x: expected(x, ts[0]).sum())(xs[0]))


def test_random_numbers_stay_those_of_the_value() -> None:
    x = rows(50)
    value, derivative = linearize(lambda x: x * tenfold.rand(50, dtype=F64), x)
    same(derivative(x), value)


def test_what_it_needs_may_not_be_written_afterwards() -> None:
    w = rows(3)
    _, derivative = linearize(lambda x: x * w, rows(3))
    w.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        derivative(rows(3))


class Square(tenfold.autograd.Function):
    @staticmethod
    def forward(x: Any) -> Any:
        return x * x

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return 2 * ctx.saved_tensors[0] * g

    @staticmethod
    def jvp(ctx: Any, t: Any) -> Any:
        return 2 * ctx.saved_tensors[0] * t


class Odd(Square):
    @staticmethod
    def jvp(ctx: Any, t: Any) -> Any:
        if float(t.abs().sum()) == 0:  # looks at the tangent's numbers
            return tenfold.zeros_like(t)
        return 2 * ctx.saved_tensors[0] * t


@pytest.mark.parametrize("function", [Square, Odd])
def test_functions_of_ones_own(function: Any) -> None:
    x, t = rows(3), rows(3, seed=1)
    value, derivative = linearize(lambda x: function.apply(x), x)
    same(value, x * x)
    same(derivative(t), 2 * x * t)
    same(derivative(2 * t), 4 * x * t)


def test_directions_are_checked() -> None:
    _, derivative = linearize(lambda x: x * 2, rows(3))
    for wrong, words in (
        (rows(2), "tangent:0 with shape .* doesn't match the shape"),
        (tenfold.ones(3), "tangent:0 with dtype .* doesn't match the dtype"),
        (rows(3).to("meta"), "tangent:0 with device meta .* doesn't match the device cpu"),
        (1, "only contain Tensors"),
    ):
        with pytest.raises(RuntimeError, match=words):
            derivative(wrong)
    with pytest.raises(RuntimeError, match="to have the same argspec as the primals"):
        derivative(rows(3), rows(3))
    with pytest.raises(RuntimeError, match="return only tensors"):
        linearize(lambda x: 3.0, rows(3))
