"""PyTorch's private functions around nested tensors that programs and its own layers name."""

from __future__ import annotations

from typing import Any

from tenfold import Tensor
from tenfold.nested.strided import StridedNested
from tenfold.nested.strided_products import is_left_aligned, nested_from_padded


def _nested_from_padded_and_nested_example(padded: Tensor, nt_example: Any) -> StridedNested:
    """The rows that a padded tensor has in the sizes of a nested one."""
    return nested_from_padded(padded, nt_example._nested_tensor_size())


def _nested_tensor_from_mask_left_aligned(t: Tensor, mask: Tensor) -> bool:
    """Whether a mask is true from the left, as making a nested tensor by it needs."""
    return is_left_aligned(mask)
