"""What transforms of functions refuse, and what they say then: as PyTorch does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tenfold
import tenfold.autograd.function
import tenfold.autograd.functional
import tenfold.func

torch: Any = pytest.importorskip("torch")
nn: Any = pytest.importorskip("tenfold.nn")
pytest.importorskip("tenfold.testing")

# In each case `lib` is tenfold or torch; the text is what both messages share.
CASES: list[tuple[Callable[[Any, Any], Any], str]] = [
    (lambda lib, x: lib.func.vjp(lambda y: None, x), "vjp(f, *primals): Expected f to be a function that has non-empty output"),
    (lambda lib, x: lib.func.vjp(lambda y: (), x), "vjp(f, *primals): Expected f to be a function that has non-empty output"),
    (lambda lib, x: lib.func.vjp(lambda y: [y, 1], x), "vjp(f, *primals): expected f(*primals) to return only tensors"),
    (lambda lib, x: lib.func.vjp(lambda y: y, 1.0), "Thing passed to transform API must be Tensor, got <class 'float'>"),
    (lambda lib, x: lib.func.vjp(lambda y: y, x)[1](x.sum()), "Mismatch in shape: grad_output[0] has a shape of"),
    (lambda lib, x: lib.func.vjp(lambda y: (y, y), x)[1](x), "cotangents: *, primal output: (*, *)"),
    (lambda lib, x: lib.func.jvp(lambda y: 1, (x,), (x,)), "jvp(f, primals, tangents): expected f(*primals) to return only"),
    (lambda lib, x: lib.func.jvp(lambda y: None, (x,), (x,)), "jvp(f, primals, tangents): Expected f to be a function that"),
    (lambda lib, x: lib.func.jvp(lambda y: y, (1.0,), (x,)), "Expected primals to only contain Tensors"),
    (lambda lib, x: lib.func.jvp(lambda y: y, (x,), (1.0,)), "Expected tangents to only contain Tensors"),
    (lambda lib, x: lib.func.jvp(lambda y: y, (x,), [x]), "Expected primals and tangents to have the same python structure"),
    (lambda lib, x: lib.func.jvp(lambda y: y, x, (x,)), "Expected primals to be a tuple"),
    (lambda lib, x: lib.func.jvp(lambda y: y, (), ()), "Expected primals to contain at least one Tensor."),
    (lambda lib, x: lib.func.grad(lambda y: 1.0)(x), "grad_and_value(f)(*args): Expected f(*args) to return a Tensor"),
    (lambda lib, x: lib.func.grad(lambda y: y)(x), "Expected f(*args) to return a scalar Tensor, got tensor with 1 dims"),
    (lambda lib, x: lib.func.grad(lambda y: (y.sum(), 1), has_aux=True)(x), "Expected tensors, got unsupported type"),
    (lambda lib, x: lib.func.jvp(lambda y: (y, "a"), (x,), (x,), has_aux=True), "Expected tensors, got unsupported type"),
    (lambda lib, x: lib.func.jacrev(lambda y: (y, [y, 1]), has_aux=True)(x), "Expected tensors, got unsupported type"),
    (lambda lib, x: lib.func.jacfwd(lambda y: (y, 1), has_aux=True)(x), "Expected tensors, got unsupported type"),
    (lambda lib, x: lib.func.jacrev(lambda y: y)(x * 1j), "jacrev: Expected all inputs to be real"),
    (lambda lib, x: lib.func.jacrev(lambda y: y * 1j)(x), "jacrev: Expected all outputs to be real"),
    (lambda lib, x: lib.func.jacfwd(lambda y: y)(x * 1j), "jacfwd: Expected all inputs to be real"),
    (lambda lib, x: lib.func.jacfwd(lambda y: y * 1j)(x), "jacfwd: Expected all outputs to be real"),
    (lambda lib, x: lib.func.jacfwd(lambda y: y)(x.long()), "Expected primal to be floating point or complex, but got: "),
    (lambda lib, x: lib.func.jacrev(lambda y: y, chunk_size=0)(x), "jacrev: `chunk_size` should be greater than 0."),
    (lambda lib, x: lib.func.grad(lambda y: y, argnums=3)(x), "Got argnum=3, but only 1 positional inputs"),
    (lambda lib, x: lib.func.grad(lambda y: y, argnums=())(x), "argnums must be non-empty"),
    (lambda lib, x: lib.func.grad(lambda y: y, argnums="a")(x), "argnums must be int or Tuple[int, ...], got: <class 'str'>"),
    (lambda lib, x: lib.func.vmap(abs, in_dims="a")(x), "expected `in_dims` to be int or a (potentially nested) tuple"),
    (lambda lib, x: lib.func.vmap(abs, in_dims=(0, 0))(x), "in_dims is not compatible with the structure of `inputs`"),
    (lambda lib, x: lib.func.vmap(abs, in_dims=5)(x), "Got in_dim=5 for some input, but that input is a Tensor of"),
    (lambda lib, x: lib.func.vmap(abs, in_dims=(1.5,))(x), "in_dim must be either an integer dimension or None."),
    (lambda lib, x: lib.func.vmap(abs)(1), "We cannot vmap over non-Tensor arguments, please use None as the respective in_dim"),
    (lambda lib, x: lib.func.vmap(abs, in_dims=(None,))(x), "Expected at least one Tensor to vmap over"),
    (lambda lib, x: lib.func.vmap(abs, out_dims="a")(x), "`out_dims` must be an int, None or a python collection of ints"),
    (lambda lib, x: lib.func.vmap(abs, out_dims=(0, 0))(x), "out_dims is not compatible with the structure of `outputs`"),
    (lambda lib, x: lib.func.vmap(lambda y: (y, 1))(x), "must only return Tensors, got type <class 'int'>"),
    (lambda lib, x: lib.func.vmap(abs, randomness="a")(x), "Only allowed values for randomness are 'error', 'different', or"),
]  # fmt: skip


def refusal(case: Callable[[Any, Any], Any], lib: Any) -> tuple[type, str]:
    with pytest.raises((RuntimeError, ValueError, TypeError, IndexError)) as caught:
        case(lib, lib.tensor([1.0, 2.0]))
    return caught.type, str(caught.value)


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")  # PyTorch's jvp loads what it has deprecated
@pytest.mark.parametrize(("case", "shared"), CASES)
def test_transforms_refuse_as_pytorch_does(case: Callable[[Any, Any], Any], shared: str) -> None:
    (theirs, their_text), (ours, our_text) = refusal(case, torch), refusal(case, tenfold)
    assert ours is theirs
    assert shared in their_text
    assert shared in our_text


FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "linear": lambda lib, x: x.sum() * 3,
    "square": lambda lib, x: (x * x).sum(),
    "detached": lambda lib, x: x.sum().detach(),
    "unrelated": lambda lib, x: lib.ones((), requires_grad=True),
    "vector": lambda lib, x: 3 * x,
    "pair": lambda lib, x: (x, x),
    "number": lambda lib, x: 1,
}
VECTORS: dict[str, Callable[[Any, Any], Any]] = {
    "none": lambda lib, x: None, "fits": lambda lib, x: x, "pair": lambda lib, x: (x, x),
    "scalar": lambda lib, x: x.sum(), "number": lambda lib, x: 1, "odd pair": lambda lib, x: (x, 1),
}  # fmt: skip


def outcome(lib: Any, name: str, function: str, **options: Any) -> Any:
    """(type, message up to its second sentence) of what is raised; None when nothing is."""
    x = lib.tensor([1.0, 2.0])
    options = {k: v(lib, x) if callable(v) else v for k, v in options.items()}
    try:
        getattr(lib.autograd.functional, name)(lambda y: FUNCTIONS[function](lib, y), x, **options)
    except (RuntimeError, TypeError) as e:
        return type(e), str(e).replace("tenfold", "torch").split(". ")[0]
    return None


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("v", VECTORS)
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", ["vjp", "jvp", "vhp", "hvp"])
def test_products_refuse_vectors_and_functions_as_pytorch_does(name: str, strict: bool, v: str, function: str) -> None:
    options = {"v": VECTORS[v], "strict": strict}
    assert outcome(tenfold, name, function, **options) == outcome(torch, name, function, **options)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("name", ["jacobian", "hessian"])
def test_strict_jacobians_refuse_as_pytorch_does(name: str, create_graph: bool, function: str) -> None:
    options = {"strict": True, "create_graph": create_graph}
    assert outcome(tenfold, name, function, **options) == outcome(torch, name, function, **options)


def test_models_to_stack_must_agree_on_requires_grad() -> None:
    models = [nn.Linear(2, 2) for _ in range(2)]
    models[0].weight.requires_grad_(False)
    with pytest.raises(RuntimeError, match=r"Expected weight from each model to have the same \.requires_grad"):
        tenfold.func.stack_module_state(models)


def test_a_pullback_under_no_grad_leaves_no_graph() -> None:
    x = tenfold.tensor(3.0, requires_grad=True)
    out, pullback = tenfold.func.vjp(lambda y: y**2, x)
    with tenfold.no_grad():
        (g,) = pullback(tenfold.tensor(1.0))
    assert not g.requires_grad
    assert out.requires_grad
    assert pullback(tenfold.tensor(1.0))[0].requires_grad


def rule(vmap: Any) -> Any:
    """A custom Function with this vmap staticmethod."""
    names = {
        "forward": staticmethod(lambda x: x.clone()),
        "setup_context": staticmethod(lambda ctx, inputs, output: None),
    }
    return type("Odd", (tenfold.autograd.Function,), names if vmap is None else names | {"vmap": staticmethod(vmap)})


@pytest.mark.parametrize(
    ("vmap", "message"),
    [
        (None, "Odd, but it does not have vmap support"),
        (lambda info, dims, x: x, "Odd.vmap to have two returns"),
        (lambda info, dims, x: (x, x, 0, 0), "Odd.vmap to have two returns"),
        (lambda info, dims, x: (x, (None,)), "Odd.vmap returned an incompatible"),
    ],
)
def test_odd_vmap_rules_of_functions(vmap: Any, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        tenfold.func.vmap(rule(vmap).apply)(tenfold.ones(2, 3))


@pytest.mark.parametrize("chunk_size", [1, 2, 5, None])
def test_rows_of_a_jacobian_written_into_their_place(chunk_size: int | None) -> None:
    def f(x: Any) -> Any:
        return (x * x).sum() * x.sin()

    x = tenfold.randn(3, 4, dtype=tenfold.double)
    whole = tenfold.func.jacrev(f)
    written = tenfold.func.jacrev(f, chunk_size=chunk_size, _preallocate_and_copy=True)
    tenfold.testing.assert_close(written(x[0]), whole(x[0]))
    tenfold.testing.assert_close(tenfold.func.vmap(written)(x), tenfold.func.vmap(whole)(x))
    tenfold.testing.assert_close(tenfold.func.jacfwd(written)(x[0]), tenfold.func.jacfwd(whole)(x[0]))
    tenfold.testing.assert_close(tenfold.func.jacrev(written)(x[0]), tenfold.func.jacrev(whole)(x[0]))


class _Once(tenfold.autograd.Function):
    """A square whose derivative cannot be differentiated."""

    @staticmethod
    def forward(x: Any) -> Any:
        return x * x

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    @tenfold.autograd.function.once_differentiable
    def backward(ctx: Any, g: Any) -> Any:
        return 2 * ctx.saved_tensors[0] * g


def test_a_once_differentiable_function_says_so_when_its_pullback_is_differentiated() -> None:
    x, g = tenfold.tensor(3.0, requires_grad=True), tenfold.tensor(1.0, requires_grad=True)
    found = tenfold.func.vjp(_Once.apply, x)[1](g)[0]
    assert found.item() == 6.0
    with pytest.raises(RuntimeError, match="marked with @once_differentiable"):
        found.backward()
    tenfold.func.vjp(_Once.apply, x)[1](g.detach())[0].item()


def test_forward_mode_asks_functions_for_their_jvp() -> None:
    with pytest.raises(RuntimeError, match="must implement the jvp function"):
        tenfold.func.jvp(_Once.apply, (tenfold.ones(2),), (tenfold.ones(2),))


def test_zeros_made_for_unused_inputs_can_be_differentiated_where_the_graph_is_kept() -> None:
    x, a = tenfold.tensor(0.5, requires_grad=True), tenfold.tensor(1.0, requires_grad=True)
    (first,) = tenfold.autograd.grad(x * a, x, create_graph=True)
    (second,) = tenfold.autograd.grad(first, x, create_graph=True, materialize_grads=True)
    (third,) = tenfold.autograd.grad(second, x, materialize_grads=True)
    assert (second.item(), third.item()) == (0.0, 0.0)
    assert not third.requires_grad


def test_vmap_hands_out_what_is_no_tensor_where_out_dims_is_none() -> None:
    doubled, number = tenfold.func.vmap(lambda x: (2 * x, 7), out_dims=(0, None))(tenfold.ones(3))
    assert (doubled.tolist(), number) == ([2.0, 2.0, 2.0], 7)
    assert tenfold.func.vmap(lambda x: (2 * x, 7), out_dims=(0, None), chunk_size=2)(tenfold.ones(3))[1] == 7
