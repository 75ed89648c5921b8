"""What the models share of attention: heads, masks, the cache of keys and values."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from contextvars import ContextVar

import tenfold
from tenfold import Tensor
from tenfold.nn import functional as F


def checked_heads(width: int, heads: int) -> int:
    """The number of heads.

    Raises: ValueError where they do not share the width evenly.
    """
    if heads < 1 or width % heads:
        raise ValueError(f"{heads} heads cannot share a width of {width}; the width has to be a multiple of their number")
    return heads


def split_heads(x: Tensor, heads: int) -> Tensor:
    """(B, T, heads * D) -> (B, heads, T, D)."""
    B, T, width = x.shape
    return x.view(B, T, heads, width // heads).transpose(1, 2)


def joined_heads(x: Tensor) -> Tensor:
    """(B, heads, T, D) -> (B, T, heads * D)."""
    B, heads, T, D = x.shape
    return x.transpose(1, 2).reshape(B, T, heads * D)


_LOOKS: ContextVar[list[Tensor] | None] = ContextVar("_LOOKS", default=None)


@contextlib.contextmanager
def looks(wanted: bool) -> Iterator[list[Tensor]]:
    """A list to which `attend` adds how much each position looks at each, layer after layer; it stays empty if not wanted."""
    kept: list[Tensor] = []
    before = _LOOKS.set(kept if wanted else None)
    try:
        yield kept
    finally:
        _LOOKS.reset(before)


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    dropout: float = 0.0,
    scale: float | None = None,
) -> Tensor:
    """Attention of heads; fewer heads of keys and values than of queries are shared by groups of these.

    Shape: (B, H, T, D), (B, K, S, D), (B, K, S, D) -> (B, T, H * D); mask as `visible` gives it, or added to the scores.
    """
    groups = query.shape[1] // key.shape[1]
    if groups > 1:
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
    kept = _LOOKS.get()
    if kept is None:
        return joined_heads(F.scaled_dot_product_attention(query, key, value, mask, dropout_p=dropout, scale=scale))
    weights = F.dropout(_weights(query, key, mask, scale), dropout)
    kept.append(weights)
    return joined_heads(weights @ value)


def _weights(query: Tensor, key: Tensor, mask: Tensor | None, scale: float | None) -> Tensor:
    """How much each position looks at each; zeros where it may look at none. Shape: (B, H, T, S)."""
    scores = query @ key.transpose(-1, -2) * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if mask is None:
        return scores.softmax(-1)
    if mask.dtype != tenfold.bool:
        return (scores + mask).softmax(-1)
    weights = scores.masked_fill(~mask, tenfold.finfo(scores.dtype).min).softmax(-1)
    return weights.masked_fill(~mask, 0.0)


def visible(attention_mask: Tensor | None, like: Tensor, past: int = 0, causal: bool = False) -> Tensor | None:
    """What each position may look at: True where it may; None where all may look at all.

    `attention_mask` (B, S) is 1 for tokens and 0 for padding; or (B, T, S) for each position by itself.
    `like` is (B, T, ...), of positions that come after `past` earlier ones.

    Shape: (B or 1, 1, T, S), bool.
    """
    T = like.shape[1]
    seen = None
    if causal and T > 1:
        keys = tenfold.arange(past + T, device=like.device)
        seen = (keys <= keys[past:].unsqueeze(1)).view(1, 1, T, past + T)
    if attention_mask is None or bool((attention_mask != 0).all()):
        return seen
    there = attention_mask != 0
    there = there[:, None, None, :] if there.dim() == 2 else there[:, None]
    return there if seen is None else seen & there


def nearest(mask: Tensor | None, like: Tensor, past: int, window: int | None) -> Tensor | None:
    """`visible`'s mask with no more than the last `window` positions, each its own among them; None for all.

    Shape: (B or 1, 1, T, S), bool.
    """
    keys = past + like.shape[1]
    if window is None or keys <= window:
        return mask
    places = tenfold.arange(keys, device=like.device)
    near = (places > places[past:].unsqueeze(1) - window).view(1, 1, -1, keys)
    return near if mask is None else mask & near


class Cache:
    """Keys and values of earlier positions, layer by layer: what a model needs in order to go on with a text.

    A decoder that also looks at an encoder has two pairs per layer, by the names `self` and `cross`.
    """

    def __init__(self) -> None:
        self._pairs: dict[tuple[int, str], tuple[Tensor, Tensor]] = {}

    def get_seq_length(self) -> int:
        """How many positions it holds."""
        return len(self)

    def __len__(self) -> int:
        """How many positions it holds."""
        return next((pair[0].shape[2] for (_, kind), pair in self._pairs.items() if kind == "self"), 0)

    def extended(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """The keys and values of a layer, these ones appended. Shape: (B, H, T, D) each."""
        held = self._pairs.get((layer, "self"))
        if held is not None:
            key, value = tenfold.cat([held[0], key], 2), tenfold.cat([held[1], value], 2)
        self._pairs[layer, "self"] = key, value
        return key, value

    def fixed(self, layer: int) -> tuple[Tensor, Tensor] | None:
        """The keys and values of what an encoder made, if they were kept."""
        return self._pairs.get((layer, "cross"))

    def keep_fixed(self, layer: int, key: Tensor, value: Tensor) -> None:
        """Keep the keys and values of what an encoder made."""
        self._pairs[layer, "cross"] = key, value

    def reorder(self, rows: Tensor) -> None:
        """Keep these rows of the batch, in this order."""
        self._pairs = {place: (key[rows], value[rows]) for place, (key, value) in self._pairs.items()}


def begun(cache: Cache | None, wanted: bool) -> Cache | None:
    """The cache to go on with; where there is none a new one, if it is wanted."""
    return Cache() if cache is None and wanted else cache


def positions(like: Tensor, past: int = 0) -> Tensor:
    """The number of each token in its text, after `past` earlier ones. Shape: (B, T, ...) -> (1, T)."""
    return tenfold.arange(past, past + like.shape[1], device=like.device).unsqueeze(0)
