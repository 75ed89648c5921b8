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
