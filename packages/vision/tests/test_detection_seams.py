"""What programs change in detectors: methods of a subclass, losses of a module, heads for other classes."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import tenfold
from tenfold import nn
from tenfold.vision.models import detection
from tenfold.vision.models.detection import _utils, anchor_utils, roi_heads
from tenfold.vision.models.detection.faster_rcnn import FasterRCNN, FastRCNNPredictor
from tenfold.vision.models.detection.generalized_rcnn import GeneralizedRCNN
from tenfold.vision.models.detection.retinanet import RetinaNetClassificationHead
from tenfold.vision.models.detection.rpn import RegionProposalNetwork, concat_box_prediction_layers
from tenfold.vision.models.detection.ssd import SSDClassificationHead
from tenfold.vision.models.detection.ssdlite import SSDLiteClassificationHead
from tenfold.vision.models.detection.transform import GeneralizedRCNNTransform
from tenfold.vision.ops import MultiScaleRoIAlign, generalized_box_iou

IMAGES = [tenfold.rand(3, 48, 48), tenfold.rand(3, 40, 56)]
TARGETS = [{"boxes": tenfold.tensor([[4.0, 4.0, 30.0, 40.0]]), "labels": tenfold.tensor([1])} for _ in IMAGES]
ONE_LEVEL = ((1.0,),)


class Body(nn.Sequential):
    out_channels = 32

    def __init__(self):
        super().__init__(*(layer for a in (3, 32, 32) for layer in (nn.Conv2d(a, 32, 3, 2, 1), nn.ReLU())))


def rcnn(kind=FasterRCNN, **options):
    anchors = detection.AnchorGenerator(((12, 20),), ONE_LEVEL)
    sizes = {"min_size": 48, "max_size": 64, "box_roi_pool": MultiScaleRoIAlign(["0"], 3, 2), "box_score_thresh": 0.0}
    return kind(Body(), 2, rpn_anchor_generator=anchors, **sizes, **options)


def retinanet(kind=detection.RetinaNet):
    return kind(Body(), 2, min_size=48, max_size=64, anchor_generator=detection.AnchorGenerator(((12, 20),), ONE_LEVEL))


def fcos(kind=detection.FCOS):
    return kind(Body(), 2, min_size=48, max_size=64, anchor_generator=detection.AnchorGenerator(((8,),), ONE_LEVEL))


def ssd(kind=detection.SSD):
    body = Body()
    body.out_channels = [32]  # one for each level, as SSD has it
    return kind(body, detection.DefaultBoxGenerator([[2]], scales=[0.2, 0.4]), (48, 48), 2)


def counted(cls, names):
    """The class, whose methods of these names write down that they were called."""
    calls = []

    def noted(name):
        original = getattr(cls, name)

        def method(self, *args, **kwargs):
            calls.append(name)
            return original(self, *args, **kwargs)

        return method

    return type(cls.__name__, (cls,), {name: noted(name) for name in names}), calls


def passes(network):
    network.train()(IMAGES, TARGETS)
    with tenfold.no_grad():
        network.eval()(IMAGES)


@pytest.mark.parametrize(
    ("build", "kind", "names"),
    [
        (rcnn, FasterRCNN, ["eager_outputs"]),
        (retinanet, detection.RetinaNet, ["compute_loss", "eager_outputs", "postprocess_detections"]),
        (fcos, detection.FCOS, ["compute_loss", "eager_outputs", "postprocess_detections"]),
        (ssd, detection.SSD, ["compute_loss", "eager_outputs", "postprocess_detections"]),
    ],
    ids=["rcnn", "retinanet", "fcos", "ssd"],
)
def test_methods_of_a_detectors_subclass_are_called(build, kind, names):
    cls, calls = counted(kind, names)
    passes(build(cls))
    assert sorted(set(calls)) == names
    assert calls.count("eager_outputs") == 2


PARTS = [
    ("rpn", RegionProposalNetwork, ["pre_nms_top_n", "post_nms_top_n", "filter_proposals", "assign_targets_to_anchors"]),
    ("rpn", RegionProposalNetwork, ["compute_loss"]),
    ("roi_heads", roi_heads.RoIHeads, ["has_mask", "has_keypoint", "add_gt_proposals", "assign_targets_to_proposals"]),
    ("roi_heads", roi_heads.RoIHeads, ["subsample", "check_targets", "select_training_samples", "postprocess_detections"]),
    (
        "transform",
        GeneralizedRCNNTransform,
        ["normalize", "resize", "torch_choice", "batch_images", "max_by_axis", "postprocess"],
    ),
    ("rpn.anchor_generator", anchor_utils.AnchorGenerator, ["set_cell_anchors", "grid_anchors"]),
]


@pytest.mark.parametrize(("path", "kind", "names"), PARTS, ids=lambda value: value if isinstance(value, str) else "")
def test_methods_of_a_parts_subclass_are_called(path, kind, names):
    network = rcnn()
    cls, calls = counted(kind, names)
    network.get_submodule(path).__class__ = cls
    passes(network)
    assert set(calls) == set(names)


def test_a_loss_put_in_the_modules_place_is_taken(monkeypatch):
    monkeypatch.setattr(
        roi_heads, "fastrcnn_loss", lambda logits, shifts, labels, codes: (logits.sum() * 0 + 7, shifts.sum() * 0)
    )
    losses = rcnn()(IMAGES, TARGETS)
    assert float(losses["loss_classifier"].detach()) == 7.0


def test_another_likeness_of_boxes_is_taken():
    network = rcnn()
    network.rpn.box_similarity = network.roi_heads.box_similarity = generalized_box_iou
    passes(network)


def test_heads_of_a_detector_are_added_afterwards():
    network = rcnn()
    heads = network.roi_heads
    assert isinstance(network, GeneralizedRCNN)
    heads.box_predictor = FastRCNNPredictor(1024, 5)
    heads.mask_roi_pool, heads.mask_head = MultiScaleRoIAlign(["0"], 4, 2), nn.Conv2d(32, 8, 1)
    heads.mask_predictor = detection.mask_rcnn.MaskRCNNPredictor(8, 8, 5)
    masks = [
        {**target, "masks": tenfold.ones(1, *image.shape[1:], dtype=tenfold.uint8)} for target, image in zip(TARGETS, IMAGES)
    ]
    assert "loss_mask" in network(IMAGES, masks)
    with pytest.raises(ValueError, match="Every element of targets should have a masks key"):
        network(IMAGES, TARGETS)


def test_heads_for_other_classes():
    network = retinanet()
    norm = partial(nn.GroupNorm, 4)
    network.head.classification_head = RetinaNetClassificationHead(32, 2, 7, norm_layer=norm)
    assert network(IMAGES, TARGETS)["classification"].isfinite()
    assert network.head.classification_head.cls_logits.bias[0].item() == pytest.approx(-np.log(99), rel=1e-6)
    single = ssd()
    widths = _utils.retrieve_out_channels(single.backbone, (48, 48))
    assert widths == [32]
    single.head.classification_head = SSDClassificationHead(in_channels=widths, num_anchors=[4], num_classes=9)
    assert single(IMAGES, TARGETS)["classification"].isfinite()
    light = SSDLiteClassificationHead([16], [4], 9, nn.BatchNorm2d)
    assert light([tenfold.zeros(2, 16, 3, 3)]).shape == (2, 36, 9)


def test_boxes_of_whole_numbers_keep_their_places():
    whole = GeneralizedRCNNTransform(24, 24, [0.0] * 3, [1.0] * 3)
    _, targets = whole([tenfold.rand(3, 48, 48)], [{"boxes": tenfold.tensor([[5, 4, 30, 41]])}])
    assert targets[0]["boxes"].tolist() == [[2.5, 2.0, 15.0, 20.5]]


def test_settings_of_the_transform():
    kept = GeneralizedRCNNTransform(24, 24, [0.0] * 3, [1.0] * 3, _skip_resize=True)
    assert kept([tenfold.rand(3, 48, 40)])[0].image_sizes == [(48, 40)]
    assert kept.eval()([tenfold.rand(3, 48, 40)])[0].image_sizes == [(24, 20)]
    assert kept.batch_images([tenfold.rand(3, 5, 7)], size_divisible=10).shape == (1, 3, 10, 10)


def test_steps_by_themselves():
    classes, shifts = concat_box_prediction_layers([tenfold.rand(2, 6, 4, 5)], [tenfold.rand(2, 12, 4, 5)])
    assert (classes.shape, shifts.shape) == ((2 * 4 * 5 * 3, 2), (2 * 4 * 5 * 3, 4))
    anchors = detection.AnchorGenerator(((12, 20),), ONE_LEVEL)
    assert anchors.generate_anchors((8.0,), (1.0,), dtype=tenfold.float64).tolist() == [[-4.0, -4.0, 4.0, 4.0]]
    assert anchors.grid_anchors([(1, 2)], [(8, 8)])[0].shape == (4, 4)
    coder = _utils.BoxLinearCoder(normalize_by_size=True)
    boxes, around = tenfold.tensor([[1.0, 2.0, 9.0, 12.0]]), tenfold.tensor([[0.0, 0.0, 8.0, 8.0]])
    assert coder.encode(boxes, around).tolist() == [[0.375, 0.25, 0.625, 1.0]]
    assert coder.decode(coder.encode(boxes, around), around).tolist() == boxes.tolist()


@pytest.mark.parametrize(("name", "value", "error"), [("labels", tenfold.tensor([1], dtype=tenfold.int32), "int64"),
                                                      ("boxes", None, "type Tensor")])  # fmt: skip
def test_targets_of_the_wrong_kind(name, value, error):
    with pytest.raises((TypeError, AssertionError), match=error):
        rcnn()(IMAGES, [{**target, name: value} for target in TARGETS])
