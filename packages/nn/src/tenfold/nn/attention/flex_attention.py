"""`flex_attention`: attention whose scores and mask are functions of the places, written for one score at a time."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypedDict

import tenfold
from tenfold import Tensor
from tenfold.nn.attention.block_mask import (
    _DEFAULT_SPARSE_BLOCK_SIZE,
    BlockMask,
    _sliced_mask_mod_error,
    and_masks,
    create_block_mask,
    create_mask,
    noop_mask,
    or_masks,
    over_places,
)

__all__ = [
    "_DEFAULT_SPARSE_BLOCK_SIZE", "AuxOutput", "AuxRequest", "BlockMask", "FlexKernelOptions", "and_masks", "create_block_mask",
    "create_mask", "flex_attention", "noop_mask", "or_masks",
]  # fmt: skip

# PyTorch's names for annotations.
_score_mod_signature = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]
_mask_mod_signature = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


class FlexKernelOptions(TypedDict, total=False):
    """What `kernel_options` may say of PyTorch's Triton kernel: sizes of its blocks and the like. Results do not depend on it."""

    num_warps: int
    num_stages: int
    BLOCK_M: int
    BLOCK_N: int
    BLOCK_M1: int
    BLOCK_N1: int
    BLOCK_M2: int
    BLOCK_N2: int
    PRESCALE_QK: bool
    ROWS_GUARANTEED_SAFE: bool
    BLOCKS_ARE_CONTIGUOUS: bool
    WRITE_DQ: bool
    FORCE_USE_FLEX_ATTENTION: bool
    USE_TMA: bool
    kpack: int
    matrix_instr_nonkdim: int
    waves_per_eu: int
    BACKEND: str


class AuxRequest(NamedTuple):
    """What `flex_attention` shall give besides the result."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What `flex_attention` gives besides the result: the logarithm of each row's sum, and its largest score."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: _score_mod_signature | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: Any = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """Attention with scores of your own: softmax(score_mod(Q K^T scale, b, h, q, k)) V over the places that the mask keeps.

    `score_mod(score, b, h, q, k)` and the mask's `mask_mod(b, h, q, k)` are written for single numbers. A row of which
    nothing is kept gives 0. With `return_lse`, also log(sum(exp(scores))) of each row.

    Shape: (B, H, L, E), (B, H, S, E), (B, H, S, V) -> (B, H, L, V); with `enable_gqa`, H may be a multiple of the keys' H.

    Raises: ValueError for tensors that are not of four dimensions or whose heads do not fit, and for a mask of other lengths;
    RuntimeError for a part of a mask that was given no `mask_mod` of its own.

    Source: Dong et al., Flex Attention, arXiv:2412.05496.

    >>> x = tenfold.eye(2).reshape(1, 1, 2, 2)
    >>> causal = create_block_mask(lambda b, h, q, k: q >= k, None, None, 2, 2, device="cpu")
    >>> flex_attention(x, x, x, block_mask=causal)[0, 0, 0].tolist()
    [1.0, 0.0]
    """
    key, value = _checked(query, key, value, enable_gqa)
    working = tenfold.float64 if query.dtype == tenfold.float64 else tenfold.float32
    scores = (query @ key.mT).to(working) * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if score_mod is not None:
        scores = over_places(score_mod, scores.shape, query.device, scores)
    if block_mask is not None:
        _check_lengths(query, key, block_mask)
        keep = over_places(block_mask.mask_mod, scores.shape, query.device)
        scores = scores.masked_fill(~keep, -math.inf)
    lse = scores.logsumexp(-1)
    weights = (scores - lse.masked_fill(lse == -math.inf, 0.0).unsqueeze(-1)).exp()
    result = weights.to(value.dtype) @ value
    if return_aux is not None:
        return result, AuxOutput(lse if return_aux.lse else None, scores.amax(-1) if return_aux.max_scores else None)
    return (result, lse) if return_lse else result


def _check_lengths(query: Tensor, key: Tensor, block_mask: BlockMask) -> None:
    if block_mask.mask_mod is _sliced_mask_mod_error:
        raise RuntimeError("Cannot use mask_mod from a sliced BlockMask: set a mask_mod that counts from the part's beginning")
    given, made_for = (query.shape[-2], key.shape[-2]), block_mask.shape[-2:]
    if given != made_for:
        raise ValueError(
            f"block_mask was created for block_mask.shape={block_mask.shape} but got q_len={given[0]} and kv_len={given[1]}: "
            "make one of these lengths by create_block_mask"
        )


def _checked(query: Tensor, key: Tensor, value: Tensor, enable_gqa: bool) -> tuple[Tensor, Tensor]:
    """Keys and values with as many heads as the queries."""
    if not query.dim() == key.dim() == value.dim() == 4:
        raise ValueError(f"Expected query, key, and value to be 4D inputs, got {query.dim()}D, {key.dim()}D and {value.dim()}D")
    heads, own = query.shape[1], key.shape[1]
    if heads == own:
        return key, value
    if not enable_gqa:
        raise ValueError(
            f"Expect query and key/value to have the same number of heads but got Hq={heads} and Hkv={own}. Try setting "
            "enable_gqa=True for GQA."
        )
    if heads % own:
        raise ValueError(f"Expect number of query heads to be a multiple of kv heads for GQA but got Hq={heads} and Hkv={own}.")
    return key.repeat_interleave(heads // own, 1), value.repeat_interleave(heads // own, 1)
