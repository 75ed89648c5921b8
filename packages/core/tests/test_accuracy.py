"""Rounding errors of reductions: hardly more than that of the result, whatever the shape, the strides and the dimension."""

import inspect
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import tenfold
from tenfold.dispatch.operators import OPERATORS
from tenfold.plugins import load_operators

load_operators()  # they are declared when one of them is asked for

# Roundings of 2**-24 that a sum may suffer: one for each of 32 rows, in blocks of blocks.
ROUNDINGS = 64
HALF = {tenfold.float16: 2.0**-11, tenfold.bfloat16: 2.0**-8}


def reductions():
    """Every operator of core's family that takes a dimension, and the two reductions among the activations."""
    for name, operator in sorted(OPERATORS.items()):
        if not operator.declared.__module__.startswith("tenfold.ops."):
            continue  # a sibling's
        required = {p.name for p in operator.params if p.default is inspect.Parameter.empty}
        takes_dim = "dim" in [p.name for p in operator.params] and required <= {"input", "y", "dim", "keepdim"}
        reduction = operator.family == "reduction" and takes_dim and not operator.inplace_of
        if reduction and call(name, tenfold.ones(2), 0).dtype.is_floating_point:
            yield name
    yield from ("softmax", "log_softmax")


def call(name, x, dim):
    """The operator's first result along a dimension."""
    operator = OPERATORS[name]
    given = {"dim": dim, "keepdim": False}
    result = operator.fn(x, **{p.name: given[p.name] for p in operator.params if p.name in given})
    return result[0] if isinstance(result, tuple) else result


REDUCTIONS = list(reductions())


@st.composite
def layouts(draw):
    """A float32 tensor of numbers from 1 to 2 in any order of its dimensions, with steps, expanded; and a dimension."""
    ndim = draw(st.integers(1, 4))
    shape = [draw(st.sampled_from((1, 2, 3, 7, 33))) for _ in range(ndim)]
    dim = draw(st.integers(0, ndim - 1))
    shape[dim] = draw(st.sampled_from((1, 5, 100, 1000, 3001)))
    if math.prod(shape) > 200_000:
        shape = [n if d == dim else 1 for d, n in enumerate(shape)]
    steps = [draw(st.sampled_from((1, 1, 2, 3))) for _ in range(ndim)]
    order = draw(st.permutations(range(ndim)))
    memory = [shape[d] * steps[d] for d in order]
    seed = draw(st.integers(0, 99))
    numbers = np.random.default_rng(seed).random(memory) if seed % 2 else np.full(memory, 0.1)
    x = tenfold.tensor(1 + numbers, dtype=tenfold.float32).permute([order.index(d) for d in range(ndim)])
    x = x[tuple(slice(None, None, step) for step in steps)]
    expanded = draw(st.integers(0, ndim - 1))
    return (x.narrow(expanded, 0, 1).expand(shape) if seed % 5 == 0 else x), dim


def error(got, expected, scale=None):
    """The greatest difference, in parts of the expected numbers."""
    got, expected = got.double(), expected.double()
    difference = (got - expected).abs() / (expected if scale is None else scale).abs()
    return 0 if not got.numel() else difference.where((got != expected) & expected.isfinite(), 0.0).max().item()


def test_operators_are_found():
    assert {"sum", "mean", "std", "norm", "logsumexp", "cumsum", "vector_norm"} <= set(REDUCTIONS)


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")  # one element has none, and its variance is nan on both sides
@settings(max_examples=200, deadline=None)
@given(layouts(), st.sampled_from(REDUCTIONS))
def test_float32_reductions_are_exact_to_a_few_roundings(layout, name):
    x, dim = layout
    if "prod" in name:  # each factor rounds, here as in PyTorch
        x = x.narrow(dim, 0, min(x.shape[dim], 60))
    got, expected = call(name, x, dim), call(name, x.double(), dim)
    assert got.shape == expected.shape
    scale = 1.0 + expected.abs() if name.startswith(("var", "std", "log_softmax", "diff")) else None
    assert error(got, expected, scale) <= ROUNDINGS * 2.0**-24


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")  # one element has none, and its variance is nan on both sides
@settings(max_examples=200, deadline=None)
@given(layouts(), st.sampled_from(REDUCTIONS), st.sampled_from(sorted(HALF, key=str)))
def test_half_precision_reductions_round_once(layout, name, dtype):
    x, dim = layout
    most = 2 if name == "prod" else 1000  # each factor rounds, here as in PyTorch
    x = x.narrow(dim, 0, min(x.shape[dim], most)).to(dtype)
    got, expected = call(name, x, dim), call(name, x.float(), dim).to(dtype)
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
    assert error(got, expected) <= 2 * HALF[dtype]


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.float64, tenfold.bfloat16, tenfold.float16], ids=str)
def test_the_only_element_of_a_row_has_all_of_the_probability(dtype):
    x = tenfold.tensor(1 + np.random.default_rng(0).random((50, 1))).to(dtype)
    assert tenfold.log_softmax(x, 1).abs().max().item() == 0.0
    assert tenfold.softmax(x, 1).min().item() == tenfold.softmax(x, 1).max().item() == 1.0


def test_a_million_equal_numbers():
    x = tenfold.full((10**6, 10), 0.1)
    for column in (x.sum(0)[0], x.t().sum(1)[0], x[:, :2].sum() / 2, x.mean(0)[0] * 10**6):
        assert abs(column.item() - 100000.0015) < 0.1
    image = tenfold.full((8, 64, 64, 3), 0.1).permute(0, 3, 1, 2)
    assert image.mean((0, 2, 3)).tolist() == pytest.approx([0.1] * 3, rel=1e-6)


def test_variance_beside_a_large_mean():
    x = tenfold.tensor(np.random.default_rng(0).standard_normal((20000, 10)) + 1e6, dtype=tenfold.float32)
    for view, dim in ((x, 0), (x.t(), 1), (x.t().contiguous(), 1)):
        assert error(view.std(dim), view.double().std(dim)) < 1e-5
    assert x.to(tenfold.complex64).std(0).tolist() == pytest.approx(x.double().std(0).tolist(), rel=1e-5)


@pytest.mark.parametrize("dtype", HALF, ids=str)
def test_half_precision_does_not_overflow_on_the_way(dtype):
    x = tenfold.full((1000,), 200.0, dtype=dtype)
    x[::2] = 100.0
    for name in ("std", "var", "mean", "norm", "logsumexp"):
        assert call(name, x, 0).double().item() == pytest.approx(call(name, x.double(), 0).item(), rel=2 * HALF[dtype])
    x = tenfold.tensor([300.0, 1e-4, 300.0, 1e-2], dtype=dtype)  # each factor is rounded: another order would overflow
    assert x.prod().item() == pytest.approx(x.double().prod().item(), rel=2 * HALF[dtype])


@pytest.mark.parametrize("dtype", HALF, ids=str)
def test_half_precision_times_numbers_that_it_cannot_hold(dtype):
    x = tenfold.tensor([1e-5, 0.3, 100.0], dtype=dtype)
    for factor in (1e5, tenfold.tensor(1e5)):
        assert (x * factor).equal((x.float() * 1e5).to(dtype))
        assert (x / factor).equal((x.float() / 1e5).to(dtype))
    assert x.clone().mul_(1e5).equal((x.float() * 1e5).to(dtype))
    assert tenfold.add(x, x, alpha=6e4).equal((x.float() + x.float() * 6e4).to(dtype))  # which the dtype holds
    assert tenfold.lerp(x, x + 1, 0.3).equal(tenfold.lerp(x.float(), (x + 1).float(), 0.3).to(dtype))
    assert (x == 0.3).tolist() == [False, True, False]  # comparisons round the number, as PyTorch's do


def test_numpy_numbers_are_weak():
    for number in (np.float64(2), np.float32(2), np.int64(2)):
        for result in (tenfold.ones(2) * number, number * tenfold.ones(2), tenfold.ones(2) / number, number - tenfold.ones(2)):
            assert result.dtype is tenfold.float32
    assert (tenfold.ones(2) ** np.sqrt(4)).dtype is tenfold.float32


@pytest.mark.parametrize("product", [tenfold.mm, tenfold.matmul, lambda a, b: tenfold.addmm(a, a, b)])
def test_products_of_infinities_do_not_warn(product):
    infinite = tenfold.full((4, 4), math.inf)
    assert product(infinite, tenfold.zeros(4, 4)).isnan().all()


@pytest.mark.parametrize("name", ["log1p", "expm1"])
def test_float32_is_rounded_once(name):
    """Nearly every result is the float32 that is next to the right one, at all sizes and in place."""
    x = np.concatenate([np.linspace(-0.9, 20, 4001), np.geomspace(1e-30, 1, 1001), [0.0, -0.0]]).astype(np.float32)
    exact = getattr(np, name)(x.astype(np.float64)).astype(np.float32)
    for result in (getattr(tenfold, name)(tenfold.from_numpy(x)), getattr(tenfold.from_numpy(x.copy()), f"{name}_")()):
        assert (result.numpy() != exact).mean() < 0.001
        assert np.array_equal(np.signbit(result.numpy()), np.signbit(x))
