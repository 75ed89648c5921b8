"""Films read and written as tensors."""

from fractions import Fraction

import numpy as np
import pytest

import tenfold
from tenfold.vision import io

av = pytest.importorskip("av")
from film_files import pictures, tone, write_film  # noqa: E402


@pytest.fixture
def path(tmp_path):
    write_film(tmp_path / "a.mkv", pictures(20), rate=10, sound=tone(16_000, 8000))
    return tmp_path / "a.mkv"


def test_a_whole_film(path):
    frames, sound, info = io.read_video(path, pts_unit="sec")
    assert np.array_equal(frames.numpy(), pictures(20))
    assert info == {"video_fps": 10.0, "audio_fps": 8000}
    assert np.allclose(sound.numpy(), tone(16_000, 8000) / 32768, atol=1e-4)
    turned = io.read_video(str(path), pts_unit="sec", output_format="TCHW")[0]
    assert tenfold.equal(turned, frames.permute(0, 3, 1, 2))


def test_a_part_by_seconds_and_by_the_films_clock(path):
    times, rate = io.read_video_timestamps(path, "sec")
    assert (len(times), rate, times[3]) == (20, 10.0, Fraction(3, 10))
    frames, sound, _ = io.read_video(path, times[5], times[8], pts_unit="sec")
    assert np.array_equal(frames.numpy(), pictures(20)[5:9])
    assert abs(sound.shape[1] - 0.3 * 8000) <= 1
    with pytest.warns(UserWarning, match="own clock"):
        ticks, _ = io.read_video_timestamps(path)
    with pytest.warns(UserWarning, match="own clock"):
        assert tenfold.equal(io.read_video(path, ticks[5], ticks[8])[0], frames)
    assert io.read_video(path, 100, pts_unit="sec")[0].shape == (0, 1, 1, 3)


def test_what_is_written_is_read(tmp_path):
    path, frames = tmp_path / "b.mkv", tenfold.from_numpy(pictures(6))
    sound = tenfold.from_numpy(tone(8000, 8000).astype(np.float32) / 32768)
    options = {"crf": 0}
    io.write_video(path, frames, 5, "libx264rgb", options, audio_array=sound, audio_fps=8000, audio_codec="flac")
    again, heard, info = io.read_video(path, pts_unit="sec")
    assert tenfold.equal(again, frames)
    assert info == {"video_fps": 5.0, "audio_fps": 8000}
    assert tenfold.allclose(heard[:, :8000], sound, atol=1e-3)


def test_refused(path, tmp_path):
    with pytest.raises(RuntimeError, match="File not found"):
        io.read_video(tmp_path / "none.mkv", pts_unit="sec")
    with pytest.raises(ValueError, match="end_pts should be larger"):
        io.read_video(path, 2, 1, pts_unit="sec")
    with pytest.raises(ValueError, match="output_format"):
        io.read_video(path, output_format="CTHW", pts_unit="sec")
    with pytest.raises(ValueError, match="pts_unit"):
        io.read_video_timestamps(path, "ms")
    with pytest.raises(ValueError, match="T, H, W, 3"):
        io.write_video(tmp_path / "c.mkv", tenfold.zeros(3, 4, 4), 5)
    with pytest.raises(ValueError, match="audio_fps"):
        io.write_video(tmp_path / "c.mkv", tenfold.zeros(3, 4, 4, 3), 5, audio_array=tenfold.zeros(1, 5))


@pytest.mark.parametrize("source", [str, lambda path: path.read_bytes(), lambda path: io.read_file(path)])
def test_a_reader_gives_one_picture_after_another(path, source):
    reader = io.VideoReader(source(path), "video")
    found = list(reader)
    assert np.array_equal(np.stack([each["data"].numpy() for each in found]), pictures(20).transpose(0, 3, 1, 2))
    assert [each["pts"] for each in found] == pytest.approx([number / 10 for number in range(20)])
    assert list(reader) == []
    assert next(reader.seek(0.5))["pts"] == pytest.approx(0.5)
    assert next(reader.seek(0.71))["pts"] == pytest.approx(0.8)
    assert next(reader.seek(0.71, keyframes_only=True))["pts"] <= 0.71
    assert len(list(reader.seek(1.8))) == 2


def test_a_reader_gives_sound(path):
    reader = io.VideoReader(str(path), "audio:0")
    sound = np.concatenate([each["data"].numpy() for each in reader])
    assert np.array_equal(sound.T, tone(16_000, 8000))
    assert reader.get_metadata() == {
        "video": {"fps": [10.0], "duration": [2.0]},
        "audio": {"framerate": [8000.0], "duration": [2.0]},
    }
    assert reader.set_current_stream("video")
    assert next(reader)["data"].shape == (3, 32, 48)
    assert not reader.set_current_stream("audio:1")


def test_a_reader_keeps_channels_apart(tmp_path):
    frames, sound = tenfold.from_numpy(pictures(6)), tenfold.tensor([[0.5], [-0.25]]).repeat(1, 4000)
    for codec in ("flac", "pcm_s16le"):
        path = tmp_path / f"{codec}.mkv"
        io.write_video(path, frames, 5, "libx264rgb", audio_array=sound, audio_fps=8000, audio_codec=codec)
        heard = next(io.VideoReader(path, "audio"))["data"]
        assert (heard[:, 0] == 16384).all()
        assert (heard[:, 1] == -8192).all()


def test_a_reader_refuses(path, tmp_path):
    with pytest.raises(RuntimeError, match=r"none\.mkv cannot be read"):
        io.VideoReader(str(tmp_path / "none.mkv"))
    with pytest.raises(RuntimeError, match="cannot be read as a film"):
        io.VideoReader(b"no film")
    with pytest.raises(ValueError, match="has no stream 'audio:3'; it has video, audio"):
        io.VideoReader(path, "audio:3")
    with pytest.raises(ValueError, match="stream should be one of"):
        io.VideoReader(path, "pictures")
    with pytest.raises(TypeError, match="src should be a path"):
        io.VideoReader(3)
