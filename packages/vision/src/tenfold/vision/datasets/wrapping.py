"""Samples of published data sets as `transforms.v2` knows them: boxes, masks and films as `tv_tensors`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np

import tenfold
from tenfold import Tensor
from tenfold.vision import tv_tensors
from tenfold.vision.datasets import arrays, cifar, class_folders, contours, faces, folder, millions, mnist, photographs, scenes
from tenfold.vision.datasets.outlines import mask_of
from tenfold.vision.datasets.vision import VisionDataset

Wrap = Callable[[int, Any], Any]  # of an index and its sample
Keys = Collection[str]
VOC_CLASSES = """__background__ aeroplane bicycle bird boat bottle bus car cat chair cow diningtable dog horse motorbike person
pottedplant sheep sofa train tvmonitor""".split()
KITTI_CLASSES = "Car Van Truck Pedestrian Person_sitting Cyclist Tram Misc DontCare".split()
KITTI_KEYS = {"type", "truncated", "occluded", "alpha", "bbox", "dimensions", "location", "rotation_y"}
COCO_KEYS = {"segmentation", "area", "iscrowd", "image_id", "bbox", "category_id"}


def wrap_dataset_for_transforms_v2(dataset: Any, target_keys: Collection[str] | str | None = None) -> Any:
    """The same data set, whose samples `transforms.v2` changes as what they are.

    Masks of pictures become `Mask`, films `Video`, boxes `BoundingBoxes` in the format "XYXY". Of CocoDetection, Kitti,
    VOCDetection and WIDERFace the target is a dictionary, and ``target_keys`` are the ones wanted: some names, "all", or None for
    the usual (boxes, labels, and of COCO the picture's number). Of Cityscapes, instances are a dictionary of "masks" and
    "labels". Classes stay numbers. Transforms that the data set was made with are applied afterwards.

    Raises:
        TypeError: it is no data set of pictures, or of a kind whose samples are not known.
        ValueError: keys that there are not, or keys for a target that is no dictionary.
        RuntimeError: a kind of target that `transforms.v2` cannot change.
    """
    if not isinstance(dataset, VisionDataset):
        raise TypeError(
            f"wrap_dataset_for_transforms_v2: expected a subclass of VisionDataset, got {type(dataset).__name__}; "
            "of a data set of your own, give boxes and masks as tv_tensors in __getitem__"
        )
    if not (target_keys is None or target_keys == "all" or _are_names(target_keys)):
        raise ValueError(
            f"wrap_dataset_for_transforms_v2: `target_keys` can be None, 'all', or a collection of strings, got {target_keys}"
        )
    kind = type(f"Wrapped{type(dataset).__name__}", (_Wrapped, type(dataset)), {})
    return kind(dataset, target_keys)


def _are_names(keys: Any) -> bool:
    return isinstance(keys, Collection) and not isinstance(keys, str) and all(isinstance(key, str) for key in keys)


class _Wrapped:
    """A data set around another, of whose class it also is."""

    def __init__(self, dataset: Any, target_keys: Any) -> None:
        rule = next((RULES[cls] for cls in type(dataset).__mro__ if cls in RULES), None)
        if rule is None:
            raise TypeError(
                f"wrap_dataset_for_transforms_v2: No wrapper exists for dataset class {type(dataset).__name__}; "
                "give its boxes and masks as tv_tensors yourself"
            )
        keys = _keys(dataset, target_keys, rule)
        self._dataset, self._target_keys, self._wrap = copy(dataset), target_keys, rule.make(dataset, keys)
        self.transform, self.target_transform, self.transforms = dataset.transform, dataset.target_transform, dataset.transforms
        self._dataset.transform = self._dataset.target_transform = self._dataset.transforms = None

    def __getattr__(self, name: str) -> Any:
        if name == "_dataset":  # not there yet, while being unpickled
            raise AttributeError(name)
        return getattr(self._dataset, name)

    def __getitem__(self, index: int) -> Any:
        sample = self._wrap(index, self._dataset[index])
        return sample if self.transforms is None else self.transforms(*sample)

    def __len__(self) -> int:
        return len(self._dataset)

    def __reduce__(self) -> Any:  # its class is made when it is wrapped
        dataset = copy(self._dataset)
        dataset.transform, dataset.target_transform = self.transform, self.target_transform
        dataset.transforms = self.transforms
        return wrap_dataset_for_transforms_v2, (dataset, self._target_keys)


class Rule(NamedTuple):
    """How samples of a data set are wrapped; the keys that its target may have, and those that it has if none are asked for."""

    make: Callable[[Any, Keys], Wrap]
    available: frozenset[str] = frozenset()
    usual: frozenset[str] = frozenset()


def _keys(dataset: Any, wanted: Any, rule: Rule) -> Keys:
    if wanted is None:
        return rule.usual
    if not rule.available:
        raise ValueError(
            "wrap_dataset_for_transforms_v2: `target_keys` is only supported for CocoDetection, VOCDetection, Kitti and "
            f"WIDERFace, but got {type(dataset).__name__}"
        )
    if wanted == "all":
        return rule.available
    extra = sorted(set(wanted) - rule.available)
    if extra:
        raise ValueError(f"Target keys {extra} are not available; {type(dataset).__name__} has {sorted(rule.available)}")
    return set(wanted)


def _boxes(corner_and_size: Any, canvas: Sequence[int]) -> Tensor:
    """Boxes given by a corner and their size, as two corners."""
    values = tenfold.as_tensor(corner_and_size)
    corners = tenfold.cat([values[..., :2], values[..., :2] + values[..., 2:]], -1)
    return tv_tensors.BoundingBoxes(corners, format="XYXY", canvas_size=(canvas[0], canvas[1]))


def _canvas(picture: Any) -> tuple[int, int]:
    return tuple(picture.shape[-2:]) if isinstance(picture, Tensor) else (picture.height, picture.width)


def _unchanged(dataset: Any, keys: Keys) -> Wrap:
    return lambda index, sample: sample


def _mask(dataset: Any, keys: Keys) -> Wrap:
    return lambda index, sample: (sample[0], tv_tensors.Mask(sample[1]))


def _refused(dataset: Any, what: str) -> RuntimeError:
    return RuntimeError(f"wrap_dataset_for_transforms_v2: {type(dataset).__name__} with {what} is not supported")


def _by_kind(dataset: Any, kinds: Sequence[str], wrappers: dict[str, Callable[[Any, Any], Any]]) -> Wrap:
    """Each of several kinds of targets by its own function of picture and target; others stay."""

    def wrap(index: int, sample: Any) -> Any:
        picture, target = sample
        if target is None:
            return sample
        targets = list(target) if isinstance(target, (tuple, list)) else [target]
        changed = [wrappers.get(kind, lambda _, each: each)(picture, each) for kind, each in zip(kinds, targets, strict=False)]
        return picture, changed[0] if len(changed) == 1 else tuple(changed)

    return wrap


def _caltech(dataset: Any, keys: Keys) -> Wrap:
    if "annotation" in dataset.target_type:
        raise _refused(dataset, "the target_type 'annotation'")
    return _unchanged(dataset, keys)


def _edges(dataset: Any, keys: Keys) -> Wrap:
    if dataset.mode == "boundaries":
        raise _refused(dataset, "the mode 'boundaries'")
    return _mask(dataset, keys)


def _celeba(dataset: Any, keys: Keys) -> Wrap:
    if {"attr", "landmarks"} & set(dataset.target_type):
        raise _refused(dataset, "the target_type 'attr' or 'landmarks'")
    return _by_kind(dataset, dataset.target_type, {"bbox": lambda picture, box: _boxes(box, _canvas(picture))})


def _pets(dataset: Any, keys: Keys) -> Wrap:
    return _by_kind(dataset, dataset.target_types, {"segmentation": lambda picture, mask: tv_tensors.Mask(mask)})


def _cityscapes(dataset: Any, keys: Keys) -> Wrap:
    if {"polygon", "color"} & set(dataset.target_type):
        raise _refused(dataset, "the target_type 'polygon' or 'color'")
    wrappers = {"instance": lambda picture, mask: _instances(mask), "semantic": lambda picture, mask: tv_tensors.Mask(mask)}
    return _by_kind(dataset, dataset.target_type, wrappers)


def _instances(picture: Any) -> dict[str, Tensor]:
    """A mask and a class for each number in a picture: a class, or a class times a thousand and a number of its thing."""
    values = np.asarray(picture)[None].astype(np.int64)
    numbers = np.unique(values)
    masks = tenfold.from_numpy(np.stack([values == number for number in numbers]))
    labels = tenfold.from_numpy(np.where(numbers >= 1000, numbers // 1000, numbers))
    return {"masks": tv_tensors.Mask(masks), "labels": labels}


def _columns(rows: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    names = {name: None for row in rows for name in row}
    return {name: [row[name] for row in rows if name in row] for name in names}


def _coco(dataset: Any, keys: Keys) -> Wrap:
    def wrap(index: int, sample: Any) -> Any:
        picture, rows = sample
        number = dataset.ids[index]
        if not rows:
            return picture, {"image_id": number}
        columns, canvas = _columns(rows), _canvas(picture)
        made: dict[str, Callable[[], Any]] = {
            "image_id": lambda: number,
            "boxes": lambda: _boxes(columns["bbox"], canvas),
            "masks": lambda: tv_tensors.Mask(tenfold.stack([mask_of(each, canvas) for each in columns["segmentation"]])),
            "labels": lambda: tenfold.tensor(columns["category_id"]),
        }
        return picture, {key: made[key]() if key in made else columns[key] for key in keys}

    return wrap


def _voc(dataset: Any, keys: Keys) -> Wrap:
    def wrap(index: int, sample: Any) -> Any:
        picture, target = sample
        rows = target["annotation"]["object"]
        corners = [[int(row["bndbox"][side]) for side in ("xmin", "ymin", "xmax", "ymax")] for row in rows]
        known = {
            "annotation": target["annotation"],
            "boxes": tv_tensors.BoundingBoxes(corners, format="XYXY", canvas_size=_canvas(picture)),
            "labels": tenfold.tensor([VOC_CLASSES.index(row["name"]) for row in rows]),
        }
        return picture, {key: known[key] for key in keys}

    return wrap


def _kitti(dataset: Any, keys: Keys) -> Wrap:
    def wrap(index: int, sample: Any) -> Any:
        picture, rows = sample
        if rows is None:
            return sample
        columns: dict[str, Any] = _columns(rows)
        columns["boxes"] = tv_tensors.BoundingBoxes(columns["bbox"], format="XYXY", canvas_size=_canvas(picture))
        columns["labels"] = tenfold.tensor([KITTI_CLASSES.index(name) for name in columns["type"]])
        return picture, {key: columns[key] for key in keys}

    return wrap


def _wider(dataset: Any, keys: Keys) -> Wrap:
    def wrap(index: int, sample: Any) -> Any:
        picture, target = sample
        if target is None:
            return sample
        chosen = {key: target[key] for key in keys}
        return picture, {**chosen, "bbox": _boxes(target["bbox"], _canvas(picture))} if "bbox" in keys else chosen

    return wrap


WIDER_KEYS = frozenset({"bbox", *faces.FACE})
RULES: dict[type, Rule] = {
    **dict.fromkeys(
        (class_folders.Caltech256, cifar.CIFAR10, cifar.CIFAR100, millions.ImageNet, mnist.MNIST, mnist.FashionMNIST,
         photographs.GTSRB, folder.DatasetFolder, folder.ImageFolder, class_folders.Imagenette, scenes.CocoCaptions, arrays.SVHN,
         arrays.STL10),
        Rule(_unchanged),
    ),
    scenes.VOCSegmentation: Rule(_mask),
    contours.Caltech101: Rule(_caltech),
    contours.SBDataset: Rule(_edges),
    contours.Cityscapes: Rule(_cityscapes),
    faces.CelebA: Rule(_celeba),
    photographs.OxfordIIITPet: Rule(_pets),
    scenes.CocoDetection: Rule(
        _coco, frozenset(COCO_KEYS | {"boxes", "masks", "labels"}), frozenset({"image_id", "boxes", "labels"})
    ),
    scenes.VOCDetection: Rule(_voc, frozenset({"annotation", "boxes", "labels"}), frozenset({"boxes", "labels"})),
    scenes.Kitti: Rule(_kitti, frozenset(KITTI_KEYS | {"boxes", "labels"}), frozenset({"boxes", "labels"})),
    faces.WIDERFace: Rule(_wider, WIDER_KEYS, WIDER_KEYS),
}  # fmt: skip
