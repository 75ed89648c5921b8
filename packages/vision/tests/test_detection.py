"""Detectors: what they give, what they refuse, and that a small one learns."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold import nn, optim
from tenfold.vision.models import detection
from tenfold.vision.models.detection.boxes import BoxCoder, Matcher
from tenfold.vision.models.detection.head_losses import heatmaps_to_keypoints, keypoints_to_heatmap
from tenfold.vision.models.detection.images import paste_masks_in_image
from tenfold.vision.ops import MultiScaleRoIAlign, box_iou


class Body(nn.Sequential):
    """Maps of an eighth of the picture."""

    out_channels = 16

    def __init__(self):
        super().__init__(*(layer for a in (3, 16, 16) for layer in (nn.Conv2d(a, 16, 3, 2, 1), nn.ReLU())))


def small(kind=detection.FasterRCNN, **options):
    tenfold.manual_seed(0)
    anchors = detection.AnchorGenerator(((12, 20),), ((1.0,),))
    pool = MultiScaleRoIAlign(["0"], 3, 2)
    settings = {
        "rpn_pre_nms_top_n_train": 50,
        "rpn_post_nms_top_n_train": 30,
        "box_batch_size_per_image": 32,
        "size_divisible": 8,
    }
    settings |= {"min_size": 48, "max_size": 64}
    return kind(Body(), 2, rpn_anchor_generator=anchors, box_roi_pool=pool, **settings, **options)


def squares(count, rng):
    images, targets = [], []
    for _ in range(count):
        x, y = rng.integers(2, 30, 2)
        image = 0.1 * rng.random((3, 48, 48)).astype(np.float32)
        image[:, y : y + 16, x : x + 16] = 1.0
        images.append(tenfold.from_numpy(image))
        box = tenfold.tensor([[float(x), float(y), x + 16.0, y + 16.0]])
        targets.append(
            {"boxes": box, "labels": tenfold.tensor([1]), "masks": tenfold.from_numpy((image[:1] > 0.5).astype(np.uint8))}
        )
    return images, targets


def test_a_small_detector_learns_to_find_squares():
    network = small()
    optimizer = optim.Adam(network.parameters(), lr=3e-3)
    rng = np.random.default_rng(0)
    for _ in range(60):
        losses = network(*squares(4, rng))
        optimizer.zero_grad()
        sum(losses.values()).backward()
        optimizer.step()
    images, targets = squares(4, rng)
    with tenfold.no_grad():
        found = network.eval()(images)
    for detections, target in zip(found, targets, strict=True):
        assert detections["labels"][0].item() == 1
        assert float(box_iou(detections["boxes"][:1], target["boxes"])) > 0.6


def test_masks_have_the_pictures_size():
    network = small(detection.MaskRCNN, mask_roi_pool=MultiScaleRoIAlign(["0"], 4, 2), mask_head=nn.Conv2d(16, 256, 1))
    images, targets = squares(2, np.random.default_rng(1))
    losses = network(images, targets)
    assert set(losses) == {"loss_classifier", "loss_box_reg", "loss_mask", "loss_objectness", "loss_rpn_box_reg"}
    with tenfold.no_grad():
        found = network.eval()([images[0], tenfold.rand(3, 40, 60)])
    for detections, size in zip(found, ((48, 48), (40, 60)), strict=True):
        assert detections["masks"].shape == (len(detections["boxes"]), 1, *size)


def test_what_is_refused():
    network = small()
    images, _ = squares(1, np.random.default_rng(0))
    with pytest.raises(AssertionError, match="targets should not be none"):
        network(images)
    with pytest.raises(AssertionError, match="positive height and width"):
        network(images, [{"boxes": tenfold.tensor([[3.0, 3.0, 3.0, 9.0]]), "labels": tenfold.tensor([1])}])
    with pytest.raises(ValueError, match=r"\[C, H, W\]"):
        network.eval()([images[0][None]])
    with pytest.raises(TypeError, match="floating type"):
        network.eval()([tenfold.zeros(3, 8, 8, dtype=tenfold.uint8)])
    with pytest.raises(ValueError, match="out_channels"):
        detection.FasterRCNN(nn.ReLU(), 2)


def test_pictures_without_boxes_are_background():
    network = small()
    images, _ = squares(2, np.random.default_rng(0))
    nothing = {"boxes": tenfold.zeros(0, 4), "labels": tenfold.zeros(0, dtype=tenfold.int64)}
    losses = network(images, [nothing, nothing])
    assert float(losses["loss_box_reg"].detach()) == 0.0
    sum(losses.values()).backward()


def test_codes_are_undone():
    rng = np.random.default_rng(0)
    corners = rng.uniform(0, 50, (2, 6, 2))
    boxes = tenfold.from_numpy(np.concatenate([corners, corners + rng.uniform(1, 30, (2, 6, 2))], 2))
    coder = BoxCoder((10.0, 10.0, 5.0, 5.0))
    back = coder.decode_single(coder.encode_single(boxes[0], boxes[1]), boxes[1])
    np.testing.assert_allclose(back.numpy(), boxes[0].numpy(), rtol=1e-9)


def test_matches():
    overlaps = tenfold.tensor([[0.8, 0.1, 0.45, 0.2], [0.1, 0.2, 0.1, 0.25]])
    assert Matcher(0.5, 0.3)(overlaps).tolist() == [0, -1, -2, -1]
    assert Matcher(0.5, 0.3, allow_low_quality_matches=True)(overlaps).tolist() == [0, -1, -2, 1]
    with pytest.raises(ValueError, match="No ground-truth boxes"):
        Matcher(0.5, 0.3)(overlaps[:0])


def test_masks_are_pasted_where_their_boxes_are():
    pasted = paste_masks_in_image(tenfold.ones(1, 1, 4, 4), tenfold.tensor([[2.0, 3.0, 7.0, 6.0]]), (10, 12))
    assert pasted.shape == (1, 1, 10, 12)
    rows, columns = np.nonzero(pasted[0, 0].numpy() > 0.5)
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (3, 5, 2, 6)


def test_points_of_a_body_are_found_where_its_maps_are_highest():
    maps = tenfold.full((1, 2, 4, 4), -9.0)
    maps[0, 0, 1, 2], maps[0, 1, 3, 0] = 5.0, 7.0
    points, scores = heatmaps_to_keypoints(maps, tenfold.tensor([[10.0, 20.0, 14.0, 24.0]]))
    assert points.tolist() == [[[12.5, 21.5, 1.0], [10.5, 23.5, 1.0]]]
    assert scores.tolist() == [[5.0, 7.0]]


def test_points_become_cells_of_their_boxes_map():
    points = tenfold.tensor([[[10.0, 20.0, 1.0], [14.0, 24.0, 1.0], [12.0, 22.0, 0.0], [15.0, 22.0, 1.0]]])
    cells, seen = keypoints_to_heatmap(points, tenfold.tensor([[10.0, 20.0, 14.0, 24.0]]), 4)
    assert (cells.tolist(), seen.tolist()) == ([[0, 15, 0, 0]], [[True, True, False, False]])


def test_a_keypoint_detector_trains_and_finds():
    network = small(detection.KeypointRCNN, num_keypoints=2, keypoint_head=nn.Conv2d(16, 512, 1),
                    keypoint_roi_pool=MultiScaleRoIAlign(["0"], 4, 2), box_score_thresh=0.0)  # fmt: skip
    images, targets = squares(2, np.random.default_rng(0))
    for target in targets:
        corners = target["boxes"].reshape(1, 2, 2)
        target["keypoints"] = tenfold.cat([corners, tenfold.ones(1, 2, 1)], 2)
    losses = network(images, targets)
    sum(losses.values()).backward()
    assert float(losses["loss_keypoint"].detach()) > 0
    assert float(network.roi_heads.keypoint_predictor.kps_score_lowres.weight.grad.abs().sum()) > 0
    found = network.eval()(images)
    assert all(f["keypoints"].shape == (len(f["boxes"]), 2, 3) for f in found)
    assert all(f["keypoints_scores"].shape == (len(f["boxes"]), 2) for f in found)


class Levels(Body):
    """A backbone of two levels, which does not tell their widths."""

    out_channels = None

    def forward(self, x):
        near = super().forward(x)
        return {"0": near, "1": nn.functional.max_pool2d(near, 2)}


def test_a_small_ssd_learns_to_find_squares():
    tenfold.manual_seed(0)
    boxes = detection.DefaultBoxGenerator([[2], [2]], scales=[0.2, 0.35, 0.6])
    network = detection.SSD(Levels(), boxes, (48, 48), 2, score_thresh=0.3)
    optimizer = optim.Adam(network.parameters(), lr=3e-3)
    rng = np.random.default_rng(0)
    for _ in range(80):
        losses = network(*squares(4, rng))
        optimizer.zero_grad()
        sum(losses.values()).backward()
        optimizer.step()
    images, targets = squares(4, rng)
    for found, target in zip(network.eval()(images), targets, strict=True):
        assert float(box_iou(found["boxes"][:1], target["boxes"])) > 0.5


def test_a_pixel_learns_the_smallest_box_in_whose_middle_it_lies():
    network = detection.FCOS(Body(), 2, head=nn.Identity(), anchor_generator=detection.AnchorGenerator(((8,),), ((1.0,),)))
    places = tenfold.tensor([[12.0, 12.0, 20.0, 20.0], [36.0, 36.0, 44.0, 44.0]])  # around (16, 16) and (40, 40)
    boxes = tenfold.tensor([[0.0, 0.0, 34.0, 34.0], [8.0, 8.0, 24.0, 24.0]])
    assert network.matches(boxes, places, [2]).tolist() == [1, -1]
    assert network.matches(boxes[:0], places, [2]).tolist() == [-1, -1]


def test_single_shot_detectors_refuse_what_does_not_fit():
    with pytest.raises(ValueError, match="one for each"):
        detection.DefaultBoxGenerator([[2], [2]], steps=[8])
    with pytest.raises(ValueError, match="2 levels, the anchors 1"):
        detection.SSD(Levels(), detection.DefaultBoxGenerator([[2]]), (48, 48), 2)
    with pytest.raises(ValueError, match="a pixel has one anchor"):
        detection.FCOS(Body(), 2, anchor_generator=detection.AnchorGenerator(((8, 16),), ((1.0,),)))
    with pytest.raises(ValueError, match="300 by 300"):
        detection.ssd300_vgg16(weights_backbone=None, size=(512, 512))
