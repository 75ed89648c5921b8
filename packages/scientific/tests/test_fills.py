"""Log-normal, Cauchy and geometric samples: their moments, and parameters that are refused."""

from __future__ import annotations

import numpy as np
import pytest

from tenfold.random.generator import Generator
from tenfold.scientific import variates

N = 200_000


@pytest.mark.parametrize(
    ("draw", "kind", "told"),
    [
        (lambda: variates.log_normal(Generator(), 3, np.float32, 0, 0), RuntimeError, "std > 0.0"),
        (lambda: variates.cauchy(Generator(), 3, np.float32, 0, 0), RuntimeError, "sigma > 0.0"),
        (lambda: variates.geometric(Generator(), 3, np.float32, 1), RuntimeError, r"p to be in \(0, 1\)"),
    ],
)
def test_wrong_parameters(draw, kind, told):
    with pytest.raises(kind, match=told):
        draw()


@pytest.mark.parametrize(
    ("draw", "mean", "std"),
    [
        (lambda g: np.log(variates.log_normal(g, N, np.float64, 3, 2)), 3, 2),
        (lambda g: np.arctan(variates.cauchy(g, N)), 0, np.pi / 12**0.5),
        (lambda g: variates.geometric(g, N, np.int64, 0.25), 4, 12**0.5),
    ],
)
def test_mean_and_deviation_are_the_distributions(draw, mean, std):
    samples = draw(Generator().manual_seed(123)).astype(np.float64)
    assert abs(samples.mean() - mean) < 5 * std / N**0.5
    assert abs(samples.std() / std - 1) < 0.02
