"""Calls inside transforms that leave out the full dispatch give what it gives, errors included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold
from tenfold.autograd import quick_calls
from tenfold.autograd.batch_level import BatchLevel
from tenfold.autograd.dual_level import DualLevel
from tenfold.autograd.levels import Transform
from tenfold.func import grad, jacfwd, jvp, vmap

X = tenfold.tensor(np.random.default_rng(0).normal(size=(3, 4, 5)))
Y = tenfold.tensor(np.random.default_rng(1).normal(size=(3, 4, 5)))

CALLS: list[Any] = [
    lambda x, y: x + y, lambda x, y: x.add(y, alpha=3), lambda x, y: x * 2.5,
    lambda x, y: 2 - x, lambda x, y: x**2, lambda x, y: x.sum(), lambda x, y: x.sum(0), lambda x, y: x.sum((0, 1), keepdim=True),
    lambda x, y: x.mean(-1), lambda x, y: x.sum(dtype=tenfold.float32), lambda x, y: x[0] + y, lambda x, y: x.sum() + y,
    lambda x, y: x @ y.transpose(0, 1), lambda x, y: x[0] @ y.transpose(0, 1), lambda x, y: x @ y[0], lambda x, y: x[0] @ y[1],
    lambda x, y: x.matmul(Y[0].T), lambda x, y: Y[0].T.matmul(x), lambda x, y: Y[0, 0] @ x.T, lambda x, y: Y[0] @ x[0],
    lambda x, y: Y[0, 0] @ x[0], lambda x, y: Y[0].T[:, :1] @ x[:1], lambda x, y: x.unsqueeze(1) @ y.unsqueeze(2),
    lambda x, y: x.unsqueeze(0).squeeze(0), lambda x, y: x.exp().softmax(-1), lambda x, y: x.float() + y,
    lambda x, y: tenfold.where(x > 0, x, y), lambda x, y: x.clamp(min=0.1), lambda x, y: x > y, lambda x, y: x.round() + 1,
    lambda x, y: tenfold.maximum(x, y), lambda x, y: x + tenfold.ones(5, dtype=tenfold.float64), lambda x, y: x.half() * 1e5,
    lambda x, y: x.sum(1), lambda x, y: x[0].sum(keepdim=True), lambda x, y: x.amax(-1, keepdim=True),
    lambda x, y: (x > 0).any(0), lambda x, y: x.prod(0) - y.amin(0), lambda x, y: x.mean(0), lambda x, y: x.softmax(0),
    lambda x, y: x.sum(-1).sum(),
    lambda x, y: Y[0].T @ x.expand(2, 4, 5), lambda x, y: tenfold.matmul(Y[0].T, tenfold.stack([x, y, x])),
    lambda x, y: x.reshape(20).cumsum(0), lambda x, y: x.t().contiguous(), lambda x, y: x.view(2, 10),
]  # fmt: skip


def results(monkeypatch: pytest.MonkeyPatch, run: Any) -> tuple[Any, Any]:
    quick = run()
    for level in (BatchLevel, DualLevel):
        monkeypatch.setattr(level, "quick", Transform.quick)
    return quick, run()


def assert_alike(a: Any, b: Any) -> None:
    assert a.dtype is b.dtype
    assert a.shape == b.shape
    np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-12 if a.dtype is tenfold.float64 else 1e-6, atol=1e-12)


@pytest.mark.parametrize("number", range(len(CALLS)))
@pytest.mark.parametrize("in_dims", [(0, 0), (0, None), (1, 1), (None, 2)])
def test_batches(number, in_dims, monkeypatch):
    given = [t if d is not None else t[0] for t, d in zip((X, Y), in_dims)]
    given = [t.movedim(0, d) if d else t for t, d in zip(given, in_dims)]
    quick, full = results(monkeypatch, lambda: vmap(CALLS[number], in_dims=in_dims)(*given))
    assert_alike(quick, full)
    looped = tenfold.stack([CALLS[number](*[t[i] if d is not None else t[0] for t, d in zip((X, Y), in_dims)]) for i in range(3)])
    assert_alike(quick, looped)


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_tangents_and_gradients(number, monkeypatch):
    def both() -> Any:
        return jvp(CALLS[number], (X[0], Y[0]), (X[1], Y[1]))

    (value, pushed), (full_value, full_pushed) = results(monkeypatch, both)
    assert_alike(value, full_value)
    if value.dtype.is_floating_point:
        assert_alike(pushed, full_pushed)
        monkeypatch.undo()

        def slope(x: Any, y: Any) -> Any:
            return CALLS[number](x, y).to(tenfold.float64).pow(2).sum()

        assert_alike(*results(monkeypatch, lambda: vmap(grad(slope))(X, Y)))
        monkeypatch.undo()
        assert_alike(*results(monkeypatch, lambda: jacfwd(grad(slope))(X[0], Y[0])))


def test_errors_are_told_in_the_shapes_of_one_example():
    for wrong in (lambda x: x.sum(5), lambda x: x @ x, lambda x: x + tenfold.ones(7)):
        with pytest.raises((RuntimeError, IndexError)) as inside:
            vmap(wrong)(X)
        with pytest.raises(type(inside.value)) as alone:
            wrong(X[0])
        assert str(inside.value) == str(alone.value)


def test_views_inside_are_views():
    def write(x: Any) -> Any:
        x = x.clone()
        x.unsqueeze(0).transpose(0, 1).mul_(2)
        return x

    assert_alike(vmap(write)(X), X * 2)


def test_rules_that_come_later_are_found(monkeypatch):
    from tenfold.autograd import batching

    vmap(lambda x: x.exp())(X)
    assert batching.PLANS
    monkeypatch.setattr(batching, "BATCHING", {})
    batching.batching(tenfold.op.exp)(lambda batch: (batch.call() * 0, batch.dims["input"]))
    assert vmap(lambda x: x.exp())(X).sum().item() == 0
    batching.PLANS.clear()


def test_differences_of_bools_are_refused_in_vmap():
    for wrong in (lambda x: x - True, lambda x: 1 - (x > 0), lambda x: (x > 0) - (x > 1)):
        with pytest.raises(RuntimeError, match="bool tensor"):
            vmap(wrong)(X)


def test_reversed_differences_and_means_are_one_node():
    x = tenfold.tensor([1.0, 2.0], requires_grad=True)
    assert (1 - x).grad_fn.name() == "RsubBackward1"
    taken = vmap(grad(lambda row: ((1 - row) ** 2).mean()))(X[:, 0])
    assert_alike(taken, (X[:, 0] - 1) * 2 / 5)


@pytest.mark.parametrize("shape", [(2, 3, 4), (32, 32, 32), (3, 128, 64)])
def test_gradients_of_vectors_times_matrices_are_outer_products(shape: tuple[int, int, int]):
    B, K, N = shape
    rng = np.random.default_rng(2)
    w, x = (tenfold.tensor(rng.normal(size=s).astype(np.float32)) for s in ((K, N), (B, K)))
    x[0, 0] = float("inf")
    taken = vmap(grad(lambda w, x: (x @ w).sin().sum()), in_dims=(None, 0))(w, x)
    slope = (x @ w).cos()
    np.testing.assert_allclose(taken.numpy(), x.numpy()[:, :, None] * slope.numpy()[:, None, :], rtol=1e-4, atol=1e-5)


def test_a_write_to_an_argument_stays_the_functions_own_in_the_graph():
    x = tenfold.tensor([1.0, 2.0])
    assert_alike(grad(lambda x: (x.clone().mul_(3) * x).sum())(x), x * 6)
    assert x.grad_fn is None


def test_the_lean_way_serves_plain_calls(monkeypatch):
    """Elementwise operators and reductions along one dimension need no arguments by name and no rule."""

    def refuse(*args: Any) -> Any:
        raise AssertionError("took the longer way")

    for name in ("bound", "_by_rule", "attach"):
        monkeypatch.setattr(quick_calls, name, refuse)
    for call in (tenfold.sin, lambda x: x + x, lambda x: x.mul(2.5), lambda x: x.sum(1), lambda x: x.amax(-1, keepdim=True)):
        vmap(call)(X)
    assert vmap(lambda x: x.sum())(X[0]).shape == (4,)
