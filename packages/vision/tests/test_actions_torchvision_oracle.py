"""Films cut into clips, and chosen by annotations, as torchvision does it; it decodes none here, as both are told of them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import tenfold
from tenfold.vision import datasets
from tenfold.vision.datasets import video_utils

torch = pytest.importorskip("torch")
torchvision = pytest.importorskip("torchvision", exc_type=(ImportError, RuntimeError))
from torchvision import datasets as reference  # noqa: E402
from torchvision.datasets import video_utils as reference_utils  # noqa: E402

LENGTHS = (0, 1, 7, 30, 31)
RATES = (None, 25.0, 29.97, 10.0, 12.5)


def metadata(library, paths=None):
    pts = [library.tensor(list(range(length)), dtype=library.int64) for length in LENGTHS]
    paths = [f"{number}.avi" for number in range(len(LENGTHS))] if paths is None else paths
    return {
        "video_paths": paths,
        "video_pts": (pts * len(paths))[: len(paths)],
        "video_fps": (list(RATES) * len(paths))[: len(paths)],
    }


def plain(indices):
    return indices if isinstance(indices, list) else indices.tolist()


@pytest.mark.parametrize("rate", [None, 5, 10, 25, 30, 12.5, 24.0, 60])
@pytest.mark.parametrize(("length", "step"), [(1, 1), (4, 2), (5, 7), (16, 1)])
def test_clips_are_cut_alike(length, step, rate):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = video_utils.VideoClips([], length, step, rate, metadata(tenfold))
        expected = reference_utils.VideoClips([], length, step, rate, metadata(torch))
    assert (len(found), found.num_videos()) == (len(expected), expected.num_videos())
    assert found.cumulative_sizes == expected.cumulative_sizes
    for number in range(len(LENGTHS)):
        assert found.clips[number].tolist() == expected.clips[number].tolist()
        assert plain(found.resampling_idxs[number]) == plain(expected.resampling_idxs[number])
    places = range(len(found))
    assert [found.get_clip_location(index) for index in places] == [expected.get_clip_location(index) for index in places]


@pytest.mark.parametrize("shape", [(9, 3, 2, 1), (9, 3, 2, 3), (2, 3, 1, 1), (5, 5, 1, 1), (6, 2, 4, 2)])
def test_windows_are_alike(shape):
    length, *rest = shape
    found, expected = video_utils.unfold(tenfold.arange(length), *rest), reference_utils.unfold(torch.arange(length), *rest)
    np.testing.assert_array_equal(found.numpy(), expected.numpy())
    assert found.shape == tuple(expected.shape)


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("name", ["UCF101", "HMDB51"])
def test_annotations_choose_alike(tmp_path, name, train):
    for action in ("climb", "wave"):
        (tmp_path / "films" / action).mkdir(parents=True)
        for number in range(5):
            (tmp_path / "films" / action / f"{action}{number}.avi").touch()
        lines = [f"{action}{number}.avi {number % 3} " for number in range(5)]
        (tmp_path / f"{action}_test_split1.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "trainlist01.txt").write_text("climb/climb1.avi 1\nwave/wave4.avi 2\nwave/gone.avi 2\n")
    (tmp_path / "testlist01.txt").write_text("climb/climb0.avi\nclimb/climb4.avi\n")
    sides = []
    for library, source in ((tenfold, datasets), (torch, reference)):
        known = metadata(library, sorted(str(path) for path in tmp_path.glob("films/*/*.avi")))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = getattr(source, name)(str(tmp_path / "films"), str(tmp_path), 3, train=train, _precomputed_metadata=known)
        sides.append((made.classes, made.samples, made.indices, len(made), made.video_clips.video_paths))
    assert sides[0] == sides[1]
    assert sides[0][3]


def test_signatures_are_alike():
    import inspect

    for ours, theirs in [
        *((getattr(datasets, name), getattr(reference, name)) for name in ("UCF101", "HMDB51", "Kinetics")),
        (video_utils.VideoClips, reference_utils.VideoClips),
    ]:
        found, expected = (inspect.signature(kind.__init__).parameters.values() for kind in (ours, theirs))
        assert [(each.name, each.default) for each in found] == [(each.name, each.default) for each in expected]
