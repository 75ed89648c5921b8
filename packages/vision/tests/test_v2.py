"""Transforms of whole samples: what a user derives, registers and gets refused; without torchvision."""

from __future__ import annotations

import copy
import inspect
import pickle

import numpy as np
import pytest
from PIL import Image

import tenfold
from tenfold.vision import transforms, tv_tensors
from tenfold.vision.transforms import draws, v2
from tenfold.vision.transforms.v2 import functional as F

BOXES = tv_tensors.BoundingBoxes([[1.0, 2.0, 5.0, 6.0]], format="XYXY", canvas_size=(8, 10))


def test_operators_give_plain_tensors_but_for_those_that_move():
    assert type(BOXES + 1) is type(BOXES[0]) is tenfold.Tensor
    for same in (
        BOXES.clone(),
        BOXES.to(tenfold.float64),
        BOXES.detach(),
        copy.deepcopy(BOXES),
        pickle.loads(pickle.dumps(BOXES)),
    ):
        assert (type(same), same.format, same.canvas_size) == (tv_tensors.BoundingBoxes, BOXES.format, (8, 10))
    with tv_tensors.set_return_type("TVTensor"):
        assert (BOXES * 2).canvas_size == (8, 10)
    assert type(BOXES * 2) is tenfold.Tensor
    assert isinstance(tv_tensors.wrap(BOXES + 1, like=BOXES, canvas_size=(3, 4)), tv_tensors.BoundingBoxes)
    assert tv_tensors.wrap(BOXES + 1, like=BOXES, canvas_size=(3, 4)).canvas_size == (3, 4)


def test_a_transform_of_ones_own_sees_all_parts_with_the_same_numbers():
    class Shift(v2.Transform):
        def make_params(self, flat_inputs):
            return {"by": int(tenfold.randint(1, 9, ()))}

        def transform(self, inpt, params):
            return self._call_kernel(F.pad, inpt, [params["by"], 0, 0, 0])

    sample = {"picture": tv_tensors.Image(tenfold.zeros(3, 8, 10)), "boxes": BOXES, "more": (tenfold.ones(2), "name", None)}
    found = Shift()(sample)
    assert found["boxes"][0, 0].item() - 1 == found["picture"].shape[-1] - 10 > 0
    assert found["more"][0] is sample["more"][0]
    assert found["boxes"].canvas_size == tuple(found["picture"].shape[-2:])


def test_the_first_plain_tensor_is_the_picture_where_there_is_no_other():
    first, second = tenfold.rand(3, 4, 4), tenfold.rand(3, 4, 4)
    flip = v2.RandomHorizontalFlip(1.0)
    a, b = flip(first, second)
    assert (a == first.flip(-1)).all()
    assert b is second
    picture, plain = flip(Image.fromarray(np.arange(12, dtype=np.uint8).reshape(3, 4)), second)
    assert plain is second
    assert np.asarray(picture)[0].tolist() == [3, 2, 1, 0]


def test_a_kind_of_ones_own():
    class Depth(tv_tensors.TVTensor):
        pass

    depth = tenfold.tensor([[1.0, 2.0]]).as_subclass(Depth)
    assert v2.RandomHorizontalFlip(1.0)(depth) is depth
    with pytest.raises(TypeError, match="supports inputs of type"):
        F.horizontal_flip(depth)
    F.register_kernel(F.horizontal_flip, Depth)(lambda inpt: tv_tensors.wrap(inpt.flip(-1), like=inpt))
    assert v2.RandomHorizontalFlip(1.0)(depth).tolist() == [[2.0, 1.0]]
    with pytest.raises(ValueError, match="builtin"):
        F.register_kernel(F.resize, tv_tensors.Mask)
    with pytest.raises(ValueError, match="already"):
        F.register_kernel(F.horizontal_flip, Depth)(lambda inpt: inpt)


def test_turned_boxes_come_back():
    turned = tenfold.tensor([[20.0, 15.0, 10.0, 4.0, 30.0], [12.0, 9.0, 5.0, 6.0, -75.0]], dtype=tenfold.float64)
    formats = (tv_tensors.BoundingBoxFormat.XYWHR, tv_tensors.BoundingBoxFormat.XYXYXYXY)
    for other in formats:
        there = F.convert_bounding_box_format(turned, "CXCYWHR", other)
        assert tenfold.allclose(F.convert_bounding_box_format(there, other, "CXCYWHR"), turned)
    boxes = tv_tensors.BoundingBoxes(turned, format="CXCYWHR", canvas_size=(30, 40), clamping_mode=None)
    for flip in (F.horizontal_flip, F.vertical_flip):
        assert tenfold.allclose(flip(flip(boxes)).as_subclass(tenfold.Tensor), turned)
    back = F.rotate(F.rotate(boxes, 20), -20).as_subclass(tenfold.Tensor)
    assert tenfold.allclose(back, turned)
    assert abs(F.rotate(boxes, 20)[0, 4].item() - 50) < 1e-9


def test_small_boxes_go_with_their_masks_and_labels():
    boxes = tv_tensors.BoundingBoxes([[0, 0, 5, 5], [2, 2, 2, 6], [1, 1, 9, 9]], format="XYXY", canvas_size=(8, 8))
    sample = {"boxes": boxes, "masks": tv_tensors.Mask(tenfold.ones(3, 8, 8)), "labels": tenfold.tensor([7, 8, 9]), "id": 3}
    found = v2.SanitizeBoundingBoxes()(sample)
    assert found["boxes"].tolist() == [[0, 0, 5, 5]]
    assert (found["labels"].tolist(), found["masks"].shape[0], found["id"]) == ([7], 1, 3)


def test_jpeg_is_what_pillow_reads_again():
    ramp = tenfold.arange(16.0)
    picture = (ramp[:, None] * ramp + tenfold.zeros(3, 1, 1)).to(tenfold.uint8)  # grey: colours are kept at half the size
    assert (F.jpeg(picture, 100).float() - picture.float()).abs().max() <= 2
    assert (F.jpeg(picture, 5).float() - picture.float()).abs().mean() > (
        F.jpeg(picture, 90).float() - picture.float()
    ).abs().mean()


REFUSED = [
    (lambda: tv_tensors.Image(tenfold.zeros(3)), ValueError, "two dimensions"),
    (lambda: tv_tensors.BoundingBoxes([1, 2, 3, 4], format="nine", canvas_size=(2, 2)), KeyError, "NINE"),
    (lambda: tv_tensors.wrap(tenfold.ones(2), like=tv_tensors.Mask([1]), format="x"), TypeError, "no details"),
    (lambda: tv_tensors.set_return_type("else"), ValueError, "TVTensor"),
    (lambda: F.convert_bounding_box_format(tenfold.ones(1, 4), new_format="xywh"), ValueError, "old_format"),
    (lambda: F.clamp_bounding_boxes(tenfold.ones(1, 4)), ValueError, "canvas_size"),
    (lambda: F.perspective(tenfold.ones(1, 4, 4), None, None), ValueError, "coefficients"),
    (lambda: F.pad(BOXES, 1, padding_mode="reflect"), ValueError, "not supported"),
    (lambda: v2.Normalize([0.5], [0.5])(Image.new("L", (3, 3))), TypeError, "PIL"),
    (lambda: v2.Resize(None), ValueError, "max_size"),
    (lambda: v2.RandomCrop(9)(tenfold.ones(1, 4, 4)), ValueError, "larger than padded"),
    (lambda: v2.FiveCrop(2)({"a": tenfold.ones(1, 4, 4), "b": BOXES}), TypeError, "not supported"),
    (lambda: v2.RandAugment()(tv_tensors.Image(tenfold.ones(1, 8, 10)), BOXES), TypeError, "BoundingBoxes"),
    (lambda: v2.MixUp()(tenfold.ones(2, 3, 4, 4), tenfold.tensor([0, 1])), ValueError, "num_classes"),
    (lambda: v2.RandomHorizontalFlip(2.0), ValueError, "interval"),
    (lambda: v2.ToDtype({tv_tensors.Mask: tenfold.int64})(tenfold.ones(1, 2, 2)), ValueError, "others"),
    (lambda: v2.Compose([]), ValueError, "at least one"),
]


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_refused(case):
    call, error, words = REFUSED[case]
    with pytest.raises(error, match=words):
        call()


def test_what_libraries_ask_of_the_package():
    from tenfold import vision

    vision.disable_beta_transforms_warning()
    vision.set_image_backend("PIL")
    assert vision.get_image_backend() == "PIL"
    assert not vision._is_tracing()
    assert vision.extension._has_ops()
    with pytest.raises(ValueError, match="PIL"):
        vision.set_image_backend("accimage")


def test_integers_become_floats_by_a_product():
    x = np.arange(256, dtype=np.uint8).reshape(1, 16, 16)
    scaled = v2.functional.to_dtype(tenfold.from_numpy(x), tenfold.float32, scale=True).numpy()
    assert np.array_equal(scaled, x * np.float32(1 / 255))
    assert not np.array_equal(scaled, x / np.float32(255))


@pytest.mark.parametrize("width", [8, 13, 16])
@pytest.mark.parametrize("channels", [1, 3])
def test_bytes_are_mirrored_where_they_lie(channels, width):
    x = np.random.default_rng(0).integers(0, 256, (2, channels, 5, width)).astype(np.uint8)
    planes, wider = tenfold.from_numpy(x), tenfold.from_numpy(np.pad(x, ((0, 0), (0, 0), (1, 1), (3, 5))))
    laid = [planes, planes[0], planes[0, 0], planes.contiguous(memory_format=tenfold.channels_last), planes.permute(2, 0, 1, 3)]
    for picture in (*laid, wider[:, :, 1:-1, 3:-5], planes[..., ::2], planes[:, :, :0]):
        found = v2.functional.horizontal_flip(picture)
        assert np.array_equal(found.numpy(), picture.numpy()[..., ::-1])
        steps = zip(found.stride(), picture.flip(-1).stride(), picture.shape, strict=True)
        assert all(mine == other for mine, other, size in steps if size > 1)


def test_a_pil_image_is_copied_once():
    image = v2.functional.to_image(Image.new("RGB", (5, 4)))
    assert image.stride() == (1, 15, 3)
    assert v2.functional.pil_to_tensor(Image.new("L", (0, 3))).shape == (1, 3, 0)


def test_one_number_is_drawn_as_a_tensor_of_one_would_be():
    for seed in range(20):
        tenfold.manual_seed(seed)
        expected = [
            tenfold.empty(1).uniform_(0.08, 1.0).item(),
            tenfold.randint(0, 77, (1,)).item(),
            tenfold.rand(1).item() < 0.5,
        ]
        tenfold.manual_seed(seed)
        assert [draws.uniform(0.08, 1.0), draws.below(77), draws.happens(0.5)] == expected
    with pytest.raises(RuntimeError, match="from=2"):
        draws.uniform(2.0, 1.0)
    with pytest.raises(RuntimeError, match="from"):
        draws.below(0)


def test_whole_numbers_of_every_width():
    x = tenfold.tensor([[[5, 2**62 + 3]]])
    assert F.invert(x).tolist() == [[[2**63 - 6, 2**62 - 4]]]
    assert F.solarize(x, 2**62).tolist() == [[[5, 2**62 - 4]]]
    assert F.posterize(x, 2).tolist() == [[[0, 2**62]]]
    assert F.posterize(tenfold.tensor([[[100, 30000]]], dtype=tenfold.int16), 3).tolist() == [[[0, 28672]]]
    for wrong in (9, -1, 1.5):
        with pytest.raises(TypeError, match="bits must be"):
            F.posterize(x, wrong)


def test_a_mask_has_no_range():
    mask = tenfold.tensor([[[True, False]]])
    assert F.to_dtype(mask, tenfold.float32, scale=True).tolist() == [[[1.0, 0.0]]]
    with pytest.raises(TypeError, match="Number of value bits"):
        F.to_dtype(mask, tenfold.uint8, scale=True)
    with pytest.raises(TypeError, match="Number of value bits"):
        F.to_dtype(mask.to(tenfold.uint8), tenfold.bool, scale=True)


def test_channels_change_places_in_images_of_any_mode():
    values = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    found = F.permute_channels(Image.frombytes("CMYK", (3, 2), values.tobytes()), [3, 2, 1, 0])
    assert np.array_equal(np.asarray(found), values[..., ::-1])
    grey = F.permute_channels(Image.new("P", (3, 2), 7), [0])
    assert (grey.mode, grey.getpixel((0, 0))) == ("L", 7)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: v2.CenterCrop("x"), TypeError),
        (lambda: v2.Pad("x"), ValueError),
        (lambda: v2.AutoAugment("x"), ValueError),
        (lambda: v2.RandAugment(num_ops="x"), ValueError),
        (lambda: v2.RandAugment(num_ops=-1), ValueError),
        (lambda: transforms.Resize(None), TypeError),
        (lambda: transforms.Resize("a"), TypeError),
        (lambda: transforms.functional.posterize(tenfold.zeros(3, 2, 2, dtype=tenfold.uint8), 9), ValueError),
    ],
)
def test_what_is_refused(make, error):
    with pytest.raises(error):
        make()


@pytest.mark.parametrize("name", ["crop_image", "crop_video", "crop_mask", "crop_keypoints", "crop_bounding_boxes"])
def test_the_kernel_of_a_kind_is_a_function_whose_first_parameter_is_the_kind(name):
    kind = name.removeprefix("crop_")
    inputs = {"bounding_boxes": tenfold.tensor([[1.0, 1.0, 3.0, 3.0]]), "keypoints": tenfold.tensor([[1.0, 1.0]])}
    given = inputs.get(kind, tenfold.arange(16.0).reshape(1, 4, 4))
    kernel, known = getattr(F, name), {"format": "XYXY"} if kind == "bounding_boxes" else {}
    named, placed = (
        kernel(**{kind: given}, top=1, left=1, height=2, width=2, **known),
        kernel(given, **known, top=1, left=1, height=2, width=2),
    )
    assert next(iter(inspect.signature(kernel).parameters)) == kind
    assert kernel.__name__ == name
    assert pickle.loads(pickle.dumps(kernel)) is kernel is getattr(F, name)
    for one, other in zip(named if isinstance(named, tuple) else [named], placed if isinstance(placed, tuple) else [placed]):
        assert tenfold.equal(tenfold.as_tensor(one), tenfold.as_tensor(other))
