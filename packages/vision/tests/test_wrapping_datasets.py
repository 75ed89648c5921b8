"""Samples of data sets as transforms.v2 knows them, and masks as COCO writes them."""

from __future__ import annotations

import json
import pickle

import dataset_files as files
import numpy as np
import pytest

import tenfold
from tenfold.vision import datasets, tv_tensors
from tenfold.vision.datasets import wrap_dataset_for_transforms_v2 as wrap
from tenfold.vision.datasets.outlines import mask_of
from tenfold.vision.transforms import v2

CASES = {files.named(case): case for case in files.LAYOUTS}
SQUARE = [[1, 1, 3, 1, 3, 2, 1, 2]]
ROWS = [
    {"image_id": 5, "id": 1, "category_id": 7, "bbox": [0, 0, 2, 1], "segmentation": SQUARE, "area": 2.0, "iscrowd": 0},
    {"image_id": 5, "id": 2, "category_id": 9, "bbox": [1, 0, 2, 2], "area": 4.0, "iscrowd": 1,
     "segmentation": {"counts": [0, 2, 4], "size": [2, 3]}},
]  # fmt: skip


def coco(root, **options):
    known = {"images": [{"id": 5, "file_name": "a.png"}, {"id": 6, "file_name": "a.png"}], "annotations": ROWS}
    files.lay(root, {"a.png": files.red(1), "boxes.json": json.dumps(known)})
    return datasets.CocoDetection(root, root / "boxes.json", **options)


def test_coco(tmp_path):
    _, target = wrap(coco(tmp_path))[0]
    assert sorted(target) == ["boxes", "image_id", "labels"]
    assert isinstance(target["boxes"], tv_tensors.BoundingBoxes)
    assert (target["boxes"].tolist(), target["boxes"].canvas_size) == ([[0, 0, 2, 1], [1, 0, 3, 2]], (2, 3))
    assert (target["image_id"], target["labels"].tolist()) == (5, [7, 9])
    assert wrap(coco(tmp_path))[1][1] == {"image_id": 6}
    _, everything = wrap(coco(tmp_path), target_keys="all")[0]
    assert everything["area"] == [2.0, 4.0]
    assert isinstance(everything["masks"], tv_tensors.Mask)
    assert everything["masks"][1].tolist() == [[1, 0, 0], [1, 0, 0]]
    assert list(wrap(coco(tmp_path), target_keys=["labels"])[0][1]) == ["labels"]


def test_transforms_come_after(tmp_path):
    flip = v2.Compose([v2.ToImage(), v2.RandomHorizontalFlip(p=1)])
    plain = coco(tmp_path, transforms=flip)
    wrapped = wrap(plain)
    image, target = wrapped[0]
    assert isinstance(image, tv_tensors.Image)
    assert target["boxes"].tolist() == [[1, 0, 3, 1], [0, 0, 2, 2]]
    assert plain.transforms is flip  # the data set itself is as it was
    assert isinstance(wrapped, datasets.CocoDetection)
    assert wrapped.ids == [5, 6]
    again = pickle.loads(pickle.dumps(wrap(coco(tmp_path))))
    assert again[0][1]["boxes"].tolist() == [[0, 0, 2, 1], [1, 0, 3, 2]]


def test_kinds_of_targets(tmp_path):
    def first(name):
        return wrap(files.made(datasets, CASES[name], tmp_path / name[:8]))[0][1]

    assert isinstance(first("SBDataset-segmentation"), tv_tensors.Mask)
    street = first("Cityscapes")
    assert (street["labels"].tolist(), street["masks"].shape) == ([26], (1, 1, 2, 3))
    assert first("WIDERFace-val")["bbox"].tolist() == [[1, 2, 4, 6], [5, 6, 12, 14]]
    assert first("WIDERFace-test") is None
    assert first("Caltech101") == 0


def test_what_cannot_be_wrapped(tmp_path):
    faces = files.made(datasets, CASES["CelebA"], tmp_path / "faces")
    with pytest.raises(RuntimeError, match="CelebA with the target_type 'attr' or 'landmarks' is not supported"):
        wrap(faces)
    with pytest.raises(TypeError, match="expected a subclass of VisionDataset, got list"):
        wrap([1])
    with pytest.raises(TypeError, match="No wrapper exists for dataset class Flickr8k"):
        wrap(files.made(datasets, CASES["Flickr8k-page.html"], tmp_path / "page"))
    with pytest.raises(ValueError, match=r"Target keys \['mask'\] are not available; CocoDetection has"):
        wrap(coco(tmp_path), ["mask"])
    with pytest.raises(ValueError, match="`target_keys` can be None, 'all', or a collection of strings"):
        wrap(coco(tmp_path), "labels")
    with pytest.raises(ValueError, match="only supported for CocoDetection"):
        wrap(files.made(datasets, CASES["Caltech101"], tmp_path / "things"), ["labels"])


def test_masks_of_outlines():
    assert mask_of([[0, 0, 2, 0, 2, 2, 0, 2]], (3, 3)).tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 0]]
    two = mask_of([[0, 0, 1, 0, 1, 1, 0, 1], [2, 2, 3, 2, 3, 3, 2, 3]], (3, 3))
    assert two.tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 1]]
    assert int(mask_of([], (2, 2)).sum()) == 0
    with pytest.raises(ValueError, match="should be a dict or a list"):
        mask_of("x", (2, 2))
    with pytest.raises(ValueError, match="runs of 3 pixels do not fill 2x2"):
        mask_of({"counts": [3], "size": [2, 2]}, (2, 2))


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # of those tools themselves
def test_masks_are_those_of_cocos_own_tools():
    tools = pytest.importorskip("pycocotools.mask")
    generator = np.random.default_rng(0)
    for _ in range(200):
        height, width = (int(side) for side in generator.integers(1, 30, 2))
        corners = generator.random((int(generator.integers(3, 9)), 2)) * [width * 1.2, height * 1.2] - [width * 0.1, height * 0.1]
        outline = np.round(corners, int(generator.integers(0, 4))).ravel().tolist()
        expected = tools.decode(tools.merge(tools.frPyObjects([outline], height, width)))
        np.testing.assert_array_equal(mask_of([outline], (height, width)).numpy(), expected)
        packed = tools.encode(np.asfortranarray(expected))
        np.testing.assert_array_equal(mask_of(packed, (height, width)).numpy(), expected)


def test_compressed_runs():
    assert mask_of({"counts": b"122", "size": [1, 5]}, (1, 5)).tolist() == [[0, 1, 1, 0, 0]]
    assert tenfold.equal(
        mask_of({"counts": "122", "size": [1, 5]}, (1, 5)), mask_of({"counts": [1, 2, 2], "size": [1, 5]}, (1, 5))
    )
