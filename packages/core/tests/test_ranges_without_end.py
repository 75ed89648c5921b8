"""Ranges that no memory can hold are refused as every other tensor is."""

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
