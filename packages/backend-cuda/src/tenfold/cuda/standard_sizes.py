"""Common sizes whose kernels have a choice: what `python -m tenfold.cuda.tuning` times. Names of parts choose among them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import tenfold

# Images, channels, side, channels of the result, window and step of ResNet-50's layers.
LAYERS = (
    (64, 3, 224, 64, 7, 2), (64, 64, 56, 64, 1, 1), (64, 64, 56, 64, 3, 1), (64, 64, 56, 256, 1, 1), (64, 256, 56, 128, 1, 1),
    (64, 128, 56, 128, 3, 2), (64, 128, 28, 128, 3, 1), (64, 256, 28, 256, 3, 2), (64, 256, 14, 256, 3, 1),
    (64, 512, 14, 512, 3, 2), (64, 512, 7, 512, 3, 1), (64, 512, 7, 2048, 1, 1), (64, 1024, 14, 2048, 1, 2),
)  # fmt: skip
# Batches, heads, queries and keys, features: on both sides of where gradients in one pass are guessed to overtake two.
HEADS = ((32, 12, 512, 64), (8, 12, 1024, 64), (4, 16, 4096, 64), (8, 16, 1024, 128), (2, 16, 8192, 128))
CACHES = ((8, 32, 4096, 128), (1, 32, 32768, 128), (16, 16, 2048, 64))  # the same with one query


def calls(parts: list[str]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """(label, call) of everything whose label has one of the parts in it, or of all."""
    for label, call in _all():
        if not parts or any(part in label for part in parts):
            yield label, call


def _all() -> Iterator[tuple[str, Callable[[], Any]]]:
    for dtype in ("bfloat16", "float32"):
        for layer in LAYERS:
            yield f"convolution {dtype} {'x'.join(map(str, layer))}", lambda d=dtype, l=layer: _convolution(d, *l)  # type: ignore[misc]
    for dtype in ("bfloat16", "float16"):
        for heads in HEADS:
            yield f"attention {dtype} {'x'.join(map(str, heads))}", lambda d=dtype, h=heads: _attention(d, *h)  # type: ignore[misc]
        for cache in CACHES:
            yield f"decoding {dtype} {'x'.join(map(str, cache))}", lambda d=dtype, c=cache: _decoding(d, *c)  # type: ignore[misc]


def _ones(dtype: str, *shape: int) -> Any:
    return tenfold.ones(*shape, dtype=getattr(tenfold, dtype), device="cuda")


def _convolution(dtype: str, N: int, C: int, side: int, O: int, window: int, step: int) -> None:
    last = {"memory_format": tenfold.channels_last}
    x, w = (t.contiguous(**last).requires_grad_() for t in (_ones(dtype, N, C, side, side), _ones(dtype, O, C, window, window)))
    out = tenfold.nn.functional.conv2d(x, w, stride=step, padding=window // 2)
    out.backward(out.detach())


def _attention(dtype: str, N: int, H: int, T: int, E: int) -> None:
    q, k, v = (_ones(dtype, N, H, T, E).requires_grad_() for _ in range(3))
    out = tenfold.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    out.backward(out.detach())


def _decoding(dtype: str, N: int, H: int, T: int, E: int) -> None:
    tenfold.nn.functional.scaled_dot_product_attention(_ones(dtype, N, H, 1, E), *(_ones(dtype, N, H, T, E) for _ in range(2)))
