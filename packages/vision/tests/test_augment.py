"""Tones, blur, perspective, elastic displacement and automatic augmentation, by what must hold of them."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

import tenfold
from tenfold.vision import transforms
from tenfold.vision.transforms import functional as F

PIXELS = np.random.default_rng(0).integers(0, 256, (3, 12, 16)).astype(np.uint8)


def picture():
    return tenfold.from_numpy(PIXELS.copy())


def test_tones():
    x = picture()
    np.testing.assert_array_equal(F.invert(F.invert(x)).numpy(), PIXELS)
    np.testing.assert_array_equal(F.posterize(x, 3).numpy(), PIXELS & 0b11100000)
    np.testing.assert_array_equal(F.solarize(x, 100).numpy(), np.where(PIXELS >= 100, 255 - PIXELS, PIXELS))
    stretched = F.autocontrast(x).numpy()
    assert stretched.min(axis=(1, 2)).tolist() == [0, 0, 0]
    assert stretched.max(axis=(1, 2)).tolist() == [255, 255, 255]
    flat = tenfold.full((3, 4, 4), 9, dtype=tenfold.uint8)
    for change in (F.autocontrast, F.equalize):
        np.testing.assert_array_equal(change(flat).numpy(), flat.numpy())


def test_equalized_histograms_are_even():
    ramp = tenfold.from_numpy((np.linspace(0, 1, 4096).reshape(1, 64, 64) ** 3 * 255).astype(np.uint8))
    counts = np.histogram(F.equalize(ramp).numpy(), bins=4, range=(0, 256))[0]
    assert counts.max() < 2 * counts.min()


def test_blur_keeps_the_mean_of_a_flat_picture_and_spreads_a_point():
    np.testing.assert_allclose(F.gaussian_blur(tenfold.full((1, 9, 9), 0.3), 5).numpy(), 0.3, rtol=1e-6)
    point = tenfold.zeros(1, 9, 9)
    point[0, 4, 4] = 1.0
    spread = F.gaussian_blur(point, [5, 3], [1.0, 0.5])
    np.testing.assert_allclose(float(spread.sum()), 1.0, rtol=1e-6)
    assert (spread != 0).sum().item() == 15
    assert F.adjust_sharpness(picture(), 1).tolist() == PIXELS.tolist()


def test_perspective_moves_corners():
    corners = [[0, 0], [15, 0], [15, 11], [0, 11]]
    same = F.perspective(picture().float(), corners, corners)
    np.testing.assert_allclose(same.numpy(), PIXELS, atol=1e-2)
    moved = F.perspective(picture(), corners, [[4, 3], [11, 3], [11, 8], [4, 8]], fill=[7, 7, 7])
    assert moved[:, 0, 0].tolist() == [7, 7, 7]
    with pytest.raises(ValueError, match="4 startpoints"):
        F.perspective(picture(), corners[:3], corners)


def test_elastic_without_displacement_is_the_picture():
    np.testing.assert_array_equal(F.elastic_transform(picture(), tenfold.zeros(1, 12, 16, 2)).numpy(), PIXELS)
    with pytest.raises(ValueError, match=r"\(1, 12, 16, 2\)"):
        F.elastic_transform(picture(), tenfold.zeros(1, 3, 3, 2))


@pytest.mark.parametrize("transform", [
    transforms.RandAugment(), transforms.TrivialAugmentWide(), transforms.AutoAugment(), transforms.AugMix(),
    transforms.RandomPerspective(p=1.0), transforms.ElasticTransform(sigma=1.0), transforms.GaussianBlur(3),
    transforms.RandomInvert(1.0),
    transforms.RandomPosterize(2), transforms.RandomSolarize(9), transforms.RandomAdjustSharpness(2),
    transforms.RandomAutocontrast(),
    transforms.RandomEqualize(),
])  # fmt: skip
def test_same_seed_same_picture(transform):
    for image in (picture(), Image.fromarray(PIXELS.transpose(1, 2, 0).copy())):
        results = []
        for _ in range(2):
            tenfold.manual_seed(5)
            results.append(np.asarray(transform(image)))
        np.testing.assert_array_equal(*results)
        assert results[0].shape == np.asarray(image).shape
        assert results[0].dtype == np.uint8


def test_errors():
    with pytest.raises(TypeError, match="uint8"):
        F.equalize(picture().float())
    with pytest.raises(TypeError, match="Threshold"):
        F.solarize(picture(), 256)
    with pytest.raises(ValueError, match="odd"):
        F.gaussian_blur(picture(), 4)
    with pytest.raises(ValueError, match="non-negative"):
        F.adjust_sharpness(picture(), -1)
    with pytest.raises(ValueError, match="severity"):
        transforms.AugMix(severity=11)
    with pytest.raises(ValueError, match="square"):
        transforms.LinearTransformation(tenfold.ones(2, 3), tenfold.ones(2))
