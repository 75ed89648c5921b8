"""Optical flow as colours and drawn points, compared with torchvision's."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.vision import utils

torch = pytest.importorskip("torch")
theirs = pytest.importorskip("torchvision.utils", exc_type=(ImportError, RuntimeError))


def test_against_torchvision():
    rng = np.random.default_rng(0)
    flow = rng.standard_normal((2, 2, 9, 7)).astype(np.float32)
    expected = theirs.flow_to_image(torch.from_numpy(flow)).numpy().astype(int)
    found = utils.flow_to_image(tenfold.from_numpy(flow)).numpy().astype(int)
    assert np.abs(found - expected).max() <= 1  # a last bit before the rounding down
    assert (found != expected).mean() < 0.01
    image, points = rng.integers(0, 256, (3, 30, 40)).astype(np.uint8), rng.uniform(0, 30, (2, 4, 2))
    seen = rng.random((2, 4)) > 0.3
    found = utils.draw_keypoints(
        tenfold.from_numpy(image), tenfold.from_numpy(points), [(0, 1), (2, 3)], "blue", 3, 2, tenfold.from_numpy(seen)
    )
    expected = theirs.draw_keypoints(
        torch.from_numpy(image), torch.from_numpy(points), [(0, 1), (2, 3)], "blue", 3, 2, torch.from_numpy(seen)
    )
    np.testing.assert_array_equal(found.numpy(), expected.numpy())
