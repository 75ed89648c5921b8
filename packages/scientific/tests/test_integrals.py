"""The trapezoidal rule takes points or a distance."""

from __future__ import annotations

import pytest

import tenfold


@pytest.mark.parametrize("name", ["trapezoid", "trapz", "cumulative_trapezoid"])
def test_points_and_a_distance_are_refused(name: str) -> None:
    y = tenfold.tensor([1.0, 5.0, 10.0])
    rule = getattr(tenfold, name)
    with pytest.raises(TypeError, match="received an invalid combination of arguments"):
        rule(y, x=y, dx=3)
    with pytest.raises(RuntimeError, match="dx as a real number"):
        rule(y, dx=1j)
    assert rule(y, dx=2).sum() == rule(y).sum() * 2
