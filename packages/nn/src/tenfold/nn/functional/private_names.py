"""Helpers of PyTorch's `nn.functional` that programs borrow for layers of their own, under its names."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.dispatch.overrides import handle_torch_function
from tenfold.nn import _reduction as _Reduction
from tenfold.nn.modules.utils import (
    _list_with_default,
    _pair,
    _single,
    _triple,
)
from tenfold.nn.ops.linear import linear
from tenfold.overrides import has_torch_function

__all__ = [
    "GRID_SAMPLE_INTERPOLATION_MODES", "GRID_SAMPLE_PADDING_MODES", "Tensor", "_Reduction", "_canonical_mask",
    "_get_softmax_dim", "_in_projection", "_in_projection_packed", "_list_with_default", "_none_or_dtype", "_pair", "_single",
    "_triple", "_verify_batch_size", "_verify_spatial_size", "handle_torch_function", "has_torch_function",
]  # fmt: skip

GRID_SAMPLE_INTERPOLATION_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
GRID_SAMPLE_PADDING_MODES = {"zeros": 0, "border": 1, "reflection": 2}


def _verify_batch_size(size: Sequence[int]) -> None:
    """ValueError for an input (N, C, *) of which each channel has one value."""
    if size[0] * math.prod(size[2:]) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {size}")


def _verify_spatial_size(size: Sequence[int]) -> None:
    """ValueError for an input (N, C, *) of which each channel of a sample has one value."""
    if math.prod(size[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {size}")


def _get_softmax_dim(name: str, ndim: int, stacklevel: int) -> int:
    """The dimension that softmax takes where none is given, with the warning that one should be."""
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=stacklevel,
    )
    return 0 if ndim in (0, 1, 3) else 1


def _in_projection(
    q: Tensor, k: Tensor, v: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor,
    b_q: Tensor | None = None, b_k: Tensor | None = None, b_v: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Queries, keys and values, each through its own linear layer."""
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(v, w_v, b_v)


def _in_projection_packed(q: Tensor, k: Tensor, v: Tensor, w: Tensor, b: Tensor | None = None) -> list[Tensor]:
    """Queries, keys and values through the three linear layers that one weight (3 E, E) holds."""
    if q is k and k is v:
        return list(linear(q, w, b).chunk(3, -1))
    biases = (None, None, None) if b is None else b.chunk(3)
    return [linear(x, part, bias) for x, part, bias in zip((q, k, v), w.chunk(3), biases, strict=True)]


def _none_or_dtype(input: Tensor | None) -> Any:
    """A tensor's dtype, None for no tensor."""
    if input is None:
        return None
    if isinstance(input, Tensor):
        return input.dtype
    raise RuntimeError("input to _none_or_dtype() must be None or tenfold.Tensor")


def _canonical_mask(
    mask: Tensor | None, mask_name: str, other_type: Any, other_name: str, target_type: Any, check_other: bool = True
) -> Tensor | None:
    """A mask as numbers to add: a boolean one as -inf where it is True, one of floats as it is.

    Raises AssertionError for a mask of integers. Warns where the other mask of the same attention is of another dtype.
    """
    if mask is None:
        return None
    is_float = mask.is_floating_point()
    if not is_float and mask.dtype != tenfold.bool:
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and mask.dtype != other_type:
        warnings.warn(
            f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type for both instead.", stacklevel=2
        )
    return mask if is_float else mask.new_zeros(mask.shape, dtype=target_type).masked_fill_(mask, -math.inf)
