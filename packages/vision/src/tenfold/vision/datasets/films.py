"""Films' pictures and sound, read by PyAV: what they hold, and a stretch of them as tensors."""

from __future__ import annotations

import bisect
import importlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

import tenfold
from tenfold import Tensor


@dataclass(frozen=True)
class Film:
    """What a film's file says of its pictures."""

    times: tuple[int, ...] | None  # of the pictures as they are shown, in the stream's unit; None where the file does not tell
    count: int
    rate: float | None  # pictures per second; None without pictures


def film(path: str | os.PathLike[str]) -> Film:
    """What a film holds, without decoding it.

    Raises:
        ImportError: PyAV, which reads films, is not installed.
    """
    name = os.fspath(path)
    return _film(name, os.stat(name).st_mtime_ns)


@lru_cache(maxsize=256)
def _film(path: str, modified: int) -> Film:
    with player().open(path) as container:
        if not container.streams.video:
            return Film((), 0, None)
        stream = container.streams.video[0]
        times = [packet.pts for packet in container.demux(stream) if packet.size]
        rate = stream.average_rate or stream.guessed_rate
        may_reorder = stream.codec_context.has_b_frames
    told = None not in times and len(set(times)) == len(times)
    known = tuple(sorted(times)) if told else None
    if may_reorder and known == tuple(times):
        known = None  # AVI gives pictures that are stored out of order the times of their storing
    return Film(known, len(times), None if rate is None else float(rate))


def read_pictures(path: str | os.PathLike[str], first: int, last: int) -> Tensor:
    """The pictures with numbers ``first`` to ``last``, both included, in the order in which they are shown.

    Shape: (T, H, W, 3). Dtype: uint8.

    Raises:
        IndexError: the film ends before.
    """
    found: list[np.ndarray[Any, Any]] = []
    shown = pixels()
    with player().open(os.fspath(path)) as container:
        for number, frame in _numbered(container, film(path), first):
            if number >= first:
                found.append(shown(frame))
            if number >= last:
                break
    if len(found) < last - first + 1:
        raise IndexError(f"read_pictures: pictures {first} to {last} of {path} were asked for; it gave {len(found)} of them")
    return tenfold.from_numpy(np.stack(found))


def _numbered(container: Any, facts: Film, first: int) -> Iterator[tuple[int, Any]]:
    """Decoded pictures with their numbers, from some point at or before ``first`` on."""
    stream = container.streams.video[0]
    if facts.times is None or not first:
        yield from enumerate(container.decode(stream))
        return
    container.seek(facts.times[first], stream=stream)  # to a picture that stands by itself
    for frame in container.decode(stream):
        yield bisect.bisect_left(facts.times, frame.pts), frame


def read_sound(path: str | os.PathLike[str], start_s: float, end_s: float) -> Tensor:
    """The sound from one second to another, which is left out; one empty channel where there is none.

    Shape: (channels, samples). Dtype: float32, from -1 to 1.
    """
    av = player()
    with av.open(os.fspath(path)) as container:
        if not container.streams.audio:
            return tenfold.zeros((1, 0))
        stream = container.streams.audio[0]
        resampler = av.AudioResampler(format="fltp")
        begun: float | None = None
        parts: list[np.ndarray[Any, Any]] = []
        container.seek(max(int(start_s / stream.time_base), 0), stream=stream)
        for frame in container.decode(stream):
            if frame.time >= end_s:
                break
            begun = frame.time if begun is None else begun
            parts += [piece.to_ndarray() for piece in resampler.resample(frame)]
        if begun is None:
            return tenfold.zeros((max(stream.channels, 1), 0))
        whole = np.concatenate(parts, axis=1)
        low, high = (min(max(round((second - begun) * stream.rate), 0), whole.shape[1]) for second in (start_s, end_s))
    return tenfold.from_numpy(np.ascontiguousarray(whole[:, low:high]))


def pixels() -> Callable[[Any], np.ndarray[Any, Any]]:
    """What makes a film's frames arrays of bytes (H, W, 3).

    It has a converter of its own: PyAV keeps one for each thread, for whose helpers a forked process waits for ever.
    """
    player()
    converter = importlib.import_module("av.video.reformatter").VideoReformatter()
    return lambda frame: converter.reformat(frame, format="rgb24").to_ndarray()


def player() -> Any:
    """PyAV.

    Raises:
        ImportError: it is not installed.
    """
    try:
        return importlib.import_module("av")
    except ImportError as error:
        raise ImportError("films are read by PyAV; pip install av, or tenfold-vision[video]") from error
