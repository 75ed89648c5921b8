"""Optical flow as colours, and points drawn on pictures."""

from __future__ import annotations

import pytest

import tenfold
from tenfold.vision import utils


def test_flow():
    flow = tenfold.zeros(2, 4, 5)
    flow[0, :, :2] = 3.0  # to the right
    image = utils.flow_to_image(flow)
    assert (image.dtype, tuple(image.shape)) == (tenfold.uint8, (3, 4, 5))
    assert image[:, 0, 4].tolist() == [255, 255, 255]  # nothing moves there
    assert image[:, 0, 0].tolist() == [255, 0, 0]
    assert utils.flow_to_image(tenfold.stack([flow, flow])).shape == (2, 3, 4, 5)
    with pytest.raises(ValueError, match="float"):
        utils.flow_to_image(flow.double())
    with pytest.raises(ValueError, match="shape"):
        utils.flow_to_image(flow[:1])


def test_keypoints():
    image = tenfold.zeros(3, 20, 20, dtype=tenfold.uint8)
    points = tenfold.tensor([[[4.0, 5.0], [15.0, 5.0], [10.0, 15.0]]])
    drawn = utils.draw_keypoints(image, points, [(0, 1)], colors="red", radius=1, width=1)
    assert drawn[:, 6, 4].tolist() == drawn[:, 15, 10].tolist() == [255, 0, 0]
    assert drawn[:, 5, 10].tolist() == [255, 255, 255]
    assert image.sum() == 0
    hidden = utils.draw_keypoints(image, points, [(0, 1)], colors="red", visibility=tenfold.tensor([[True, False, True]]))
    assert hidden[0, 5, 10] == 0
    with pytest.raises(ValueError, match="num_instances"):
        utils.draw_keypoints(image, points[0])
