"""Films as tensors, and tensors as films, by PyAV: the functions that torchvision had until 0.25."""

from __future__ import annotations

import importlib
import math
import os
import warnings
from fractions import Fraction
from typing import Any

import numpy as np

import tenfold
from tenfold import Tensor

FORMATS = ("THWC", "TCHW")
UNITS = ("pts", "sec")
FOREVER_S = 1e9
Time = int | float | Fraction


def read_video(
    filename: str | os.PathLike[str],
    start_pts: Time = 0,
    end_pts: Time | None = None,
    pts_unit: str = "pts",
    output_format: str = "THWC",
) -> tuple[Tensor, Tensor, dict[str, Any]]:
    """The pictures and the sound of a film from one time to another, both included, and their rates.

    Times are in seconds with ``pts_unit`` "sec", else in the units of the film's stream. The rates are ``video_fps`` and, where
    there is sound, ``audio_fps``.

    Shape: pictures (T, H, W, 3), with ``output_format`` "TCHW" (T, 3, H, W), uint8; sound (channels, samples), float32.

    Raises:
        ImportError: PyAV is not installed.
        RuntimeError: there is no such file.
        ValueError: the end lies before the start; another format or unit.
    """
    layout, unit = output_format.upper(), _unit("read_video", pts_unit)
    if layout not in FORMATS:
        raise ValueError(f"read_video: output_format should be either 'THWC' or 'TCHW', got {output_format}.")
    last = math.inf if end_pts is None else end_pts
    if last < start_pts:
        raise ValueError(f"read_video: end_pts should be larger than start_pts, got start_pts={start_pts} and end_pts={end_pts}")
    path = _existing("read_video", filename)
    pictures, step = _pictures(path, start_pts, last, unit)
    info: dict[str, Any] = {}
    rate = _films().film(path).rate
    if rate is not None:
        info["video_fps"] = rate
    with _films().player().open(path) as container:
        if container.streams.audio:
            info["audio_fps"] = container.streams.audio[0].rate
    start_s, end_s = (float(min(time if unit == "sec" else time * step, FOREVER_S)) for time in (start_pts, last))
    return pictures if layout == "THWC" else pictures.permute(0, 3, 1, 2), _films().read_sound(path, start_s, end_s), info


def _pictures(path: str, start: Time, last: Time, unit: str) -> tuple[Tensor, Fraction]:
    """The pictures, and how many seconds a unit of the stream is."""
    found: list[tuple[int, np.ndarray[Any, Any]]] = []
    with _films().player().open(path) as container:
        if not container.streams.video:
            return tenfold.empty((0, 1, 1, 3), dtype=tenfold.uint8), Fraction(1)
        stream = container.streams.video[0]
        step = Fraction(stream.time_base)
        low, high = (start / step, last / step) if unit == "sec" and last != math.inf else (start, last)
        low = math.floor(start / step) if unit == "sec" else low
        if low > 0:
            container.seek(math.floor(low), stream=stream)
        shown = _films().pixels()
        for frame in container.decode(stream):
            if low <= frame.pts <= high:
                found.append((frame.pts, shown(frame)))
            if frame.pts >= high:
                break
    if not found:
        return tenfold.empty((0, 1, 1, 3), dtype=tenfold.uint8), step
    return tenfold.from_numpy(np.stack([picture for _, picture in sorted(found, key=lambda pair: pair[0])])), step


def read_video_timestamps(
    filename: str | os.PathLike[str], pts_unit: str = "pts"
) -> tuple[list[int] | list[Fraction], float | None]:
    """The times of a film's pictures in the order in which they are shown, and how many there are a second.

    Times are whole numbers of the stream's unit, with ``pts_unit`` "sec" fractions of a second.

    Raises:
        ImportError: PyAV is not installed.
        RuntimeError: there is no such file.
        ValueError: another unit.
    """
    unit = _unit("read_video_timestamps", pts_unit)
    path = _existing("read_video_timestamps", filename)
    facts = _films().film(path)
    with _films().player().open(path) as container:
        if not container.streams.video:
            return [], None
        stream = container.streams.video[0]
        step = Fraction(stream.time_base)
        times = list(facts.times) if facts.times is not None else sorted(frame.pts for frame in container.decode(stream))
    return ([time * step for time in times] if unit == "sec" else times), facts.rate


def write_video(
    filename: str | os.PathLike[str],
    video_array: Any,
    fps: float,
    video_codec: str = "libx264",
    options: dict[str, Any] | None = None,
    audio_array: Any = None,
    audio_fps: float | None = None,
    audio_codec: str | None = None,
    audio_options: dict[str, Any] | None = None,
) -> None:
    """Write pictures (T, H, W, 3) of bytes, and perhaps sound (channels, samples), as a film.

    ``options`` are the codec's. Most codecs keep the pictures only nearly, and want even sizes; "libx264rgb" with
    ``options={"crf": "0"}`` keeps them as they are.

    Raises:
        ImportError: PyAV is not installed.
        ValueError: the pictures have another shape, or sound comes without ``audio_fps`` or ``audio_codec``.
    """
    pictures = np.asarray(tenfold.as_tensor(video_array, dtype=tenfold.uint8).cpu().numpy())
    if pictures.ndim != 4 or pictures.shape[-1] != 3:
        raise ValueError(f"write_video: video_array should be (T, H, W, 3), got {pictures.shape}")
    if audio_array is not None and (audio_fps is None or audio_codec is None):
        raise ValueError("write_video: audio_array needs audio_fps, the samples a second, and audio_codec, such as 'aac'")
    av = _films().player()
    with av.open(os.fspath(filename), mode="w") as container:
        stream = container.add_stream(video_codec, rate=round(fps), options=_strings(options))
        stream.height, stream.width = pictures.shape[1:3]
        stream.pix_fmt = "rgb24" if video_codec == "libx264rgb" else "yuv420p"
        heard = None
        if audio_array is not None:
            sound = np.atleast_2d(np.asarray(tenfold.as_tensor(audio_array).cpu().numpy()))
            layout = "stereo" if len(sound) > 1 else "mono"
            heard = container.add_stream(audio_codec, rate=round(audio_fps or 0), options=_strings(audio_options), layout=layout)
        for picture in pictures:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")))
        container.mux(stream.encode())
        if heard is not None:
            frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(sound.astype(np.float32)), format="fltp", layout=layout)
            frame.sample_rate, frame.pts = heard.rate, 0
            container.mux(heard.encode(frame))
            container.mux(heard.encode())


def _films() -> Any:
    """How films are read; data sets come in with it, which reading images does without."""
    return importlib.import_module("tenfold.vision.datasets.films")


def _strings(options: dict[str, Any] | None) -> dict[str, str]:
    return {str(key): str(value) for key, value in (options or {}).items()}


def _unit(operator: str, unit: str) -> str:
    if unit not in UNITS:
        raise ValueError(f"{operator}: pts_unit should be 'pts' or 'sec', got {unit!r}")
    if unit == "pts":
        warnings.warn(
            f"{operator}: the pts_unit 'pts' follows the film's own clock; 'sec' is seconds in every film", stacklevel=3
        )
    return unit


def _existing(operator: str, filename: str | os.PathLike[str]) -> str:
    path = os.fspath(filename)
    if not os.path.exists(path):
        raise RuntimeError(f"{operator}: File not found: {path}")
    return path
