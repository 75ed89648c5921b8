"""Tone, blur, perspective, elastic transforms and automatic augmentation, compared with torchvision's under the same seeds."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

import tenfold
from tenfold.vision import transforms
from tenfold.vision.transforms import functional as F

torch = pytest.importorskip("torch")
torchvision = pytest.importorskip("torchvision", exc_type=(ImportError, RuntimeError))
from torchvision import transforms as reference  # noqa: E402
from torchvision.transforms import functional as R  # noqa: E402

RNG = np.random.default_rng(0)
PIXELS = np.clip(RNG.normal(120, 60, (23, 31, 3)), 0, 255).astype(np.uint8)
CHANNELS = np.ascontiguousarray(PIXELS.transpose(2, 0, 1))
PICTURES = {
    "rgb": Image.fromarray(PIXELS),
    "grey": Image.fromarray(PIXELS[:, :, 0]),
    "uint8": CHANNELS,
    "batch8": np.stack([CHANNELS, CHANNELS[::-1]]),
    "float32": CHANNELS.astype(np.float32) / 255,
    "float64": np.ascontiguousarray(CHANNELS[:1]).astype(np.float64) / 255,
}


def both(name):
    picture = PICTURES[name]
    if isinstance(picture, np.ndarray):
        return tenfold.from_numpy(picture.copy()), torch.from_numpy(picture.copy())
    return picture, picture


def compare(call, name, seed=0, atol=2e-6):
    mine, other = both(name)
    tenfold.manual_seed(seed)
    torch.manual_seed(seed)
    found, expected = call(transforms, F, mine), call(reference, R, other)
    if isinstance(expected, Image.Image):
        assert found.mode == expected.mode
        found, expected = np.asarray(found), np.asarray(expected)
    else:
        found, expected = found.numpy(), expected.numpy()
    assert found.dtype == expected.dtype
    if found.dtype == np.uint8:  # a sum that ends at a half may fall to the other byte
        assert np.abs(found.astype(int) - expected.astype(int)).max() <= (1 if atol else 0)
        assert (found != expected).mean() <= (0.003 if atol else 0)
    else:
        np.testing.assert_allclose(found, expected, rtol=0, atol=atol)


TONES = {
    "invert": lambda T, f, x: f.invert(x),
    "autocontrast": lambda T, f, x: f.autocontrast(x),
    "sharper": lambda T, f, x: f.adjust_sharpness(x, 2.5),
    "smoother": lambda T, f, x: f.adjust_sharpness(x, 0.0),
}


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.parametrize("tone", TONES)
def test_tones(tone, name):
    compare(TONES[tone], name, atol=0 if tone == "invert" else 2e-6)


@pytest.mark.parametrize("name", ["rgb", "grey", "uint8", "batch8"])
def test_tones_of_bytes(name):
    for bits in (1, 4, 8):
        compare(lambda T, f, x, bits=bits: f.posterize(x, bits), name, atol=0)
    for threshold in (0, 100, 255):
        compare(lambda T, f, x, threshold=threshold: f.solarize(x, threshold), name, atol=0)
    compare(lambda T, f, x: f.equalize(x), name, atol=0)


@pytest.mark.parametrize(
    "picture", [np.zeros((3, 4, 5), np.uint8), np.full((1, 40, 40), 7, np.uint8), np.eye(16, dtype=np.uint8)[None] * 255]
)
def test_flat_pictures(picture):
    for name in ("equalize", "autocontrast"):
        found, expected = getattr(F, name)(tenfold.from_numpy(picture)), getattr(R, name)(torch.from_numpy(picture))
        np.testing.assert_array_equal(found.numpy(), expected.numpy())


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.parametrize(("kernel", "sigma"), [(3, None), ([5, 3], [0.7, 1.5]), (7, 0.4), (1, None)])
def test_gaussian_blur(name, kernel, sigma):
    compare(lambda T, f, x: f.gaussian_blur(x, kernel, sigma), name)


CORNERS = ([[0, 0], [30, 0], [30, 22], [0, 22]], [[3, 1], [28, 4], [25, 20], [1, 18]])


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.parametrize("mode", ["NEAREST", "BILINEAR"])
@pytest.mark.parametrize("fill", [None, 0.3])
def test_perspective(name, mode, fill):
    if fill is not None and name in ("rgb", "grey", "uint8", "batch8"):
        fill = 77
    channels = 1 if name in ("grey", "float64") else 3
    fills = None if fill is None else [fill] * channels
    compare(lambda T, f, x: f.perspective(x, *CORNERS, getattr(T.InterpolationMode, mode), fills), name, atol=1e-4)


RANDOM = {
    "invert": lambda T: T.RandomInvert(),
    "posterize": lambda T: T.RandomPosterize(3),
    "solarize": lambda T: T.RandomSolarize(100),
    "sharpness": lambda T: T.RandomAdjustSharpness(2),
    "autocontrast": lambda T: T.RandomAutocontrast(),
    "equalize": lambda T: T.RandomEqualize(),
    "blur": lambda T: T.GaussianBlur((5, 3), (0.2, 3.0)),
    "perspective": lambda T: T.RandomPerspective(0.6, p=0.7, fill=9),
    "elastic": lambda T: T.ElasticTransform(alpha=60.0, sigma=[1.0, 2.0]),
    "auto_imagenet": lambda T: T.AutoAugment(),
    "auto_cifar": lambda T: T.AutoAugment(T.AutoAugmentPolicy.CIFAR10, T.InterpolationMode.BILINEAR, fill=[3, 4, 5]),
    "auto_svhn": lambda T: T.AutoAugment(T.AutoAugmentPolicy.SVHN),
    "rand": lambda T: T.RandAugment(),
    "rand_more": lambda T: T.RandAugment(3, 20, fill=[7, 7, 7]),
    "trivial": lambda T: T.TrivialAugmentWide(),
    "augmix": lambda T: T.AugMix(),
    "augmix_short": lambda T: T.AugMix(severity=7, mixture_width=2, chain_depth=2, all_ops=False),
}


@pytest.mark.parametrize("name", ["rgb", "uint8"])
@pytest.mark.parametrize("transform", RANDOM)
def test_random_transforms(transform, name):
    for seed in range(12):
        compare(lambda T, f, x: RANDOM[transform](T)(x), name, seed, atol=1e-4)
    assert repr(RANDOM[transform](transforms)) == repr(RANDOM[transform](reference))


def test_linear_transformation():
    rng = np.random.default_rng(1)
    matrix, mean, x = rng.normal(size=(12, 12)), rng.normal(size=12), rng.normal(size=(2, 3, 2, 2))
    found = transforms.LinearTransformation(tenfold.from_numpy(matrix), tenfold.from_numpy(mean))(tenfold.from_numpy(x))
    expected = reference.LinearTransformation(torch.from_numpy(matrix), torch.from_numpy(mean))(torch.from_numpy(x))
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-12)


def test_the_random_numbers_used_up_are_the_same():
    for transform in RANDOM.values():
        mine, other = both("uint8")
        tenfold.manual_seed(3)
        torch.manual_seed(3)
        transform(transforms)(mine)
        transform(reference)(other)
        assert tenfold.rand(1).item() == torch.rand(1).item()
