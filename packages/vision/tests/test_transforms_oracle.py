"""Transforms, compared with torchvision's on the same pictures and seeds."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

import tenfold
from tenfold.vision import transforms
from tenfold.vision.transforms import functional as F

torch = pytest.importorskip("torch")
torchvision = pytest.importorskip("torchvision", exc_type=ImportError)
from torchvision import transforms as reference  # noqa: E402
from torchvision.transforms import functional as R  # noqa: E402

RNG = np.random.default_rng(0)
PIXELS = RNG.integers(0, 256, (20, 27, 3)).astype(np.uint8)
PICTURES = {
    "rgb": Image.fromarray(PIXELS),
    "grey": Image.fromarray(PIXELS[:, :, 0]),
    "uint8": np.ascontiguousarray(PIXELS.transpose(2, 0, 1)),
    "float32": np.ascontiguousarray(PIXELS.transpose(2, 0, 1)).astype(np.float32) / 255,
    "batch": RNG.random((2, 3, 16, 12)).astype(np.float32),
}


def as_array(result):
    if isinstance(result, tuple | list):
        return [as_array(part) for part in result]
    return np.asarray(result) if isinstance(result, Image.Image) else result.numpy()


def assert_same(ours, theirs, atol=2e-6):
    assert type(ours) is type(theirs) or hasattr(ours, "numpy")
    ours, theirs = as_array(ours), as_array(theirs)
    if isinstance(ours, list):
        assert len(ours) == len(theirs)
    else:
        ours, theirs = [ours], [theirs]
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.dtype == other.dtype
        np.testing.assert_allclose(mine, other, rtol=0, atol=atol)


def compare_resized_bytes(call):
    """Bytes are equal, except where the exact value lies half way between two: there PyTorch's float32 positions decide."""
    pixels = PICTURES["uint8"]
    ours, theirs = call(transforms, F, tenfold.from_numpy(pixels)), call(reference, R, torch.from_numpy(pixels))
    exact = call(transforms, F, tenfold.from_numpy(pixels.astype(np.float64)))
    for mine, other, value in zip(*(as_array(x if isinstance(x, list) else [x]) for x in (ours, theirs, exact)), strict=True):
        assert mine.dtype == other.dtype == np.uint8
        differ = mine != other
        assert np.abs(np.abs(value - other) - 0.5)[differ].max(initial=0) < 2e-4


def compare(call, name, atol=2e-6):
    picture = PICTURES[name]
    if isinstance(picture, np.ndarray):
        assert_same(call(transforms, F, tenfold.from_numpy(picture)), call(reference, R, torch.from_numpy(picture)), atol)
    else:
        assert_same(call(transforms, F, picture), call(reference, R, picture), atol)


FUNCTIONS = {
    "resize": lambda t, f, x: f.resize(x, [11, 9]),
    "resize_one": lambda t, f, x: f.resize(x, 13),
    "resize_max": lambda t, f, x: f.resize(x, 15, max_size=18),
    "resize_up": lambda t, f, x: f.resize(x, [40, 33]),
    "resize_nearest": lambda t, f, x: f.resize(x, [11, 9], t.InterpolationMode.NEAREST),
    "resize_bicubic": lambda t, f, x: f.resize(x, [11, 9], t.InterpolationMode.BICUBIC),
    "resize_plain": lambda t, f, x: f.resize(x, [11, 9], antialias=False),
    "hflip": lambda t, f, x: f.hflip(x),
    "vflip": lambda t, f, x: f.vflip(x),
    "crop": lambda t, f, x: f.crop(x, 2, 3, 5, 4),
    "crop_outside": lambda t, f, x: f.crop(x, -2, 5, 30, 40),
    "center_crop": lambda t, f, x: f.center_crop(x, [7, 10]),
    "center_crop_odd": lambda t, f, x: f.center_crop(x, 11),
    "center_crop_larger": lambda t, f, x: f.center_crop(x, [31, 10]),
    "five_crop": lambda t, f, x: f.five_crop(x, 8),
    "ten_crop": lambda t, f, x: f.ten_crop(x, [8, 6]),
    "pad": lambda t, f, x: f.pad(x, 3),
    "pad_fill": lambda t, f, x: f.pad(x, [1, 2], fill=1),
    "pad_four": lambda t, f, x: f.pad(x, [1, 2, 3, 4]),
    "pad_crop": lambda t, f, x: f.pad(x, [-1, -2, 3, 4]),
    "pad_edge": lambda t, f, x: f.pad(x, [1, 2, 3, 4], padding_mode="edge"),
    "pad_reflect": lambda t, f, x: f.pad(x, [1, 2, 3, 4], padding_mode="reflect"),
    "pad_symmetric": lambda t, f, x: f.pad(x, [1, 2, 3, 4], padding_mode="symmetric"),
    "rotate": lambda t, f, x: f.rotate(x, 30),
    "rotate_90": lambda t, f, x: f.rotate(x, 90, expand=True),
    "rotate_expand": lambda t, f, x: f.rotate(x, 33.3, expand=True),
    "rotate_bilinear": lambda t, f, x: f.rotate(x, 30, t.InterpolationMode.BILINEAR),
    "rotate_center": lambda t, f, x: f.rotate(x, -70, center=[2, 3]),
    "affine": lambda t, f, x: f.affine(x, 12.5, [2, -1], 1.2, [5.0, -3.0]),
    "affine_bilinear": lambda t, f, x: f.affine(x, 200, [0, 3], 0.7, [15.0], t.InterpolationMode.BILINEAR, center=[4, 9]),
    "brightness": lambda t, f, x: f.adjust_brightness(x, 1.4),
    "contrast": lambda t, f, x: f.adjust_contrast(x, 0.6),
    "saturation": lambda t, f, x: f.adjust_saturation(x, 1.7),
    "hue": lambda t, f, x: f.adjust_hue(x, -0.3),
    "gamma": lambda t, f, x: f.adjust_gamma(x, 1.8, gain=0.9),
    "grey": lambda t, f, x: f.rgb_to_grayscale(x),
    "grey_3": lambda t, f, x: f.rgb_to_grayscale(x, 3),
    "dimensions": lambda t, f, x: torch.tensor(f.get_dimensions(x) + f.get_image_size(x)),
}
EVERY_PICTURE = [(name, picture) for name in FUNCTIONS for picture in PICTURES]


@pytest.mark.filterwarnings("ignore:Anti-alias option is always applied")
@pytest.mark.parametrize(("name", "picture"), EVERY_PICTURE)
def test_function(name, picture):
    if picture == "uint8" and name.startswith("resize"):
        compare_resized_bytes(FUNCTIONS[name])
        return
    # a value that rounds to a whole byte may fall to either side of a half
    atol = 1 if picture == "uint8" and name in ("hue", "gamma") else 2e-6
    compare(FUNCTIONS[name], picture, atol)


@pytest.mark.parametrize("name", ["rgb", "uint8", "float32"])
@pytest.mark.parametrize("mode", ["NEAREST", "BILINEAR"])
def test_fill(name, mode):
    compare(lambda t, f, x: f.rotate(x, 40, t.InterpolationMode[mode], fill=[1, 0, 1]), name)
    compare(lambda t, f, x: f.affine(x, 40, [1, 1], 0.5, [0.0, 0.0], t.InterpolationMode[mode], fill=[1]), name)


def test_sixteen_bits_of_grey():
    image = Image.fromarray(np.array([[0, 1, 32767, 40000, 65535]], np.uint16))
    assert image.mode == "I;16"
    assert_same(F.to_tensor(image), R.to_tensor(image))
    assert_same(F.to_pil_image(F.to_tensor(image)), image)


DTYPES = ["uint8", "int16", "int32", "int64", "float32", "float64"]


@pytest.mark.parametrize("source", DTYPES)
@pytest.mark.parametrize("target", DTYPES)
def test_convert_image_dtype(source, target):
    values = RNG.random((3, 4, 5)) if source.startswith("float") else RNG.integers(0, np.iinfo(source).max, (3, 4, 5))
    values = np.asarray(values).astype(source)
    try:
        expected = R.convert_image_dtype(torch.from_numpy(values), getattr(torch, target))
    except RuntimeError:
        with pytest.raises(RuntimeError, match="cannot be performed safely"):
            F.convert_image_dtype(tenfold.from_numpy(values), getattr(tenfold, target))
    else:
        assert_same(F.convert_image_dtype(tenfold.from_numpy(values), getattr(tenfold, target)), expected)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "RGB", "RGBA", "CMYK", "YCbCr", "HSV", "I", "F", "P"])
def test_pil_modes_become_tensors(mode):
    picture = PICTURES["rgb"].convert("L").convert(mode) if mode in ("I", "F") else PICTURES["rgb"].convert(mode)
    assert_same(F.to_tensor(picture), R.to_tensor(picture))
    assert_same(F.pil_to_tensor(picture), R.pil_to_tensor(picture))


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_tensors_become_pil_images(channels, dtype):
    values = RNG.random((channels, 5, 6)).astype(np.float32)
    values = (values * 255).astype(np.uint8) if dtype == "uint8" else values
    ours, theirs = F.to_pil_image(tenfold.from_numpy(values)), R.to_pil_image(torch.from_numpy(values))
    assert ours.mode == theirs.mode
    assert_same(ours, theirs)


@pytest.mark.parametrize("dtype", ["int16", "int32", "float32"])
def test_arrays_become_pil_images(dtype):
    values = RNG.integers(0, 3000, (5, 6)).astype(dtype)
    ours, theirs = F.to_pil_image(values), R.to_pil_image(values)
    assert ours.mode == theirs.mode
    assert_same(ours, theirs)


RANDOM = {
    "hflip": lambda t: t.RandomHorizontalFlip(),
    "vflip": lambda t: t.RandomVerticalFlip(0.3),
    "crop": lambda t: t.RandomCrop(10, padding=2),
    "crop_same": lambda t: t.RandomCrop((16, 12), pad_if_needed=True, padding_mode="reflect"),
    "crop_needed": lambda t: t.RandomCrop((22, 30), pad_if_needed=True, fill=1),
    "resized_crop": lambda t: t.RandomResizedCrop(9),
    "resized_crop_bounds": lambda t: t.RandomResizedCrop((9, 8), scale=(3.0, 4.0), ratio=(2.5, 3.0)),
    "rotation": lambda t: t.RandomRotation(40),
    "rotation_range": lambda t: t.RandomRotation((10, 60), t.InterpolationMode.BILINEAR, expand=True),
    "affine": lambda t: t.RandomAffine(30, translate=(0.1, 0.2), scale=(0.8, 1.2), shear=10),
    "affine_four": lambda t: t.RandomAffine((5, 6), shear=(1, 2, 3, 4), fill=1),
    "jitter": lambda t: t.ColorJitter(0.4, 0.3, (0.5, 1.5), 0.2),
    "jitter_one": lambda t: t.ColorJitter(contrast=0.3),
    "grey": lambda t: t.RandomGrayscale(0.5),
    "apply": lambda t: t.RandomApply([t.CenterCrop(5), t.RandomVerticalFlip()], p=0.6),
    "compose": lambda t: t.Compose([t.Resize(12), t.RandomCrop(8), t.RandomHorizontalFlip()]),
}


@pytest.mark.parametrize("name", RANDOM)
@pytest.mark.parametrize("picture", ["rgb", "uint8", "float32"])
def test_same_seed_same_picture(name, picture):
    def call(t, f, x):
        transform = RANDOM[name](t)
        (tenfold if t is transforms else torch).manual_seed(7)
        return [transform(x) for _ in range(6)]

    if picture == "uint8" and name == "resized_crop":
        compare_resized_bytes(call)
        return
    compare(call, picture, atol=3 if picture == "uint8" and name.startswith("jitter") else 1e-5)


ERASERS = {
    "number": {"p": 1.0},
    "noise": {"value": "random"},
    "channels": {"p": 0.7, "value": (1, 2, 3), "scale": (0.1, 0.2)},
    "too_large": {"p": 1.0, "scale": (1.0, 1.0)},
}


@pytest.mark.parametrize("name", ERASERS)
def test_erasing(name):
    def call(t, f, x):
        transform = t.RandomErasing(**ERASERS[name])
        (tenfold if t is transforms else torch).manual_seed(3)
        return [transform(x) for _ in range(6)]

    compare(call, "float32")


def test_normalize():
    compare(lambda t, f, x: t.Normalize([0.1, 0.2, 0.3], [0.5, 0.6, 0.7])(x), "float32")
    compare(lambda t, f, x: t.Normalize([0.5], [2.0])(x), "batch")


REPRS = {
    **RANDOM,
    **{name: (lambda t, options=options: t.RandomErasing(**options)) for name, options in ERASERS.items()},
    "normalize": lambda t: t.Normalize([0.5], [0.2]),
    "resize": lambda t: t.Resize((3, 4)),
    "pad": lambda t: t.Pad(2),
    "center": lambda t: t.CenterCrop(3),
    "five": lambda t: t.FiveCrop(3),
    "ten": lambda t: t.TenCrop(3),
    "to_tensor": lambda t: t.Compose([t.ToTensor(), t.PILToTensor(), t.ToPILImage(), t.ToPILImage("L"), t.Lambda(abs)]),
    "dtype": lambda t: t.ConvertImageDtype(torch.float32),
    "greyscale": lambda t: t.Grayscale(3),
    "order": lambda t: t.RandomOrder([t.CenterCrop(1)]),
    "choice": lambda t: t.RandomChoice([t.CenterCrop(1)], p=[1.0]),
}


@pytest.mark.parametrize("name", REPRS)
def test_repr(name):
    assert repr(REPRS[name](transforms)) == repr(REPRS[name](reference))
