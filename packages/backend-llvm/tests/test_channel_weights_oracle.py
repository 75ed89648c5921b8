"""The weights' gradient of convolutions of every channel by itself, of images with NaN and inf, against PyTorch."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tenfold
from tenfold.llvm import session

torch = pytest.importorskip("torch")
PLACES = [0, 3, -1]  # of a row, of a column
STEPS = [{}, {"padding": 1}, {"stride": 2}, {"stride": 2, "padding": 1}, {"dilation": 2, "padding": 2}]


def weight_gradient(lib: Any, x: np.ndarray, weight: np.ndarray, **steps: Any) -> np.ndarray:
    w = lib.tensor(weight, requires_grad=True)
    convolve = getattr(lib.nn.functional, f"conv{x.ndim - 2}d")
    convolve(lib.tensor(x), w, groups=x.shape[1], **steps).sum().backward()
    return np.asarray(w.grad.numpy())


def agree(x: np.ndarray, weight: np.ndarray, **steps: Any) -> None:
    ours, theirs = (weight_gradient(lib, x, weight, **steps) for lib in (tenfold, torch))
    np.testing.assert_array_equal(ours, theirs)
    assert session.failures() == []


def image(sizes: tuple[int, ...], dtype: str, place: tuple[int, ...], value: float) -> np.ndarray:
    """Of whole numbers, whose sums no order rounds, but for one."""
    x = np.random.default_rng(0).integers(-3, 4, sizes).astype(dtype)
    x[(0, 0, *place)] = value
    return x


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("steps", STEPS, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_a_pixel_reaches_only_the_weights_that_read_it(dtype: str, steps: dict[str, int], value: float) -> None:
    for channels, outer, length, side in [(1, 1, 4, 1), (1, 1, 5, 3), (2, 4, 21, 3)]:
        for place in itertools.product(PLACES, repeat=2):
            x = image((2, channels, 5, length), dtype, place, value)
            agree(x, np.ones((outer, 1, side, side), dtype), **steps)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("steps", STEPS, ids=str)
@pytest.mark.parametrize("dimensions", [1, 3])
def test_rows_and_volumes(dimensions: int, steps: dict[str, int], value: float) -> None:
    for place in PLACES:
        x = image((2, 3, *[5] * dimensions), "float32", (place,) * dimensions, value)
        agree(x, np.ones((3, 1, *[3] * dimensions), "float32"), **steps)


def test_planes_padded_in_memory() -> None:
    """They are too large for the stack."""
    for place in [(0, 0), (7, 149), (149, 149)]:
        agree(image((1, 1, 150, 150), "float32", place, np.inf), np.ones((1, 1, 3, 3), "float32"), padding=1)
