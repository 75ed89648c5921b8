"""Sobol' sequences against PyTorch's and SciPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold
from tenfold.quasirandom import SobolEngine

torch = pytest.importorskip("torch")
qmc = pytest.importorskip("scipy.stats.qmc")


def engines(*args: Any, **options: Any) -> tuple[Any, Any]:
    return SobolEngine(*args, **options), torch.quasirandom.SobolEngine(*args, **options)


@pytest.mark.parametrize("scramble", [False, True])
@pytest.mark.parametrize("dimension", [1, 3, 64, 1111])
def test_points(dimension: int, scramble: bool) -> None:
    ours, theirs = engines(dimension, scramble=scramble, seed=7)
    assert ours.sobolstate.tolist() == theirs.sobolstate.tolist()
    assert ours.shift.tolist() == theirs.shift.tolist()
    for n in (1, 3, 0, 28, 1):
        assert ours.draw(n).tolist() == theirs.draw(n).tolist()
        assert ours.num_generated == theirs.num_generated
        assert ours.quasi.tolist() == theirs.quasi.tolist()
    ours, theirs = ours.fast_forward(100), theirs.fast_forward(100)
    assert ours.draw(5, dtype=tenfold.float64).tolist() == theirs.draw(5, dtype=torch.float64).tolist()
    assert ours.reset().draw_base2(3).tolist() == theirs.reset().draw_base2(3).tolist()
    assert repr(ours) == repr(theirs)


def test_points_of_scipy() -> None:
    expected = qmc.Sobol(5, scramble=False).random(64)
    assert np.array_equal(SobolEngine(5).draw(64, dtype=tenfold.float64).numpy(), expected)


def test_forward_from_the_start() -> None:
    ours, theirs = engines(2)
    assert ours.fast_forward(4).draw(3).tolist() == theirs.fast_forward(4).draw(3).tolist()


def test_results_have_the_dtype_asked_for() -> None:
    assert SobolEngine(2).draw(2, dtype=tenfold.float16).dtype is tenfold.float16
    default = tenfold.get_default_dtype()
    try:
        tenfold.set_default_dtype(tenfold.float64)
        assert SobolEngine(2).draw(2).dtype is tenfold.float64
    finally:
        tenfold.set_default_dtype(default)
    out = tenfold.empty(0)
    assert SobolEngine(2).draw(4, out=out) is out
    assert out.shape == (4, 2)


def test_without_a_seed_scrambling_differs() -> None:
    assert SobolEngine(4, scramble=True).draw(1).tolist() != SobolEngine(4, scramble=True).draw(1).tolist()
    state = tenfold.get_rng_state()
    SobolEngine(4, scramble=True, seed=1)
    assert tenfold.equal(state, tenfold.get_rng_state())


@pytest.mark.parametrize("dimension", [0, 21202])
def test_refused_dimensions(dimension: int) -> None:
    with pytest.raises(ValueError, match=r"Supported range of dimensionality for SobolEngine is \[1, 21201\]"):
        SobolEngine(dimension)


def test_refused_numbers_of_points() -> None:
    engine = SobolEngine(2)
    for n in (0, -2):
        with pytest.raises(RuntimeError, match="negative dimension"):
            engine.draw(n)
    engine.draw(3)
    with pytest.raises(ValueError, match=r"points require n to be a power of 2\. 3 points have been previously generated"):
        engine.draw_base2(3)


def test_without_a_seed_the_default_generator_draws() -> None:
    tenfold.manual_seed(4)
    torch.manual_seed(4)
    ours, theirs = engines(3, scramble=True)
    assert ours.draw(4).tolist() == theirs.draw(4).tolist()
    assert tenfold.rand(2).tolist() == torch.rand(2).tolist()


def test_the_first_point_has_the_default_dtypes_precision() -> None:
    ours, theirs = engines(3, scramble=True, seed=3)
    assert ours.draw(3, dtype=tenfold.float64).tolist() == theirs.draw(3, dtype=torch.float64).tolist()
