"""Numbers given to losses and units: those that the dtype does not hold, 0 for a flag, whole numbers for fractions."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")


def same(call: Any) -> None:
    """Whether a call has the same result in both libraries, in value and dtype, or the same type of error."""
    found = []
    for lib in (tenfold, torch):
        try:
            made = call(lib)
            found.append((str(made.dtype).split(".")[-1], made.double().flatten().tolist()))
        except (RuntimeError, OverflowError) as error:
            found.append((type(error).__name__, []))
    assert found[0][0] == found[1][0]
    assert found[0][1] == pytest.approx(found[1][1], rel=1e-5, nan_ok=True)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "int8", "int32"])
@pytest.mark.parametrize("limit", [1e39, 1e9, 300.0, -1.0])
def test_a_threshold_that_the_dtype_does_not_hold(dtype: str, limit: float) -> None:
    same(lambda lib: lib.nn.functional.threshold(lib.tensor([1, 2, 3]).to(getattr(lib, dtype)), limit, 1))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("number", [1e40, -1e40, 3.403e38, 1e5, 2.0, float("inf"), 2**64, -(2**63) - 1])
@pytest.mark.parametrize("name", ["elu", "celu", "leaky_relu", "softplus", "hardshrink"])
def test_an_option_of_a_unit_that_the_dtype_does_not_hold(name: str, number: float, dtype: str) -> None:
    same(lambda lib: getattr(lib.nn.functional, name)(lib.tensor([0.5, 1.5]).to(getattr(lib, dtype)), number))


@pytest.mark.parametrize("alpha", [1e-40, -1e-40, 1e-30])
def test_a_unit_that_divides_by_its_option(alpha: float) -> None:
    same(lambda lib: lib.nn.functional.celu(lib.tensor([0.5, 1.5]), alpha))
    same(lambda lib: lib.nn.functional.softplus(lib.ones(2), 1.0, 1 / alpha))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_threshold_into_a_tensor(dtype: str) -> None:
    same(lambda lib: lib.threshold(lib.tensor([-1.0, 2.0]), 0, 5, out=lib.empty(2, dtype=getattr(lib, dtype))))


@pytest.mark.parametrize("delta", [1e39, float("inf"), 70000.0, 1.0])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_bend_that_the_dtype_does_not_hold(dtype: str, delta: float) -> None:
    same(lambda lib: lib.nn.functional.huber_loss(*lib.tensor([[0.0, 3.0], [1.0, 1.5]]).to(getattr(lib, dtype)), delta=delta))


@pytest.mark.parametrize("flags", [(0,), (1,), (None, 0), (0, 0), (False, 1), (True, 1), (0, None)])
def test_flags_that_are_numbers(flags: tuple[Any, ...]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("mse_loss", "smooth_l1_loss", "l1_loss"):
            same(lambda lib, name=name: getattr(lib.nn.functional, name)(lib.ones(3), lib.zeros(3), *flags))


@pytest.mark.parametrize("eps", [2, True, 0.5])
def test_distances_of_integers(eps: Any) -> None:
    same(lambda lib: lib.pairwise_distance(lib.tensor([[1, 2, 3]]), lib.tensor([[0, 2, 5]]), eps=eps))


@pytest.mark.parametrize("dtype", ["float16", "float64", "int64"])
def test_ranking_of_a_0d_tensor_of_another_dtype(dtype: str) -> None:
    def loss(lib: Any) -> Any:
        return lib.margin_ranking_loss(lib.ones(2, 3), lib.tensor(2).to(getattr(lib, dtype)), lib.tensor([1, -1, 1]))

    same(loss)


@pytest.mark.parametrize("shapes", [((3,), (3,), ()), ((2, 3), (3,), (1,)), ((), (), ()), ((3,), (2, 3), (3,)), ((0,), (0,), ())])
@pytest.mark.parametrize("reduction", [0, 1, 2])
def test_autocast_computes_ranking_losses_in_float32(shapes: tuple[tuple[int, ...], ...], reduction: int) -> None:
    """Of tensors of different numbers of dimensions, too, which only this form takes."""
    found = []
    for m in (torch, tenfold):
        given = [(m.arange(float(math.prod(s))) - i).reshape(s).to(m.bfloat16) for i, s in enumerate(shapes)]
        with m.autocast("cpu"):
            loss = m.margin_ranking_loss(*given, 0.5, reduction)
        found.append((str(loss.dtype).split(".")[-1], tuple(loss.shape), loss.tolist()))
    assert found[0][:2] == found[1][:2]
    np.testing.assert_allclose(found[0][2], found[1][2], rtol=1e-6)
