"""In which kinds of attention a call could be computed, as PyTorch's questions have it; Tenfold has one kernel for all."""

from __future__ import annotations

from typing import Any, NamedTuple

from tenfold.backends import cudnn

HALF = ("float16", "bfloat16")
MOST_FEATURES = 256


class SDPAParams(NamedTuple):
    """A call of `scaled_dot_product_attention`."""

    query: Any
    key: Any
    value: Any
    attn_mask: Any
    dropout: float
    is_causal: bool
    enable_gqa: bool


def _fits(params: Any, dtypes: tuple[str, ...]) -> bool:
    given = (params.query, params.key, params.value)
    return all(x.is_cuda and x.dim() == 4 and x.dtype.name in dtypes for x in given)


def can_use_flash_attention(params: Any, debug: bool = False) -> bool:
    """Whether the call is one of half precision on a GPU without a mask, of at most 256 features a head."""
    return _fits(params, HALF) and params.attn_mask is None and params.query.shape[-1] <= MOST_FEATURES


def can_use_efficient_attention(params: Any, debug: bool = False) -> bool:
    """Whether the call is one on a GPU in single or half precision."""
    return _fits(params, (*HALF, "float32"))


def can_use_cudnn_attention(params: Any, debug: bool = False) -> bool:
    """Whether cuDNN is there and the call is one of half precision on a GPU."""
    return cudnn.is_available() and _fits(params, HALF)
