"""Every nesting of transforms against torch.func, and about fifty operators under vmap, jvp and both with gradients."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import tenfold  # noqa: E402
from tenfold import func  # noqa: E402
from tenfold.autograd import functional  # noqa: E402

# PyTorch loads its forward mode through its own deprecated parts, and warns of its own slow paths.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:There is a performance drop:UserWarning"),
]
RNG = np.random.default_rng(0)
X = RNG.uniform(0.2, 0.9, (3, 4))
T = RNG.standard_normal((3, 4))
W = RNG.standard_normal((4, 4))


def both(make, *arrays, tolerance=1e-9):
    """Compare `make(library, its func module)` applied to the arrays of both libraries."""
    got = make(tenfold, func)(*[tenfold.tensor(a) for a in arrays])
    want = make(torch, torch.func)(*[torch.tensor(a) for a in arrays])
    compare(got, want, tolerance)


def compare(got, want, tolerance=1e-9):
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for g, w in zip(got, want):
            compare(g, w, tolerance)
    elif isinstance(want, dict):
        assert got.keys() == want.keys()
        for key in want:
            compare(got[key], want[key], tolerance)
    else:
        assert tuple(got.shape) == tuple(want.shape)
        assert not got.requires_grad
        assert np.allclose(got.numpy(), want.detach().numpy(), rtol=tolerance, atol=tolerance)


def energy(lib, w):
    """A scalar function with products, a reduction, a matrix product and a view."""
    return lambda x: ((x.sin() @ w).exp() * x).sum() + (x[1:] * x[:-1]).prod()


NESTINGS = {
    "grad": lambda f, F: F.grad(f),
    "grad grad": lambda f, F: F.grad(lambda x: (F.grad(f)(x) * x).sum()),
    "grad grad grad": lambda f, F: F.grad(lambda x: F.grad(lambda y: (F.grad(f)(y) * x).sum())(x).sum()),
    "hessian": lambda f, F: F.hessian(f),
    "jacrev jacrev": lambda f, F: F.jacrev(F.jacrev(f)),
    "jacfwd jacfwd": lambda f, F: F.jacfwd(F.jacfwd(f)),
    "jacrev jacfwd": lambda f, F: F.jacrev(F.jacfwd(f)),
    "jacfwd hessian": lambda f, F: F.jacfwd(F.hessian(f)),
    "jvp grad": lambda f, F: lambda x: F.jvp(F.grad(f), (x,), (x,)),
    "grad jvp": lambda f, F: F.grad(lambda x: F.jvp(f, (x,), (x * x,))[1]),
    "jvp jvp": lambda f, F: lambda x: F.jvp(lambda y: F.jvp(f, (y,), (y,))[1], (x,), (x,)),
    "vjp grad": lambda f, F: lambda x: F.vjp(F.grad(f), x)[1](x),
}


@pytest.mark.parametrize("name", NESTINGS)
def test_nestings_at_one_point(name):
    both(lambda lib, F: NESTINGS[name](energy(lib, lib.tensor(W)), F), X[0])


@pytest.mark.parametrize("name", NESTINGS)
@pytest.mark.parametrize("in_dim", [0, 1])
def test_nestings_inside_vmap(name, in_dim):
    w = W if in_dim == 0 else W[:3, :3]
    both(lambda lib, F: F.vmap(NESTINGS[name](energy(lib, lib.tensor(w)), F), in_dim), X)


@pytest.mark.parametrize("name", ["grad", "grad grad", "jvp grad", "hessian"])
def test_nestings_outside_vmap(name):
    def make(lib, F):
        f = energy(lib, lib.tensor(W))
        return NESTINGS[name](lambda x: (F.vmap(f)(x) * F.vmap(F.grad(f))(x)[:, 0]).sum(), F)

    both(make, X)


def test_vmaps_with_different_dimensions():
    both(lambda lib, F: F.vmap(F.vmap(lambda a, b: a * b.sum(), (0, None)), (1, 0), -1), X, X.T.copy())
    both(lambda lib, F: F.vmap(F.vmap(F.grad(lambda a, b: (a * b).sin().sum()), (None, 0)), (0, None), 1), X, X)


def mlp(lib, F):
    def loss(p, x, y):
        hidden = (x @ p["w1"] + p["b1"]).tanh()
        return ((hidden @ p["w2"] - y) ** 2).mean()

    return loss


def test_per_sample_gradients_and_hessian_of_a_small_network():
    arrays = RNG.standard_normal((4, 5)), RNG.standard_normal(5), RNG.standard_normal((5, 2)), X, RNG.standard_normal((3, 2))

    def make(lib, F):
        def run(w1, b1, w2, x, y):
            p, loss = {"w1": w1, "b1": b1, "w2": w2}, mlp(lib, F)
            per_sample = F.vmap(F.grad(loss), (None, 0, 0))(p, x, y)
            whole, value = F.grad_and_value(loss)(p, x, y)
            second = F.hessian(loss)(p, x, y)
            return per_sample, whole, value, second["w1"]["b1"], second["w2"]["w2"]

        return run

    both(make, *arrays)


UNARY = (
    "exp log sqrt sin cos tan tanh sinh cosh asin atan sigmoid erf log1p expm1 rsqrt reciprocal abs neg square relu sign floor "
    "exp2 log2 sinc"
).split()
OTHERS = {
    "add": lambda lib: lambda x: x + x[0],
    "sub": lambda lib: lambda x: 1 - x * x,
    "mul": lambda lib: lambda x: x * x[1] * 3,
    "div": lambda lib: lambda x: x[0] / x,
    "pow": lambda lib: lambda x: x ** x[0] + x**2 + 2**x,
    "maximum": lambda lib: lambda x: lib.maximum(x, x[1]),
    "where": lambda lib: lambda x: lib.where(x > 0.5, x, x * x),
    "clamp": lambda lib: lambda x: x.clamp(0.3, 0.7),
    "lerp": lambda lib: lambda x: lib.lerp(x, x * x, x),
    "atan2": lambda lib: lambda x: lib.atan2(x, x[0] + 1),
    "sum": lambda lib: lambda x: x.sum(0) + x.sum((0, 1)) + x.sum(-1, keepdim=True),
    "mean": lambda lib: lambda x: x.mean(1),
    "prod": lambda lib: lambda x: x.prod(0),
    "var": lambda lib: lambda x: x.var(1) + x.std(),
    "norm": lambda lib: lambda x: x.norm() + x.norm(dim=1, keepdim=True),
    "amax": lambda lib: lambda x: x.amax(1),
    "max": lambda lib: lambda x: x.max(0)[0],
    "logsumexp": lambda lib: lambda x: x.logsumexp(0),
    "cumsum": lambda lib: lambda x: x.cumsum(1),
    "cumprod": lambda lib: lambda x: x.cumprod(0),
    "sort": lambda lib: lambda x: x.sort(1)[0],
    "topk": lambda lib: lambda x: x.topk(2, 0)[0],
    "softmax": lambda lib: lambda x: x.softmax(1),
    "log_softmax": lambda lib: lambda x: x.log_softmax(0),
    "mm": lambda lib: lambda x: x @ x.T,
    "mv": lambda lib: lambda x: x @ x[0],
    "bmm": lambda lib: lambda x: x.unsqueeze(0).bmm(x.T.unsqueeze(0)),
    "einsum": lambda lib: lambda x: lib.einsum("ij,kj->ik", x, x),
    "reshape": lambda lib: lambda x: x.reshape(2, 6).view(-1) * 2,
    "permute": lambda lib: lambda x: x.permute(1, 0).reshape(-1),
    "expand": lambda lib: lambda x: x.unsqueeze(1).expand(3, 2, 4).squeeze(),
    "getitem": lambda lib: lambda x: x[1:, ::2] * x[0, None, :2],
    "index": lambda lib: lambda x: x[lib.tensor([0, 2, 2])] + x[:, lib.tensor([1])],
    "index_put": lambda lib: lambda x: x.index_put((lib.tensor([0, 1]),), x[2] * 3),
    "gather": lambda lib: lambda x: x.gather(1, lib.tensor([[0, 1], [3, 2], [1, 1]])),
    "scatter_add": lambda lib: lambda x: x.scatter_add(0, lib.tensor([[0, 1, 2, 0]]), x[:1] * x[1:2]),
    "index_select": lambda lib: lambda x: x.index_select(1, lib.tensor([3, 0])),
    "cat": lambda lib: lambda x: lib.cat([x, x * 2], 1),
    "stack": lambda lib: lambda x: lib.stack([x, x.exp()], -1),
    "diagonal": lambda lib: lambda x: x.diagonal(1),
    "tril": lambda lib: lambda x: x.tril(),
    "flip": lambda lib: lambda x: x.flip(0) + x.roll(1, 1),
    "unbind": lambda lib: lambda x: x.unbind(1)[2] * x.split(2, 1)[0].sum(),
    "to": lambda lib: lambda x: x.to(lib.float32).to(lib.float64) * x,
    "complex": lambda lib: lambda x: (lib.complex(x, x * x).exp() * lib.complex(x, x)).real,
    "in-place": lambda lib: lambda x: (x * 1).mul_(x).add_(1),
    "masked_fill": lambda lib: lambda x: x.masked_fill(x > 0.5, 7.0),
}


def operator_cases():
    for name in UNARY:
        yield pytest.param(lambda lib, name=name: lambda x: getattr(lib, name)(x), id=name)
    for name, make in OTHERS.items():
        yield pytest.param(make, id=name)


@pytest.mark.parametrize("make", list(operator_cases()))
def test_operators(make):
    """vmap over each dimension, jvp, their nestings with each other and with grad."""
    stacked = np.stack([X, X[::-1] * 0.9, X**2], 1)  # (3, 3, 4), examples along dimension 1

    def weighted(lib, out):
        return (out * out * lib.linspace(0.5, 2.0, out.numel(), dtype=lib.float64).reshape(out.shape)).sum()

    both(lambda lib, F: F.vmap(make(lib), 1), stacked, tolerance=1e-7)
    both(lambda lib, F: lambda x, t: F.jvp(make(lib), (x,), (t,)), X, T, tolerance=1e-6)
    both(lambda lib, F: F.vmap(F.grad(lambda x: weighted(lib, make(lib)(x))), 1), stacked, tolerance=1e-6)
    both(lambda lib, F: F.grad(lambda x: weighted(lib, F.vmap(make(lib), 1)(x))), stacked, tolerance=1e-6)
    both(lambda lib, F: lambda x, t: F.jvp(F.grad(lambda x: weighted(lib, make(lib)(x))), (x,), (t,))[1], X, T, tolerance=1e-5)
    both(lambda lib, F: F.vmap(lambda x, t: F.jvp(make(lib), (x,), (t,))[1], (1, None)), stacked, T, tolerance=1e-6)


def written(x):
    """In-place writes to views, whose gradients go through the base's memory."""
    y, z = x * 1, x.sin()
    y[0] = z[1] * z[2]
    y[1:].mul_(z[:-1])
    y[2:3].add_(z[0:1] ** 2)
    return (y * y).sum()


# PyTorch refuses to write into its own zero tangents; there its reverse mode is the oracle.
REVERSE_ONLY = {
    "jacfwd jacfwd": lambda f, F: F.jacrev(F.jacrev(f)),
    "jacfwd hessian": lambda f, F: F.jacrev(F.jacrev(F.jacrev(f))),
}


@pytest.mark.parametrize("name", NESTINGS)
def test_in_place_writes(name):
    ours, theirs = NESTINGS[name](written, func), REVERSE_ONLY.get(name, NESTINGS[name])(written, torch.func)
    compare(ours(tenfold.tensor(X[0])), theirs(torch.tensor(X[0])), 1e-8)
    compare(func.vmap(ours, 1)(tenfold.tensor(X)), torch.func.vmap(theirs, 1)(torch.tensor(X)), 1e-8)


@pytest.mark.parametrize("dims", [(0, 0), (0, None), (None, 0)])
@pytest.mark.parametrize("read", [lambda x, i: x[i], lambda x, i: x[:, i], lambda x, i: x[i, i], lambda x, i: x[i][:, 1:]])
def test_batched_indices(dims, read):
    x = RNG.standard_normal((2, 3, 4)) if dims[0] == 0 else X
    i = np.array([[0, 2], [1, 1]]) if dims[1] == 0 else np.array([2, 0])
    both(lambda lib, F: F.vmap(read, dims), x, i)
    both(lambda lib, F: lambda x, i: F.grad(lambda x: (F.vmap(read, dims)(x, i) ** 2).sum())(x), x, i)
    both(lambda lib, F: F.vmap(F.grad(lambda x, i: (read(x, i) ** 2).sum()), dims), x, i)


def test_batched_gradients_of_the_tape():
    found = []
    cotangents = RNG.standard_normal((5, 3, 4))
    for lib in (tenfold, torch):
        x = lib.tensor(X, requires_grad=True)
        gradients = lib.autograd.grad(x.exp() * x[0], x, lib.tensor(cotangents), is_grads_batched=True)
        found.append(np.array(gradients[0].tolist()))
    assert np.allclose(*found)


def custom(lib, rule):
    """x**3 with a wrong factor in its own derivatives, so that a bypassed rule shows: forward mode 5, backward 7."""

    class Cube(lib.autograd.Function):
        generate_vmap_rule = rule == "generated"

        @staticmethod
        def forward(x, y):
            return x * x * x * y, y * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx, g, h):
            x, y = ctx.saved_tensors
            return 7 * x * x * y * g, x * x * x * g + 2 * h

        @staticmethod
        def jvp(ctx, t, s):
            x, y = ctx.saved_tensors
            return 5 * x * x * y * t + x * x * x * s, s * 2

    if rule == "own":

        class Batched(Cube):
            @staticmethod
            def vmap(info, in_dims, x, y):
                x = x if in_dims[0] is None else x.movedim(in_dims[0], 0)
                y = y if in_dims[1] is None else y.movedim(in_dims[1], 0)
                return Batched.apply(x, y), (0, 0 if in_dims[1] is not None else None)

        return Batched.apply
    return Cube.apply


@pytest.mark.parametrize("rule", ["generated", "own"])
@pytest.mark.parametrize(
    "transform",
    [
        lambda f, F: F.vmap(f),
        lambda f, F: F.vmap(f, (0, 0)),
        lambda f, F: F.grad(lambda x, y: f(x, y)[0].sum() + f(x, y)[1].sum(), (0, 1)),
        lambda f, F: F.vmap(F.grad(lambda x, y: f(x, y)[0].sum() + f(x, y)[1].sum(), (0, 1))),
        lambda f, F: F.grad(lambda x, y: F.vmap(f)(x, y)[0].sum() + F.vmap(f)(x, y)[1].sum(), (0, 1)),
        lambda f, F: F.grad(lambda x, y: F.grad(lambda a: f(a, y)[0].sum())(x).sum()),
        lambda f, F: lambda x, y: F.jvp(f, (x, y), (y, x)),
        lambda f, F: F.vmap(lambda x, y: F.jvp(f, (x, y), (y, x))),
        lambda f, F: F.vmap(F.vmap(f)),
        lambda f, F: F.vmap(F.vmap(F.grad(lambda x, y: f(x, y)[0]))),
        lambda f, F: lambda x, y: F.jvp(F.grad(lambda x, y: f(x, y)[0].sum()), (x, y), (y, x)),
        lambda f, F: F.jacrev(lambda x, y: f(x, y)[0]),
    ],
)
def test_custom_functions(rule, transform):
    both(lambda lib, F: transform(custom(lib, rule), F), X, X[::-1].copy())


@pytest.mark.parametrize("rule", ["generated"])
def test_custom_function_with_an_argument_that_examples_share(rule):
    def make(lib, F):
        f = custom(lib, rule)
        return F.grad(lambda x, y: F.vmap(lambda x, y: f(x, y)[0].sum(), (0, None))(x, y).sum(), (0, 1))

    both(make, X, X[0])


FUNCTIONAL = {
    "jacobian": lambda A, f, x: A.jacobian(f, (x[0], x[1])),
    "jacobian vectorized": lambda A, f, x: A.jacobian(f, (x[0], x[1]), vectorize=True),
    "jacobian forward": lambda A, f, x: A.jacobian(f, (x[0], x[1]), vectorize=True, strategy="forward-mode"),
    "hessian": lambda A, f, x: A.hessian(lambda a, b: f(a, b)[0].sum(), (x[0], x[1])),
    "hessian vectorized": lambda A, f, x: A.hessian(lambda a, b: f(a, b)[0].sum(), (x[0], x[1]), vectorize=True),
    "hessian forward": lambda A, f, x: A.hessian(
        lambda a, b: f(a, b)[0].sum(), (x[0], x[1]), vectorize=True, outer_jacobian_strategy="forward-mode"
    ),
    "vjp": lambda A, f, x: A.vjp(f, (x[0], x[1]), (x[2], x[0])),
    "jvp": lambda A, f, x: A.jvp(f, (x[0], x[1]), (x[2], x[0])),
    "hvp": lambda A, f, x: A.hvp(lambda a, b: f(a, b)[0].sum(), (x[0], x[1]), (x[2], x[0])),
    "vhp": lambda A, f, x: A.vhp(lambda a, b: f(a, b)[0].sum(), (x[0], x[1]), (x[2], x[0])),
}


@pytest.mark.parametrize("name", FUNCTIONAL)
def test_functional(name):
    f = lambda a, b: ((a * b).exp() * b, a * a[0])  # noqa: E731
    got = FUNCTIONAL[name](functional, f, tenfold.tensor(X))
    compare(got, FUNCTIONAL[name](torch.autograd.functional, f, torch.tensor(X)))


def test_functional_create_graph():
    gradients = []
    for lib, A in ((tenfold, functional), (torch, torch.autograd.functional)):
        x = lib.tensor(X[0], requires_grad=True)
        jacobian = A.jacobian(lambda x: x.exp() * x[0], x, create_graph=True)
        assert jacobian.requires_grad
        jacobian.sum().backward()
        gradients.append(np.array(x.grad.tolist()))
    assert np.allclose(*gradients)


def test_forward_mode_by_hand():
    import torch.autograd.forward_ad as theirs

    from tenfold.autograd import forward_ad as ours

    found = []
    for lib, ad in ((tenfold, ours), (torch, theirs)):
        with ad.dual_level():
            x = ad.make_dual(lib.tensor(X), lib.tensor(T))
            found.append(np.array(ad.unpack_dual((x @ x.T).softmax(0)).tangent.tolist()))
    assert np.allclose(*found)


def test_private_paths_select_arguments_and_make_ensembles():
    from tenfold._functorch.eager_transforms import _slice_argnums
    from tenfold._functorch.make_functional import functional_init, functional_init_with_buffers

    assert _slice_argnums((1, 2, 3), (2, 0)) == (3, 1)
    assert _slice_argnums((1, 2, 3), -1) == (3,)
    assert _slice_argnums((1, 2, 3), -1, as_tuple=False) == 3
    with pytest.raises(RuntimeError, match="must be unique"):
        _slice_argnums((1, 2), (0, -2))
    nn = pytest.importorskip("tenfold.nn")
    weights, run, names = functional_init(nn.Linear, (4,))(3, 2)
    x = tenfold.randn(4, 5, 3)
    np.testing.assert_allclose(
        tenfold.func.vmap(run)(weights, (x,)).numpy(), (x @ weights[0].mT + weights[1][:, None]).numpy(), rtol=1e-5, atol=1e-6
    )
    assert names == ("weight", "bias")
    assert not weights[0].requires_grad
    weights, buffers, run, _, kept = functional_init_with_buffers(nn.BatchNorm1d, ())(3)
    assert kept == ("running_mean", "running_var", "num_batches_tracked")
    assert run(weights, buffers, (x[0],)).shape == (5, 3)
    with pytest.raises(ValueError, match="ensemble_shape"):
        functional_init(nn.Linear, (0,))(3, 2)
