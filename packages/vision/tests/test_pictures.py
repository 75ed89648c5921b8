"""Grids, drawing, reading and writing, boxes and the focal loss: known values and errors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from PIL import Image

import tenfold
from tenfold.vision import io, ops, utils


def test_grid_layout():
    images = tenfold.stack([tenfold.full((3, 1, 2), float(value)) for value in (1, 2, 3)])
    grid = utils.make_grid(images, nrow=2, padding=1)
    assert grid[0].tolist() == [
        [0, 0, 0, 0, 0, 0, 0],
        [0, 1, 1, 0, 2, 2, 0],
        [0, 0, 0, 0, 0, 0, 0],
        [0, 3, 3, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0],
    ]


def test_grid_normalizes_a_copy():
    images = tenfold.tensor([2.0, 6.0]).reshape(2, 1, 1, 1)
    assert utils.make_grid(images, normalize=True, padding=0)[0].tolist() == [[0.0, 1.0]]
    assert images.flatten().tolist() == [2.0, 6.0]


def test_save_image_rounds(tmp_path):
    utils.save_image(tenfold.tensor([0.0, 0.5, 1.0]).reshape(1, 1, 3), tmp_path / "a.png")
    assert np.asarray(Image.open(tmp_path / "a.png"))[0].tolist() == [[0] * 3, [128] * 3, [255] * 3]


def test_png_comes_back_exactly(tmp_path):
    pixels = tenfold.from_numpy(np.random.default_rng(0).integers(0, 256, (3, 5, 7)).astype(np.uint8))
    io.write_png(pixels, tmp_path / "a.png")
    assert io.read_image(tmp_path / "a.png").tolist() == pixels.tolist()
    assert tuple(io.read_image(tmp_path / "a.png", io.ImageReadMode.GRAY).shape) == (1, 5, 7)
    assert tuple(io.read_image(str(tmp_path / "a.png"), "RGB_ALPHA").shape) == (4, 5, 7)
    assert io.decode_image(io.encode_png(pixels[:1])).tolist() == pixels[:1].tolist()


def test_jpeg_comes_back_nearly(tmp_path):
    ramp = (tenfold.arange(16).reshape(1, 1, 16) * 10).expand(3, 16, 16).to(tenfold.uint8)
    io.write_jpeg(ramp, tmp_path / "a.jpg", quality=95)
    read = io.read_image(tmp_path / "a.jpg")
    assert (read.to(tenfold.int64) - ramp.to(tenfold.int64)).abs().max().item() < 8


def test_a_palette_is_looked_up(tmp_path):
    Image.new("RGB", (2, 2), (1, 200, 3)).convert("P").save(tmp_path / "a.png")
    assert tuple(io.read_image(tmp_path / "a.png").shape) == (3, 2, 2)


def test_exif_orientation(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6  # held upright: a quarter turn
    Image.new("L", (4, 2)).save(tmp_path / "a.jpg", exif=exif)
    assert tuple(io.read_image(tmp_path / "a.jpg").shape) == (1, 2, 4)
    assert tuple(io.read_image(tmp_path / "a.jpg", apply_exif_orientation=True).shape) == (1, 4, 2)


def test_drawing_a_box_and_leaving_the_image():
    image = tenfold.zeros(3, 6, 6, dtype=tenfold.uint8)
    drawn = utils.draw_bounding_boxes(image, tenfold.tensor([[1, 1, 4, 3]]), colors="red")
    assert drawn[0].tolist() == [
        [0, 0, 0, 0, 0, 0],
        [0, 255, 255, 255, 255, 0],
        [0, 255, 0, 0, 255, 0],
        [0, 255, 255, 255, 255, 0],
        [0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0],
    ]
    assert image.max().item() == 0
    labelled = utils.draw_bounding_boxes(image.expand(3, 6, 6), tenfold.tensor([[0, 0, 5, 5]]), labels=["x"], colors=[(0, 9, 0)])
    assert labelled[1].max().item() == 9


def test_masks_tint_and_overlap_in_black():
    image = tenfold.full((3, 1, 3), 100, dtype=tenfold.uint8)
    masks = tenfold.tensor([[[True, True, False]], [[False, True, False]]])
    drawn = utils.draw_segmentation_masks(image, masks, alpha=0.5, colors=["red", "blue"])
    assert drawn[:, 0].tolist() == [[177, 50, 100], [50, 50, 100], [50, 50, 100]]


def test_nothing_to_draw_warns():
    image = tenfold.zeros(3, 6, 6, dtype=tenfold.uint8)
    with pytest.warns(UserWarning, match="No box"):
        assert utils.draw_bounding_boxes(image, tenfold.zeros(0, 4)) is image
    with pytest.warns(UserWarning, match="No mask"):
        assert utils.draw_segmentation_masks(image, tenfold.zeros(0, 6, 6, dtype=tenfold.bool)) is image


def greedy_nms(boxes, scores, threshold):
    """The definition, one pair at a time."""
    kept = []
    for i in sorted(range(len(scores)), key=lambda i: -scores[i]):
        if all(iou(boxes[i], boxes[j]) <= threshold for j in kept):
            kept.append(i)
    return kept


def iou(a, b):
    sides = [max(0.0, min(a[k + 2], b[k + 2]) - max(a[k], b[k])) for k in (0, 1)]
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (a, b)]
    return sides[0] * sides[1] / (sum(areas) - sides[0] * sides[1])


@pytest.mark.parametrize("threshold", [0.1, 0.4, 0.8])
def test_nms_is_its_definition(threshold):
    rng = np.random.default_rng(3)
    corners = rng.random((40, 2)) * 10
    boxes = np.concatenate([corners, corners + 1 + rng.random((40, 2)) * 5], axis=1)
    scores = rng.permutation(40).astype(np.float64)
    kept = ops.nms(tenfold.from_numpy(boxes), tenfold.from_numpy(scores), threshold)
    assert kept.tolist() == greedy_nms(boxes.tolist(), scores.tolist(), threshold)


def test_nms_of_many_boxes():
    rng = np.random.default_rng(0)
    corners = rng.random((20_000, 2)) * 2000
    boxes = tenfold.from_numpy(np.concatenate([corners, corners + rng.random((20_000, 2)) * 60], 1).astype(np.float32))
    scores = tenfold.from_numpy(rng.random(20_000).astype(np.float32))
    kept = ops.nms(boxes, scores, 0.5)
    assert scores[kept].tolist() == sorted(scores[kept].tolist(), reverse=True)
    few = kept[:300]
    assert (ops.box_iou(boxes[few], boxes[kept]) > 0.5).sum().item() == 300  # each overlaps itself alone
    gone = sorted(set(range(20_000)) - set(kept.tolist()))[:300]
    overlaps = (ops.box_iou(boxes[gone], boxes[kept]) > 0.5) & (scores[kept] >= scores[gone].unsqueeze(1))
    assert overlaps.any(1).all()


@pytest.mark.parametrize("dtype", ["float64", "float16", "int32", "int64"])
@pytest.mark.parametrize("threshold", [-0.5, 0.0, 0.3])
def test_nms_of_every_kind(dtype, threshold):
    rng = np.random.default_rng(1)
    corners = rng.integers(0, 50, (60, 2))
    boxes = np.concatenate([corners, corners + rng.integers(1, 20, (60, 2))], 1).astype(dtype)
    scores = rng.random(60)
    kept = ops.nms(tenfold.from_numpy(boxes), tenfold.from_numpy(scores), threshold)
    assert kept.tolist() == greedy_nms(boxes.astype(float).tolist(), scores.tolist(), threshold)


def test_nms_edges():
    assert ops.nms(tenfold.zeros(0, 4), tenfold.zeros(0), 0.5).tolist() == []
    same = tenfold.tensor([[0.0, 0.0, 1.0, 1.0]] * 3)
    scores = tenfold.tensor([0.1, 0.3, 0.2])
    assert ops.nms(same, scores, 1.0).tolist() == [1, 2, 0]
    assert ops.batched_nms(same, scores, tenfold.tensor([0, 1, 1]), 0.5).tolist() == [1, 0]
    with pytest.raises(RuntimeError, match=r"\(N, 4\) and scores of shape \(N,\), got \(3, 4\) and \(2,\)"):
        ops.nms(same, scores[:2], 0.5)


def test_box_values():
    a, b = tenfold.tensor([[0.0, 0.0, 2.0, 2.0]]), tenfold.tensor([[3.0, 0.0, 5.0, 2.0], [1.0, 1.0, 3.0, 3.0]])
    np.testing.assert_allclose(ops.box_iou(a, b).numpy(), [[0.0, 1 / 7]], rtol=1e-6)
    np.testing.assert_allclose(ops.generalized_box_iou(a, b).numpy(), [[-0.2, 1 / 7 - 2 / 9]], rtol=1e-5)
    assert ops.box_convert(tenfold.tensor([[1.0, 2.0, 4.0, 6.0]]), "xyxy", "xywh").tolist() == [[1.0, 2.0, 3.0, 4.0]]
    with pytest.raises(ValueError, match="'corners'"):
        ops.box_convert(a, "xyxy", "corners")


def test_focal_loss_of_a_coin_toss():
    loss = ops.sigmoid_focal_loss(tenfold.zeros(2), tenfold.tensor([1.0, 0.0]))
    expected = math.log(2) * 0.25  # (1 - 1/2) ** 2 of the cross entropy
    np.testing.assert_allclose(loss.numpy(), [0.25 * expected, 0.75 * expected], rtol=1e-6)
    with pytest.raises(ValueError, match="Invalid alpha"):
        ops.sigmoid_focal_loss(tenfold.zeros(2), tenfold.zeros(2), alpha=2.0)


ERRORS = [
    (lambda: utils.make_grid("a"), TypeError, "got str"),
    (lambda: utils.make_grid(tenfold.zeros(2, 3, 2, 2), normalize=True, value_range=[0, 1]), TypeError, "tuple"),
    (
        lambda: utils.draw_bounding_boxes(tenfold.zeros(3, 4, 4, dtype=tenfold.int64), tenfold.zeros(1, 4)),
        ValueError,
        "uint8 or float",
    ),
    (lambda: utils.draw_bounding_boxes(tenfold.zeros(3, 4, 4), tenfold.tensor([[2.0, 0.0, 1.0, 1.0]])), ValueError, "xmin"),
    (lambda: utils.draw_bounding_boxes(tenfold.zeros(3, 4, 4), tenfold.zeros(2, 4), labels=["a"]), ValueError, "mismatch"),
    (lambda: utils.draw_bounding_boxes(tenfold.zeros(3, 4, 4), tenfold.zeros(2, 4), colors=["red"]), ValueError, "1 < 2"),
    (lambda: utils.draw_segmentation_masks(tenfold.zeros(3, 4, 4), tenfold.zeros(1, 4, 4)), ValueError, "must be bool"),
    (lambda: utils.draw_segmentation_masks(np.zeros(3), tenfold.zeros(1, 4, 4)), TypeError, "must be a tensor"),
    (lambda: io.decode_image(tenfold.zeros(9, dtype=tenfold.uint8)), RuntimeError, "no image"),
    (lambda: io.encode_png(tenfold.zeros(3, 4, 4)), RuntimeError, "uint8"),
    (lambda: io.encode_jpeg(tenfold.zeros(3, 4, 4, dtype=tenfold.uint8), quality=0), ValueError, "between 1 and 100"),
    (lambda: io.read_image("absent.png"), FileNotFoundError, "absent"),
]


@pytest.mark.parametrize("case", range(len(ERRORS)))
def test_errors_say_what_was_got(case):
    call, kind, message = ERRORS[case]
    with pytest.raises(kind, match=message):
        call()
