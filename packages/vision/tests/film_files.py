"""Films written for tests: pictures that tell their number, and a tone."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

SIZE = (32, 48)


def pictures(count, seed=0):
    """Pictures (count, H, W, 3), each another one."""
    coarse = np.random.default_rng(seed).integers(0, 256, (count, SIZE[0] // 8, SIZE[1] // 8, 3), np.uint8)
    return coarse.repeat(8, 1).repeat(8, 2)


def tone(samples, rate):
    return np.round(20_000 * np.sin(np.arange(samples) * 440 * 2 * np.pi / rate)).astype(np.int16)[None]


def write_film(path, frames, rate=10, sound=None, sound_rate=8000, codec="ffv1", pixels="bgr0", options=None):
    """A film of pictures, lossless unless the codec says otherwise, and of sound (1, samples) in int16."""
    import av

    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=Fraction(rate).limit_denominator(1000), options=options or {})
        stream.height, stream.width = frames.shape[1:3]
        stream.pix_fmt = pixels
        heard = None if sound is None else container.add_stream("pcm_s16le", rate=sound_rate, layout="mono")
        for picture in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())
        if heard is not None:
            for start in range(0, sound.shape[1], 1000):
                piece = av.AudioFrame.from_ndarray(np.ascontiguousarray(sound[:, start : start + 1000]), "s16", "mono")
                piece.sample_rate, piece.pts = sound_rate, start
                container.mux(heard.encode(piece))
            container.mux(heard.encode())
    return path
