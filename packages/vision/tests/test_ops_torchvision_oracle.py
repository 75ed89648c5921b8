"""Operators on boxes and regions, compared with torchvision's compiled ones: values and gradients."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.vision import ops

torch = pytest.importorskip("torch")
torchvision = pytest.importorskip("torchvision", exc_type=(ImportError, RuntimeError))
if not torchvision.extension._has_ops():
    pytest.skip("torchvision's compiled operators do not load", allow_module_level=True)

RNG = np.random.default_rng(0)


def boxes(count, size=20.0, rng=RNG):
    corners = rng.uniform(-2, size, (count, 2))
    return np.concatenate([corners, corners + rng.uniform(0, size, (count, 2))], 1)


def same(name, *arrays, rtol=1e-9, gradients=True, **options):
    """Values, and gradients of every array given as a float64."""
    mine = [tenfold.from_numpy(a.copy()).requires_grad_(gradients and a.dtype == np.float64) for a in arrays]
    other = [torch.from_numpy(a.copy()).requires_grad_(gradients and a.dtype == np.float64) for a in arrays]
    found, expected = getattr(ops, name)(*mine, **options), getattr(torchvision.ops, name)(*other, **options)
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=rtol, atol=rtol)
    if not gradients:
        return
    weight = np.random.default_rng(1).standard_normal(tuple(expected.shape))
    (found * tenfold.from_numpy(weight)).sum().backward()
    (expected * torch.from_numpy(weight)).sum().backward()
    for a, b in zip(mine, other, strict=True):
        if b.grad is not None:
            np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=1e-8, atol=1e-8)


X = RNG.standard_normal((2, 12, 11, 13))
ROIS = np.concatenate([RNG.integers(0, 2, (7, 1)).astype(float), boxes(7, 9.0)], 1)
ROIS[3, 1:] = [2, 2, 2, 2]  # empty
ROIS[4, 1:] = [-9, -9, -5, -5]  # outside
ROIS[5, 1:] = [5, 5, 2, 1]  # inside out


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("ratio", [-1, 0, 1, 2])
@pytest.mark.parametrize("size", [1, (3, 2)])
def test_roi_align(aligned, ratio, size):
    rois = ROIS
    if aligned:
        rois = rois[:5]  # inside out, its number of samples is negative, which is undefined
    x = tenfold.from_numpy(X.copy()).requires_grad_()
    y = torch.from_numpy(X.copy()).requires_grad_()
    for scale in (1.0, 0.5):
        found = ops.roi_align(x, tenfold.from_numpy(rois), size, scale, ratio, aligned)
        expected = torchvision.ops.roi_align(y, torch.from_numpy(rois), size, scale, ratio, aligned)
        np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), atol=1e-9)
        (found**2).sum().backward()
        (expected**2).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), atol=1e-8)


@pytest.mark.parametrize("name", ["roi_pool", "ps_roi_align"])
@pytest.mark.parametrize(("size", "scale"), [((2, 3), 1.0), ((3, 2), 0.4), ((1, 1), 0.7)])
def test_other_pooling(name, size, scale):
    rois = ROIS[:5] if name == "roi_pool" else ROIS[:3]  # theirs is NaN in an empty box
    same(name, X, rois.copy().astype(np.float32).astype(np.float64), gradients=False, output_size=size, spatial_scale=scale)
    x = tenfold.from_numpy(X.copy()).requires_grad_()
    y = torch.from_numpy(X.copy()).requires_grad_()
    (getattr(ops, name)(x, tenfold.from_numpy(rois), size, scale) ** 2).sum().backward()
    (getattr(torchvision.ops, name)(y, torch.from_numpy(rois), size, scale) ** 2).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), atol=1e-8)


def test_a_list_of_boxes():
    lists = [
        boxes(3),
        boxes(0),
    ]
    found = ops.roi_align(tenfold.from_numpy(X), [tenfold.from_numpy(b) for b in lists], 2)
    expected = torchvision.ops.roi_align(torch.from_numpy(X), [torch.from_numpy(b) for b in lists], 2)
    np.testing.assert_allclose(found.numpy(), expected.numpy(), atol=1e-9)
    assert repr(ops.RoIAlign(3, 0.5, 2)) == repr(torchvision.ops.RoIAlign(3, 0.5, 2))


@pytest.mark.parametrize(("groups", "offset_groups", "masked"), [(1, 1, False), (2, 1, True), (1, 3, True), (3, 2, False)])
@pytest.mark.parametrize(("stride", "padding", "dilation"), [(1, 0, 1), ((2, 1), (1, 2), (1, 2))])
def test_deform_conv2d(groups, offset_groups, masked, stride, padding, dilation):
    rng = np.random.default_rng(2)
    x, weight, bias = rng.standard_normal((2, 6, 7, 8)), rng.standard_normal((6, 6 // groups, 3, 2)), rng.standard_normal(6)
    pairs = [(v, v) if isinstance(v, int) else v for v in (stride, padding, dilation)]
    oh, ow = ((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in zip((7, 8), (3, 2), *pairs, strict=True))
    offset = rng.standard_normal((2, offset_groups * 2 * 6, oh, ow)) * 2
    arrays = [x, offset, weight, bias]
    options = {"stride": stride, "padding": padding, "dilation": dilation}
    mask = rng.random((2, offset_groups * 6, oh, ow)) if masked else None
    mine = [tenfold.from_numpy(a.copy()).requires_grad_() for a in arrays] + (
        [tenfold.from_numpy(mask).requires_grad_()] if masked else []
    )
    other = [torch.from_numpy(a.copy()).requires_grad_() for a in arrays] + (
        [torch.from_numpy(mask).requires_grad_()] if masked else []
    )
    found = ops.deform_conv2d(*mine[:4], **options, mask=mine[4] if masked else None)
    expected = torchvision.ops.deform_conv2d(*other[:4], **options, mask=other[4] if masked else None)
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), atol=1e-9)
    (found**2).sum().backward()
    (expected**2).sum().backward()
    for a, b in zip(mine, other, strict=True):
        np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", ["distance_box_iou", "complete_box_iou", "generalized_box_iou", "box_iou"])
def test_overlaps(name):
    same(name, boxes(5), boxes(4))


@pytest.mark.parametrize("name", ["generalized_box_iou_loss", "distance_box_iou_loss", "complete_box_iou_loss"])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_losses(name, reduction):
    same(name, boxes(6), boxes(6), reduction=reduction)


def test_nms():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        b, s, kinds = boxes(60, rng=rng), rng.random(60), rng.integers(0, 3, 60)
        s[:20] = np.round(s[:20], 1)
        args = [tenfold.from_numpy(v) for v in (b, s, kinds)], [torch.from_numpy(v) for v in (b, s, kinds)]
        assert ops.nms(*args[0][:2], 0.4).tolist() == torchvision.ops.nms(*args[1][:2], 0.4).tolist()
        assert ops.batched_nms(*args[0], 0.4).tolist() == torchvision.ops.batched_nms(*args[1], 0.4).tolist()


@pytest.mark.parametrize("fmt", ["xyxy", "xywh", "cxcywh"])
def test_formats(fmt):
    b = boxes(4)
    for out in ("xyxy", "xywh", "cxcywh"):
        same("box_convert", b, in_fmt=fmt, out_fmt=out)
    same("box_area", b, fmt=fmt)
    same("box_iou", b, boxes(3), fmt=fmt)


def test_random_dropping_under_a_seed():
    x = RNG.standard_normal((4, 3, 9, 8)).astype(np.float32)
    for name, array, options in (
        ("stochastic_depth", x, {"p": 0.4, "mode": "row"}), ("stochastic_depth", x, {"p": 0.4, "mode": "batch"}),
        ("drop_block2d", x, {"p": 0.3, "block_size": 3}), ("drop_block3d", x[None], {"p": 0.2, "block_size": 3}),
    ):  # fmt: skip
        tenfold.manual_seed(1)
        torch.manual_seed(1)
        found = getattr(ops, name)(tenfold.from_numpy(array), **options)
        expected = getattr(torchvision.ops, name)(torch.from_numpy(array), **options)
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-6, err_msg=name)


def test_feature_pyramid_and_pooling_from_it():
    torch.manual_seed(0)
    from torchvision.ops import feature_pyramid_network as theirs

    from tenfold.vision.ops import pyramid as ours

    levels = {str(i): RNG.standard_normal((2, 4 * (i + 1), 16 >> i, 12 >> i)) for i in range(3)}
    for extra in (None, "LastLevelMaxPool", "LastLevelP6P7"):
        arguments = (12, 8) if extra == "LastLevelP6P7" else ()
        other = theirs.FeaturePyramidNetwork([4, 8, 12], 8, extra and getattr(theirs, extra)(*arguments)).double()
        mine = ours.FeaturePyramidNetwork([4, 8, 12], 8, extra and getattr(ours, extra)(*arguments)).double()
        assert list(mine.state_dict()) == list(other.state_dict())
        mine.load_state_dict({k: tenfold.from_numpy(v.numpy()) for k, v in other.state_dict().items()})
        found = mine({k: tenfold.from_numpy(v) for k, v in levels.items()})
        expected = other({k: torch.from_numpy(v) for k, v in levels.items()})
        assert list(found) == list(expected)
        for name, value in expected.items():
            np.testing.assert_allclose(found[name].detach().numpy(), value.detach().numpy(), atol=1e-9)
    regions = [boxes(5, 40.0), boxes(3, 40.0)]
    settings = {
        "featmap_names": ["0", "1", "2"],
        "output_size": 3,
        "sampling_ratio": 2,
        "canonical_scale": 30,
        "canonical_level": 3,
    }
    shapes = [(64, 48), (60, 40)]
    a = {k: v.detach() for k, v in found.items()}
    b = {k: v.detach() for k, v in expected.items()}
    pooled = ops.MultiScaleRoIAlign(**settings)(a, [tenfold.from_numpy(r) for r in regions], shapes)
    expected = torchvision.ops.MultiScaleRoIAlign(**settings)(b, [torch.from_numpy(r) for r in regions], shapes)
    np.testing.assert_allclose(pooled.numpy(), expected.numpy(), atol=1e-9)
