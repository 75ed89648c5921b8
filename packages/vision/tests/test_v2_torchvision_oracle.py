"""Transforms of whole samples, compared with torchvision's under the same seeds: pictures, masks, boxes and points."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

import tenfold
from tenfold.vision import tv_tensors
from tenfold.vision.transforms import v2
from tenfold.vision.transforms.v2 import functional as F

torch = pytest.importorskip("torch")
torchvision = pytest.importorskip("torchvision", exc_type=(ImportError, RuntimeError))
from torchvision import tv_tensors as reference_tensors  # noqa: E402
from torchvision.transforms import v2 as reference  # noqa: E402
from torchvision.transforms.v2 import functional as R  # noqa: E402

RNG = np.random.default_rng(0)
HEIGHT, WIDTH = 23, 31
PIXELS = np.clip(RNG.normal(120, 60, (HEIGHT, WIDTH, 3)), 0, 255).astype(np.uint8)
CHANNELS = np.ascontiguousarray(PIXELS.transpose(2, 0, 1))
XYXY = np.array([[2.0, 3.0, 12.0, 15.0], [10.5, 2.25, 30.0, 20.0], [0.0, 0.0, 31.0, 23.0], [25.0, 18.0, 29.0, 22.0]])
MASKS = RNG.integers(0, 2, (4, HEIGHT, WIDTH)).astype(np.uint8)
POINTS = np.array([[1.0, 2.0], [30.0, 22.0], [15.5, 7.25]])
CANVAS = (HEIGHT, WIDTH)


def sample(library, tensors, kind="uint8", format="XYXY", integers=False):
    of = library.from_numpy if library is tenfold else torch.from_numpy
    if kind == "pil":
        picture = Image.fromarray(PIXELS)
    elif kind == "video":
        picture = tensors.Video(of(np.stack([CHANNELS, CHANNELS[::-1], CHANNELS[:, ::-1]])))
    else:
        picture = tensors.Image(of(CHANNELS.copy() if kind == "uint8" else CHANNELS.astype(np.float32) / 255))
    boxes = {"XYXY": XYXY, "XYWH": np.concatenate([XYXY[:, :2], XYXY[:, 2:] - XYXY[:, :2]], 1)}
    boxes["CXCYWH"] = np.concatenate([(XYXY[:, :2] + XYXY[:, 2:]) / 2, XYXY[:, 2:] - XYXY[:, :2]], 1)
    values = boxes[format].astype(np.int64 if integers else np.float32)
    return {
        "picture": picture,
        "boxes": tensors.BoundingBoxes(of(values.copy()), format=format, canvas_size=CANVAS),
        "masks": tensors.Mask(of(MASKS.copy())),
        "points": tensors.KeyPoints(of(POINTS.astype(np.float32)), canvas_size=CANVAS),
        "labels": of(np.arange(4)),
        "name": "a",
    }


def same(found, expected, off_by_one=0.06, atol=2e-4):
    """Parts of the same class, canvas, format, dtype and values; a whole sum may fall to the byte below, in chains often."""
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for mine, other in zip(found, expected, strict=True):
            same(mine, other, off_by_one, atol)
        return
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        for key in expected:
            same(found[key], expected[key], off_by_one, atol)
        return
    if not isinstance(expected, (torch.Tensor, Image.Image)):
        assert found == expected
        return
    assert type(found).__name__ == type(expected).__name__
    for detail in ("canvas_size", "clamping_mode"):
        if hasattr(expected, detail):
            assert getattr(found, detail) == getattr(expected, detail)
    if hasattr(expected, "format") and isinstance(expected, torch.Tensor):
        assert found.format.name == expected.format.name
    mine, other = np.asarray(found), np.asarray(expected)
    assert mine.dtype == other.dtype
    assert mine.shape == other.shape
    if mine.dtype == np.uint8:
        difference = np.abs(mine.astype(int) - other.astype(int))
        assert (difference > 1).mean() <= 0.003
        assert (difference > 0).mean() <= off_by_one
    else:
        np.testing.assert_allclose(mine, other, rtol=1e-5, atol=atol)


def compare(make, seed=0, drop=(), off_by_one=0.06, **options):
    mine, other = sample(tenfold, tv_tensors, **options), sample(torch, reference_tensors, **options)
    for name in drop:
        del mine[name], other[name]
    tenfold.manual_seed(seed)
    torch.manual_seed(seed)
    same(make(v2, tv_tensors, tenfold)(mine), make(reference, reference_tensors, torch)(other), off_by_one)
    assert tenfold.rand(1).item() == torch.rand(1).item()  # as many random numbers were used up


PLACING = {
    "hflip": lambda T, t, lib: T.RandomHorizontalFlip(0.6),
    "vflip": lambda T, t, lib: T.RandomVerticalFlip(0.6),
    "resize": lambda T, t, lib: T.Resize((40, 17)),
    "resize_short": lambda T, t, lib: T.Resize(11, max_size=13, interpolation="bicubic", antialias=False),
    "resize_nearest": lambda T, t, lib: T.Resize([29, 51], interpolation=T.InterpolationMode.NEAREST_EXACT),
    "center": lambda T, t, lib: T.CenterCrop((12, 20)),
    "center_large": lambda T, t, lib: T.CenterCrop(28),
    "resized_crop": lambda T, t, lib: T.RandomResizedCrop(16),
    "crop": lambda T, t, lib: T.RandomCrop((14, 21)),
    "crop_padded": lambda T, t, lib: T.RandomCrop((20, 31), padding=[3, 4], fill={t.Image: 9, t.Mask: 1, "others": 5}),
    "crop_needed": lambda T, t, lib: T.RandomCrop(40, pad_if_needed=True, fill=3),
    "pad": lambda T, t, lib: T.Pad([1, 2, 3, 4], fill=7),
    "zoom_out": lambda T, t, lib: T.RandomZoomOut(fill={t.Image: [1, 2, 3], "others": 0}),
    "rotation": lambda T, t, lib: T.RandomRotation(50),
    "rotation_expand": lambda T, t, lib: T.RandomRotation((33.3, 33.4), expand=True, interpolation="bilinear"),
    "rotation_center": lambda T, t, lib: T.RandomRotation(30, center=[3, 5], fill={t.Image: [5, 6, 7], "others": 0}),
    "affine": lambda T, t, lib: T.RandomAffine(30, (0.1, 0.2), (0.7, 1.3), 10),
    "affine_more": lambda T, t, lib: T.RandomAffine([10, 20], shear=[-9, 9, -5, 5], interpolation="bilinear", center=[2, 8]),
    "perspective": lambda T, t, lib: T.RandomPerspective(0.5, p=0.8),
    "elastic": lambda T, t, lib: T.ElasticTransform(alpha=40.0, sigma=[2.0, 3.0]),
    "iou_crop": lambda T, t, lib: T.RandomIoUCrop(),
    "iou_sane": lambda T, t, lib: T.Compose([T.RandomIoUCrop(), T.SanitizeBoundingBoxes(labels_getter=lambda s: s["labels"])]),
    "scale_jitter": lambda T, t, lib: T.ScaleJitter((30, 20)),
    "shortest": lambda T, t, lib: T.RandomShortestSize([10, 20, 30], max_size=33),
    "random_resize": lambda T, t, lib: T.RandomResize(10, 40),
    "identity": lambda T, t, lib: T.Identity(),
    "order": lambda T, t, lib: T.RandomOrder([T.RandomHorizontalFlip(), T.Resize(12), T.RandomCrop(9)]),
    "choice": lambda T, t, lib: T.RandomChoice([T.RandomHorizontalFlip(1), T.Resize(12), T.Identity()], p=[1, 2, 3]),
    "apply": lambda T, t, lib: T.RandomApply([T.RandomVerticalFlip(1), T.Resize(12)], p=0.5),
    "format": lambda T, t, lib: T.ConvertBoundingBoxFormat("CXCYWH"),
    "clamp": lambda T, t, lib: T.Compose([T.SetClampingMode(None), T.RandomCrop(15), T.ClampBoundingBoxes("hard")]),
    "clamp_points": lambda T, t, lib: T.ClampKeyPoints(),
    "types": lambda T, t, lib: T.Compose(
        [T.ToImage(), T.ToDtype({t.Image: lib.float32, t.Mask: lib.int64, "others": None}, scale=True), T.ToPureTensor()]
    ),
}


@pytest.mark.filterwarnings("ignore:Anti-alias option", "ignore:scale was set to True")
@pytest.mark.parametrize("kind", ["uint8", "float32", "pil", "video"])
@pytest.mark.parametrize("name", PLACING)
def test_places(name, kind):
    for seed in range(4):
        compare(PLACING[name], seed, kind=kind)


@pytest.mark.parametrize("format", ["XYXY", "XYWH", "CXCYWH"])
@pytest.mark.parametrize("integers", [False, True])
@pytest.mark.parametrize("name", PLACING)
def test_formats_of_boxes(name, format, integers):
    if name == "perspective" and integers:
        return  # test_whole_numbers_through_perspective
    for seed in range(3):
        compare(PLACING[name], seed, format=format, integers=integers, drop=("masks",) if "sane" not in name else ())


@pytest.mark.parametrize("format", ["XYXY", "XYWH", "CXCYWH"])
def test_whole_numbers_through_perspective(format):
    """What is whole but for its last bit may be cut to either number."""
    mine, other = (
        sample(*pair, format=format, integers=True)["boxes"] for pair in ((tenfold, tv_tensors), (torch, reference_tensors))
    )
    start, end = [[0, 0], [30, 0], [30, 22], [0, 22]], [[3, 1], [28, 4], [25, 20], [1, 18]]
    found, expected = np.asarray(F.perspective(mine, start, end)), np.asarray(R.perspective(other, start, end))
    assert np.abs(found - expected).max() <= 1
    assert (found != expected).sum() <= 2


def test_the_canvas_is_as_large_as_the_picture():
    """torchvision's may be a pixel smaller."""
    for angle in (20, 30, 50, 65.7, 77):
        turned = v2.RandomRotation((angle, angle), expand=True)(sample(tenfold, tv_tensors))
        assert turned["boxes"].canvas_size == tuple(turned["picture"].shape[-2:]) == turned["points"].canvas_size


VALUES = {
    "jitter": lambda T, t, lib: T.ColorJitter(0.3, 0.4, 0.5, 0.2),
    "photometric": lambda T, t, lib: T.RandomPhotometricDistort(),
    "grey": lambda T, t, lib: T.Grayscale(3),
    "random_grey": lambda T, t, lib: T.RandomGrayscale(0.5),
    "rgb": lambda T, t, lib: T.Compose([T.Grayscale(), T.RGB()]),
    "channels": lambda T, t, lib: T.RandomChannelPermutation(),
    "equalize": lambda T, t, lib: T.RandomEqualize(0.7),
    "invert": lambda T, t, lib: T.RandomInvert(0.7),
    "autocontrast": lambda T, t, lib: T.RandomAutocontrast(0.7),
    "posterize": lambda T, t, lib: T.RandomPosterize(3, 0.7),
    "solarize": lambda T, t, lib: T.RandomSolarize(0.4, 0.7),
    "sharpness": lambda T, t, lib: T.RandomAdjustSharpness(2, 0.7),
    "blur": lambda T, t, lib: T.GaussianBlur((5, 3), (0.2, 3.0)),
}
TENSOR_VALUES = {
    "noise": lambda T, t, lib: T.GaussianNoise(0.1, 0.2),
    "noise_open": lambda T, t, lib: T.GaussianNoise(0.0, 0.05, clip=False),
    "erasing": lambda T, t, lib: T.RandomErasing(0.9),
    "erasing_colour": lambda T, t, lib: T.RandomErasing(0.9, value=[0.1, 0.2, 0.3]),
    "dtype": lambda T, t, lib: T.ToDtype(lib.float64, scale=True),
    "dtype_plain": lambda T, t, lib: T.ToDtype(lib.int32),
    "convert": lambda T, t, lib: T.ConvertImageDtype(lib.float32),
    "normalize": lambda T, t, lib: T.Compose([T.ToDtype(lib.float32, scale=True), T.Normalize([0.5, 0.4, 0.3], [0.1, 0.2, 0.3])]),
}


@pytest.mark.parametrize("kind", ["uint8", "float32", "pil", "video"])
@pytest.mark.parametrize("name", [*VALUES, *TENSOR_VALUES])
def test_values(name, kind):
    if name in TENSOR_VALUES and kind == "pil":
        kind = "uint8"
    if name == "noise_open":
        kind = "float32"
    make = {**VALUES, **TENSOR_VALUES}[name]
    for seed in range(5):
        compare(make, seed, kind=kind, drop=("boxes", "masks", "points") if "erasing" in name else ())


AUTOMATIC = {
    "auto_imagenet": lambda T, t, lib: T.AutoAugment(),
    "auto_cifar": lambda T, t, lib: T.AutoAugment(T.AutoAugmentPolicy.CIFAR10, "bilinear", fill=[3, 4, 5]),
    "auto_svhn": lambda T, t, lib: T.AutoAugment(T.AutoAugmentPolicy.SVHN),
    "rand": lambda T, t, lib: T.RandAugment(),
    "rand_more": lambda T, t, lib: T.RandAugment(3, 20, fill={t.Image: [7, 7, 7], "others": 0}),
    "trivial": lambda T, t, lib: T.TrivialAugmentWide(),
    "augmix": lambda T, t, lib: T.AugMix(),
    "augmix_short": lambda T, t, lib: T.AugMix(severity=7, mixture_width=2, chain_depth=2, all_ops=False),
}


@pytest.mark.parametrize("kind", ["uint8", "float32", "pil", "video"])
@pytest.mark.parametrize("name", AUTOMATIC)
def test_automatic_augmentation(name, kind):
    for seed in range(10):
        compare(AUTOMATIC[name], seed, kind=kind, drop=("boxes", "masks", "points"), off_by_one=0.15)


@pytest.mark.parametrize("name", ["MixUp", "CutMix"])
@pytest.mark.parametrize("alpha", [0.4, 1.0])
def test_mixing(name, alpha):
    pictures, labels = RNG.random((5, 3, 12, 14)).astype(np.float32), np.array([0, 1, 2, 1, 0])
    for seed in range(5):
        tenfold.manual_seed(seed)
        torch.manual_seed(seed)
        found = getattr(v2, name)(alpha=alpha, num_classes=3)(tenfold.from_numpy(pictures), tenfold.from_numpy(labels))
        expected = getattr(reference, name)(alpha=alpha, num_classes=3)(torch.from_numpy(pictures), torch.from_numpy(labels))
        same(found, expected, atol=1e-6)


def test_reprs():
    for table in (PLACING, VALUES, TENSOR_VALUES, AUTOMATIC):
        for name, make in table.items():
            mine, other = repr(make(v2, tv_tensors, tenfold)), repr(make(reference, reference_tensors, torch))
            assert mine.replace("tenfold.", "torch.") == other, name


def test_every_name_is_here():
    for mine, other in ((v2, reference), (F, R), (tv_tensors, reference_tensors)):
        public = [n for n in dir(other) if n[0] != "_" and not isinstance(getattr(other, n), type(torch)) and n != "torch"]
        assert [n for n in public if not hasattr(mine, n)] == []
