"""Writes at places of the flattened tensor and of a dimension; cuts at any place."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold

SHARED = "unsupported operation: some elements of the input tensor and the written-to tensor"
PLACES = [2, 1, 0]


def numbers(n=6):
    return tenfold.arange(float(n))


def test_shared_memory_is_refused_and_unchanged():
    x = numbers()
    with pytest.raises(RuntimeError, match=SHARED):
        x.put_(tenfold.tensor(PLACES), x[:3])
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


@pytest.mark.parametrize("write", [lambda i: i.index_fill_(0, i, 0), lambda i: i.put_(i.clone(), i)])
def test_a_tensor_is_not_its_own_index(write):
    with pytest.raises(RuntimeError, match=SHARED):
        write(tenfold.tensor(PLACES))


def test_expanded_tensors_are_written_with_a_warning():
    x = tenfold.zeros(1)
    with pytest.warns(UserWarning, match="Use of index_fill_ on expanded tensors is deprecated"):
        x.expand(6).index_fill_(0, tenfold.tensor(PLACES), 1.0)
    assert x.tolist() == [1.0]


def test_put_has_no_deterministic_form():
    tenfold.use_deterministic_algorithms(True)
    try:
        with pytest.raises(RuntimeError, match="put_ does not have a deterministic implementation"):
            numbers().put_(tenfold.tensor([0]), tenfold.tensor([1.0]))
        numbers().put_(tenfold.tensor([0]), tenfold.tensor([1.0]), accumulate=True)
    finally:
        tenfold.use_deterministic_algorithms(False)


@pytest.mark.parametrize("parts", [1, 2, 3, 4, 7, (1, 3), (0, 9)])
@pytest.mark.parametrize("dim", [0, 1])
def test_tensor_split_cuts_as_numpy_does(parts, dim):
    x = tenfold.arange(15).view(3, 5)
    for ours, theirs in zip(x.tensor_split(parts, dim), np.array_split(x.numpy(), parts, dim), strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs)


def test_polar():
    z = tenfold.polar(tenfold.tensor([2.0, 1.0]), tenfold.tensor([0.0, np.pi / 2]))
    np.testing.assert_allclose(z.numpy(), [2, 1j], atol=1e-6)


def test_unique_consecutive():
    assert tenfold.unique_consecutive(tenfold.tensor([1, 1, 2, 1])).tolist() == [1, 2, 1]


def test_masked_scatter_takes_from_its_own_memory_turned():
    x = numbers()
    x.masked_scatter_(tenfold.ones(6, dtype=tenfold.bool), x.flip(0))
    assert x.tolist() == [5.0, 4.0, 3.0, 2.0, 1.0, 0.0]


def test_scans_refuse_outputs_of_another_dtype():
    with pytest.raises(RuntimeError, match="expected scalar_type Float but found Double"):
        tenfold.logcumsumexp(numbers(), 0, out=tenfold.empty(6, dtype=tenfold.float64))
    with pytest.raises(RuntimeError, match="expected scalar_type Float but found Short"):
        tenfold.cummax(numbers(), 0, out=(tenfold.empty(6, dtype=tenfold.int16), tenfold.empty(6, dtype=tenfold.int64)))


def test_scans_lie_row_by_row():
    x = tenfold.arange(60.0).reshape(3, 4, 5).permute(2, 1, 0)
    for result in (tenfold.logcumsumexp(x, 1), *tenfold.cummax(x, 0), *tenfold.cummin(x, 2)):
        assert result.stride() == (12, 3, 1)


def test_order_of_dimensions_in_memory() -> None:
    x = tenfold.empty_permuted((2, 3, 4), (2, 0, 1))
    assert x.dim_order() == (2, 0, 1)
    assert x.stride() == (3, 1, 6)


def test_isin_writes_into_an_output():
    x, out = tenfold.tensor([1, 2, 3]), tenfold.empty(3, dtype=tenfold.bool)
    assert tenfold.isin(x, tenfold.tensor([2]), out=out) is out
    assert out.tolist() == [False, True, False]
    tenfold.isin(x, 3, invert=True, out=out)
    assert out.tolist() == [True, True, False]
    with pytest.raises(RuntimeError, match="isin"):
        tenfold.isin(x, tenfold.tensor([2]), out=tenfold.empty(3))


def test_no_positions_are_not_looked_for():
    assert tenfold.nonzero_static(tenfold.zeros(3, 2, device="meta"), size=0).shape == (0, 2)
    found = tenfold.nonzero_static(tenfold.ones(3, 2), size=0)
    assert (tuple(found.shape), found.dtype) == ((0, 2), tenfold.int64)
