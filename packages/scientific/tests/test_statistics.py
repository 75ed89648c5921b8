"""Quantiles and covariances that are not, sums of products on the device "meta"."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.scientific.cpu.statistics import _most_frequent


@pytest.mark.parametrize(
    ("q", "told"),
    [
        (-1.0, r"q must be in the range \[0, 1\] but got -1"),
        (float("nan"), r"q must be in the range \[0, 1\] but got nan"),
        (tenfold.tensor([0.5, 2.0]), r"q values must be in the range \[0, 1\]"),
        (tenfold.tensor([[0.5]]), "q must be a scalar or 1D tensor"),
        (tenfold.tensor(0.5, dtype=tenfold.float64), "q tensor must be same dtype as the input tensor"),
    ],
)
def test_quantiles_that_are_none(q, told):
    with pytest.raises(RuntimeError, match=told):
        tenfold.quantile(tenfold.ones(3), q)


def test_covariance_of_fewer_observations_than_the_correction_takes_off():
    for given in (tenfold.ones(1), tenfold.ones(1, dtype=tenfold.float16)):
        with pytest.warns(UserWarning, match=r"^cov\(\): degrees of freedom is <= 0\. Correction should be strictly") as told:
            assert tenfold.cov(given).isnan().item()
        assert len(told) == 1
    tenfold.cov(tenfold.ones(1), correction=0)
    tenfold.cov(tenfold.ones(2))


def test_einsum_on_meta():
    x = tenfold.empty(7, 2, 3, device="meta")
    assert tenfold.einsum("bij,kj->bik", x, tenfold.empty(5, 3, device="meta")).shape == (7, 2, 5)


def test_logspace():
    assert tenfold.logspace(0, 2, 3).tolist() == [1, 10, 100]


def test_chain_and_tensordot() -> None:
    a, b, c = (np.random.default_rng(0).standard_normal(s) for s in [(2, 30), (30, 4), (4, 5)])
    chain = tenfold.chain_matmul(*map(tenfold.from_numpy, (a, b, c)))
    np.testing.assert_allclose(chain.numpy(), a @ b @ c)
    x, y = np.random.default_rng(0).standard_normal((2, 3, 4)), np.random.default_rng(0).standard_normal((4, 3, 5))
    got = tenfold.tensordot(tenfold.from_numpy(x), tenfold.from_numpy(y), ([1, 2], [1, 0]))
    np.testing.assert_allclose(got.numpy(), np.tensordot(x, y, ([1, 2], [1, 0])))


@pytest.mark.parametrize("name", ["median", "nanmedian", "mode", "nansum", "nanmean"])
@pytest.mark.parametrize("number", [np.int64(1), np.int32(-1), np.uint8(0)])
def test_a_dimension_may_be_numpys(name, number):
    found, wanted = [], []
    for dim, kept in ((number, found), (int(number), wanted)):
        x = tenfold.arange(6.0).reshape(2, 3).requires_grad_()
        y = getattr(x, name)(dim)
        y = getattr(y, "values", y) if isinstance(y, tuple) else y
        (y * y).sum().backward()
        kept += [y.tolist(), x.grad.tolist()]
    assert found == wanted


def test_a_recorded_covariance_of_one_number_warns_once():
    with pytest.warns(UserWarning, match=r"^cov\(\): degrees of freedom is <= 0") as told:
        assert tenfold.cov(tenfold.ones(1, requires_grad=True)).isnan().item()
    assert len(told) == 1


@pytest.mark.parametrize("name", ["nansum", "nanmean"])
def test_dimensions_by_numpys_names_and_those_that_a_number_does_not_have(name):
    x = tenfold.arange(6.0).view(2, 3)
    assert getattr(x, name)(axis=0, keepdims=True).tolist() == getattr(tenfold, name)(x, dim=0, keepdim=True).tolist()
    with pytest.raises(IndexError, match=r"Dimension out of range \(expected to be in range of \[-1, 0\]"):
        getattr(tenfold, name)(tenfold.tensor(2.0), dim=1)


@pytest.mark.parametrize("name", ["var_mean", "std_mean"])
def test_fewer_numbers_than_the_correction_takes_off(name):
    spread = getattr(tenfold, name)
    for given in (tenfold.ones(1), tenfold.ones(1, dtype=tenfold.float16)):
        with pytest.warns(UserWarning, match=rf"^{name}\(\): degrees of freedom is <= 0\. Correction should be strictly") as told:
            result = spread(given)
        assert len(told) == 1
        assert result[0].isnan().item()
    spread(tenfold.ones(1), correction=0)
    spread(tenfold.ones(2))
    spread(tenfold.ones(1, device="meta"))
    with pytest.raises(IndexError, match="Dimension out of range"):
        spread(tenfold.ones(2, 3), 2)


def test_modes_are_found_of_all_rows_at_once():
    rows = np.array([[[3.0, 1.0, 1.0, 3.0], [np.nan] * 4], [[0.0, -0.0, 2.0, 2.0], [5.0, np.nan, np.nan, 4.0]]])
    assert _most_frequent(rows).tolist() == [[[2], [0]], [[1], [3]]]


def test_modes_of_longer_rows_are_named_as_they_lie_sorted():
    row = np.array([3, 2, 2, 2, 2, 3, 1, 3, 2, 0, 1, 3, 2, 0, 3, 2, 3])  # introsort leaves the third element last of its equals
    assert _most_frequent(row).tolist() == [2]
    assert _most_frequent(np.stack([row, np.arange(17)])).tolist() == [[2], [0]]
