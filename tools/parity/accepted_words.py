"""Names of differences from PyTorch by what the side that refuses says, for the rows of accepted_programs.py."""

from __future__ import annotations

# By what one side says when it refuses: (0 PyTorch, 1 Tenfold), the words, and the name of the difference.
WORDS = [
    (0, r"does not support automatic differentiation for outputs with complex dtype", "a complex derivative that PyTorch lacks"),
    (0, r"modified by an inplace operation", "a backward pass that does not read what was overwritten"),
    (0, r"has been detached in-place", "a backward pass after what was saved was detached"),
    (0, r"INTERNAL ASSERT", "an assertion inside PyTorch fails"),
    (0, r"expected scalar type (Long|Int|Char|Short|Byte) but found", "a product of small integers after a sum in int64"),
    (0, r"Expected isFloatingType\(grad", "the gradient of a real tensor that became complex"),
    (0, r"self.stride\(-1\) must be 1", "a view of the only element along a dimension"),
    (0, r"view size is not compatible with input tensor's size and stride", "a view inside PyTorch's operator fails"),
    (0, r"invalid gradient at index", "a gradient of PyTorch's own has the wrong shape"),
    (0, r"ZeroTensors are immutable", "a zero without memory"),
    (0, r"second time", "a second pass over a graph that keeps nothing"),
    (0, r"derivative for aten::remainder", "a derivative of remainder that PyTorch lacks"),
    (0, r"derivative for aten::\w+_backward is not implemented", "a second derivative that PyTorch lacks"),
    (0, r"derivative for 'inplace version of", "a derivative of an in-place form that PyTorch lacks"),
    (0, r"Negation, the `-` operator, on a bool tensor", "a gradient that PyTorch takes the negative of a bool for"),
    (1, r"to type c10::(Half|BFloat16) without overflow", "a number beyond half precision"),
    (1, r"linear: expected all tensors to have the same dtype", "a bias of another dtype"),
    (1, r"are out of bounds for storage of size", "a view beyond a result's memory"),
]
