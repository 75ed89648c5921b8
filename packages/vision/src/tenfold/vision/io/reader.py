"""A film picture by picture, or its sound piece by piece, by PyAV: the class that torchvision had until 0.25."""

from __future__ import annotations

import importlib
import io
import os
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

import tenfold
from tenfold import Tensor

KINDS = ("video", "audio", "subtitles", "data")


class VideoReader:
    """The pictures, or the pieces of sound, of a film one after another, each with its time: ``{"data": ..., "pts": seconds}``.

    ``src`` is a path or address, the bytes of a film, or those as a tensor. ``stream`` is a kind, "video", "audio", "subtitles"
    or "data", or a kind and a number: "audio:1". `seek` goes to a time; a reader at its end stays there until then.

    Shape: pictures (3, H, W), uint8; sound (samples, channels) in the numbers that the stream has.

    Raises:
        ImportError: PyAV is not installed.
        RuntimeError: there is no such file, or it is no film.
        ValueError: there is no such stream.
        TypeError: ``src`` is none of these.
    """

    def __init__(self, src: str | os.PathLike[str] | bytes | Tensor, stream: str = "video", num_threads: int = 0) -> None:
        films = importlib.import_module("tenfold.vision.datasets.films")
        av, self._shown = films.player(), films.pixels()
        try:
            self.container = av.open(_source(src))
        except (av.error.FFmpegError, OSError) as error:
            raise RuntimeError(
                f"VideoReader: {src if isinstance(src, str) else 'this'} cannot be read as a film: {error}"
            ) from error
        self.num_threads = num_threads
        if not self.set_current_stream(stream):
            raise ValueError(f"VideoReader: the film has no stream {stream!r}; it has {self._streams() or 'none'}")

    def set_current_stream(self, stream: str) -> bool:
        """Go on with another stream, from its start; whether there is such a one.

        Raises:
            ValueError: the name is no kind, or a kind with a number.
        """
        kind, number = _kind_of(stream)
        matching = [each for each in self.container.streams if each.type == kind]
        if number >= len(matching):
            return False
        self._stream = matching[number]
        self._stream.thread_count = self.num_threads
        self.container.seek(0)
        self._frames: Iterator[Any] = self.container.decode(self._stream)
        return True

    def seek(self, time_s: float, keyframes_only: bool = False) -> VideoReader:
        """Go to the first picture at or after this second; with ``keyframes_only`` to the last that stands by itself."""
        unit = 1 / float(self._stream.time_base)
        self.container.seek(round(time_s * unit), stream=self._stream)
        decoded = self.container.decode(self._stream)
        # Half of a unit, for times that were rounded on their way through floats.
        self._frames = decoded if keyframes_only else (frame for frame in decoded if _time(frame) >= time_s - 0.5 / unit)
        return self

    def get_metadata(self) -> dict[str, dict[str, list[float]]]:
        """By kind of stream: how many seconds each lasts, and its rate, called "fps" for pictures, else "framerate"."""
        facts: dict[str, dict[str, list[float]]] = {}
        for stream in self.container.streams:
            name = "fps" if stream.type == "video" else "framerate"
            rate = getattr(stream, "average_rate", None) or getattr(stream, "sample_rate", None)
            lasting = stream.duration * stream.time_base if stream.duration else (self.container.duration or 0) / 1e6
            entry = facts.setdefault(stream.type, {name: [], "duration": []})
            entry["duration"].append(float(lasting))
            if rate is not None:
                entry[name].append(float(rate))
        return facts

    def _streams(self) -> str:
        return ", ".join(stream.type for stream in self.container.streams)

    def __iter__(self) -> VideoReader:
        return self

    def __next__(self) -> dict[str, Any]:
        frame = next(self._frames)
        if self._stream.type == "video":
            data = self._shown(frame).transpose(2, 0, 1)
        elif self._stream.type == "audio":
            data = _planes(frame).T
        else:
            raise RuntimeError(f"VideoReader: a stream of {self._stream.type} has no pictures or sound to give")
        return {"data": tenfold.from_numpy(np.ascontiguousarray(data)), "pts": _time(frame)}


def _planes(frame: Any) -> np.ndarray[Any, Any]:
    """Sound as (channels, samples), also where a stream has its channels side by side."""
    sound: np.ndarray[Any, Any] = frame.to_ndarray()
    return sound if frame.format.is_planar else sound.reshape(-1, len(frame.layout.channels)).T


def _time(frame: Any) -> float:
    return float(frame.pts * frame.time_base)


def _kind_of(stream: str) -> tuple[str, int]:
    found = re.fullmatch(rf"({'|'.join(KINDS)})(?::(\d+))?", stream)
    if found is None:
        raise ValueError(
            f"VideoReader: stream should be one of {', '.join(KINDS)}, or that with a number, as 'audio:1'; got {stream!r}"
        )
    kind = {"subtitles": "subtitle"}.get(found[1], found[1])
    return kind, int(found[2] or 0)


def _source(src: Any) -> Any:
    if isinstance(src, Tensor):
        return io.BytesIO(src.numpy().tobytes())
    if isinstance(src, bytes | bytearray):
        return io.BytesIO(src)
    if isinstance(src, str | os.PathLike) and os.fspath(src):
        return os.fspath(src)
    raise TypeError(f"VideoReader: src should be a path, bytes or a tensor of bytes, got {src!r}")
