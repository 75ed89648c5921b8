"""Grids, drawing, box operators and dataset facts, compared with torchvision's."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold import vision
from tenfold.vision import datasets, ops, utils

torch = pytest.importorskip("torch")
torchvision = pytest.importorskip("torchvision", exc_type=ImportError)

RNG = np.random.default_rng(1)


def both(call, *arrays, atol=1e-6):
    ours = call(vision, *(tenfold.from_numpy(array) for array in arrays))
    theirs = call(torchvision, *(torch.from_numpy(array) for array in arrays))
    assert str(ours.dtype).split(".")[-1] == str(theirs.dtype).split(".")[-1]
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-6, atol=atol)


GRIDS = {
    "default": (lambda v, x: v.utils.make_grid(x), (10, 3, 5, 4)),
    "grey": (lambda v, x: v.utils.make_grid(x, nrow=3, padding=1, pad_value=0.5), (7, 1, 5, 4)),
    "normalize": (lambda v, x: v.utils.make_grid(x, normalize=True), (3, 3, 5, 4)),
    "each": (lambda v, x: v.utils.make_grid(x, normalize=True, scale_each=True), (3, 3, 5, 4)),
    "range": (lambda v, x: v.utils.make_grid(x, normalize=True, value_range=(-1, 0.5)), (3, 3, 5, 4)),
    "one": (lambda v, x: v.utils.make_grid(x), (1, 3, 5, 4)),
    "image": (lambda v, x: v.utils.make_grid(x), (1, 5, 4)),
    "plane": (lambda v, x: v.utils.make_grid(x), (5, 4)),
    "list": (lambda v, x: v.utils.make_grid(list(x)), (3, 3, 5, 4)),
}


@pytest.mark.parametrize("name", GRIDS)
def test_grid(name):
    call, shape = GRIDS[name]
    both(call, RNG.standard_normal(shape).astype(np.float32))


def random_boxes(count, dtype="float32"):
    corners = RNG.integers(0, 20, (count, 2))
    return np.concatenate([corners, corners + RNG.integers(1, 15, (count, 2))], axis=1).astype(dtype)


BOX_CALLS = {
    "area": lambda v, a, b: v.ops.box_area(a),
    "iou": lambda v, a, b: v.ops.box_iou(a, b),
    "giou": lambda v, a, b: v.ops.generalized_box_iou(a, b),
    "clip": lambda v, a, b: v.ops.clip_boxes_to_image(a, (10, 16)),
    "small": lambda v, a, b: v.ops.remove_small_boxes(a, 6),
}


@pytest.mark.parametrize("name", BOX_CALLS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int16"])
def test_boxes(name, dtype):
    both(BOX_CALLS[name], random_boxes(12, dtype), random_boxes(9, dtype))


@pytest.mark.parametrize("source", ["xyxy", "xywh", "cxcywh"])
@pytest.mark.parametrize("target", ["xyxy", "xywh", "cxcywh"])
def test_box_convert(source, target):
    both(lambda v, a: v.ops.box_convert(a, source, target), random_boxes(6))


@pytest.mark.parametrize("options", [{}, {"alpha": 0.6, "gamma": 1.5}, {"alpha": -1, "reduction": "mean"}, {"reduction": "sum"}])
def test_focal_loss(options):
    logits = RNG.standard_normal((5, 4)).astype(np.float32)
    labels = RNG.integers(0, 2, (5, 4)).astype(np.float32)
    both(lambda v, x, y: v.ops.sigmoid_focal_loss(x, y, **options), logits, labels)


def test_masks_to_boxes():
    both(lambda v, m: v.ops.masks_to_boxes(m), RNG.random((4, 9, 8)) > 0.8)


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"colors": "red", "width": 2},
        {"fill": True, "colors": ["#00FF00", (1, 2, 3), "blue"]},
        {"labels": ["a", None, "cat"]},
        {"labels": ["a", None, "cat"], "fill_labels": True, "label_background_colors": "yellow"},
        {"labels": ["a", "b", "cat"], "fill_labels": True, "label_colors": ["red", "blue", "white"], "colors": "green"},
        {"labels": ["a", "b", "cat"], "label_background_colors": "yellow"},
    ],
)
def test_draw_boxes(dtype, options):
    image = RNG.integers(0, 256, (3, 40, 50)).astype(np.uint8)
    image = image if dtype == "uint8" else image.astype(np.float32) / 255
    both(lambda v, x, b: v.utils.draw_bounding_boxes(x, b, **options), image, random_boxes(3))


@pytest.mark.parametrize("options", [{}, {"fill": True, "width": 2, "colors": "red"}, {"labels": ["a", "b"]}])
def test_draw_turned_boxes(options):
    image = RNG.integers(0, 256, (3, 40, 50)).astype(np.uint8)
    corners = np.array([[5.0, 20, 25, 5, 33, 17, 12, 34], [40, 10, 48, 10, 48, 30, 40, 30]])
    both(lambda v, x, b: v.utils.draw_bounding_boxes(x, b, **options), image, corners)


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("options", [{}, {"alpha": 0.3, "colors": "red"}, {"colors": ["red", (0, 9, 200), "green"]}])
def test_draw_masks(dtype, options):
    image = RNG.integers(0, 256, (3, 10, 12)).astype(np.uint8)
    image = image if dtype == "uint8" else image.astype(np.float32) / 255
    both(lambda v, x, m: v.utils.draw_segmentation_masks(x, m, **options), image, RNG.random((3, 10, 12)) > 0.6)


@pytest.mark.parametrize("name", ["MNIST", "FashionMNIST", "KMNIST"])
def test_dataset_facts(name):
    ours, theirs = getattr(datasets, name), getattr(torchvision.datasets, name)
    assert ours.resources == theirs.resources
    assert ours.classes == theirs.classes
    assert set(ours.mirrors) >= set(theirs.mirrors[:1])


def test_emnist_facts():
    assert datasets.EMNIST.classes_split_dict == torchvision.datasets.EMNIST.classes_split_dict
    assert (datasets.EMNIST.url, datasets.EMNIST.md5) == (torchvision.datasets.EMNIST.url, torchvision.datasets.EMNIST.md5)


@pytest.mark.parametrize("name", ["CIFAR10", "CIFAR100"])
def test_cifar_facts(name):
    ours, theirs = getattr(datasets, name), getattr(torchvision.datasets, name)
    assert [tuple(row) for row in theirs.train_list + theirs.test_list] == ours.train_list + ours.test_list
    assert (ours.meta, ours.url, ours.tgz_md5) == (theirs.meta, theirs.url, theirs.tgz_md5)


def test_public_paths_agree():
    for name in utils.__all__:
        assert hasattr(torchvision.utils, name)
    for name in ops.__all__:
        assert hasattr(torchvision.ops, name)
