"""Reductions against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4) % 7 - 3


@pytest.mark.parametrize("dim", [None, 0, -1, (0, 2)])
@pytest.mark.parametrize(("name", "reference"), [("sum", np.sum), ("mean", np.mean), ("amax", np.max), ("amin", np.min)])
def test_against_numpy(name: str, reference: object, dim: object) -> None:
    got = getattr(tenfold.from_numpy(X), name)(() if dim is None and name in ("amax", "amin") else dim)
    np.testing.assert_allclose(got.numpy(), reference(X, axis=dim), rtol=1e-6)  # type: ignore[operator]


def test_small_sums_are_as_exact_as_large_ones() -> None:
    values = np.random.default_rng(0).standard_normal(512).astype(np.float32)
    assert abs(tenfold.from_numpy(values).sum().item() - values.astype(np.float64).sum()) < 2e-5


def test_strided_and_empty() -> None:
    x = tenfold.from_numpy(X)
    assert x[:, ::2, 1::2].sum().item() == X[:, ::2, 1::2].sum()
    assert tenfold.zeros(0).sum().item() == 0
    assert tenfold.zeros(0, 3).sum(0).tolist() == [0, 0, 0]
    assert np.isnan(tenfold.zeros(0).mean().item())


def test_integers_add_up_in_int64() -> None:
    x = tenfold.tensor([200, 200], dtype=tenfold.uint8)
    assert x.sum().dtype is tenfold.int64
    assert x.sum().item() == 400
    assert x.sum(dtype=tenfold.int32).dtype is tenfold.int32


def test_sorting_puts_nan_last_and_keeps_equals_in_order() -> None:
    values, positions = tenfold.tensor([2.0, float("nan"), 1.0, 2.0]).sort()
    assert positions.tolist() == [2, 0, 3, 1]
    assert tenfold.tensor([1, 2, 2]).sort(descending=True).indices.tolist() == [1, 2, 0]
    assert values[:3].tolist() == [1, 2, 2]


def test_results_have_names() -> None:
    result = tenfold.tensor([[1, 5], [7, 2]]).max(1)
    assert result._fields == ("values", "indices")
    assert type(result) is tenfold.return_types.max


def test_unique() -> None:
    x = tenfold.tensor([[3, 1], [3, 1], [2, 2]])
    values, inverse, counts = x.unique(return_inverse=True, return_counts=True)
    assert (values.tolist(), inverse.tolist(), counts.tolist()) == ([1, 2, 3], [[2, 0], [2, 0], [1, 1]], [2, 2, 2])
    assert tenfold.unique(x, dim=0).tolist() == [[2, 2], [3, 1]]


def test_meta_tensors_have_the_shape() -> None:
    x = tenfold.empty(2, 3, device="meta")
    assert x.sum(1).shape == (2,)
    assert x.max(0).indices.dtype is tenfold.int64
    assert x.std(0, keepdim=True).shape == (1, 3)


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "amax", "var", "std", "all", "argmax", "norm"])
def test_numpy_names_of_dimensions(name):
    x = tenfold.arange(6.0).view(2, 3)
    function = getattr(tenfold, name)
    for call in (function, lambda x, **names: getattr(x, name)(**names)):
        assert call(x, axis=1).tolist() == call(x, dim=1).tolist()
        assert call(x, axis=0, keepdims=True).shape == (1, 3)
    with pytest.raises(TypeError, match=rf"{name}\(\) got an unexpected keyword argument 'axes'"):
        function(x, axes=0)


@pytest.mark.parametrize("name", ["sum", "prod", "cumsum", "cumprod", "mean"])
def test_an_output_of_another_dtype_than_asked_for(name):
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype float, but got double instead"):
        getattr(tenfold, name)(tenfold.ones(3), 0, dtype=tenfold.float32, out=tenfold.empty(3, dtype=tenfold.float64))


@pytest.mark.parametrize("name", ["sum", "mean", "amax", "amin", "logsumexp", "norm", "all", "any", "count_nonzero", "std"])
def test_dimensions_that_a_number_does_not_have(name):
    x, options = tenfold.tensor(2.0), {"correction": 0} if name == "std" else {}
    assert getattr(tenfold, name)(x, dim=(0,), **options).shape == getattr(tenfold, name)(x, dim=(-1,), **options).shape == ()
    for dim in ((0, 1), (1,), (-2,), 1):
        with pytest.raises(IndexError, match=r"Dimension out of range \(expected to be in range of \[-1, 0\]"):
            getattr(tenfold, name)(x, dim=dim, **options)
    with pytest.raises(RuntimeError, match="dim 0 appears multiple times"):
        getattr(tenfold, name)(x, dim=(0, -1), **options)


@pytest.mark.parametrize("lowest", [0.0, 1.0])
def test_the_spread_of_numbers_whose_sum_overflows(lowest):
    x = tenfold.full((16,), 1e308, dtype=tenfold.float64)
    assert x.std().item() == x.var(0).item() == 0
    x[0] = lowest
    assert x.var().item() == float("inf")


@pytest.mark.parametrize("name", ["var", "std"])
def test_fewer_numbers_than_the_correction_takes_off(name):
    spread = getattr(tenfold, name)
    for given in (tenfold.ones(1), tenfold.ones(1, dtype=tenfold.float16)):
        with pytest.warns(UserWarning, match=rf"^{name}\(\): degrees of freedom is <= 0\. Correction should be strictly") as told:
            result = spread(given)
        assert len(told) == 1
        assert result.isnan().item()
    spread(tenfold.ones(1), correction=0)
    spread(tenfold.ones(2))
    spread(tenfold.ones(1, device="meta"))


@pytest.mark.parametrize(("dtype", "large"), [("float32", 1e30), ("bfloat16", 1e30), ("float64", 1e200)])
def test_a_product_is_rounded_to_its_dtype_at_each_step(dtype, large):
    x = tenfold.tensor([large, large, 1 / large], dtype=getattr(tenfold, dtype))
    assert x.prod().item() == x.reshape(1, 3).prod(1).item() == x.reshape(3, 1).prod(0).item() == float("inf")
    assert x.flip(0).prod().item() < float("inf")
