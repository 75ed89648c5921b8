"""torchvision's paths of modules that have another name here, such as `models.detection.faster_rcnn`.

Each shows, under torchvision's path, what our modules of that purpose define; a name is looked up when it is asked for.
"""

from __future__ import annotations

import importlib
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

ACTIONS = "datasets.actions"
ROOT = __name__.rpartition(".")[0]
ARRAYS, LISTED, FOLDERS, SCENES = "datasets.arrays", "datasets.photographs", "datasets.class_folders", "datasets.scenes"
QUANTIZED = ("googlenet", "inception", "mobilenet", "mobilenetv2", "mobilenetv3", "resnet", "shufflenetv2")

# torchvision's path: our modules in which its names are found; a name that differs here as name=ours.
SHOWN: dict[str, tuple[str, ...]] = {
    "datasets._optical_flow": ("datasets.optical_flow",),
    "datasets._stereo_matching": ("datasets.stereo",),
    "datasets.phototour": ("datasets.patches",),
    "datasets.pcam": ("datasets.databases",),
    "datasets.lsun": ("datasets.databases",),
    "datasets.places365": ("datasets.millions",),
    "datasets.inaturalist": ("datasets.millions",),
    "datasets.imagenet": ("datasets.millions",),
    "datasets.flickr": ("datasets.captions",),
    "datasets.sbu": ("datasets.captions",),
    "datasets.sbd": ("datasets.contours",),
    "datasets.cityscapes": ("datasets.contours",),
    "datasets.caltech": (
        "datasets.contours",
        "datasets.class_folders",
    ),
    "datasets.widerface": ("datasets.faces",),
    "datasets.lfw": ("datasets.faces",),
    "datasets.celeba": ("datasets.faces",),
    "datasets.clevr": (LISTED,),
    "datasets.coco": (SCENES,),
    "datasets.country211": (FOLDERS,),
    "datasets.dtd": (LISTED,),
    "datasets.eurosat": (FOLDERS,),
    "datasets.fer2013": (ARRAYS,),
    "datasets.fgvc_aircraft": (LISTED,),
    "datasets.flowers102": (LISTED,),
    "datasets.food101": (LISTED,),
    "datasets.gtsrb": (LISTED,),
    "datasets.imagenette": (FOLDERS,),
    "datasets.kitti": (SCENES,),
    "datasets.moving_mnist": (ARRAYS,),
    "datasets.omniglot": (FOLDERS,),
    "datasets.oxford_iiit_pet": (LISTED,),
    "datasets.rendered_sst2": (FOLDERS,),
    "datasets.semeion": (ARRAYS,),
    "datasets.stl10": (ARRAYS,),
    "datasets.stanford_cars": (LISTED,),
    "datasets.sun397": (FOLDERS,),
    "datasets.svhn": (ARRAYS,),
    "datasets.ucf101": (ACTIONS,),
    "datasets.hmdb51": (ACTIONS,),
    "datasets.kinetics": (ACTIONS,),
    "datasets.video_utils": ("datasets.clips",),
    "datasets.usps": (ARRAYS,),
    "datasets.voc": (SCENES,),
    "models._utils": ("models.feature_extraction",),
    "models._api": ("models.registry", "models.weights"),
    "models.mobilenet": ("models.mobilenetv2", "models.mobilenetv3"),
    "models.detection._utils": ("models.detection.boxes", "models.detection.ssd", "models.detection.backbones"),
    "models.detection.anchor_utils": ("models.detection.boxes", "models.detection.default_boxes", "models.detection.images"),
    "models.detection.backbone_utils": ("models.detection.backbones",),
    "models.detection.faster_rcnn": ("models.detection", "models.detection.rcnn"),
    "models.detection.generalized_rcnn": ("models.detection.rcnn",),
    "models.detection.image_list": ("models.detection.images",),
    "models.detection.mask_rcnn": ("models.detection", "models.detection.rcnn"),
    "models.detection.ssdlite": ("models.detection", "models.detection.published_ssd", "models.detection.ssd"),
    "models.detection.transform": ("models.detection.images", "models.detection.roi_heads"),
    **dict.fromkeys([f"models.quantization.{path}" for path in QUANTIZED], ("models.quantization",)),
    "ops.ciou_loss": ("ops.box_losses",),
    "ops.diou_loss": ("ops.box_losses",),
    "ops.drop_block": ("ops.dropping",),
    "ops.feature_pyramid_network": ("ops.pyramid",),
    "ops.giou_loss": ("ops.box_losses",),
    "ops.poolers": ("ops.pyramid",),
    "ops.ps_roi_align": ("ops.pooling",),
    "ops.ps_roi_pool": ("ops.pooling",),
    "ops.roi_align": ("ops.pooling",),
    "ops.roi_pool": ("ops.pooling",),
    "ops.stochastic_depth": ("ops.dropping",),
    "transforms.transforms": ("transforms", "transforms.private_names"),
}

# Names that torchvision has in a module which is called the same here; they are those of the package around it.
MORE: dict[str, tuple[str, ...]] = {
    "models.detection.keypoint_rcnn": ("KeypointRCNN_ResNet50_FPN_Weights", "keypointrcnn_resnet50_fpn"),
    "models.detection.rpn": ("AnchorGenerator",),
    "models.detection.ssd": ("SSD300_VGG16_Weights", "ssd300_vgg16"),
    "ops.boxes": ("complete_box_iou", "distance_box_iou"),
}


class ShownModule(ModuleType):
    """A module that has what some of ours have."""

    def __init__(self, path: str, sources: tuple[str, ...]) -> None:
        name = f"{ROOT}.{path}"
        super().__init__(name, f"torchvision's path to what {', '.join(sources)} define.")
        self.__spec__ = ModuleSpec(name, None)
        self.__package__ = name.rpartition(".")[0]
        self._modules = [source for source in sources if "=" not in source]
        self._renamed = dict(source.split("=") for source in sources if "=" in source)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        ours = self._renamed.get(name, name)
        for source in self._modules:
            module = importlib.import_module(f"{ROOT}.{source}")
            if hasattr(module, ours):
                return getattr(module, ours)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}; it shows {', '.join(self._modules)}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function of the same name, in whose place an import under yet another root puts this module."""
        return getattr(self, self.__name__.rpartition(".")[2])(*args, **kwargs)

    def __dir__(self) -> list[str]:
        names = {name for source in self._modules for name in dir(importlib.import_module(f"{ROOT}.{source}"))}
        return sorted({*super().__dir__(), *names, *self._renamed})


def show_paths(package: str) -> None:
    """Make torchvision's modules directly below one of our packages importable, and attributes of it.

    They stand in `sys.modules` beforehand: an import that had to find them would put the module ``ops.roi_align`` in the place of
    the function of that name.
    """
    below = package.removeprefix(f"{ROOT}.") + "."
    parent = sys.modules[package]
    for path, sources in SHOWN.items():
        leaf = path.removeprefix(below)
        if path.startswith(below) and "." not in leaf:
            module = sys.modules[f"{ROOT}.{path}"] = ShownModule(path, sources)
            if leaf not in vars(parent):
                setattr(parent, leaf, module)
    for path, names in MORE.items():
        if path.startswith(below) and "." not in path.removeprefix(below):
            vars(sys.modules[f"{ROOT}.{path}"]).update({name: getattr(parent, name) for name in names})
