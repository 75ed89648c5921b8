"""The private functions of tensors that libraries take from torchvision, compared with it."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")
pytest.importorskip("torchvision")
ROOMS = [(tenfold, "tenfold.vision.transforms._functional_tensor"), (torch, "torchvision.transforms._functional_tensor")]


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("fill", [None, 7.0, [1.0, 2.0, 3.0]])
@pytest.mark.parametrize("dtype", ["float32", "uint8"])
@pytest.mark.parametrize("batched", [False, True])
def test_images_read_at_a_grid(mode: str, fill: Any, dtype: str, batched: bool) -> None:
    found = []
    for lib, path in ROOMS:
        room = importlib.import_module(path)
        theta = lib.tensor([[[0.8, 0.3, 1.0], [-0.3, 1.1, -0.6]]])
        grid = room._gen_affine_grid(theta, w=6, h=5, ow=7, oh=4)
        img = (lib.arange(180.0).view(2, 3, 5, 6) % 37).to(getattr(lib, dtype))
        read = room._apply_grid_transform(img if batched else img[0], grid, mode, fill=fill)
        found.append([(tuple(t.shape), str(t.dtype).rpartition(".")[2], t.flatten().tolist()) for t in (grid, read)])
    for ours, theirs in zip(*found, strict=True):
        assert ours[:2] == theirs[:2]
        assert ours[2] == pytest.approx(theirs[2], rel=1e-5, abs=1e-5)


def test_functions_of_tensors_under_their_private_path() -> None:
    found = []
    for lib, path in ROOMS:
        room, img = importlib.import_module(path), lib.arange(48.0).view(3, 4, 4) / 48
        results = [
            room.hflip(img),
            room.rgb_to_grayscale(img, 3),
            room.crop(img, 1, 1, 2, 2),
            room.adjust_hue(img, 0.1),
            room.pad(img, [1, 2]),
        ]
        found.append([room.get_dimensions(img), *(r.flatten().tolist() for r in results)])
    for ours, theirs in zip(*found, strict=True):
        assert ours == pytest.approx(theirs, rel=1e-5, abs=1e-6)


def test_helpers_that_transforms_of_other_libraries_take() -> None:
    found: list[list[Any]] = []
    for root in ("tenfold.vision", "torchvision"):
        room = importlib.import_module(f"{root}.transforms.transforms")
        answers: list[Any] = [room._setup_size(size, error_msg="no") for size in (3, [3], (3, 4), [3, 4], 2.5)]
        with pytest.raises(ValueError, match="no"):
            room._setup_size((1, 2, 3), error_msg="no")
        answers.append(room._check_sequence_input([1, 2], "x", (2,)))
        for given, error in ((3, TypeError), ([1], ValueError)):
            with pytest.raises(error) as caught:
                room._check_sequence_input(given, "x", (2, 4))
            answers.append(str(caught.value))
        found.append(answers)
    assert found[0] == found[1]
