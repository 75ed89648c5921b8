"""Transforms: known values, errors, and what does not depend on another library."""

from __future__ import annotations

import random

import numpy as np
import pytest
from PIL import Image

import tenfold
from tenfold.vision import transforms as T
from tenfold.vision.transforms import functional as F


def picture(channels=3, height=6, width=8):
    return tenfold.arange(channels * height * width).reshape(channels, height, width).to(tenfold.float32) / 255


def test_bytes_go_to_tensor_and_back():
    pixels = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)
    tensor = F.to_tensor(Image.fromarray(pixels))
    assert tuple(tensor.shape) == (3, 4, 5)
    np.testing.assert_allclose(tensor.numpy(), pixels.transpose(2, 0, 1) / 255, rtol=1e-6)
    np.testing.assert_array_equal(np.asarray(F.to_pil_image(tensor)), pixels)


def test_sixteen_bits_survive():
    pixels = np.array([[0, 40_000, 65_535]], np.uint16)
    assert F.pil_to_tensor(Image.fromarray(pixels)).tolist() == [pixels.tolist()]


def test_normalize_leaves_its_input_alone():
    x = tenfold.ones(2, 1, 1)
    assert F.normalize(x, [1.0, 0.5], [2.0, 0.25]).flatten().tolist() == [0.0, 2.0]
    assert x.flatten().tolist() == [1.0, 1.0]
    F.normalize(x, [1.0], [1.0], inplace=True)
    assert x.flatten().tolist() == [0.0, 0.0]


def test_pad_modes():
    row = tenfold.tensor([[1, 2, 3]])
    assert F.pad(row, [2, 0], padding_mode="edge").tolist() == [[1, 1, 1, 2, 3, 3, 3]]
    assert F.pad(row, [2, 0], padding_mode="reflect").tolist() == [[3, 2, 1, 2, 3, 2, 1]]
    assert F.pad(row, [2, 0], padding_mode="symmetric").tolist() == [[2, 1, 1, 2, 3, 3, 2]]
    assert F.pad(row, [1, 0], fill=9).tolist() == [[9, 1, 2, 3, 9]]


def test_a_crop_outside_is_zero():
    assert F.crop(tenfold.tensor([[1, 2], [3, 4]]), 1, 1, 2, 2).tolist() == [[4, 0], [0, 0]]


def test_a_centre_between_two_pixels_rounds_to_the_even_one():
    assert F.center_crop(tenfold.arange(6).reshape(1, 6), [1, 3]).tolist() == [[2, 3, 4]]  # (6 - 3) / 2 = 1.5
    assert F.center_crop(tenfold.arange(8).reshape(1, 8), [1, 3]).tolist() == [[2, 3, 4]]  # 2.5
    assert F.center_crop(tenfold.ones(1, 2), [1, 5]).tolist() == [[0, 1, 1, 0, 0]]  # 3 missing: 1 before, 2 after


def test_quarter_turns_are_exact():
    x = picture(1, 4, 4)
    np.testing.assert_array_equal(F.rotate(x, 180, T.InterpolationMode.NEAREST).numpy(), x.flip(-1).flip(-2).numpy())


def test_resize_keeps_the_aspect_ratio():
    assert tuple(F.resize(picture(), 3).shape) == (3, 3, 4)
    assert tuple(F.resize(picture(), 3, max_size=4, antialias=False).shape) == (3, 3, 4)
    assert F.resize(Image.new("L", (8, 6)), 3).size == (4, 3)
    unchanged = picture()
    assert F.resize(unchanged, [6, 8]) is unchanged


def test_grey_of_a_pure_colour():
    red = tenfold.tensor([1.0, 0.0, 0.0]).reshape(3, 1, 1)
    assert F.rgb_to_grayscale(red).item() == pytest.approx(0.2989)
    np.testing.assert_allclose(F.adjust_hue(red, 1 / 3).flatten().numpy(), [0.0, 1.0, 0.0], atol=1e-6)


def test_random_transforms_repeat_with_the_seed():
    crop = T.RandomCrop(3)
    draws = []
    for _ in range(2):
        tenfold.manual_seed(5)
        draws.append([crop.get_params(picture(), (3, 3)) for _ in range(20)])
    assert draws[0] == draws[1]
    assert len(set(draws[0])) > 5
    assert all(top <= 3 and left <= 5 for top, left, _, _ in draws[0])


@pytest.mark.parametrize("cls", [T.RandomHorizontalFlip, T.RandomVerticalFlip])
def test_flips_with_certainty(cls):
    x = picture()
    axis = -1 if cls is T.RandomHorizontalFlip else -2
    assert cls(p=1.0)(x).tolist() == x.flip(axis).tolist()
    assert cls(p=0.0)(x) is x


def test_choice_and_order_follow_pythons_random():
    random.seed(0)
    assert T.RandomChoice([lambda x: 1, lambda x: 2], p=[0.0, 1.0])(0) == 2
    order = T.RandomOrder([lambda x: [*x, 1], lambda x: [*x, 2]])
    assert sorted(order([])) == [1, 2]


def test_erasing_stays_inside():
    tenfold.manual_seed(0)
    erased = T.RandomErasing(p=1.0, value=-1)(tenfold.ones(3, 10, 10))
    share = (erased == -1).to(tenfold.float32).mean().item()
    assert 0.005 < share < 0.4


ERRORS = [
    (lambda: F.to_tensor("a"), TypeError, "got str"),
    (lambda: F.to_tensor(np.zeros(3)), ValueError, "got 1 dimensions"),
    (lambda: F.to_pil_image(tenfold.zeros(5, 2, 2)), ValueError, "got 5 channels"),
    (lambda: F.to_pil_image(tenfold.zeros(3, 2, 2), mode="L"), ValueError, "does not hold 3 channels"),
    (lambda: F.to_pil_image(np.zeros((2, 2, 3), np.int64)), TypeError, "int64 is not supported"),
    (lambda: F.normalize(tenfold.zeros(3, 2, 2, dtype=tenfold.uint8), [0.0], [1.0]), TypeError, "should be a float tensor"),
    (lambda: F.normalize(tenfold.zeros(3, 2, 2), [0.0], [0.0]), ValueError, "division by zero"),
    (lambda: F.resize(tenfold.zeros(1, 4, 4), [2, 2], max_size=3), ValueError, "max_size"),
    (lambda: F.resize(tenfold.zeros(1, 4, 4), 3, max_size=3), ValueError, "strictly greater"),
    (lambda: F.resize(tenfold.zeros(1, 4, 4), 3, T.InterpolationMode.LANCZOS), ValueError, "PIL images only"),
    (lambda: F.resize(tenfold.zeros(1, 4, 4), 3, "bilinear"), TypeError, "InterpolationMode"),
    (lambda: F.resize([1, 2], 3), TypeError, "got list"),
    (lambda: F.pad(tenfold.zeros(1, 4, 4), [1, 2, 3]), ValueError, "1, 2, or 4 element"),
    (lambda: F.pad(tenfold.zeros(1, 4, 4), 1, padding_mode="wrap"), ValueError, "padding_mode"),
    (lambda: F.five_crop(tenfold.zeros(1, 4, 4), 5), ValueError, "bigger than the picture"),
    (lambda: F.affine(tenfold.zeros(1, 4, 4), 0, [0, 0], 0.0, [0.0]), ValueError, "positive"),
    (lambda: F.rotate(tenfold.zeros(2, 4, 4), 9, fill=[1, 2, 3]), ValueError, "fill has 3 numbers"),
    (lambda: F.adjust_hue(tenfold.zeros(3, 4, 4), 0.6), ValueError, "0.6"),
    (lambda: F.adjust_brightness(tenfold.zeros(3, 4, 4), -1), ValueError, "non-negative"),
    (lambda: F.adjust_saturation(tenfold.zeros(2, 4, 4), 1), TypeError, "1 or 3"),
    (lambda: F.convert_image_dtype(np.zeros(3)), TypeError, "ndarray"),
    (lambda: T.RandomCrop(9)(tenfold.zeros(1, 4, 4)), ValueError, "larger than input image size"),
    (lambda: T.RandomRotation(-1), ValueError, "must be positive"),
    (lambda: T.RandomAffine(0, translate=(2, 0)), ValueError, "between 0 and 1"),
    (lambda: T.ColorJitter(hue=0.7), ValueError, "hue values"),
    (lambda: T.ColorJitter(brightness="a"), TypeError, "single number"),
    (lambda: T.RandomErasing(value="noise"), ValueError, "'random'"),
    (lambda: T.RandomErasing(p=1.0, value=(1, 2))(tenfold.zeros(3, 9, 9)), ValueError, "one per channel"),
    (lambda: T.Lambda(3), TypeError, "callable"),
    (lambda: T.CenterCrop((1, 2, 3)), ValueError, "CenterCrop"),
]


@pytest.mark.parametrize("case", range(len(ERRORS)))
def test_errors_say_what_was_got(case):
    call, kind, message = ERRORS[case]
    with pytest.raises(kind, match=message):
        call()
