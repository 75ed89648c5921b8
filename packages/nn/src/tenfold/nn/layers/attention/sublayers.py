"""What a Transformer's layers share: their activation, attention without weights, the causal mask."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.nn import functional as F
from tenfold.nn.container import ModuleList
from tenfold.nn.module import Module

Activation = str | Callable[[Tensor], Tensor]


def chosen_activation(given: Activation) -> Callable[[Tensor], Tensor]:
    if not isinstance(given, str):
        return given
    if given not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {given}")
    chosen: Callable[[Tensor], Tensor] = getattr(F, given)
    return chosen


def clones(module: Module, count: int) -> ModuleList:
    """Copies of a module, each with parameters of its own."""
    return ModuleList([copy.deepcopy(module) for _ in range(count)])


def attend(attention: Module, x: Tensor, memory: Tensor, mask: Tensor | None, padding: Tensor | None, is_causal: bool) -> Tensor:
    """Attention from `x` to `memory` without its weights; both masks are floats where one of them is."""
    if mask is not None and padding is not None and mask.dtype != padding.dtype:
        mask, padding = _additive(mask, x), _additive(padding, x)
    output, _ = attention(x, memory, memory, attn_mask=mask, key_padding_mask=padding, is_causal=is_causal, need_weights=False)
    return output  # type: ignore[no-any-return]


def _additive(mask: Tensor, like: Tensor) -> Tensor:
    """A boolean mask as zeros and -inf to be added."""
    if mask.dtype != tenfold.bool:
        return mask
    return tenfold.zeros_like(mask, dtype=like.dtype).masked_fill_(mask, float("-inf"))


# Causal masks made here on accelerators, by identity: which memory, at which version. To compare a mask waits for the device.
# A storage says whether `.data` was asked for, whose writes no version counts.
_made: dict[int, tuple[weakref.ref[Tensor], Any, int]] = {}


def causal_mask(size: int, device: Any = None, dtype: Any = None) -> Tensor:
    """The causal mask (size, size): 0 up to the diagonal and -inf after it, or False and True."""
    mask = tenfold.full((size, size), float("-inf"), device=device, dtype=dtype).triu(1)
    if mask.device.type != "cpu" and not mask.is_inference():  # NumPy's writes, and those of inference, are not counted
        key = id(mask)
        mask.untyped_storage()
        _made[key] = weakref.ref(mask, lambda _: _made.pop(key, None)), mask._array, mask._version
    return mask


def is_causal_mask(mask: Tensor | None, given: bool | None) -> bool:
    """Whether `mask` is the causal one; looked up only where the caller did not say (None) and it is not one made here."""
    if given is not None or mask is None:
        return bool(given)
    size = mask.size(-1)
    if tuple(mask.shape) != (size, size):
        return False
    made = _made.get(id(mask))
    if made is not None and made[0]() is mask and _is_untouched(mask, *made[1:]):
        return True
    return bool((mask == causal_mask(size, mask.device, mask.dtype)).all())


def _is_untouched(mask: Tensor, array: Any, version: int) -> bool:
    """Whether a mask's memory has been written by nobody since it was this array at this version."""
    return mask._array is array and mask._version == version and not hasattr(mask._storage, "shown")
