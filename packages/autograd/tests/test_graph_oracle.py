"""Hooks, edges, saved tensors: the same program in both libraries."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from graph_programs import assert_as_pytorch

import tenfold

torch = pytest.importorskip("torch")


def graph(lib: Any) -> Any:
    return lib.autograd.graph


def chain(lib: Any) -> tuple[Any, Any, Any]:
    a = lib.tensor(3.0, requires_grad=True)
    b = a * 2
    return a, b, b * b


def hooks_see_outputs_alone(lib: Any) -> Any:
    """Not the indices of a maximum, nor the statistics that a normalisation keeps for its rule; of a Function all results."""

    class Several(lib.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            place = x.argmax()
            ctx.mark_non_differentiable(place)
            return place, x * 2

        @staticmethod
        def backward(ctx: Any, *gs: Any) -> Any:
            return gs[1] * 2

    f, x = lib.nn.functional, lib.rand(2, 3, 4, 4).requires_grad_()
    weight, bias = lib.ones(3, requires_grad=True), lib.zeros(3, requires_grad=True)
    made = (
        f.batch_norm(x, lib.zeros(3), lib.ones(3), weight, bias, training=True), f.layer_norm(x, (4,)), x.max(1)[0],
        f.max_pool2d(x, 2), x.sort()[0], x.topk(2)[0], lib.linalg.svd(x)[1], x.chunk(3, 1)[1], Several.apply(x)[1],
    )  # fmt: skip
    seen: list[Any] = []
    for y in made:
        y.grad_fn.register_prehook(lambda gs: seen.append([None if g is None else tuple(g.shape) for g in gs]))
        y.grad_fn.register_prehook(lambda gs: tuple(None if g is None else g * 2 for g in gs))
        y.grad_fn.register_hook(lambda gi, go: seen.append((len(gi), len(go))))
        x.grad = None
        y.sum().backward()
        seen.append(bool(x.grad.abs().max() > 0))
    return seen


def hooks_with_grad(lib: Any) -> Any:
    a, b, c = chain(lib)
    seen: list[str] = []
    b.register_hook(lambda g: seen.append("tensor"))
    b.grad_fn.register_prehook(lambda gs: seen.append("pre"))
    b.grad_fn.register_hook(lambda gi, go: seen.append("post"))
    lib.autograd.grad(c, b, retain_graph=True)
    lib.autograd.grad(c, (a, b), retain_graph=True)
    c.backward(inputs=(b,), retain_graph=True)
    c.backward()
    return seen, a.grad, b.grad


def gradients_with_a_graph_share_no_memory(lib: Any) -> Any:
    """What was kept with create_graph is added to, and written in place, without touching another leaf's gradient."""
    a, b = lib.ones(3, requires_grad=True), lib.ones(3, requires_grad=True)
    (a + b).sum().backward(create_graph=True)
    (a * 2).sum().backward()
    with lib.no_grad():
        b.grad[0] = 7.0
    return a.grad, b.grad, a.grad.stride()


def gradients_with_a_graph_are_differentiated(lib: Any) -> Any:
    x = lib.tensor([2.0, 3.0], requires_grad=True)
    (x**3).sum().backward(create_graph=True)
    first = x.grad
    (second,) = lib.autograd.grad(first.sum(), x)
    return first.requires_grad, first, second


def hooks_of_a_leaf(lib: Any) -> Any:
    a = lib.ones(3, requires_grad=True)
    node = a.view_as(a).grad_fn.next_functions[0][0]
    a.register_hook(lambda g: g - 2.0)
    node.register_prehook(lambda gs: (gs[0] / 5.0,))
    a.register_post_accumulate_grad_hook(lambda t: t.grad.add_(0.5) and None)

    def after(inputs: Any, outputs: Any) -> None:
        a.grad = outputs[0] * 10 + len(inputs)

    node.register_hook(after)
    a.sum().backward()
    return a.grad


def gradient_of_a_tensor_within(lib: Any) -> Any:
    x = lib.tensor([2.0, 3.0], requires_grad=True)
    y = x * x
    total = y.sum()
    total.backward()
    return lib.autograd.grad(y.sum(), y), x.grad


def edges(lib: Any) -> Any:
    a, b, c = chain(lib)
    edge = graph(lib).get_gradient_edge(b)
    old = graph(lib).get_gradient_edge(a * 1)
    found = lib.autograd.grad(c, (edge, a), retain_graph=True)
    lib.autograd.backward(c, inputs=(edge, a), retain_graph=True)
    lib.autograd.backward(graph(lib).get_gradient_edge(c))
    return found, a.grad, old.output_nr, old.node.name()


def edge_of_one_of_several(lib: Any) -> Any:
    x = lib.arange(6.0).view(2, 3).requires_grad_(True)
    values, _ = (x * 1).max(1)
    first, _ = (x * 2).split(1)
    out = values.sum() * 3 + (first * first).sum()
    return lib.autograd.grad(out, [graph(lib).get_gradient_edge(first), graph(lib).get_gradient_edge(values), values])


def edge_of_before_a_write(lib: Any) -> Any:
    x = lib.ones(2, requires_grad=True).clone()
    edge = graph(lib).get_gradient_edge(x)
    x *= 2
    return lib.autograd.grad(x.sum(), (edge, x))


def packed(lib: Any) -> Any:
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    seen: list[int] = []

    def pack(t: Any) -> Any:
        seen.append(t.numel())
        return t * 2

    with graph(lib).saved_tensors_hooks(pack, lambda t: t / 2):
        y = (x.exp() * x).sin()
    (g,) = lib.autograd.grad(y.sum(), x, create_graph=True)
    g.sum().backward()
    return len(seen), g, x.grad


def packed_wrongly(lib: Any) -> Any:
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    with graph(lib).saved_tensors_hooks(lambda t: t, lambda t: 0):
        y = x.exp()
    y.sum().backward()


def packed_with_a_write(lib: Any) -> Any:
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    with graph(lib).saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t):
        return x.exp()


def hooks_disabled(lib: Any) -> Any:
    with graph(lib).disable_saved_tensors_hooks("not here"), graph(lib).saved_tensors_hooks(lambda t: t, lambda t: t):
        pass


def hooks_of_one_saved_tensor(lib: Any) -> Any:
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    y = x * x.detach()
    y.grad_fn._raw_saved_other.register_hooks(lambda t: t * 2, lambda t: t / 2 + 1)
    y.sum().backward()
    return x.grad


def saved_after_release(lib: Any) -> Any:
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    seen = y.grad_fn._saved_result
    y.sum().backward()
    assert seen is not None
    return y.grad_fn._saved_result


def saved_on_cpu(lib: Any) -> Any:
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    with graph(lib).save_on_cpu():
        y = x.exp() * x
    y.sum().backward()
    return x.grad


def several_gradients(lib: Any) -> Any:
    a, b = lib.ones(2, requires_grad=True), lib.ones(2, requires_grad=True)
    seen: list[Any] = []
    handle = graph(lib).register_multi_grad_hook((a, b), lambda gs: seen.append([None if g is None else g.tolist() for g in gs]))
    graph(lib).register_multi_grad_hook((a, b), lambda g: seen.append(g.tolist()), mode="any")
    (a * b).sum().backward()
    (a * 2).sum().backward()
    handle.remove()
    (a * b).sum().backward()
    return seen


def final_callbacks(lib: Any) -> Any:
    a = lib.ones(2, requires_grad=True)
    seen: list[str] = []
    queue = lib.autograd.Variable._execution_engine.queue_callback

    def hook(g: Any) -> None:
        queue(lambda: (seen.append("first"), queue(lambda: seen.append("second"))))

    a.register_hook(hook)
    a.register_post_accumulate_grad_hook(lambda t: seen.append("accumulated"))
    a.sum().backward()
    return seen


def anomaly(lib: Any) -> Any:
    x = lib.tensor([-1.0], requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with lib.autograd.detect_anomaly():
            lib.sqrt(x).sum().backward()


def node_by_hand(lib: Any) -> Any:
    x = lib.tensor([3.0], requires_grad=True)
    y = x.exp()
    return y.grad_fn(lib.ones(1)), y.grad_fn.name(), y.grad_fn.metadata


def variable(lib: Any) -> Any:
    x = lib.ones(2)
    v = lib.autograd.Variable(x, requires_grad=True)
    (v * 2).sum().backward()
    return v.requires_grad, x.requires_grad, v.grad, isinstance(x, lib.autograd.Variable)


def names_on_ctx(lib: Any) -> Any:
    class Double(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.shape, ctx.next, ctx.extra, ctx.function = tuple(x.shape), 1, 2, 3
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            assert (ctx.shape, ctx.next, ctx.extra, ctx.function) == ((1, 3), 1, 2, 3)
            return g * 2

    x = lib.ones(1, 3, requires_grad=True)
    Double.apply(x).sum().backward()
    return x.grad


def both_backward_and_vjp(lib: Any) -> Any:
    class Bad(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g

        @staticmethod
        def vjp(ctx: Any, g: Any) -> Any:
            return g

    Bad.apply(lib.ones(1, requires_grad=True)).sum().backward()


def thrown_into_a_generator(lib: Any) -> Any:
    seen = []

    @lib.no_grad()
    def steps() -> Any:
        for i in range(4):
            try:
                yield i
            except KeyError:
                seen.append(lib.is_grad_enabled())

    generator = steps()
    found = [next(generator), generator.throw(KeyError()), next(generator)]
    generator.close()
    return found, seen, lib.is_grad_enabled()


PROGRAMS = [f for f in list(globals().values()) if getattr(f, "__annotations__", {}) == {"lib": "Any", "return": "Any"}]
PROGRAMS = [f for f in PROGRAMS if f is not graph]


@pytest.mark.filterwarnings("ignore:Using backward:UserWarning")  # PyTorch's advice on create_graph
@pytest.mark.filterwarnings("ignore:the .type, exc, tb. signature:DeprecationWarning")  # PyTorch throws so
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_as_pytorch(program: Any) -> None:
    assert_as_pytorch(program, tenfold, torch)


def test_mutation_of_saved_tensors() -> None:
    a = tenfold.arange(3.0).requires_grad_(True)
    with graph(tenfold).allow_mutation_on_saved_tensors() as kept:
        b = a.clone()
        out = (b**2).sum()
        b.view(3).sin_()
        assert len(kept.cloned) == 1
        out.backward()
        assert not len(kept.cloned)
    assert a.grad.tolist() == [0.0, 2.0, 4.0]
    assert b.tolist() == tenfold.arange(3.0).sin().tolist()
    with pytest.raises(RuntimeError, match="cannot be nested"), graph(tenfold).allow_mutation_on_saved_tensors():
        graph(tenfold).allow_mutation_on_saved_tensors().__enter__()


def test_hooks_are_set_once() -> None:
    saved = tenfold.ones(2, requires_grad=True).exp().grad_fn._raw_saved_result
    saved.register_hooks(lambda t: t, lambda t: t)
    with pytest.raises(RuntimeError, match="whose hooks have already been set"):
        saved.register_hooks(lambda t: t, lambda t: t)


def test_a_packing_hook_is_given_the_tensors_themselves():
    def seen_by(m):
        found = []
        weight, x = m.ones(2, requires_grad=True), m.ones(2)
        inner = weight * 3

        def keep(tensor):
            found.append((tensor is weight, tensor is inner, tensor is x, tensor.requires_grad, tensor.is_leaf))
            return tensor

        with m.autograd.graph.saved_tensors_hooks(keep, lambda kept: kept):
            result = (inner * x + inner * inner).sum()
        result.backward()
        return sorted(found), weight.grad.tolist()

    assert seen_by(tenfold) == seen_by(torch)
