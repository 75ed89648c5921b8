"""Detectors against torchvision's: losses and gradients while training, detections afterwards, from the same parameters."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.vision.models import detection

torch = pytest.importorskip("torch")
torchvision = pytest.importorskip("torchvision", exc_type=(ImportError, RuntimeError))
torchvision.extension._has_ops = lambda: True  # those that detectors ask for are restated beside these tests

SMALL = {"weights": None, "weights_backbone": None, "num_classes": 3, "min_size": 64, "max_size": 96}
FAST = {"rpn_pre_nms_top_n_train": 60, "rpn_post_nms_top_n_train": 40, "rpn_pre_nms_top_n_test": 60}
FAST |= {"rpn_post_nms_top_n_test": 20}
NAMES = [
    "fasterrcnn_mobilenet_v3_large_fpn",
    "fasterrcnn_resnet50_fpn",
    "fcos_resnet50_fpn",
    "keypointrcnn_resnet50_fpn",
    "maskrcnn_resnet50_fpn",
    "retinanet_resnet50_fpn",
    "retinanet_resnet50_fpn_v2",
    "ssd300_vgg16",
    "ssdlite320_mobilenet_v3_large",
]
OPTIONS = {
    "retinanet": {"score_thresh": 0.0101, "topk_candidates": 50},
    "fcos": {"score_thresh": 0.05, "topk_candidates": 50},
    "ssd300": {"score_thresh": 0.35, "topk_candidates": 20},
    "ssdlite": {"score_thresh": 0.3, "topk_candidates": 20},
    "keypoint": {**FAST, "box_score_thresh": 0.01, "box_detections_per_img": 5, "box_batch_size_per_image": 8},
}


def pair(name):
    torch.manual_seed(0)
    single = next((options for kind, options in OPTIONS.items() if name.startswith(kind)), None)
    sized = {key: value for key, value in SMALL.items() if "ssd" not in name or "size" not in key}
    options = sized | (single or {**FAST, "box_score_thresh": 0.2})
    theirs = getattr(torchvision.models.detection, name)(**options).double()
    ours = getattr(detection, name)(**options).double()
    if name.startswith("keypoint"):
        for network, sequence in ((ours, tenfold.nn.Sequential), (theirs, torch.nn.Sequential)):
            layers = list(network.roi_heads.keypoint_head)
            network.roi_heads.keypoint_head = sequence(*layers[:2], *layers[14:])  # two of the eight wide layers tell as much
    ours.load_state_dict({key: tenfold.from_numpy(value.numpy()) for key, value in theirs.state_dict().items()})
    return ours, theirs


def pictures(name):
    rng = np.random.default_rng(0)
    images = [rng.random((3, 60, 80)), rng.random((3, 72, 50))]
    targets = [
        {"boxes": np.array([[5.0, 6.0, 40.0, 50.0], [30.0, 10.0, 70.0, 55.0]]), "labels": np.array([1, 2])},
        {"boxes": np.array([[3.0, 20.0, 30.0, 60.0]]), "labels": np.array([2])},
    ]
    for image, target in zip(images, targets, strict=True):
        if "keypoint" in name:
            spread = rng.random((len(target["labels"]), 17, 3)) * [90.0, 90.0, 1.6]
            target["keypoints"] = np.concatenate([spread[..., :2], spread[..., 2:] // 0.5], 2).astype(np.float32)
        if "mask" in name:
            target["masks"] = (rng.random((len(target["labels"]), *image.shape[1:])) > 0.5).astype(np.uint8)
    return images, targets


@pytest.mark.parametrize("name", NAMES)
def test_losses_and_gradients(name):
    ours, theirs = pair(name)
    images, targets = pictures(name)
    tenfold.manual_seed(1)
    torch.manual_seed(1)
    found = ours([tenfold.from_numpy(i) for i in images], [{k: tenfold.from_numpy(v) for k, v in t.items()} for t in targets])
    expected = theirs([torch.from_numpy(i) for i in images], [{k: torch.from_numpy(v) for k, v in t.items()} for t in targets])
    assert set(found) == set(expected)
    for key, value in expected.items():
        np.testing.assert_allclose(float(found[key]), float(value.detach()), rtol=1e-6, err_msg=key)
    sum(found.values()).backward()
    sum(expected.values()).backward()
    mine = dict(ours.named_parameters())
    for key, parameter in theirs.named_parameters():
        if parameter.grad is not None:
            scale = float(parameter.grad.abs().max())
            np.testing.assert_allclose(mine[key].grad.numpy(), parameter.grad.numpy(), atol=1e-6 * scale + 1e-12, err_msg=key)


@pytest.mark.parametrize("name", NAMES)
def test_detections(name):
    ours, theirs = pair(name)
    images, _ = pictures("")
    with torch.no_grad(), tenfold.no_grad():
        found = ours.eval()([tenfold.from_numpy(i) for i in images])
        expected = theirs.eval()([torch.from_numpy(i) for i in images])
    assert sum(len(detections["boxes"]) for detections in expected) > 0
    for mine, other in zip(found, expected, strict=True):
        assert set(mine) == set(other)
        for key, value in other.items():
            np.testing.assert_allclose(mine[key].numpy(), value.numpy(), atol=1e-6, err_msg=key)
