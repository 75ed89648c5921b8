"""Programs whose outcome in PyTorch is the law: inference mode's views, sparse gradients, undefined ones, checkpoints."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import tenfold
import tenfold.utils.checkpoint

torch = pytest.importorskip("torch")
pytest.importorskip("tenfold.sparse")

pytestmark = pytest.mark.filterwarnings("ignore:Sparse:UserWarning")


def views_in_inference_mode(lib: Any) -> Any:
    a = lib.ones(1, 2, requires_grad=True).clone()
    with lib.inference_mode():
        view = a.view(-1)
        further = view.view(2, 1)
        inside = view.requires_grad, view.is_leaf, view._is_view(), further.requires_grad, lib.is_inference(further)
    later = view * view

    return inside, later.requires_grad, a.grad_fn is not None


def views_in_inference_mode_of_constants(lib: Any) -> Any:
    a = lib.ones(1, 2)
    with lib.inference_mode():
        view = a.view(-1)
        return view.requires_grad, view.is_leaf, view._is_view()


def resized_in_inference_mode(lib: Any) -> Any:
    with lib.inference_mode():
        c = lib.ones(1, 2, 3, requires_grad=True)
        c.resize_(1, 2)
        return c.requires_grad, tuple(c.shape), lib.is_inference(c)


def strided_onto_sparse(lib: Any) -> Any:
    x = lib.tensor([1.5, 2.5], requires_grad=True)
    x.grad = lib.sparse_coo_tensor(lib.tensor([[1, 1]]), lib.tensor([1.0, 1.0]))
    x.backward(lib.tensor([1.5, 3.0]))
    return x.grad


class Fixed:
    """A Function that returns the gradient it was given, in each library."""

    @staticmethod
    def of(lib: Any) -> Any:
        class FixedGradient(lib.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any, g: Any) -> Any:
                ctx.g = g
                return x.clone()

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                return ctx.g, None

        return FixedGradient.apply


def sparse_and_strided(lib: Any, order: str) -> Any:
    x = lib.zeros(3, 2, requires_grad=True)
    sparse = lib.sparse_coo_tensor(lib.tensor([[0, 2]]), lib.tensor([[1.0, 2.0], [3.0, 4.0]]), (3, 2))
    given = {"s": sparse, "d": lib.ones(3, 2)}
    fixed = Fixed.of(lib)
    sum(fixed(x, given[c]) for c in order).sum().backward()
    return x.grad.to_dense() if x.grad.is_sparse else x.grad, x.grad.is_sparse


def by_a_sparse_leaf(lib: Any) -> Any:
    x = lib.tensor([[1.0, 0.0], [0.0, 2.0]]).to_sparse().requires_grad_()
    (g,) = lib.autograd.grad((x.to_dense() ** 2).sum(), x)
    return g.layout is lib.sparse_coo, g.to_dense()


def hook_of_a_result_without_gradient(lib: Any) -> Any:
    seen: list[Any] = []
    x = lib.arange(3.0).requires_grad_()
    parts = x.unbind()
    parts[0].register_hook(seen.append)
    parts[0].backward(retain_graph=True)
    parts[1].backward()
    return seen, x.grad


def checkpoint_under_autocast(lib: Any) -> Any:
    checkpoint = lib.utils.checkpoint.checkpoint
    seen: list[Any] = []

    def part(a: Any, b: Any) -> Any:
        made = a.mm(b)
        seen.append(str(made.dtype).split(".")[-1])
        return made.mm(b)

    for enabled in (True, False):
        a, b = lib.ones(3, 3, requires_grad=True), lib.ones(3, 3, requires_grad=True)
        with lib.autocast("cpu", enabled=enabled, dtype=lib.bfloat16):
            loss = checkpoint(part, a, b, use_reentrant=False).float().sum()
        loss.backward()
        seen.append(b.grad)
    return seen


def class_of_nodes(lib: Any) -> Any:
    class Twice(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    y = Twice.apply(lib.ones(1, requires_grad=True))
    return type(y.grad_fn) is Twice._backward_cls


def plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value.detach().tolist() if hasattr(value, "detach") else value


@pytest.mark.parametrize(
    "program",
    [
        views_in_inference_mode, views_in_inference_mode_of_constants, resized_in_inference_mode, strided_onto_sparse,
        by_a_sparse_leaf, hook_of_a_result_without_gradient, checkpoint_under_autocast, class_of_nodes,
    ],
)  # fmt: skip
def test_as_pytorch(program):
    assert plain(program(tenfold)) == plain(program(torch))


@pytest.mark.parametrize("order", ["sds", "dss", "ss", "ssd"])
def test_sparse_and_strided_gradients_meet(order):
    assert plain(sparse_and_strided(tenfold, order)) == plain(sparse_and_strided(torch, order))


def test_data_of_another_layout_is_refused():
    for lib in (tenfold, torch):
        with pytest.raises(RuntimeError, match="incompatible tensor type"):
            lib.ones(2).data = lib.ones(2).to_sparse()


def test_forward_mode_is_off_inside_of_a_functions_forward():
    for lib in (tenfold, torch):
        seen: list[bool] = []

        class Watching(lib.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any, lib: Any = lib, seen: Any = seen) -> Any:
                seen.append(lib.autograd.forward_ad._is_fwd_grad_enabled())
                return x * 2

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                return g * 2

        Watching.apply(lib.ones(1, requires_grad=True))
        assert (seen, lib.autograd.forward_ad._is_fwd_grad_enabled()) == ([False], True)


def test_stored_values_are_outside_the_graph_and_blocks_may_be_squares():
    for lib in (tenfold, torch):
        x = lib.eye(4).to_sparse().requires_grad_()
        assert not x._values().requires_grad
        assert tuple(lib.eye(4).to_sparse_bsr(2).values().shape) == (2, 2, 2)


def test_views_of_inference_tensors_stay_outside_the_graph():
    for lib in (tenfold, torch):
        with lib.inference_mode():
            c = lib.ones(1, 2, requires_grad=True)
        view = c.view(-1)
        assert (lib.is_inference(view), view.requires_grad, view._is_view(), view.is_leaf) == (True, False, False, True)
        with lib.inference_mode():
            assert not lib.ones(2).view(1, 2)._is_view()
            assert not c.view(2)._is_view()
        assert (c + 1).requires_grad


def test_the_graph_is_not_deleted_from_a_tensor():
    for lib in (tenfold, torch):
        x = lib.ones(2, requires_grad=True)
        for name in ("_grad_fn", "_backward_hooks", "requires_grad", "data"):
            with pytest.raises(RuntimeError):
                delattr(x, name)


def test_unit_vectors_for_programs_of_their_own_jacobians():
    for lib in (tenfold, torch):
        given = (lib.ones(2, 3), lib.ones(()), lib.ones(2, dtype=lib.float64))
        basis = importlib.import_module(f"{lib.__name__}.autograd.functional")._construct_standard_basis_for(given, (6, 1, 2))
        assert [b.dtype for b in basis] == [t.dtype for t in given]
        assert lib.cat([b.float() for b in basis], 1).tolist() == lib.eye(9).tolist()


def test_results_are_prepared_and_unpacked_for_programs_of_their_own_jacobians():
    found = []
    for lib in (tenfold, torch):
        rooms, x = importlib.import_module(f"{lib.__name__}.autograd.functional"), lib.ones(2, requires_grad=True)
        assert rooms._as_tuple(x, "inputs", "mine") == (False, (x,))
        assert rooms._as_tuple((x,), "inputs", "mine") == (True, (x,))
        with pytest.raises(TypeError, match="The inputs given to mine must be either a Tensor or a tuple of Tensors"):
            rooms._as_tuple((x, 3), "inputs", "mine")
        kept, cut = rooms._grad_postprocess(((x * 2,),), True), rooms._grad_postprocess(((x * 2,), (x,)), False)
        assert kept[0][0].requires_grad
        assert [t.requires_grad for each in cut for t in each] == [False, False]
        rows = ((1, 2), (3, 4))
        unpacked = [rooms._tuple_postprocess(rows, (a, b)) for a in (True, False) for b in (True, False)]
        found.append([*unpacked, rooms._tuple_postprocess(rows, False), rooms._tuple_postprocess(rows, True)])
    assert found[0] == found[1]


def test_samples_have_gradients_of_zero_by_what_they_are_drawn_from():
    found = []
    for lib in (tenfold, torch):
        x, y = (lib.tensor([0.5, 0.25, 0.75], requires_grad=True) for _ in range(2))
        fixed, narrow = x.detach(), x.detach().bfloat16()
        lib.manual_seed(0)
        samples = [lib.normal(x, 1.5), lib.normal(2.0, x), lib.normal(x, y), lib.normal(mean=fixed, std=x), lib.bernoulli(x)]
        edges = lib.tensor([lib.inf, -lib.inf, lib.nan], requires_grad=True)
        samples += [lib.poisson(x), lib.normal(narrow, x), lib.normal(edges, 1.0)]
        wide = lib.normal(x, lib.ones(2, 1))
        assert all(t.requires_grad for t in [*samples, wide])
        assert not lib.normal(fixed, fixed).requires_grad
        with lib.no_grad():
            assert not any(t.requires_grad for t in (lib.normal(x, y), lib.bernoulli(x), lib.poisson(x)))
        total = sum(t.float().sum() for t in [*samples[:-1], wide])
        grads = lib.autograd.grad(total, (x, y))
        found.append([[t.tolist() for t in (*grads, *samples, wide)], [str(t.dtype).partition(".")[2] for t in samples]])
    assert repr(found[0][0]).replace("-0.0", "0.0") == repr(found[1][0]).replace("-0.0", "0.0")
    assert found[0][1] == found[1][1]


def test_names_of_nodes_inside_transforms():
    for lib in (tenfold, torch):
        names: list[str] = []

        class Double(lib.autograd.Function):
            @staticmethod
            def forward(x: Any) -> Any:
                return x * 2

            @staticmethod
            def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
                pass

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                return g * 2

        def function(x: Any, double: Any = Double, names: Any = names) -> Any:
            y = double.apply(x)
            names.append(type(y.grad_fn).__name__)
            return y

        assert lib.func.grad(function)(lib.tensor(1.0)).item() == 2
        assert names == ["DoubleGeneratedBackward"]
