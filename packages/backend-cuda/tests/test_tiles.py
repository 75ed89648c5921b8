"""Every block size that tuning may find fastest gives the right values: attention, few queries to many keys, convolution.

On a GPU, or with `--compiled`, which looks also whether each fits the shared memory that a GPU has.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

import tenfold
from tenfold.cuda.kernels import attention_gradient, attention_tiles, conv, decoding
from tenfold.nn import functional as F
from tenfold.testing.tolerances import implementation

HALF, FLOAT = np.dtype(np.float16), np.dtype(np.float32)
GUESSED = attention_tiles.tiles, decoding.tiles, conv.tiles, conv.window_tiles
SUMMED, PASSES = {"ADDS": 1}, {(1,): "one pass", (2,): "two passes"}


def drawn(seed, dtype, *shape):
    return tenfold.tensor(np.random.default_rng(seed).standard_normal(shape)).to(dtype)


def compare(call, given, expected, scale=4.0):
    """The result, and as many gradients as are expected."""
    leaves = [t.cuda().detach().requires_grad_(len(expected) > 1) for t in given]
    found = [call(*leaves)]
    if len(expected) > 1:
        found[0].backward(drawn(9, found[0].dtype, *found[0].shape).cuda())
        found += [t.grad for t in leaves]
    rtol, atol = implementation(given[0].dtype)
    for a, b in zip(found, expected):
        a, b = (t.detach().cpu().double().numpy() for t in (a, b))
        np.testing.assert_allclose(a, b, rtol=scale * rtol, atol=scale * atol * max(1, abs(b).max()))


def on_the_cpu(call, given, gradients=True):
    leaves = [t.detach().requires_grad_(gradients) for t in given]
    out = call(*leaves)
    if gradients:
        out.backward(drawn(9, out.dtype, *out.shape))
    return [out, *[t.grad for t in leaves]] if gradients else [out]


# Attention


def causal(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


@lru_cache(maxsize=1)
def attention(features):
    given = [drawn(i, tenfold.bfloat16, 1, n, features) for i, n in enumerate((150, 170, 170))]
    return given, on_the_cpu(causal, given)


def candidates():
    for features in (64, 128, 256, 512):
        known = {"WIDE_E": features, "WIDE_V": features, "DROPS": 0}
        programs = {
            ("attend", (2,)): known, ("attention_to_queries", (2,)): known, ("attention_to_keys", (2,)): known,
            ("attention_to_keys", (1,)): known | SUMMED,
        }  # fmt: skip
        for (name, form), constants in programs.items():
            for tile in GUESSED[0](name, tuple(constants.items()), HALF):
                yield pytest.param(features, name, form, tile, id=f"{name} {PASSES[form]} {features} {'x'.join(map(str, tile))}")


@pytest.mark.parametrize(("features", "name", "form", "tile"), [*candidates()])
def test_attention(features, name, form, tile, monkeypatch):
    def tiles(program, constants, dtype):
        return [tile] if program == name else GUESSED[0](program, constants, dtype)

    monkeypatch.setattr(attention_tiles, "tiles", tiles)
    monkeypatch.setattr(attention_gradient, "forms", lambda call: [form])
    given, expected = attention(features)
    compare(causal, given, expected[: 1 if name == "attend" else 4])


@pytest.mark.parametrize("name", ["attention_to_queries", "attention_to_keys"])
def test_attention_of_wide_heads_of_float32(name, monkeypatch):
    """In the blocks for GPUs that have too little shared memory for the first."""

    def tiles(program, constants, dtype):
        return GUESSED[0](program, constants, dtype)[-1:] if program == name else GUESSED[0](program, constants, dtype)

    monkeypatch.setattr(attention_tiles, "tiles", tiles)
    given = [drawn(i, tenfold.float32, 1, n, 300) for i, n in enumerate((40, 50, 50))]
    compare(causal, given, on_the_cpu(causal, given))


def shares():
    for features in (64, 128, 256, 512):
        for rows in (4, 40):
            for tile in GUESSED[1](HALF, features, rows):
                yield pytest.param(features, rows, tile, id=f"{features} {rows} {'x'.join(map(str, tile))}")


@pytest.mark.parametrize(("features", "rows", "tile"), [*shares()])
def test_few_queries_to_many_keys(features, rows, tile, monkeypatch):
    monkeypatch.setattr(decoding, "tiles", lambda dtype, wide, rows: [tile])
    heads, queries = (4, 1) if rows == 4 else (8, 5)
    shapes = (1, heads, queries, features), (1, 1, 577, features), (1, 1, 577, features)
    given = [drawn(i, tenfold.bfloat16, *shape) for i, shape in enumerate(shapes)]

    def call(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, enable_gqa=True)

    compare(call, given, on_the_cpu(call, given, False))


# Convolution

IMAGES, WINDOWS = (1, 48, 66, 63), (72, 48, 3, 3)  # so many positions that no candidate is cut down


def padded(x, w):
    return F.conv2d(x, w, padding=1)


@lru_cache(maxsize=1)
def convolution(dtype):
    given = [
        (drawn(i, dtype, *shape) / 16).contiguous(memory_format=tenfold.channels_last)
        for i, shape in enumerate((IMAGES, WINDOWS))
    ]
    return given, on_the_cpu(padded, given)


def windows():
    for dtype, kept in ((tenfold.bfloat16, HALF), (tenfold.float32, FLOAT)):
        for name, tiles in (
            ("tiles", GUESSED[2](kept, 4158, 72, 48)), ("window_tiles", GUESSED[3](kept, 72, 432, 4158)),
        ):  # fmt: skip
            for tile in tiles:
                yield pytest.param(dtype, name, tile, id=f"{dtype.name} {name} {'x'.join(map(str, tile))}")


@pytest.mark.parametrize(("dtype", "name", "tile"), [*windows()])
def test_convolution(dtype, name, tile, monkeypatch):
    monkeypatch.setattr(conv, name, lambda *sizes: [tile])
    given, expected = convolution(dtype)
    compare(padded, given, expected[: 3 if name == "window_tiles" else 2], 8.0)
