"""Reverse mode inside a level of forward mode and around it: gradients have tangents where PyTorch's have them."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")

pytestmark = [  # what PyTorch says of itself
    pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:There is a performance drop:UserWarning"),
]
CASES: dict[str, Any] = {}


def case(function: Any) -> Any:
    CASES[function.__name__] = function
    return function


class Kit:
    """What the cases use of a library."""

    def __init__(self, lib: Any) -> None:
        self.lib, self.fwd = lib, importlib.import_module(f"{lib.__name__}.autograd.forward_ad")
        self.grad, self.func = lib.autograd.grad, lib.func
        self.x, self.t = self.tensor([1.0, 2.0, 3.0]), self.tensor([1.0, 0.5, 2.0])
        self.v = self.tensor([0.3, 0.4, 0.5])
        self.dual = self.fwd.make_dual

    def tensor(self, values: Any) -> Any:
        return self.lib.tensor(values, dtype=self.lib.float64)

    def leaf(self) -> Any:
        return self.x.clone().requires_grad_()

    def shown(self, value: Any) -> Any:
        """Tensors as [value, tangent, requires_grad], trees of them as trees."""
        if isinstance(value, (list, tuple)):
            return [self.shown(v) for v in value]
        if not isinstance(value, self.lib.Tensor):
            return value
        primal, tangent = self.fwd.unpack_dual(value)
        return [primal.tolist(), None if tangent is None else tangent.tolist(), value.requires_grad]


def f(x: Any) -> Any:
    return (x**3 * x.sin()).sum()


@case
def by_the_dual(k: Kit) -> Any:
    d = k.dual(k.leaf(), k.t)
    return k.grad(f(d), d), d


@case
def by_the_dual_with_graph(k: Kit) -> Any:
    d = k.dual(k.leaf(), k.t)
    return k.grad(f(d), d, create_graph=True)


@case
def by_the_leaf(k: Kit) -> Any:
    x = k.leaf()
    return k.grad(f(k.dual(x, k.t)), x), k.grad(f(k.dual(x, k.t)), x, create_graph=True)


@case
def by_a_dual_leaf(k: Kit) -> Any:
    d = k.dual(k.x, k.t).requires_grad_()
    y = f(d)
    return y, k.grad(y, d), k.grad(f(d), d, create_graph=True), d.is_leaf


@case
def by_a_weight_beside_it(k: Kit) -> Any:
    w = k.leaf()
    y = (w * k.dual(k.v, k.t)).sin().sum()
    return k.grad(y, w, create_graph=True), k.grad(y, w)


@case
def second_gradients(k: Kit) -> Any:
    d = k.dual(k.leaf(), k.t)
    (g,) = k.grad(f(d), d, create_graph=True)
    return k.grad(g.sum(), d, create_graph=True)


@case
def gradients_of_tangents_of_gradients(k: Kit) -> Any:
    x, t = k.leaf(), k.t.clone().requires_grad_()
    d = k.dual(x, t)
    (g,) = k.grad(f(d), d, create_graph=True)
    return [v.tolist() for v in k.grad(k.fwd.unpack_dual(g).tangent.sum(), (x, t))]


@case
def backward_leaves_no_tangents(k: Kit) -> Any:
    x = k.leaf()
    d = k.dual(x, k.t)
    f(d).backward()
    own = k.dual(k.x, k.t).requires_grad_()
    f(own).backward()
    return x.grad, d, own.grad


@case
def backward_with_graph(k: Kit) -> Any:
    x = k.leaf()
    (g,) = k.grad(f(k.dual(x, k.t)), x, create_graph=True)
    g.sum().backward()
    return x.grad


@case
def dual_gradients_go_in(k: Kit) -> Any:
    x, d = k.leaf(), k.dual(k.leaf(), k.t)
    y = d * 2
    return k.grad(y.sin(), y, k.dual(k.v, k.t)), k.grad(x.sin(), x, k.dual(k.v, k.t))


@case
def hooks_see_tangents(k: Kit) -> Any:
    seen: list[Any] = []
    d = k.dual(k.leaf(), k.t)
    y = d * 3
    d.register_hook(lambda g: seen.append(k.shown(g)))
    y.register_hook(lambda g: g * k.dual(k.v, k.t))
    f(y).backward()
    return seen


@case
def what_a_dual_is(k: Kit) -> Any:
    d = k.dual(k.leaf(), k.t)
    with k.lib.no_grad():
        inside = d * 2, k.dual(k.leaf(), k.t)
    return d.detach(), d.clone(), d.view(3, 1), d[1:], inside, d.is_leaf, d.grad_fn is None, k.fwd.unpack_dual(d).primal


@case
def by_the_unpacked_value(k: Kit) -> Any:
    x = k.leaf()
    d = k.dual(x, k.t)
    return k.grad(k.fwd.unpack_dual(d.sin()).primal.sum(), d), k.grad(k.fwd.unpack_dual(d.exp()).primal.sum(), x)


@case
def duals_of_duals_values(k: Kit) -> Any:
    x = k.leaf()
    again = k.dual(k.fwd.unpack_dual(k.dual(x, k.t)).primal, k.v)
    return k.grad(f(again), x), k.grad(f(again), again)


@case
def in_place(k: Kit) -> Any:
    x = k.leaf()
    d = k.dual(x, k.t)
    y = d.sin()
    y.mul_(d)
    y[1:].add_(d[1:] ** 2)
    return y, k.grad(y.sum(), (x, d))


@case
def written_into_plain_memory(k: Kit) -> Any:
    x = k.leaf()
    d, place = k.dual(x, k.t), k.tensor([0.0] * 3)
    place.copy_(d * d)
    return place, k.grad((place * d).sum(), x)


@case
def several_results(k: Kit) -> Any:
    x = k.leaf()
    d = k.dual(x, k.t)
    a, b = (d**2).split([1, 2])
    values, _ = (d * k.lib.stack([d, d.sin()])).sort(-1)
    return k.grad((a * b).sum() + (values[:, 0] * values[:, 2]).sum(), (x, d))


@case
def of_many_operators(k: Kit) -> Any:
    x = k.leaf()
    d = k.dual(x, k.t)
    m = k.lib.outer(d, d.exp()) + k.lib.eye(3, dtype=k.lib.float64)
    y = m.softmax(-1).logsumexp(0).cumsum(0).prod() + m.norm() + (m @ d).tanh().mean() + k.lib.where(d > 1, d, d**2).var()
    return y, k.grad(y, (x, d))


@case
def layers(k: Kit) -> Any:
    lib = k.lib
    linear = lib.nn.Linear(3, 2).double()
    with lib.no_grad():
        for p in linear.parameters():
            p.copy_(lib.arange(p.numel(), dtype=lib.float64).reshape(p.shape) / 10)
    y = (linear(k.dual(k.x, k.t)[None]).tanh() ** 2).sum()
    found = k.grad(y, tuple(linear.parameters()), retain_graph=True)
    y.backward()
    return found, [p.grad for p in linear.parameters()]


@case
def batched_gradients(k: Kit) -> Any:
    d = k.dual(k.leaf(), k.t)
    y = f(d)
    by_hand = k.func.vmap(lambda v: k.grad(y, d, v, retain_graph=True)[0])(k.tensor([1.0, 2.0]))
    return by_hand, k.grad(y, d, k.tensor([1.0, 2.0]), is_grads_batched=True)


@case
def func_inside(k: Kit) -> Any:
    d = k.dual(k.x, k.t)
    with_place = k.dual(k.leaf(), k.t)
    return k.func.grad(f)(d), k.func.jacrev(k.func.grad(f))(d), k.func.grad(f)(with_place), k.func.vjp(f, d)[1](k.tensor(1.0))


@case
def func_outside(k: Kit) -> Any:
    def tangent(x: Any) -> Any:
        with k.fwd.dual_level():
            return k.fwd.unpack_dual(f(k.dual(x, k.lib.ones_like(x)))).tangent

    def tangent_of_gradient(x: Any) -> Any:
        with k.fwd.dual_level():
            return k.fwd.unpack_dual(k.func.grad(f)(k.dual(x, k.v))).tangent.sum()

    return k.func.grad(tangent)(k.x), k.func.grad(tangent_of_gradient)(k.x)


func_outside.outside = True


@case
def jvp_of_gradients(k: Kit) -> Any:
    return k.func.jvp(k.func.grad(f), (k.x,), (k.t,)), k.func.jvp(k.func.grad(lambda x: k.func.grad(f)(x).sum()), (k.x,), (k.t,))


jvp_of_gradients.outside = True


@case
def reverse_over_forward(k: Kit) -> Any:
    x = k.leaf()
    with k.fwd.dual_level():
        y = f(k.dual(x, k.t))
        tangent = k.fwd.unpack_dual(y).tangent
    return k.grad(tangent, x, retain_graph=True), k.grad(y, x)


reverse_over_forward.outside = True


@case
def gradients_outlive_the_level(k: Kit) -> Any:
    x = k.leaf()
    with k.fwd.dual_level():
        d = k.dual(x, k.t)
        (g,) = k.grad(f(d), d, create_graph=True)
        y = f(k.dual(k.x, k.t).requires_grad_())
    y.backward()
    return g, k.grad(g.sum(), x)


gradients_outlive_the_level.outside = True


@case
def a_step_after_the_level(k: Kit) -> Any:
    p = k.lib.nn.Parameter(k.x.clone())
    optimizer = k.lib.optim.SGD([p], lr=0.1)
    with k.fwd.dual_level():
        f(k.dual(p, k.t)).backward()
    optimizer.step()
    return p, p.grad


a_step_after_the_level.outside = True


def functions(lib: Any) -> list[Any]:
    """The same custom Function with a ctx in forward, and with setup_context; and one that keeps its result."""

    class Rules(lib.autograd.Function):  # type: ignore[misc,name-defined]
        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, y = ctx.saved_tensors
            return g * ctx.factor * (x + y), g * ctx.factor * x

        @staticmethod
        def jvp(ctx: Any, tx: Any, ty: Any) -> Any:
            x, y = ctx.saved_tensors
            return ctx.factor * (tx * (x + y) + ty * x)

    class WithCtx(Rules):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            ctx.save_for_backward(x, y)
            ctx.save_for_forward(x, y)
            ctx.factor = 2
            return x * x + 2 * x * y

    class Apart(Rules):
        @staticmethod
        def forward(x: Any, y: Any) -> Any:
            return x * x + 2 * x * y

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)
            ctx.factor = 2

    class Exponential(lib.autograd.Function):  # type: ignore[misc,name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            made, other = x.exp(), y * 2
            ctx.save_for_backward(made)
            ctx.save_for_forward(made)
            return made, other

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            (made,) = ctx.saved_tensors
            return g * made, h * 2

        @staticmethod
        def jvp(ctx: Any, tx: Any, ty: Any) -> Any:
            (made,) = ctx.saved_tensors
            return tx * made, ty * 2

    return [WithCtx, Apart, Exponential]


def _custom(k: Kit, number: int) -> Any:
    function, x, w = functions(k.lib)[number], k.leaf(), k.v.clone().requires_grad_()
    d = k.dual(x, k.t)

    def loss() -> Any:
        made = function.apply(d, w)
        return sum((m * m).sum() for m in (made if isinstance(made, tuple) else (made,)))

    (g,) = k.grad(loss(), d, create_graph=True)
    return loss(), k.grad(loss(), (d, x, w)), g, k.grad(g.sum(), (d, w))


@case
def custom_function(k: Kit) -> Any:
    return _custom(k, 0)


@case
def custom_function_with_setup_context(k: Kit) -> Any:
    return _custom(k, 1)


@case
def custom_function_that_keeps_its_result(k: Kit) -> Any:
    return _custom(k, 2)


def flat(value: Any) -> list[Any]:
    return [v for item in value for v in flat(item)] if isinstance(value, list) else [value]


def run(name: str, lib: Any) -> list[Any]:
    kit, function = Kit(lib), CASES[name]
    if getattr(function, "outside", False):
        return flat(kit.shown(function(kit)))
    with kit.fwd.dual_level():
        return flat(kit.shown(function(kit)))


@pytest.mark.parametrize("name", CASES)
def test_as_in_pytorch(name):
    ours, theirs = run(name, tenfold), run(name, torch)
    assert [v if not isinstance(v, float) else "" for v in ours] == [v if not isinstance(v, float) else "" for v in theirs]
    numbers = [v for v in theirs if isinstance(v, float)]
    assert numbers
    assert [v for v in ours if isinstance(v, float)] == pytest.approx(numbers, rel=1e-9, abs=1e-12)
