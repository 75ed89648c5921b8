"""Layers, products, normalization and sums of strided nested tensors."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.nested.strided import StridedNested
from tenfold.nested.strided_table import each
from tenfold.nested.table import STRIDED, dimension, knows


@knows(STRIDED, "linear")
def linear(func: Any, input: Any, weight: Any, bias: Any = None) -> StridedNested:
    """A linear layer over the last dimension."""
    if getattr(weight, "is_nested", False):
        raise RuntimeError("Linear does not support nested weight when input is a nested tensor.")
    if not input._packed():
        raise RuntimeError("for now linear only supports contiguous nested tensor: call .contiguous() first")
    if input.dim() != 3 or weight.dim() != 2:
        raise RuntimeError(
            "Linear requires nested_tensor.dim == 3 and dense_matrix.dim == 2."
            f" Nested tensor dim: {input.dim()}. Dense tensor dim: {weight.dim()}"
        )
    last = input._regular(2)
    if last is None:
        raise RuntimeError(
            "Expected all tensors in nested tensor to have the same trailing dimension, instead last dimension equals: "
            f"{[s[-1] for s in input._sizes]}"
        )
    if last != weight.shape[1]:
        raise RuntimeError(
            "Shape mismatch for NestedTensor Linear: Expected input's (a nested tensor) 'last_dim' to equal 'weight.size(1), "
            f"but got: last_dim = {last}, and weight.size(1) = {weight.shape[1]}"
        )
    out = func(input._held.reshape(-1, last), weight, bias)
    return StridedNested.of(out.reshape(-1), [(*s[:-1], weight.shape[0]) for s in input._sizes])


@knows(STRIDED, "embedding")
def embedding(func: Any, input: Any, weight: Tensor, *args: Any, **kwargs: Any) -> StridedNested:
    """The rows of a table that indices name: a new last dimension."""
    packed = input.packed()
    out = func(packed._held, weight, *args, **kwargs)
    return StridedNested.of(out.reshape(-1), [(*s, weight.shape[1]) for s in packed._sizes])


@knows(STRIDED, "layer_norm", "rms_norm")
def layer_norm(func: Any, input: Any, normalized_shape: Any, *args: Any, **kwargs: Any) -> StridedNested:
    """Normalization over the last dimensions, which have to be the same in all rows."""
    shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
    name, n = func.op.name, len(shape)
    if n >= input.dim() - 1 and any(input._regular(d) is None for d in range(1, input.dim())):
        raise RuntimeError(
            f"{name}: normalized_shape extends into irregular dimensions for the nested tensor: the last dimensions may be "
            f"given, got {shape} for rows of {input.dim() - 1} dimensions"
        )
    for k, size in enumerate(shape):
        found = input._regular(input.dim() - n + k)
        if found is None:
            raise RuntimeError("normalized_shape extends into irregular dimensions for the nested tensor")
        if found != size:
            raise RuntimeError(
                f"The shape at dimension {k}: normalized_shape[{k}] = {size} differs from that of the nested tensor, {found}"
            )
    packed = input.packed()
    out = func(packed._held.reshape(-1, *shape), shape, *args, **kwargs)
    return StridedNested.of(out.reshape(-1), packed._sizes)


@knows(STRIDED, "dropout", "alpha_dropout")
def dropout(func: Any, input: Any, p: float = 0.5, train: bool = True) -> Any:
    """Elements set to 0 at random."""
    return input.like(func(input._held, p, train))


@knows(STRIDED, "softmax", "log_softmax")
def softmax(func: Any, input: Any, dim: int, dtype: Any = None) -> Any:
    """Softmax of each row along a dimension."""
    d = dimension(dim, input.dim())
    if d == 0:
        raise RuntimeError("Cannot apply softmax across nested dimension 0")
    if not len(input):
        return input
    return StridedNested.of_rows(each(func, input, d - 1, dtype=dtype))


@knows(STRIDED, "sum")
def sum(func: Any, input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> StridedNested:
    """The sum of each row along the last dimension, which stays with size 1."""
    if dim is None:
        raise NotImplementedError(
            "Could not run 'aten::sum' with arguments from the 'NestedTensorCPU' backend: give the last dimension and "
            "keepdim=True, or sum the values()"
        )
    dims = [dim] if isinstance(dim, int) else list(dim)
    if len(dims) != 1:
        raise RuntimeError(f"NestedTensor only allows reduction of a single dimension for now, got {dims}")
    d = dimension(dims[0], input.dim())
    if d != input.dim() - 1:
        raise RuntimeError(f"NestedTensor can only be reduced across the last dimension for now got dimension {d} instead.")
    if not keepdim:
        raise RuntimeError("NestedTensor always requires keepdim=True for now.")
    return StridedNested.of_rows([row.sum(-1, keepdim=True, dtype=dtype) for row in input.rows()])


@knows(STRIDED, "bmm")
def bmm(func: Any, input: Any, mat2: Any) -> StridedNested:
    """The products of matrices, row by row; one of the two may be dense."""
    for name, x in (("batch1", input), ("batch2", mat2)):
        if x.dim() != 3:
            raise RuntimeError(f"{name} must be a 3D tensor, got {x.dim()} dimensions")
    if len(input) != len(mat2):
        raise RuntimeError(f"Expected size for the 1st dimension of batch2 tensor to be: {len(input)} but got: {len(mat2)}.")
    lefts, rights = input.unbind(0), mat2.unbind(0)
    for i, (a, b) in enumerate(zip(lefts, rights)):
        if a.shape[1] != b.shape[0]:
            raise RuntimeError(
                f"{i}-th nested matrices in batch cannot be multiplied ({a.shape[0]}x{a.shape[1]} and {b.shape[0]}x{b.shape[1]})"
            )
    return StridedNested.of_rows([a @ b for a, b in zip(lefts, rights)])


@knows(STRIDED, "matmul")
def matmul(func: Any, input: Any, other: Any) -> StridedNested:
    """The products of matrices, row by row; with a dense matrix (D, E) that of every row."""
    mine, theirs = ("nested" if getattr(x, "is_nested", False) else "non-nested" for x in (input, other))
    if mine == "nested" and theirs != mine and other.dim() == 2 and input.dim() >= 4 and input._regular(input.dim() - 1):
        return StridedNested.of_rows([row @ other for row in input.rows()])
    if mine != theirs:
        raise RuntimeError(f"Expected both to be nested, but got a {mine} self and {theirs} other")
    for which, x in (("1st", input), ("2nd", other)):
        if x.dim() < 3:
            raise RuntimeError(
                "matmul: For nested tensors, only inputs with >= 3 dims are currently supported. "
                f"{which} input has rank: {x.dim()}"
            )
    if len(input) != len(other):
        raise RuntimeError(
            f"matmul: Expected size for the 1st dimension of 2nd input tensor to be: {len(input)} but got: {len(other)}."
        )
    if input.dim() != other.dim() or any(a[:-2] != b[:-2] for a, b in zip(input._sizes, other._sizes)):
        raise RuntimeError(
            "matmul: For nested tensors, batch dimensions must have the same sizes, no broadcasting is performed; got rows of "
            f"{input._sizes} and {other._sizes}"
        )
    if any(a[-1] != b[-2] for a, b in zip(input._sizes, other._sizes)):
        raise RuntimeError(
            "matmul: Nested tensors cannot be matrix multiplied: the last dimensions of the first and the last but one of the "
            "second differ in a row"
        )
    return StridedNested.of_rows([a @ b for a, b in zip(input.rows(), other.rows())])


@knows(STRIDED, "scaled_dot_product_attention")
def attention(
    func: Any, query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
    scale: float | None = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    """Attention of each row to its own keys and values."""
    name = "scaled_dot_product_attention"
    if attn_mask is not None:
        raise RuntimeError(f"{name}: Nested tensors for query / key / value are not supported when an explicit attn_mask is set")
    if is_causal:
        raise RuntimeError(f"{name}: Nested tensors for query / key / value are not supported when is_causal=True")
    return query.of_rows(each(func, query, key, value, dropout_p=dropout_p, scale=scale, enable_gqa=enable_gqa))


def nested_from_padded(padded: Tensor, sizes: Any, fuse_transform_0213: bool = False) -> StridedNested:
    """The rows of given sizes (B, dimensions) that a padded tensor has."""
    x = padded.transpose(1, 2).flatten(-2) if fuse_transform_0213 else padded
    rows = []
    for row, size in zip(x, sizes.tolist()):
        rows.append(row[tuple(slice(n) for n in size)])
    return StridedNested.of_rows(rows, padded)


def nested_from_mask(t: Tensor, mask: Tensor, mask_check: bool = True) -> StridedNested:
    """The rows (B, N, ...) as far as a mask (B, N) holds, which has to be true from the left."""
    if mask.dtype is not tenfold.bool:
        raise RuntimeError(f"Expected mask to be of ScalarType Bool, but got {mask.dtype} instead.")
    if mask.dim() != 2 or t.dim() != 3 or tuple(t.shape[:2]) != tuple(mask.shape):
        raise RuntimeError(
            f"Padding mask should be 2D and the tensor 3D with the same first sizes, got {list(mask.shape)} and {list(t.shape)}"
        )
    if mask_check and not is_left_aligned(mask):
        raise RuntimeError("Expect mask to be left-aligned without gaps")
    return StridedNested.of_rows([row[:n] for row, n in zip(t, mask.sum(1).tolist())], t)


def is_left_aligned(mask: Tensor) -> bool:
    """Whether each row of a mask is true up to a place and false from there on, and true somewhere."""
    lengths = mask.sum(1)
    aligned = tenfold.arange(mask.shape[1], device=mask.device) < lengths.unsqueeze(1)
    return bool((aligned == mask).all() and (lengths > 0).all())
