"""Programs import from torchvision's own modules; each of these paths gives our object of that name."""

import importlib
import subprocess
import sys

import pytest

import tenfold
from tenfold.vision import datasets, models, ops
from tenfold.vision.models import detection
from tenfold.vision.models.detection.backbone_utils import mobilenet_backbone, resnet_fpn_backbone
from tenfold.vision.paths import MORE, SHOWN

IMPORTS = [
    ("models.detection.faster_rcnn", "FastRCNNPredictor", detection.rcnn.FastRCNNPredictor),
    ("models.detection.faster_rcnn", "fasterrcnn_resnet50_fpn", detection.fasterrcnn_resnet50_fpn),
    ("models.detection.mask_rcnn", "MaskRCNNPredictor", detection.rcnn.MaskRCNNPredictor),
    ("models.detection.rpn", "AnchorGenerator", detection.AnchorGenerator),
    ("models.detection.anchor_utils", "DefaultBoxGenerator", detection.DefaultBoxGenerator),
    ("models.detection.generalized_rcnn", "GeneralizedRCNN", detection.rcnn.GeneralizedRCNN),
    ("models.detection.image_list", "ImageList", detection.images.ImageList),
    ("models.detection.transform", "paste_masks_in_image", detection.images.paste_masks_in_image),
    ("models.detection.transform", "GeneralizedRCNNTransform", detection.images.GeneralizedRCNNTransform),
    ("models.detection.ssd", "ssd300_vgg16", detection.ssd300_vgg16),
    ("models.mobilenet", "mobilenet_v2", models.mobilenet_v2),
    ("models._utils", "IntermediateLayerGetter", models.feature_extraction.IntermediateLayerGetter),
    ("ops.roi_align", "roi_align", ops.roi_align),
    ("ops.poolers", "MultiScaleRoIAlign", ops.MultiScaleRoIAlign),
    ("ops.boxes", "complete_box_iou", ops.complete_box_iou),
    ("ops.feature_pyramid_network", "LastLevelMaxPool", ops.pyramid.LastLevelMaxPool),
    ("datasets.coco", "CocoDetection", datasets.CocoDetection),
    ("datasets.voc", "VOCDetection", datasets.VOCDetection),
]


@pytest.mark.parametrize(("path", "name", "thing"), IMPORTS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_name_at_its_path(path, name, thing):
    module = importlib.import_module(f"tenfold.vision.{path}")
    assert getattr(module, name) is thing
    assert name in dir(module)


def test_every_path_is_importable_and_says_what_it_lacks():
    for path in (*SHOWN, *MORE):
        module = importlib.import_module(f"tenfold.vision.{path}")
        assert importlib.util.find_spec(f"tenfold.vision.{path}") is not None
        with pytest.raises(AttributeError, match="has no attribute 'absent'"):
            module.absent
    for path, names in MORE.items():
        assert all(hasattr(importlib.import_module(f"tenfold.vision.{path}"), name) for name in names)


def test_a_module_does_not_take_the_place_of_the_function_of_its_name():
    code = "import tenfold.vision.ops.roi_align, tenfold.vision.ops as ops; assert type(ops.roi_align).__name__ == 'function'"
    subprocess.run([sys.executable, "-c", code], check=True)
    shown = importlib.import_module("tenfold.vision.ops.stochastic_depth")
    assert shown(tenfold.ones(2), 0.5, "row", training=False).tolist() == [1.0, 1.0]


def test_backbones_of_pyramids():
    network = resnet_fpn_backbone(backbone_name="resnet18", weights=None, trainable_layers=1, returned_layers=[2, 3])
    assert {name: tuple(level.shape) for name, level in network(tenfold.zeros(1, 3, 64, 64)).items()} == {
        "0": (1, 256, 8, 8), "1": (1, 256, 4, 4), "pool": (1, 256, 2, 2),
    }  # fmt: skip
    learning = {name.split(".")[1] for name, parameter in network.body.named_parameters() if parameter.requires_grad}
    assert learning == set()  # the last stage is none of those that the pyramid needs
    single = mobilenet_backbone(backbone_name="mobilenet_v2", weights=None, fpn=False)
    assert single(tenfold.zeros(1, 3, 64, 64)).shape == (1, single.out_channels, 2, 2)
    with pytest.raises(ValueError, match=r"Each returned_layers should be in the range \[1,4\], got \[5\]"):
        resnet_fpn_backbone(backbone_name="resnet18", weights=None, returned_layers=[5])
    with pytest.raises(ValueError, match=r"trainable_layers should be in the range \[0,5\]"):
        resnet_fpn_backbone(backbone_name="resnet18", weights=None, trainable_layers=6)


def test_lists_of_files(tmp_path):
    from tenfold.vision.datasets.utils import iterable_to_str, list_dir, list_files, verify_str_arg

    (tmp_path / "b").mkdir()
    (tmp_path / "a").mkdir()
    (tmp_path / "x.txt").write_text("")
    assert list_dir(tmp_path) == ["a", "b"]
    assert list_files(str(tmp_path), ".txt", prefix=True) == [str(tmp_path / "x.txt")]
    assert iterable_to_str(("a", "b")) == "'a', 'b'"
    with pytest.raises(ValueError, match=r"Unknown value 'c' for argument split\. Valid values are \{'a', 'b'\}\."):
        verify_str_arg("c", "split", ("a", "b"))
    with pytest.raises(ValueError, match="Expected type str for argument split"):
        verify_str_arg(1, "split")
