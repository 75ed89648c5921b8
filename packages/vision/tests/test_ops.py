"""Operators on regions, boxes and layers, by their definitions."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold import nn
from tenfold.vision import models, ops

RNG = np.random.default_rng(0)
X = RNG.standard_normal((2, 12, 9, 11))
ROIS = np.array([[0, 0.6, 1.2, 7.9, 8.1], [1, 2.0, 2.0, 2.0, 2.0], [1, -4.0, 3.0, 20.0, 30.0]])


def bins_by_definition(size, scale):
    """Position-sensitive pooling, bin by bin (R-FCN, equation 1)."""
    h, w = size
    out = np.zeros((len(ROIS), 12 // (h * w), h, w))
    for k, (picture, *corners) in enumerate(ROIS):
        x1, y1, x2, y2 = (np.floor(abs(v) + 0.5) * np.sign(v) for v in corners)
        x1, y1, x2, y2 = x1 * scale, y1 * scale, (x2 + 1) * scale, (y2 + 1) * scale
        for i in range(h):
            for j in range(w):
                top, bottom = np.clip([np.floor(y1 + i * (y2 - y1) / h), np.ceil(y1 + (i + 1) * (y2 - y1) / h)], 0, 9).astype(int)
                left, right = np.clip([np.floor(x1 + j * (x2 - x1) / w), np.ceil(x1 + (j + 1) * (x2 - x1) / w)], 0, 11).astype(
                    int
                )
                part = X[int(picture), i * w + j :: h * w, top:bottom, left:right]
                out[k, :, i, j] = part.mean((1, 2)) if part.size else 0
    return out


@pytest.mark.parametrize(("size", "scale"), [((2, 3), 1.0), ((3, 2), 0.5), ((1, 1), 0.7)])
def test_ps_roi_pool(size, scale):
    found = ops.ps_roi_pool(tenfold.from_numpy(X), tenfold.from_numpy(ROIS), size, scale)
    np.testing.assert_allclose(found.numpy(), bins_by_definition(size, scale), atol=1e-12)


def test_roi_align_of_a_ramp_is_its_value_at_the_bins_middle():
    y, x = np.mgrid[:16, :20].astype(float)
    ramp = tenfold.from_numpy((3 * x + 5 * y)[None, None])
    found = ops.roi_align(ramp, [tenfold.tensor([[2.0, 3.0, 10.0, 9.0]])], (3, 4), sampling_ratio=2, aligned=True)
    centre_x, centre_y = 2 + (np.arange(4) + 0.5) * 2 - 0.5, 3 + (np.arange(3) + 0.5) * 2 - 0.5
    np.testing.assert_allclose(found[0, 0].numpy(), 3 * centre_x[None] + 5 * centre_y[:, None], rtol=1e-6)
    assert ops.roi_align(ramp, [tenfold.zeros(0, 4)], 2).shape == (0, 1, 2, 2)
    with pytest.raises(ValueError, match=r"\(K, 5\)"):
        ops.roi_align(ramp, tenfold.zeros(3, 4), 2)


def test_deform_conv_without_offset_is_a_convolution():
    x, weight = tenfold.from_numpy(X), tenfold.from_numpy(RNG.standard_normal((4, 12, 3, 3)))
    expected = nn.functional.conv2d(x, weight, padding=1, stride=2)
    offset = tenfold.zeros(2, 18, 5, 6, dtype=tenfold.float64)
    np.testing.assert_allclose(ops.deform_conv2d(x, offset, weight, padding=1, stride=2).numpy(), expected.numpy(), atol=1e-12)
    layer = ops.DeformConv2d(12, 4, 3, padding=1)
    assert layer(x.float(), tenfold.zeros(2, 18, 9, 11)).shape == (2, 4, 9, 11)
    with pytest.raises(RuntimeError, match="the shape of the offset"):
        ops.deform_conv2d(x, offset, weight)


def test_losses_of_equal_boxes_are_zero():
    boxes = tenfold.tensor([[0.0, 0.0, 4.0, 3.0], [1.0, 1.0, 2.0, 5.0]])
    for loss in (ops.generalized_box_iou_loss, ops.distance_box_iou_loss, ops.complete_box_iou_loss):
        np.testing.assert_allclose(loss(boxes, boxes).numpy(), 0, atol=1e-6)
        with pytest.raises(ValueError, match="reduction"):
            loss(boxes, boxes, "nope")


def test_dropping():
    tenfold.manual_seed(0)
    x = tenfold.ones(2000, 1)
    dropped = ops.stochastic_depth(x, 0.25, "row")
    assert set(dropped.unique().tolist()) == {0.0, float(np.float32(4 / 3))}
    assert abs(float(dropped.mean()) - 1) < 0.05
    assert ops.StochasticDepth(0.5, "row").eval()(x) is x
    maps = ops.drop_block2d(tenfold.ones(8, 4, 20, 20), 0.2, 5)
    assert 0.05 < float((maps == 0).float().mean()) < 0.35
    np.testing.assert_allclose(float(maps.mean()), 1.0, rtol=1e-4)
    for call in (lambda: ops.stochastic_depth(x, 2, "row"), lambda: ops.drop_block2d(maps, 0.1, 4)):
        with pytest.raises(ValueError, match=r"probability|odd"):
            call()


def test_pyramid():
    pyramid = ops.FeaturePyramidNetwork([2, 3], 4)
    levels = {"a": tenfold.rand(1, 2, 8, 8), "b": tenfold.rand(1, 3, 4, 4)}
    assert {name: tuple(value.shape) for name, value in pyramid(levels).items()} == {"a": (1, 4, 8, 8), "b": (1, 4, 4, 4)}
    pool = ops.MultiScaleRoIAlign(["a", "b"], 2, 2, canonical_scale=8, canonical_level=2)
    assert pool(pyramid(levels), [tenfold.tensor([[0.0, 0.0, 30.0, 30.0], [1.0, 1.0, 3.0, 4.0]])], [(32, 32)]).shape == (
        2,
        4,
        2,
        2,
    )


def test_unet_finds_the_bright_half():
    tenfold.manual_seed(0)
    network = models.segmentation.UNet(1, 2, widths=(4, 8))
    x = tenfold.rand(4, 1, 8, 8)
    target = (x[:, 0] > 0.5).long()
    optimizer = list(network.parameters())
    first = None
    for _ in range(60):
        loss = nn.functional.cross_entropy(network(x), target)
        first = float(loss) if first is None else first
        loss.backward()
        with tenfold.no_grad():
            for p in optimizer:
                p -= 0.5 * p.grad
                p.grad = None
    assert float(loss) < first / 3
    with pytest.raises(ValueError, match="divisible by 2"):
        network(tenfold.zeros(1, 1, 7, 8))
