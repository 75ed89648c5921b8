"""Version 2's functions give torchvision's bytes exactly, and take no pixels, other channels and quarter turns as it does."""

from __future__ import annotations

import numpy as np
import pytest

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
NOISE = RNG.integers(0, 256, (2, 3, 31, 27), dtype=np.uint8)
FACTORS = (0.0, 0.3, 0.7, 1.0, 1.37, 1.9)


def same(found, expected):
    mine, other = found.as_subclass(tenfold.Tensor).numpy(), expected.as_subclass(torch.Tensor).numpy()
    assert mine.dtype == other.dtype
    assert mine.shape == other.shape
    if mine.dtype.kind == "f":
        np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-6)
    else:
        assert np.array_equal(mine, other)


def both(function, array):
    return function(F, tenfold.from_numpy(array.copy())), function(R, torch.from_numpy(array.copy()))


@pytest.mark.parametrize("name", ["brightness", "contrast", "saturation", "sharpness", "gamma"])
@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_blends(name, factor, dtype):
    array = NOISE if dtype == np.uint8 else (NOISE / 255).astype(dtype)
    same(*both(lambda library, picture: getattr(library, f"adjust_{name}")(picture, factor), array))


@pytest.mark.parametrize("kind", ["RandAugment", "TrivialAugmentWide", "AutoAugment", "AugMix"])
def test_automatic_augmentation_of_bytes(kind):
    for seed in range(25):
        tenfold.manual_seed(seed)
        torch.manual_seed(seed)
        found = getattr(v2, kind)()(tenfold.from_numpy(NOISE.copy())).numpy()
        expected = getattr(reference, kind)()(torch.from_numpy(NOISE.copy())).numpy()
        assert (found != expected).mean() <= 3e-3, seed  # shares that make 1, and bilinear sums, on the edge between two bytes


@pytest.mark.parametrize("angle", [0, 90, -90, 180, 270, 450])
@pytest.mark.parametrize("expand", [False, True])
@pytest.mark.parametrize("shape", [(3, 20, 33), (2, 1, 8, 8), (3, 1, 9)])
def test_quarter_turns(angle, expand, shape):
    array = RNG.integers(0, 256, shape, dtype=np.uint8)
    same(*both(lambda library, picture: library.rotate(picture, angle, expand=expand), array))
    same(*both(lambda library, picture: library.rotate_mask(picture, angle, expand=expand), array))


@pytest.mark.parametrize("angle", [90, 180, 270])
def test_boxes_and_points_turn_with_the_picture(angle):
    picture = tv_tensors.Image(tenfold.zeros(1, 6, 10))
    picture[0, 1, 2] = 1.0
    boxes = tv_tensors.BoundingBoxes([[2.0, 1.0, 3.0, 2.0]], format="XYXY", canvas_size=(6, 10))
    points = tv_tensors.KeyPoints([[2.5, 1.5]], canvas_size=(6, 10))
    turned, box, point = v2.RandomRotation((angle, angle), expand=True)(picture, boxes, points)
    assert box.canvas_size == point.canvas_size == tuple(turned.shape[-2:])
    row, column = divmod(int(turned.flatten().argmax()), turned.shape[-1])
    np.testing.assert_allclose(box.numpy(), [[column, row, column + 1, row + 1]], atol=1e-5)
    np.testing.assert_allclose(point.numpy(), [[column + 0.5, row + 0.5]], atol=1e-5)


@pytest.mark.parametrize("name", ["invert", "equalize", "solarize"])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.int16])
def test_tones_of_any_channels(name, dtype):
    array = NOISE.reshape(-1, 31, 27)[:4]
    array = array.astype(dtype) / (255 if dtype == np.float32 else dtype(1))
    threshold = [0.5 if dtype == np.float32 else 100] * (name == "solarize")
    same(*both(lambda library, picture: getattr(library, name)(picture, *threshold), array.astype(dtype)))


NOTHING = [
    lambda T: T.Resize((9, 4)),
    lambda T: T.Resize(3, interpolation=T.InterpolationMode.NEAREST),
    lambda T: T.RandomResizedCrop(5),
    lambda T: T.RandomRotation(30),
    lambda T: T.RandomRotation((90, 90), expand=True),
    lambda T: T.RandomAffine(20, (0.1, 0.2), (0.5, 1.5), 10),
    lambda T: T.RandomPerspective(p=1.0),
    lambda T: T.Pad(2),
    lambda T: T.CenterCrop(4),
    lambda T: T.RandomHorizontalFlip(1.0),
]


@pytest.mark.parametrize("make", NOTHING)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_no_pictures_and_no_masks(make, dtype):
    for kind, shape in (("Image", (0, 3, 6, 7)), ("Mask", (0, 6, 7))):
        array = np.zeros(shape, dtype)
        tenfold.manual_seed(0)
        torch.manual_seed(0)
        same(
            make(v2)(getattr(tv_tensors, kind)(tenfold.from_numpy(array))),
            make(reference)(getattr(reference_tensors, kind)(torch.from_numpy(array))),
        )
