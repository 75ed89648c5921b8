"""Films as clips: their pictures and sound to the last value, cut as asked; Kinetics, UCF101 and HMDB51 from their folders."""

from __future__ import annotations

import csv
import pickle
import tarfile
import warnings

import numpy as np
import pytest
from film_files import pictures, tone, write_film

import tenfold
from tenfold.data import DataLoader
from tenfold.vision.datasets import HMDB51, UCF101, Kinetics, clips, films
from tenfold.vision.datasets.clips import VideoClips, unfold

av = pytest.importorskip("av")
X264 = {"codec": "libx264", "pixels": "yuv420p", "options": {"g": "7", "bf": "2", "crf": "10"}}


def decoded(path):
    with av.open(str(path)) as container:
        return np.stack([frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)])


def test_pictures_are_those_that_were_written(tmp_path):
    frames = pictures(12)
    path = write_film(tmp_path / "a.avi", frames)
    facts = films.film(path)
    assert (facts.count, facts.rate) == (12, 10.0)
    np.testing.assert_array_equal(films.read_pictures(path, 0, 11).numpy(), frames)
    np.testing.assert_array_equal(films.read_pictures(path, 3, 5).numpy(), frames[3:6])


@pytest.mark.parametrize("ending", ["mp4", "avi", "mkv"])
def test_a_stretch_is_the_same_wherever_its_decoding_begins(tmp_path, ending):
    """Pictures that are stored in another order than shown, with few that stand by themselves."""
    path = write_film(tmp_path / f"a.{ending}", pictures(30), **X264)
    whole = decoded(path)
    assert films.film(path).count == len(whole) == 30
    for first, last in ((0, 29), (0, 0), (1, 4), (6, 8), (7, 7), (13, 20), (28, 29), (29, 29)):
        np.testing.assert_array_equal(films.read_pictures(path, first, last).numpy(), whole[first : last + 1])
    with pytest.raises(IndexError, match="pictures 28 to 30"):
        films.read_pictures(path, 28, 30)


def test_sound_is_that_of_the_stretch(tmp_path):
    sound = tone(16_000, 8000)
    path = write_film(tmp_path / "a.avi", pictures(20), sound=sound)
    for start, end in ((0, 2), (0.3, 0.7), (1.25, 1.5), (1.9, 5), (3, 4)):
        heard = films.read_sound(path, start, end)
        np.testing.assert_array_equal(heard.numpy(), sound[:, round(start * 8000) : round(end * 8000)] / np.float32(32768))
        assert heard.dtype == tenfold.float32
    assert films.read_sound(write_film(tmp_path / "b.avi", pictures(3)), 0, 1).shape == (1, 0)


def test_a_film_without_pictures(tmp_path):
    with av.open(str(tmp_path / "a.wav"), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=8000, layout="mono")
        piece = av.AudioFrame.from_ndarray(tone(800, 8000), "s16", "mono")
        piece.sample_rate = 8000
        container.mux(stream.encode(piece))
    with pytest.warns(UserWarning, match="aren't enough frames"):
        cut = VideoClips([str(tmp_path / "a.wav")], 2)
    assert (cut.num_videos(), len(cut), cut.video_fps) == (1, 0, [None])


def test_unfold():
    assert unfold(tenfold.arange(7), 3, 2).tolist() == [[0, 1, 2], [2, 3, 4], [4, 5, 6]]
    assert unfold(tenfold.arange(7), 3, 2, dilation=2).tolist() == [[0, 2, 4], [2, 4, 6]]
    assert unfold(tenfold.arange(2), 3, 1).shape == (0, 3)
    with pytest.raises(ValueError, match="1 dimension instead of 2"):
        unfold(tenfold.zeros(2, 2), 1, 1)


@pytest.fixture
def two_films(tmp_path):
    frames = [pictures(10, 1), pictures(15, 2)]
    paths = [str(write_film(tmp_path / f"{number}.avi", each, sound=tone(12_000, 8000))) for number, each in enumerate(frames)]
    return paths, frames


@pytest.mark.parametrize("workers", [0, 1])
def test_clips_of_films(two_films, workers):
    paths, frames = two_films
    cut = VideoClips(paths, 5, 5, num_workers=workers)
    assert (cut.num_videos(), cut.num_clips(), len(cut)) == (2, 5, 5)
    places = [(0, 0), (0, 5), (1, 0), (1, 5), (1, 10)]
    for index, (number, start) in enumerate(places):
        video, audio, info, found = cut.get_clip(index)
        assert (found, info) == (number, {"video_fps": 10.0})
        np.testing.assert_array_equal(video.numpy(), frames[number][start : start + 5])
        expected = tone(12_000, 8000)[:, start * 800 : start * 800 + 4000] / np.float32(32768)
        np.testing.assert_array_equal(audio.numpy(), expected)
    with pytest.raises(IndexError, match="Index 5 out of range"):
        cut.get_clip(5)


@pytest.mark.parametrize(("rate", "chosen"), [(5, [0, 2, 4]), (20, [0, 0, 1]), (4, [0, 2, 5]), (15, [0, 0, 1])])
def test_clips_at_another_rate(two_films, rate, chosen):
    paths, frames = two_films
    cut = VideoClips(paths, 3, 3, frame_rate=rate)
    video, _, info, _ = cut.get_clip(0)
    assert info == {"video_fps": rate}
    np.testing.assert_array_equal(video.numpy(), frames[0][chosen])


def test_clips_are_cut_anew_and_kept(two_films, monkeypatch):
    paths, frames = two_films
    cut = VideoClips(paths, 4, 2, output_format="tchw")
    monkeypatch.setattr(clips, "film", lambda path: pytest.fail("a film was read again"))
    cut.compute_clips(6, 3)
    for other in (cut, VideoClips(paths, 6, 3, _precomputed_metadata=cut.metadata, output_format="TCHW"), cut.subset([0, 1])):
        video = other.get_clip(2)[0]
        assert len(other) == 6
        np.testing.assert_array_equal(video.permute(0, 2, 3, 1).numpy(), frames[1][0:6])
    again = pickle.loads(pickle.dumps(cut))
    assert (len(again), again.metadata["video_fps"]) == (6, [10.0, 10.0])
    assert (again.get_clip(5)[0] == cut.get_clip(5)[0]).all()
    with pytest.raises(ValueError, match="output_format should be either"):
        VideoClips(paths, output_format="HWC")


@pytest.fixture
def actions(tmp_path):
    """Films of two classes, three each, of five pictures that tell which film it is."""
    for kind, action in enumerate(("climb", "wave")):
        for number in range(3):
            frames = np.full((5, 16, 16, 3), 40 * (3 * kind + number), np.uint8)
            write_film(tmp_path / "films" / action / f"v_{action}_g0{number}.avi", frames)
    return tmp_path


def who(dataset):
    return [(int(video.to(tenfold.float32).mean()) // 40, label) for video, _, label in dataset]


def test_ucf101(actions):
    (actions / "trainlist02.txt").write_text("climb/v_climb_g00.avi 1\nwave/v_wave_g02.avi 2\n\n")
    (actions / "testlist02.txt").write_text("wave/v_wave_g00.avi\nclimb/v_climb_g02.avi\n")
    train = UCF101(str(actions / "films"), str(actions), 2, 2, fold=2)
    test = UCF101(actions / "films", actions, 5, fold=2, train=False, transform=lambda video: video[:1], output_format="TCHW")
    assert (train.classes, len(train.metadata["video_paths"])) == (["climb", "wave"], 6)
    assert who(train[index] for index in range(len(train))) == [(0, 0), (0, 0), (5, 1), (5, 1)]
    assert who(test[index] for index in range(len(test))) == [(2, 0), (3, 1)]
    assert test[0][0].shape == (1, 3, 16, 16)
    with pytest.raises(ValueError, match="fold should be between 1 and 3"):
        UCF101(str(actions / "films"), str(actions), 2, fold=4)


def test_hmdb51(actions):
    for action in ("climb", "wave"):
        lines = [f"v_{action}_g0{number}.avi {number} " for number in range(3)]
        (actions / f"{action}_test_split1.txt").write_text("\n".join(lines) + "\n")
    train = HMDB51(str(actions / "films"), str(actions), 5)
    test = HMDB51(str(actions / "films"), str(actions), 5, train=False, _precomputed_metadata=train.metadata)
    assert who(train[index] for index in range(len(train))) == [(1, 0), (4, 1)]
    assert who(test[index] for index in range(len(test))) == [(2, 0), (5, 1)]
    batch = next(iter(DataLoader(test, 2, num_workers=1)))
    assert (batch[0].shape, batch[2].tolist()) == ((2, 5, 16, 16, 3), [0, 1])


def test_kinetics_from_files(actions):
    (actions / "films").rename(actions / "val")
    dataset = Kinetics(str(actions), 5, split="val", extensions=("avi",))
    assert who(dataset[index] for index in range(len(dataset))) == [(number, number // 3) for number in range(6)]
    assert dataset[0][0].shape == (5, 3, 16, 16)
    legacy = Kinetics(str(actions / "val"), 2, _legacy=True, step_between_clips=3)
    assert (len(legacy), legacy[0][0].shape, legacy.split) == (12, (2, 16, 16, 3), "unknown")
    with pytest.raises(ValueError, match="Unknown value 'dev'"):
        Kinetics(str(actions), 5, split="dev")
    with pytest.raises(ValueError, match="Unknown value '500'"):
        Kinetics(str(actions), 5, num_classes="500")


@pytest.mark.parametrize("together", [1, 2])
def test_kinetics_fetched(tmp_path, file_server, monkeypatch, together):
    """Archives named in a list, loose films in them, and a table that says which action each is."""
    served = file_server.folder
    rows = [("abc", 3, 13, "playing 'cards' (game)"), ("x_y", 0, 10, "climb")]
    for number, (film, start, end, _) in enumerate(rows):
        path = write_film(tmp_path / f"{film}_{start:06}_{end:06}.mp4", pictures(4, number), **X264)
        with tarfile.open(served / f"part_{number}.tar.gz", "w:gz") as archive:
            archive.add(path, path.name)
    (served / "list_train.txt").write_text("".join(f"{file_server.url}/part_{number}.tar.gz\n" for number in range(2)))
    with (served / "train.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["label", "youtube_id", "time_start", "time_end", "split"])
        table.writerows([(label, film, start, end, "train") for film, start, end, label in rows])
    monkeypatch.setitem(Kinetics._TAR_URLS, "600", file_server.url + "/list_{split}.txt")
    monkeypatch.setitem(Kinetics._ANNOTATION_URLS, "600", file_server.url + "/{split}.csv")
    root = tmp_path / "kinetics"
    dataset = Kinetics(str(root), 4, num_classes="600", download=True, num_download_workers=together)
    assert dataset.classes == ["climb", "playing_cards_game"]
    assert [target for _, _, target in (dataset[0], dataset[1])] == [0, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(Kinetics(str(root), 2, num_classes="600", download=True)) == 6
