"""Reductions, scans and order statistics against PyTorch: overloads, dtypes, NaN, gradients to second order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")
NAN, INF = float("nan"), float("inf")

DATA = [[[3.0, -1.0, 2.5], [0.5, 4.0, -2.0]], [[1.0, 7.0, -3.5], [6.0, -0.25, 5.0]]]
CALLS = [
    ("sum", (), {}), ("sum", (1,), {}), ("sum", ((0, -1), True), {}), ("sum", (), {"dtype": "float64"}),
    ("mean", (), {}), ("mean", (2, True), {}), ("prod", (), {}), ("prod", (1,), {}),
    ("amax", (), {}), ("amax", ((0, 2),), {}), ("amin", (1, True), {}), ("aminmax", (), {"dim": 1}),
    ("max", (), {}), ("max", (1,), {}), ("min", (-1, True), {}), ("argmax", (), {}), ("argmin", (1, True), {}),
    ("all", (1,), {}), ("any", (), {}), ("count_nonzero", (2,), {}), ("nansum", (0,), {}), ("nanmean", (), {}),
    ("std", (), {}), ("std", (1,), {"correction": 0}), ("var", (2, False), {}), ("var", (False,), {}),
    ("var", ((0, 1),), {"correction": 2, "keepdim": True}),
    ("norm", (), {}), ("norm", (1, 2), {}), ("norm", (INF,), {}), ("norm", (3, (0, 1), True), {}), ("norm", (0.5, 1), {}),
    ("logsumexp", (1,), {}), ("logsumexp", ((0, 2), True), {}),
    ("cumsum", (1,), {}), ("cumprod", (2,), {}), ("cummax", (0,), {}), ("cummin", (2,), {}), ("logcumsumexp", (1,), {}),
    ("median", (), {}), ("median", (1,), {}), ("nanmedian", (2, True), {}), ("kthvalue", (2, 2), {}), ("mode", (1,), {}),
    ("sort", (2, True), {}), ("sort", (), {"dim": 0, "stable": True}), ("argsort", (1,), {}), ("topk", (2,), {}),
    ("topk", (1, 1, False), {}), ("diff", (), {}), ("quantile", (0.3, 1), {}), ("unique", (), {"return_counts": True}),
    ("histc", (4, -4, 8), {}),
]  # fmt: skip


def both(data: Any, dtype: str) -> tuple[Any, Any]:
    t = torch.tensor(data).to(getattr(torch, dtype))
    return tenfold.tensor(data).to(getattr(tenfold, dtype)), t


def flat(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple) else [result]


def same(ours: Any, theirs: Any, tolerance: float = 1e-6) -> None:
    for a, b in zip(flat(ours), flat(theirs), strict=True):
        assert tuple(a.shape) == tuple(b.shape)
        assert a.dtype.name == str(b.dtype).removeprefix("torch.")
        np.testing.assert_allclose(np.array(a.tolist()), np.array(b.tolist()), rtol=tolerance, atol=tolerance)


def named(kwargs: dict[str, Any], library: Any) -> dict[str, Any]:
    return {k: getattr(library, v) if k == "dtype" else v for k, v in kwargs.items()}


@pytest.mark.parametrize(("name", "args", "kwargs"), CALLS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_value(name: str, args: Any, kwargs: Any, dtype: str) -> None:
    if dtype == "bfloat16" and name in ("quantile", "histc"):
        pytest.skip("PyTorch has none for bfloat16")
    x, t = both(DATA, dtype)
    ours, theirs = getattr(x, name)(*args, **named(kwargs, tenfold)), getattr(t, name)(*args, **named(kwargs, torch))
    same(ours, theirs, 2e-2 if dtype == "bfloat16" else 1e-6)
    if hasattr(ours, "_fields"):
        assert ours._fields == tuple(f for f in ("values", "indices", "min", "max") if hasattr(theirs, f))


@pytest.mark.parametrize("name", ["sum", "prod", "amax", "argmin", "all", "cumsum", "cummax", "median", "sort", "count_nonzero"])
@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "bool"])
def test_integers(name: str, dtype: str) -> None:
    if dtype == "bool" and name in ("argmin", "median"):
        pytest.skip("PyTorch has none for bool")
    x, t = both([[3, 1, 0], [2, 5, 1]], dtype)
    args = (1,) if name not in ("sum", "count_nonzero") else ()
    same(getattr(x, name)(*args), getattr(t, name)(*args))


DIFFERENTIABLE = [
    c for c in CALLS
    if c[0] not in ("argmax", "argmin", "all", "any", "count_nonzero", "argsort", "unique", "histc") and "dtype" not in c[2]
]  # fmt: skip


@pytest.mark.parametrize(("name", "args", "kwargs"), DIFFERENTIABLE)
def test_gradients_to_second_order(name: str, args: Any, kwargs: Any) -> None:
    pytest.importorskip("tenfold.autograd")
    grads = []
    for library in (tenfold, torch):
        x = library.tensor(DATA, dtype=library.float64, requires_grad=True)
        outs = [o for o in flat(getattr(x, name)(*args, **kwargs)) if o.requires_grad]
        loss = sum((o * o).sum() for o in outs)
        (g,) = library.autograd.grad(loss, x, create_graph=True)
        (h,) = library.autograd.grad((g * g).sum(), x)
        grads.append((g, h))
    for ours, theirs in zip(*grads, strict=True):
        np.testing.assert_allclose(ours.tolist(), theirs.tolist(), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", ["prod", "cumprod"])
def test_product_gradients_with_zeros(name: str) -> None:
    pytest.importorskip("tenfold.autograd")
    for row in ([2.0, 0.0, 3.0], [0.0, 0.0, 3.0], [1.0, 2.0, 0.0]):
        grads = []
        for library in (tenfold, torch):
            x = library.tensor(row, dtype=library.float64, requires_grad=True)
            y = getattr(x, name)(0)
            grads.append(library.autograd.grad((y * y + y).sum(), x)[0].tolist())
        np.testing.assert_allclose(grads[0], grads[1])


@pytest.mark.parametrize("name", ["sum", "nansum", "max", "amin", "argmax", "median", "nanmedian", "logsumexp"])
def test_not_a_number(name: str) -> None:
    args = (0,) if name == "logsumexp" else ()
    for row in ([1.0, NAN, 3.0], [-INF, -INF], [INF, 1.0]):
        x, t = both(row, "float32")
        same(getattr(x, name)(*args), getattr(t, name)(*args))


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda lib: lib.ones(2).sum(3), IndexError),
        (lambda lib: lib.ones(2, 2).sum((0, 0)), RuntimeError),
        (lambda lib: lib.ones(2, dtype=lib.int64).mean(), RuntimeError),
        (lambda lib: lib.ones(0).max(), RuntimeError),
        (lambda lib: lib.ones(2, 0).max(1), IndexError),
        (lambda lib: lib.ones(2).topk(3), RuntimeError),
        (lambda lib: lib.ones(2).kthvalue(3), RuntimeError),
        (lambda lib: lib.searchsorted(lib.ones(2, 3), lib.ones(3, 1)), RuntimeError),
        (lambda lib: lib.bincount(lib.tensor([-1])), RuntimeError),
        (lambda lib: lib.bincount(lib.tensor([2**63 - 1, 0, 1])), RuntimeError),  # its count would lie beyond all memory
        (lambda lib: lib.bincount(lib.tensor([2**63 - 1]), lib.ones(1), 3), RuntimeError),
        (lambda lib: lib.ones(2, dtype=lib.int64).std(), RuntimeError),
    ],
)
def test_errors_have_the_same_type(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call(torch)
    with pytest.raises(error):
        call(tenfold)


def test_search_and_buckets() -> None:
    for library in (tenfold, torch):
        rows = library.tensor([[1, 3, 5], [2, 4, 6]])
        values = library.tensor([[3, 6], [1, 4]])
        assert library.searchsorted(rows, values, right=True).tolist() == [[2, 3], [0, 2]]
        assert library.searchsorted(rows, values, side="left", out_int32=True).tolist() == [[1, 3], [0, 1]]
        assert library.bucketize(library.tensor([[1.5]]), library.tensor([1.0, 2.0])).tolist() == [[1]]


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("value", [2.0 - 2e-16, 1.0 - 1e-16, 2**24 + 1])
def test_a_tensor_of_no_dimensions_counts_as_a_number_among_boundaries(value: float, right: bool) -> None:
    """It is rounded to the boundaries' precision, as in every other operator; a vector keeps its own."""
    found = []
    for lib in (tenfold, torch):
        boundaries = lib.tensor([1.0, 2.0, 2.0**24])
        one, vector = lib.tensor(value, dtype=lib.float64), lib.tensor([value], dtype=lib.float64)
        found.append([int(lib.searchsorted(boundaries, x, right=right)) for x in (value, one, vector)])
    assert found[0] == found[1]


def test_out_and_numbers_of_large_sums() -> None:
    out = tenfold.empty(0)
    assert tenfold.sum(tenfold.ones(3), out=out) is out
    assert out.item() == 3
    x = tenfold.full((1_000_003, 2), 0.1)
    t = torch.full((1_000_003, 2), 0.1)
    exact = t.double().sum(0).tolist()
    np.testing.assert_allclose(x.sum(0).tolist(), exact, rtol=2e-6)
    np.testing.assert_allclose(x.sum().item(), sum(exact), rtol=2e-6)


def test_the_same_one_of_equal_elements_is_named() -> None:
    rng = np.random.default_rng(0)
    for n in (1, 3, 10, 17, 40, 200):
        row = rng.integers(0, 4, n)
        x, t = tenfold.from_numpy(row), torch.from_numpy(row)
        for k in {1, (n + 1) // 2, n}:
            assert x.kthvalue(k).indices.item() == t.kthvalue(k).indices.item()
            if k * 64 > n:
                assert x.topk(k).indices.tolist() == t.topk(k).indices.tolist()
                assert (
                    x.topk(k, largest=False, sorted=False).indices.tolist()
                    == t.topk(k, largest=False, sorted=False).indices.tolist()
                )
        assert x.mode().indices.item() == t.mode().indices.item()


@pytest.mark.parametrize("order", [1, 2, 3, -2, 0.5, float("inf"), 0])
@pytest.mark.parametrize(("shape", "dim"), [((6, 1), 1), ((1, 6), 0), ((6, 1, 1), (1, 2)), ((6, 1), (0, 1)), ((1, 6), -1)])
def test_a_norm_of_one_number_is_its_size_also_where_its_power_is_out_of_range(order: Any, shape: Any, dim: Any) -> None:
    data = [1e30, -1e-30, 0.0, -2.5, float("inf"), float("nan")]
    ours, theirs = (m.norm(m.tensor(data).reshape(shape), order, dim).tolist() for m in (tenfold, torch))
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dims", [(), []], ids=str)
@pytest.mark.parametrize("name", ["any", "all"])
def test_truth_over_no_dimensions_is_that_of_each_element(name, dims, keepdim):
    found = []
    for lib in (torch, tenfold):
        for x in (
            lib.tensor([[1.0, 0.0], [2.0, NAN]]),
            lib.tensor([2, 0], dtype=lib.uint8),
            lib.tensor(3),
            lib.ones(0, 2),
        ):
            result = getattr(lib, name)(x, dims, keepdim)
            found.append((result.tolist(), tuple(result.shape), str(result.dtype).split(".")[-1]))
    assert found[:4] == found[4:]


@pytest.mark.parametrize("right", [False, True])
def test_search_among_edges_that_end_in_nan(right):
    nan = float("nan")
    found = []
    for lib in (torch, tenfold):
        edges, values = lib.tensor([1.0, 2.0, nan, nan]), lib.tensor([0.5, 1.5, 2.0, nan, 3.0])
        rows = lib.stack([edges, lib.full((4,), nan), lib.arange(4.0)])
        one = lib.searchsorted(edges, values, right=right)
        many = lib.searchsorted(rows, values.expand(3, 5).contiguous(), right=right)
        found.append((one.tolist(), many.tolist(), lib.searchsorted(edges, lib.tensor(1.5), right=right).item()))
    assert found[0] == found[1]


def test_counts_of_nothing_are_whole_numbers():
    for lib in (torch, tenfold):
        nothing = lib.tensor([], dtype=lib.int64)
        for weights in (None, lib.tensor([]), lib.tensor([], dtype=lib.float64)):
            counted = lib.bincount(nothing, weights, 3)
            assert (counted.dtype, counted.tolist()) == (lib.int64, [0, 0, 0])
