"""assert_close, assert_equal and make_tensor on their own."""

from __future__ import annotations

import pytest

import tenfold
from tenfold.testing import assert_close, assert_equal, make_tensor


def test_difference_is_counted_and_located() -> None:
    a = tenfold.tensor([[1.0, 2.0], [3.0, 4.0]])
    b = tenfold.tensor([[1.0, 2.5], [3.0, 8.0]])
    with pytest.raises(AssertionError) as caught:
        assert_close(a, b)
    text = str(caught.value)
    assert "Mismatched elements: 2 / 4 (50.0%)" in text
    assert "Greatest absolute difference: 4.0 at index (1, 1) (up to 1e-05 allowed)" in text
    assert "Greatest relative difference: 0.5 at index (1, 1) (up to 1.3e-06 allowed)" in text


def test_equal_means_every_bit() -> None:
    a = tenfold.tensor([1.0])
    assert_equal(a, a.clone())
    with pytest.raises(AssertionError, match="not equal"):
        assert_equal(a, a + 1e-7)


def test_bfloat16_is_compared_in_double_precision() -> None:
    a = tenfold.tensor([1.0, 2.0], dtype=tenfold.bfloat16)
    assert_close(a, a.clone())
    with pytest.raises(AssertionError, match="1 / 2"):
        assert_close(a, tenfold.tensor([1.0, 2.5], dtype=tenfold.bfloat16))


def test_place_in_collections() -> None:
    with pytest.raises(AssertionError, match=r"The failure occurred for item \['a'\]\[1\]"):
        assert_close({"a": [tenfold.ones(1), tenfold.ones(1)]}, {"a": [tenfold.ones(1), tenfold.zeros(1)]})


def test_made_tensors() -> None:
    x = make_tensor((2, 3), dtype=tenfold.float64, device="cpu", low=0.5, high=0.75, requires_grad=False)
    assert x.shape == (2, 3)
    assert all(0.5 <= v < 0.75 for row in x.tolist() for v in row)
    assert not make_tensor(2, 3, dtype=tenfold.float32, device="cpu", noncontiguous=True).is_contiguous()
    zeros = make_tensor(50, dtype=tenfold.int64, device="cpu", low=0, high=2, exclude_zero=True)
    assert zeros.tolist() == [1] * 50
    tenfold.manual_seed(5)
    first = make_tensor(3, dtype=tenfold.float32, device="cpu").tolist()
    tenfold.manual_seed(5)
    assert make_tensor(3, dtype=tenfold.float32, device="cpu").tolist() == first


def test_make_tensor_refuses() -> None:
    with pytest.raises(ValueError, match="`low` must be less than `high`"):
        make_tensor(2, dtype=tenfold.int64, device="cpu", low=1, high=1)
    with pytest.warns(FutureWarning, match="Passing `low==high`"):
        assert make_tensor(2, dtype=tenfold.float32, device="cpu", low=1, high=1).tolist() == [1, 1]
    with pytest.raises(ValueError, match="cannot be NaN"):
        make_tensor(2, dtype=tenfold.float32, device="cpu", low=float("nan"))
    with pytest.raises(ValueError, match=r"only supports \[0, 256\)"):
        make_tensor(2, dtype=tenfold.uint8, device="cpu", low=300, high=400)
    with pytest.raises(ValueError, match="mutually exclusive"):
        make_tensor(2, dtype=tenfold.float32, device="cpu", noncontiguous=True, memory_format=tenfold.contiguous_format)
