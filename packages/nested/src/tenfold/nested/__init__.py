"""Nested tensors: PyTorch's `torch.nested`, batches of tensors of different sizes.

>>> import tenfold
>>> x = tenfold.nested.nested_tensor([[1.0, 2.0, 3.0], [4.0]], layout=tenfold.jagged)
>>> (x * 2).sum(1)
tensor([12.,  8.])
"""

from __future__ import annotations

from tenfold.nested import (
    jagged_products as jagged_products,
    jagged_reductions as jagged_reductions,
    jagged_shapes as jagged_shapes,
    strided_products as strided_products,
    strided_shapes as strided_shapes,
)
from tenfold.nested.construction import (
    as_nested_tensor as as_nested_tensor,
    masked_select as masked_select,
    narrow as narrow,
    nested_tensor as nested_tensor,
    nested_tensor_from_jagged as nested_tensor_from_jagged,
)
from tenfold.nested.padding import to_padded_tensor as to_padded_tensor
from tenfold.nested.private_names import (
    _nested_from_padded_and_nested_example as _nested_from_padded_and_nested_example,
    _nested_tensor_from_mask_left_aligned as _nested_tensor_from_mask_left_aligned,
)
from tenfold.nested.strided_products import is_left_aligned as is_left_aligned, nested_from_mask, nested_from_padded

_nested_tensor_from_mask, _nested_from_padded = nested_from_mask, nested_from_padded  # found as tenfold._nested_from_padded

__all__ = ["as_nested_tensor", "masked_select", "narrow", "nested_tensor", "nested_tensor_from_jagged", "to_padded_tensor"]
