"""The backward pass in native code: the gradients, order, hooks, errors and memory of the engine's own walk."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest
from left_behind import SMALL, left_behind

import tenfold
from tenfold import nn
from tenfold.autograd import engine, other_walks
from tenfold.autograd.anomaly_mode import detect_anomaly
from tenfold.dispatch.runtime import FLAGS, Layer
from tenfold.llvm import call_paths

POSSIBLE = call_paths.possible() and tenfold.llvm.is_available()
pytestmark = pytest.mark.skipif(not POSSIBLE, reason="call paths are native from Python 3.12 on, where nobody has said no")
functional = nn.functional


class Cube(tenfold.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x * x


class Halves(tenfold.autograd.Function):
    """Two results."""

    @staticmethod
    def forward(ctx, x):
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, g, h):
        return g * 2 + h * 3


class Own(tenfold.Tensor):
    pass


def leaves(seed=0, dtype=np.float32):
    rng = np.random.default_rng(seed)
    return [tenfold.from_numpy(rng.standard_normal(s).astype(dtype)).requires_grad_() for s in ((4, 4), (4, 4), (4,), (1, 4), ())]


GRAPHS = {
    "leaf": lambda a, b, c, d, e: e,
    "chain": lambda a, b, c, d, e: (((a * b) + b) * a - b).sum(),
    "long chain": lambda a, b, c, d, e: chain(a, b, 120).sum(),
    "wide": lambda a, b, c, d, e: sum((a * k + b).exp() for k in (0.1, 0.2, 0.3, 0.4)).sum(),
    "many leaves of one": lambda a, b, c, d, e: (a + a + a * a).sum() + (a.t() @ a).sum(),
    "broadcast": lambda a, b, c, d, e: (a + c + d * e).sum(),
    "linear": lambda a, b, c, d, e: functional.linear(functional.linear(a, b, c).relu(), b, c).square().sum(),
    "loss": lambda a, b, c, d, e: functional.cross_entropy(a @ b + c, tenfold.arange(4)),
    "several results": lambda a, b, c, d, e: sum(x.sum() * (k + 1) for k, x in enumerate(a.unbind(0))) + a.max(1).values.sum(),
    "one of several": lambda a, b, c, d, e: (a * b).split(2)[1].sum(),
    "result twice": lambda a, b, c, d, e: (lambda p: (p[0] * p[0] + p[1] + p[0]).sum())((a * b).split(2)),
    "views": lambda a, b, c, d, e: (a[1:, 2] * b.t()[0, 1:]).sum() + a.view(16)[3:9].sum() + b.T.reshape(16).cumsum(0).sum(),
    "function": lambda a, b, c, d, e: Cube.apply(a * b).sum() + Cube.apply(c).sum(),
    "function of two": lambda a, b, c, d, e: sum(Halves.apply(a * b)).sum(),
    "a half of it": lambda a, b, c, d, e: Halves.apply(a * b)[1].sum(),
    "in place": lambda a, b, c, d, e: (a * 1).mul_(b).add_(c).sum(),
    "written view": lambda a, b, c, d, e: written(a * b, c).sum(),
    "cat": lambda a, b, c, d, e: tenfold.cat([a, b, d], 0).square().sum() + tenfold.stack([c, d[0]]).prod(),
    "subclass": lambda a, b, c, d, e: (a.as_subclass(Own) * b).sum(),
    "double": lambda a, b, c, d, e: (a.double() * b.double()).sum(),
    "half": lambda a, b, c, d, e: (a.bfloat16() * b.bfloat16()).sum().float(),
    "no edges": lambda a, b, c, d, e: (tenfold.where(a > 0, a, 0.0) * b.detach()).sum(),
    "complex": lambda a, b, c, d, e: (tenfold.complex(a, b) * tenfold.complex(b, a)).abs().sum(),
}  # fmt: skip


def chain(a, b, times):
    for _ in range(times):
        a = a * 0.5 + b
    return a


def written(base, c):
    base[1] = c
    base[:, 2] *= 2.0
    return base


@pytest.fixture
def walks(monkeypatch):
    """What the native walk said, call by call."""
    leaves()[0].sum().backward()
    (walk,) = other_walks.WALKS
    said = []

    def watched(*given):
        said.append(walk(*given))
        return said[-1]

    monkeypatch.setattr(other_walks, "WALKS", [watched])
    return said


def by_engine(monkeypatch, call):
    with monkeypatch.context() as patch:
        patch.setattr(other_walks, "WALKS", [])
        return call()


def bits(x):
    return None if x is None else (type(x), x.dtype, tuple(x.shape), x.stride(), x.numpy().tobytes(), x._version, x.grad_fn)


def gradients(graph, dtype=np.float32, times=1, **options):
    given = leaves(dtype=dtype)
    for _ in range(times):
        graph(*given).backward(**options)
    return [bits(x.grad) for x in given]


@pytest.mark.parametrize("name", GRAPHS)
def test_gradients_are_the_engines(name, walks, monkeypatch):
    for dtype in (np.float32, np.float64):
        for times in (1, 3):
            found = gradients(GRAPHS[name], dtype, times)
            assert found == by_engine(monkeypatch, lambda d=dtype, t=times: gradients(GRAPHS[name], d, t))
    assert walks == [True] * 8
    assert any(g is not None for g in found)


def test_given_gradients_are_not_kept(walks):
    a, b = leaves()[:2]
    g = tenfold.ones(4, 4)
    (a + b).backward(g)
    assert a.grad is not g
    assert not any(np.shares_memory(x.numpy(), y.numpy()) for x, y in ((a.grad, b.grad), (a.grad, g), (b.grad, g)))
    a.grad.zero_()
    assert g.sum() == 16
    assert b.grad.sum() == 16
    assert walks == [True]


def test_gradients_lie_as_their_leaves(walks, monkeypatch):
    def run():
        x = tenfold.from_numpy(np.arange(12.0).reshape(3, 4)).t().detach().requires_grad_()
        y = tenfold.arange(24.0).view(4, 6)[:, ::2].detach().requires_grad_()
        (x @ x.t()).sum().backward()
        (y * y).sum().backward()
        return bits(x.grad), bits(y.grad)

    assert run() == by_engine(monkeypatch, run)
    assert walks == [True, True]


def test_graphs_are_kept_and_released(walks):
    a, b = leaves()[:2]
    y = (a * b).exp().sum()
    y.backward(retain_graph=True)
    first = a.grad.clone()
    y.backward()
    assert tenfold.equal(a.grad, 2 * first)
    with pytest.raises(RuntimeError, match="a second time"):
        y.backward()
    assert walks == [True, True]


@pytest.mark.filterwarnings("ignore:Using backward")
def test_who_wants_to_see_the_pass_sees_it(walks):
    a, b = leaves()[:2]
    seen = []
    y = a * b
    y.register_hook(lambda g: seen.append("tensor") or g * 2)
    y.grad_fn.register_prehook(lambda g: seen.append("before"))
    y.grad_fn.register_hook(lambda i, o: seen.append("after"))
    a.register_post_accumulate_grad_hook(lambda t: seen.append("leaf"))
    y.sum().backward()
    assert seen == ["tensor", "before", "after", "leaf"]
    assert tenfold.equal(a.grad, 2 * b.detach())
    assert walks == [NotImplemented]
    z = b * b
    z.retain_grad()
    z.sum().backward()
    assert z.grad.sum() == 16
    with pytest.warns(UserWarning, match="Anomaly"), detect_anomaly():
        (b * b).sum().backward()
    w = (b * b).sum()
    w.backward(create_graph=True, inputs=[b])
    tenfold.autograd.backward([(b * b).sum(), (b + b).sum()])
    assert walks == [NotImplemented] * 3


def test_layers_and_modes_see_the_operators(walks):
    class Names(Layer):
        in_backward = True

        def handle(self, operator, args, kwargs):
            names.append(operator.name)
            return operator(*args, **kwargs)

    a, b = leaves()[:2]
    for _ in range(3):
        (a * b).sum().backward()
    y, names = (a * b).sum(), []
    with Names():
        y.backward()
    assert "mul" in names
    assert walks == [True] * 3


def test_hooks_that_come_meanwhile_run(walks, monkeypatch):
    def run():
        seen = []

        class Late(tenfold.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 1

            @staticmethod
            def backward(ctx, g):
                inner.register_hook(lambda g: seen.append("inner") or g * 3)
                a.register_hook(lambda g: seen.append("leaf"))
                a.register_post_accumulate_grad_hook(lambda t: seen.append("accumulated"))
                return g

        a, b = leaves()[:2]
        inner = a * b
        Late.apply(inner).sum().backward()
        return seen, bits(a.grad), bits(b.grad)

    found = run()
    assert found[0] == ["inner", "leaf", "accumulated"]
    assert found == by_engine(monkeypatch, run)
    assert walks == [True]


def test_errors_leave_everything_as_it_was(walks, monkeypatch):
    class Raises(tenfold.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            raise KeyError("no")

    def run(kind):
        a, b = leaves()[:2]
        inner = a * b
        y = (Raises.apply(inner) + inner * b).sum() if kind == "raises" else (inner * b).sum()
        if kind == "modified":
            with tenfold.no_grad():
                b.add_(1)
        if kind == "missing":
            y = tenfold.igamma(a.abs() + 1, b.abs()).sum() + (a * b).sum()
        with pytest.raises((KeyError, RuntimeError)) as caught:
            y.backward()
        assert tenfold.is_grad_enabled()
        assert engine.TASKS.current is None
        assert FLAGS[1] == 0
        held = [weakref.ref(n) for n in (y._node, inner._node)]
        text = str(caught.value)
        caught.value.__traceback__ = None
        del y, inner, caught
        gc.collect()
        assert [ref() for ref in held] == [None, None]
        return text, bits(a.grad), bits(b.grad)

    for kind in ("raises", "modified", "missing"):
        assert run(kind) == by_engine(monkeypatch, lambda kind=kind: run(kind))
    assert walks == []


def test_passes_inside_passes(walks):
    class Inner(tenfold.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.exp()

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            with tenfold.enable_grad():
                y = x.detach().requires_grad_()
                y.exp().sum().backward()
            assert not tenfold.is_grad_enabled()
            return g * y.grad

    a = leaves()[0]
    Inner.apply(Inner.apply(a)).sum().backward()
    assert tenfold.allclose(a.grad, (a.exp().exp() * a.exp()).detach())
    assert walks == [True] * 3
    assert tenfold.is_grad_enabled()


def test_callbacks_and_what_is_reached(walks):
    seen = []

    class Asks(tenfold.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            task = engine.TASKS.current
            seen.append((a._node in task.reached, b._node in task.reached))
            engine.queue_callback(lambda: seen.append("end"))
            return g

    a, b = leaves()[:2]
    Asks.apply(a * 2).sum().backward()
    assert seen == [(True, False), "end"]
    assert walks == [True]


def test_leaves_may_go_or_stop_asking(walks):
    a, b = leaves()[:2]
    y = (a * b).sum()
    b.requires_grad_(False)
    del a
    y.backward()
    assert b.grad is None
    assert walks == [True]


def test_changed_leaves(walks, monkeypatch):
    def run():
        a = leaves()[0]
        y = (a * 2).sum()
        a.data = tenfold.ones(2, 8)  # which the graph does not know
        y.backward()
        return bits(a.grad)

    assert run() == by_engine(monkeypatch, run)


def test_long_chains_are_walked_and_freed(walks):
    a = tenfold.ones(2, requires_grad=True)
    y = chain(a, tenfold.ones(2), 50_000)
    seen = weakref.ref(y._node)
    y.sum().backward()
    del y
    assert seen() is None
    assert a.grad is not None
    assert walks == [True]


def test_threads_walk_at_once(walks, monkeypatch):
    expected = by_engine(monkeypatch, lambda: gradients(GRAPHS["wide"]))
    wrong = []

    def run():
        wrong.extend(1 for _ in range(100) if gradients(GRAPHS["wide"]) != expected)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert walks == [True] * 400


def test_ten_thousand_passes_leave_no_reference(walks):
    a, b, c, d, _ = given = leaves()
    g, target = tenfold.ones(4, 4), tenfold.arange(4)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4))

    def run(times):
        for _ in range(times):
            y = functional.linear(a * b + d, b, c) / 2.5 + Cube.apply(a) + a.max(1).values
            y.backward(g, retain_graph=True)
            y.backward(g)
            functional.cross_entropy(model(a), target).backward()
            for x in (*given, *model.parameters()):
                x.grad = None
        return y

    run(50)
    classes = type((a * b)._node), type(a._node)
    things = [a, b, c, d, g, target, a._node, a._array, *classes, None, True, NotImplemented, other_walks.WALKS]
    assert left_behind(lambda: run(3_000), things) < SMALL
    walks.clear()
