"""Ranges that no memory can hold are refused as every other tensor is; what a range needs to be told."""

from __future__ import annotations

import pytest

import tenfold


@pytest.mark.parametrize(
    "make",
    [
        lambda: tenfold.arange(0.0, 1e30),
        lambda: tenfold.arange(2**62),
        lambda: tenfold.arange(0, -(2**62), -1),
        lambda: tenfold.linspace(0, 1, 2**61),
    ],
)
def test_refused(make):
    with pytest.raises(RuntimeError, match="calculation overflowed with sizes="):
        make()


@pytest.mark.parametrize("dtype", [None, tenfold.float32, tenfold.float16])
def test_a_range_given_its_end_by_name_begins_at_0(dtype):
    got = tenfold.arange(end=4, dtype=dtype)
    assert got.tolist() == [0, 1, 2, 3]
    assert got.dtype == (dtype or tenfold.int64)
    assert tenfold.arange(end=2.5).tolist() == [0.0, 1.0, 2.0]
    assert tenfold.arange(end=4, out=tenfold.empty(0)).tolist() == [0.0, 1.0, 2.0, 3.0]


def test_a_range_needs_its_end():
    with pytest.raises(TypeError, match="end"):
        tenfold.arange()
