"""Distances of pairs of rows: values against the definition, and memory that does not grow with the differences."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import tenfold


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 2.0, 3.0, float("inf")])
@pytest.mark.parametrize(
    ("left", "right"), [((5, 3), (4, 3)), ((40, 7), (30, 7)), ((2, 30, 7), (1, 40, 7)), ((9, 200), (3, 200))]
)
def test_kernel_equals_the_definition(left, right, p, dtype):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal(left).astype(dtype), rng.standard_normal(right).astype(dtype)
    difference = np.abs(a[..., :, None, :].astype(np.float64) - b[..., None, :, :])
    if p == 0:
        expected = np.count_nonzero(difference, -1)
    elif p == np.inf:
        expected = difference.max(-1)
    else:
        expected = (difference**p).sum(-1) ** (1 / p)
    for mode in (None, "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"):
        made = tenfold.cdist(tenfold.from_numpy(a), tenfold.from_numpy(b), p, mode)
        np.testing.assert_allclose(made.numpy(), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0])
def test_memory_does_not_hold_all_differences(p):
    x = tenfold.from_numpy(np.random.default_rng(0).standard_normal((600, 200)).astype(np.float32))
    tenfold.cdist(x[:2], x[:2], p)
    tracemalloc.start()
    tenfold.cdist(x, x, p, "donot_use_mm_for_euclid_dist")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10e6  # the differences have 288 MB


def test_gradients_go_through_the_body():
    pytest.importorskip("tenfold.autograd")
    x = tenfold.tensor([[0.0, 0.0], [3.0, 4.0]], requires_grad=True)
    tenfold.cdist(x, x.detach()).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [[-0.6, -0.8], [0.6, 0.8]], rtol=1e-6)


def test_powers_at_the_ends():
    x = tenfold.tensor([0.0, -0.0, float("inf"), -float("inf"), float("nan"), -2.0, 3e8, 1e-6])
    for exponent in (3, 4.0, -0.5, -2, 0.5, -1):
        with np.errstate(all="ignore"):
            expected = np.power(x.numpy(), np.float32(exponent))
        if exponent in (0.5, -0.5):
            expected[3] = np.nan  # the root of minus infinity, which PyTorch does not call infinite
        if exponent == -0.5:
            expected[1] = -np.inf  # 1 / sqrt(-0.0)
        np.testing.assert_allclose((x**exponent).numpy(), expected, rtol=1e-6)
        assert x.clone().pow_(exponent).equal(x**exponent) or (x**exponent).isnan().any()


def test_writes_after_iterating_go_the_short_way():
    x = tenfold.zeros(4)
    rows = list(x)
    x[1] = 5.0
    assert rows[1].item() == 5
    with pytest.raises(RuntimeError, match="more than one element"):
        tenfold.zeros(1).expand(3)[:] = 1.0


def test_renorm_of_half_precision_beyond_its_range():
    scaled = tenfold.full((2, 16), 60000.0, dtype=tenfold.float16).renorm(2, 0, 1.0)
    assert scaled.dtype is tenfold.float16
    assert scaled.tolist() == [[0.25] * 16] * 2


@pytest.mark.parametrize("features", [2, 150])
def test_the_largest_of_what_is_known(features):
    """PyTorch's: of two matrices nan is left out, of a matrix's own rows it is not."""
    x = tenfold.zeros(2, features)
    x[0, :2] = tenfold.tensor([float("nan"), 3.0])
    x[1] = float("nan")
    assert tenfold.cdist(x, tenfold.zeros(300, features), float("inf"))[:, 0].tolist() == [3.0, 0.0]
    assert tenfold.pdist(tenfold.stack([x[0], tenfold.zeros(features)]), float("inf")).isnan().all()


def test_the_sign_of_nan_is_nan():
    pytest.importorskip("tenfold.autograd")
    x = tenfold.tensor([[float("nan"), 1.0]], requires_grad=True)
    tenfold.cdist(x, tenfold.zeros(1, 2), 1.0).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [[np.nan, 1.0]])
