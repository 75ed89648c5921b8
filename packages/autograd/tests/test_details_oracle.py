"""Details of differentiation that PyTorch's own tests look at: the same program in both libraries."""

from __future__ import annotations

import copy
import importlib
import warnings
from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")

pytestmark = [
    pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Using backward:UserWarning"),
]


def block(lib: Any) -> Any:
    return lib.tensor(np.arange(24.0).reshape(2, 3, 4) / 10)


def of_diagonal(b: Any) -> Any:
    """A write through a view of a view, whose gradients go through memory."""
    c = b.clone()
    c[1].diagonal().cos_()
    return (c * c).sum()


def squared_gradient(lib: Any) -> Any:
    return lambda x: lib.func.grad(of_diagonal)(x).pow(2).sum()


def vmap_over_double_backward(lib: Any) -> Any:
    b = block(lib)
    return lib.func.vmap(lib.func.grad(squared_gradient(lib)))(lib.stack([b, b * 2]))


def batched_double_backward(lib: Any) -> Any:
    x = block(lib).requires_grad_()
    (g,) = lib.autograd.grad(of_diagonal(x), x, create_graph=True)
    return lib.autograd.grad(g, x, lib.stack([lib.ones_like(x), block(lib)]), is_grads_batched=True)


def strides_of_views_in_vmap(lib: Any) -> Any:
    pick = lambda x: x[1].as_strided((2, 2), (1, 2), x[1].storage_offset())  # noqa: E731
    return lib.func.vmap(pick)(block(lib).clone())


def strides_beyond_a_view_in_vmap(lib: Any) -> Any:
    return lib.func.vmap(lambda x: x[1].as_strided((2, 2), (1, 2), x[1].storage_offset() + 1))(block(lib).clone())


def same_in_every_chunk(lib: Any) -> Any:
    return lib.func.vmap(lambda x: lib.rand(3) + 0 * x, randomness="same", chunk_size=2)(lib.zeros(5)).std(0)


def pullback_made_without_grad(lib: Any) -> Any:
    x = lib.tensor(3.0, requires_grad=True)
    with lib.no_grad():
        out, pullback = lib.func.vjp(lambda x: x**2, x)
    (y,) = pullback(lib.tensor(1.0))
    return out.requires_grad, y.requires_grad, *lib.autograd.grad(y, x)


def gradient_without_grad(lib: Any) -> Any:
    x = lib.tensor(3.0, requires_grad=True)
    with lib.no_grad():
        inside = lib.func.grad(lambda x: x**3)(x)
        pullback = lib.func.vjp(lambda x: x**2, x)[1]
        pulled = pullback(lib.tensor(1.0))[0]
    return inside, inside.requires_grad, pulled, pulled.requires_grad


def layouts_of_gradients(lib: Any) -> Any:
    found = []
    for x in (
        lib.ones(2, 3, 4, 5).to(memory_format=lib.channels_last), lib.ones(3, 4).t(), lib.ones(4, 3)[:, :2],
        lib.ones(2, 2).as_strided((2,), (2,)),
    ):  # fmt: skip
        leaf = x.detach().requires_grad_()
        (leaf * lib.ones(leaf.shape)).sum().backward()
        found.append(leaf.grad.stride())
        leaf.grad = None
        leaf.sum().backward()
        found.append((leaf.grad.stride(), leaf.grad.tolist()))
    return found


def layout_of_a_gradient_with_graph(lib: Any) -> Any:
    x = lib.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).t().requires_grad_()
    (x * x * lib.ones(3, 2)).sum().backward(create_graph=True)
    (second,) = lib.autograd.grad(x.grad.sum(), x)
    return x.grad.stride(), x.grad, second


class _Power:
    @staticmethod
    def make(lib: Any) -> Any:
        class Power(lib.autograd.Function):
            @staticmethod
            def forward(x: Any, y: int = 3) -> Any:
                return x**y

            @staticmethod
            def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
                x, ctx.y = inputs
                ctx.save_for_backward(x)

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                (x,) = ctx.saved_tensors
                return g * ctx.y * x ** (ctx.y - 1), None

        return Power


def default_arguments_of_functions(lib: Any) -> Any:
    f, x = _Power.make(lib).apply, lib.tensor(2.0, requires_grad=True)
    return [lib.autograd.grad(f(*a, **k), x) for a, k in (((x,), {}), ((x, 2), {}), ((x,), {"y": 2}), ((), {"x": x}))]


def too_many_arguments_of_functions(lib: Any) -> Any:
    return _Power.make(lib).apply(lib.ones(1), 2, 3)


def requires_grad_inside_grad(lib: Any) -> Any:
    return lib.func.grad(lambda x: x.requires_grad_().sin())(lib.tensor(1.0))


def requires_grad_inside_two_grads(lib: Any) -> Any:
    return lib.func.grad(lib.func.grad(lambda x: x.requires_grad_().sin()))(lib.tensor(1.0))


def leaves_made_inside_grad(lib: Any) -> Any:
    return lib.func.grad(lambda x: (lib.ones((), requires_grad=True) * x).sin())(lib.tensor(1.0))


def two_zeros_of_a_product(lib: Any) -> Any:
    x = lib.tensor([2.0], requires_grad=True)
    src = lib.tensor([0.0, 0.0], requires_grad=True)
    out = x.scatter_reduce(0, lib.tensor([0, 0]), src, "prod")
    first = lib.autograd.grad(out.sum(), (x, src), create_graph=True)
    assert all(not g.any() for g in first)
    return lib.autograd.grad(first[1].sum(), src)


def deleted_attributes(lib: Any) -> Any:
    del lib.ones(1, requires_grad=True).requires_grad


def listed_attributes(lib: Any) -> Any:
    x = lib.ones(2, dtype=lib.complex64)
    return [name for name in dir(x) if not hasattr(x, name)]


def versions_of_resized(lib: Any) -> Any:
    x, versions = lib.zeros(1), []
    for change in (lambda: x.resize_((1, 2)), lambda: x.resize_as_(lib.ones(3)), lambda: x.resize_(3)):
        change()
        versions.append(x._version)
    return versions


def forward_mode(lib: Any) -> Any:
    return importlib.import_module(f"{lib.__name__}.autograd.forward_ad")


def tangents_that_lie_otherwise(lib: Any) -> Any:
    """They are copied into memory like the primal's, so that every view of that can be followed."""
    ad, primal, tangent = forward_mode(lib), lib.ones(5)[:4], lib.ones(4)
    with ad.dual_level():
        dual = ad.make_dual(primal, tangent)
        ad.unpack_dual(dual).tangent.mul_(2)
        return tangent, ad.unpack_dual(dual).tangent, ad.unpack_dual(dual.as_strided((5,), (1,), 0)).tangent.shape


def tangents_that_lie_alike(lib: Any) -> Any:
    ad, tangent = forward_mode(lib), lib.ones(4)
    with ad.dual_level():
        return ad.unpack_dual(ad.make_dual(lib.ones(4), tangent)).tangent is tangent


def forward_mode_switched_off(lib: Any) -> Any:
    ad = forward_mode(lib)

    def f(x: Any) -> Any:
        with ad._set_fwd_grad_enabled(False):
            shift = x**2
        return x**2 - shift

    x, one = lib.tensor(3.0), lib.tensor(1.0)
    return lib.func.jvp(f, (x,), (one,)), lib.func.jvp(lambda x: lib.func.jvp(f, (x,), (one,))[1], (x,), (one,))


def swapped_memory_is_another_leaf(lib: Any) -> Any:
    x = lib.ones(2, requires_grad=True)
    out = x.clone()
    with lib.no_grad():
        x.set_(lib.zeros(2))
    return lib.autograd.grad(out.sum(), x)


def a_leaf_of_another_shape_gets_its_gradient(lib: Any) -> Any:
    shapes = []
    for change in (
        lambda x: x.set_(lib.ones(4)),
        lambda x: x.unsqueeze_(0),
        lambda x: x.transpose_(0, 1),
        lambda x: x.squeeze_(0),
    ):
        x = lib.ones(1, 3, requires_grad=True)
        with lib.no_grad():
            change(x)
        (x * 2).sum().backward()
        shapes.append(x.grad)
    return shapes


def gradient_of_a_freed_graph_s_result(lib: Any) -> Any:
    """The node that made the input whose gradient is asked for is not run again."""
    x = lib.tensor([2.0, 3.0], requires_grad=True)
    y = x * x
    y.sum().backward()
    return lib.autograd.grad((y * 3).sum(), y)


def shallow_copies_share_memory(lib: Any) -> Any:
    x = lib.tensor([1.0, 2.0])
    y = copy.copy(x)
    y[0] = 5.0
    return x


def buffers_assigned_in_functional_call(lib: Any) -> Any:
    class Counting(lib.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", lib.zeros(1))

        def forward(self, x: Any) -> Any:
            self.count = self.count + 1
            return x * self.count

    module, state = Counting(), {"count": lib.ones(1)}
    return lib.func.functional_call(module, state, (lib.ones(1),)), state["count"], module.count


PROGRAMS = [
    gradient_of_a_freed_graph_s_result, shallow_copies_share_memory,
    vmap_over_double_backward, batched_double_backward, strides_of_views_in_vmap, strides_beyond_a_view_in_vmap,
    same_in_every_chunk, pullback_made_without_grad, gradient_without_grad, layouts_of_gradients, layout_of_a_gradient_with_graph,
    default_arguments_of_functions, too_many_arguments_of_functions, requires_grad_inside_grad, requires_grad_inside_two_grads,
    leaves_made_inside_grad, two_zeros_of_a_product, deleted_attributes, listed_attributes, versions_of_resized,
    tangents_that_lie_otherwise, tangents_that_lie_alike, forward_mode_switched_off, swapped_memory_is_another_leaf,
    a_leaf_of_another_shape_gets_its_gradient,
]  # fmt: skip


def plain(value: Any) -> Any:
    """A result in terms that both libraries share."""
    if hasattr(value, "tolist"):
        return np.asarray(value.detach().tolist())
    return [plain(v) for v in value] if isinstance(value, (list, tuple)) else value


def same(ours: Any, theirs: Any) -> None:
    assert type(ours) is type(theirs)
    if isinstance(ours, list):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs):
            same(a, b)
    elif isinstance(ours, np.ndarray):
        assert ours.shape == theirs.shape
        assert np.allclose(ours, theirs, rtol=1e-5, atol=1e-6)
    else:
        assert ours == theirs


def test_functional_call_hands_back_assigned_buffers() -> None:
    pytest.importorskip("tenfold.nn")
    same(plain(buffers_assigned_in_functional_call(tenfold)), plain(buffers_assigned_in_functional_call(torch)))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_as_pytorch(program: Any) -> None:
    try:
        expected = plain(program(torch))
    except (RuntimeError, TypeError) as error:
        said = str(error).split(" inside of")[0].split("(or")[0].split(",")[0].split(" = ")[0][:60].strip()
        with pytest.raises(type(error)) as raised:
            program(tenfold)
        assert said in str(raised.value)
        return
    same(plain(program(tenfold)), expected)


def test_backward_with_a_graph_warns() -> None:
    warned = tenfold.is_warn_always_enabled()
    tenfold.set_warn_always(True)
    try:
        x = tenfold.ones(1, requires_grad=True)
        with pytest.warns(UserWarning, match=r"Using backward\(\) with create_graph=True"):
            (x * x).sum().backward(create_graph=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tenfold.autograd.grad((x * x).sum(), x, create_graph=True)
    finally:
        tenfold.set_warn_always(warned)


def doubled(lib: Any, seen: list[int], noise: Any = None) -> Any:
    """Two clones, counting how often they are pushed forward."""

    class Clones(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            return x.clone(), y.clone()

        @staticmethod
        def jvp(ctx: Any, x: Any, y: Any) -> Any:
            seen.append(1)
            if noise is not None:
                noise(x)
            return x, y

    return Clones.apply


@pytest.mark.parametrize("undefined", [False, True])
@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("second", [False, True])
def test_forward_mode_is_checked_as_often(undefined: bool, batched: bool, second: bool) -> None:
    counts = []
    for lib in (torch, tenfold):
        seen: list[int] = []
        x = lib.ones(1, dtype=lib.float64, requires_grad=True)
        y = lib.ones(1, dtype=lib.float64, requires_grad=second)
        lib.autograd.gradcheck(
            doubled(lib, seen), (x, y), check_forward_ad=True, check_backward_ad=False, check_undefined_grad=undefined,
            check_batched_grad=False, check_batched_forward_grad=batched,
        )  # fmt: skip
        counts.append(len(seen))
    assert counts[0] == counts[1]


def test_batched_forward_mode_refuses_random_numbers() -> None:
    x = tenfold.ones(2, dtype=tenfold.float64, requires_grad=True)
    function = doubled(tenfold, [], tenfold.randn_like)
    with pytest.raises(RuntimeError, match="randn_like"):
        tenfold.autograd.gradcheck(
            function,
            (x, tenfold.ones(2, dtype=tenfold.float64)),
            check_forward_ad=True,
            check_backward_ad=False,
            check_batched_forward_grad=True,
        )


def test_the_first_wrong_output_is_named() -> None:
    def wrong(x: Any, factor: float) -> Any:
        y = x.clone()
        y.register_hook(lambda g: g * factor)
        return x * 2, y, x * y

    x = tenfold.ones(2, dtype=tenfold.float64, requires_grad=True)
    with pytest.raises(RuntimeError, match="mismatch for output 1 with respect to input 0"):
        tenfold.autograd.gradcheck(lambda x: wrong(x, 100.0), (x,))
    with pytest.raises(RuntimeError, match="imaginary part of complex outputs only"):
        tenfold.autograd.gradcheck(lambda x: wrong(x, 1.1), (x.detach().to(tenfold.complex128).requires_grad_(),))


@pytest.mark.parametrize("how", ["backward", "grad", "twice"])
def test_a_leaf_whose_data_takes_another_shape(how: str) -> None:
    found = []
    for lib in (tenfold, torch):
        x = lib.zeros(0, requires_grad=True)
        x.data = lib.ones(2, 3)
        if how == "grad":
            found.append(lib.autograd.grad((x * x).sum(), x)[0].tolist())
            continue
        (x * x).sum().backward()
        if how == "twice":
            x.grad = None
            x.data = lib.ones(1, 3)
            (x * x * lib.ones(5, 3)).sum().backward()  # what was broadcast is summed to the present shape
        found.append(x.grad.tolist())
    assert found[0] == found[1]
