"""Products of groups of matrices of different sizes, as layers of experts multiply each expert's tokens by its weights."""

from __future__ import annotations

from typing import Any

import tenfold as tf
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import composite
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import BY_NAME

FLOATS = tuple(BY_NAME[name] for name in ("float32", "bfloat16", "float16"))
MATRIX, STACK = 2, 3  # dimensions


@composite("grouped", method=None)
def _grouped_mm(
    input: Tensor, mat2: Tensor, offs: Tensor | None = None, bias: Tensor | None = None, out_dtype: Any = None
) -> Tensor:
    """Products of G pairs of matrices: stacks of matrices, or slices of one matrix, where slice g ends at `offs[g]`.

    Shape: (M, K), (G, K, N) -> (M, N), rows in slices; (G, M, K), (K, N) -> (M, N), columns in slices; (M, K), (K, N) ->
    (G, M, N), the sum in slices; (G, M, K), (G, K, N) -> (G, M, N), without `offs`. What lies behind the last slice is not
    multiplied, and 0 where it is a result. Dtype: float32, bfloat16 or float16, `offs` int32 and increasing.
    Raises: RuntimeError for sizes and dtypes that do not fit, and for a bias, which there is none of, as in PyTorch.

    >>> import tenfold
    >>> tokens, experts = tenfold.ones(3, 2), tenfold.tensor([1.0, 2.0]).view(2, 1, 1).expand(2, 2, 1)
    >>> tenfold._grouped_mm(tokens, experts, tenfold.tensor([1, 3], dtype=tenfold.int32)).flatten()
    tensor([2., 4., 4.])
    """
    arrays = [None if x is None else x._array for x in (input, mat2, offs, bias)]
    check_grouped(arrays[0], arrays[1], arrays[2], arrays[3], out_dtype)
    if offs is None:
        return input.bmm(mat2)
    slices = _slices(offs, input.size(-2 if mat2.dim() == STACK else -1) if input.dim() == MATRIX else mat2.size(-1))
    end = slices[-1].stop if slices else 0
    if input.dim() == mat2.dim():
        sums = [input[:, s].mm(mat2[s]) for s in slices]
        return tf.stack(sums) if sums else input.new_zeros(0, len(input), mat2.size(1))
    if input.dim() == MATRIX:
        parts = [input[s].mm(weight) for s, weight in zip(slices, mat2.unbind())]
        return tf.cat([*parts, input.new_zeros(len(input) - end, mat2.size(-1))])
    parts = [rows.mm(mat2[:, s]) for s, rows in zip(slices, input.unbind())]
    return tf.cat([*parts, input.new_zeros(input.size(1), mat2.size(-1) - end)], 1)


def grouped_mm(
    mat_a: Tensor, mat_b: Tensor, *, offs: Tensor | None = None, bias: Tensor | None = None, out_dtype: Any = None
) -> Tensor:
    """Products of G pairs of matrices: stacks of matrices, or slices of one matrix, where slice g ends at `offs[g]`.

    Shape: (M, K), (G, K, N) -> (M, N), rows in slices; (G, M, K), (K, N) -> (M, N), columns in slices; (M, K), (K, N) ->
    (G, M, N), the sum in slices; (G, M, K), (G, K, N) -> (G, M, N), without `offs`. Dtype: float32, bfloat16 or float16,
    `offs` int32 and increasing. Raises: RuntimeError for sizes and dtypes that do not fit, and for a bias.

    Differs from PyTorch: matrices lie in memory as they like, and what is behind the last slice is 0, not left as it was.

    >>> import tenfold
    >>> tokens, experts = tenfold.ones(3, 2), tenfold.ones(2, 2, 4)
    >>> tenfold.nn.functional.grouped_mm(tokens, experts, offs=tenfold.tensor([1, 3], dtype=tenfold.int32)).shape
    tenfold.Size([3, 4])
    """
    return _grouped_mm(mat_a, mat_b, offs, bias, out_dtype)


def _slices(offs: Tensor, size: int) -> list[slice]:
    """From each offset's predecessor to it, within the size; one that is less than those before it makes an empty slice."""
    slices, begin = [], 0
    for end in offs.tolist():
        slices.append(slice(begin, max(begin, min(int(end), size))))
        begin = slices[-1].stop
    return slices


def check_grouped(input: Any, mat2: Any, offs: Any, bias: Any, out_dtype: Any) -> None:
    """Refuse arrays whose sizes and dtypes do not fit, with PyTorch's exception type."""
    floats = [d.numpy for d in FLOATS]
    for name, x in (("mat_a", input), ("mat_b", mat2)):
        if len(x.shape) not in (MATRIX, STACK):
            raise RuntimeError(f"grouped_mm: {name} has to be 2 or 3d, got shape {list(x.shape)}")
        if x.dtype not in floats:
            raise RuntimeError(f"grouped_mm: Expected {name} to be Float32, BFloat16 or Float16 matrix, got {x.dtype}")
    if input.dtype != mat2.dtype:
        raise RuntimeError(
            f"grouped_mm: expected m1 and m2 to have the same dtype, but got: {input.dtype} != {mat2.dtype}; convert one"
        )
    check_slices("grouped_mm", input, mat2, offs)
    if bias is not None:
        raise RuntimeError("grouped_mm: Bias not supported yet; add it to the result")
    if out_dtype is not None and out_dtype.numpy != input.dtype:
        raise RuntimeError(f"grouped_mm: Grouped gemm output dtype must match `mat_a` dtype, got {out_dtype} for {input.dtype}")


def check_slices(name: str, input: Any, mat2: Any, offs: Any) -> None:
    """Refuse matrices, stacks and offsets whose sizes do not fit."""
    a, b = len(input.shape), len(mat2.shape)
    if input.shape[-1] != mat2.shape[-2]:
        raise RuntimeError(
            f"{name}: contraction dimension of mat_a and mat_b must match, got {list(input.shape)} and {list(mat2.shape)}"
        )
    if (offs is None) != (a == b == STACK):
        raise RuntimeError(
            f"{name}: Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d; got "
            f"{list(input.shape)} and {list(mat2.shape)} with {'no offs' if offs is None else 'offs'}"
        )
    if offs is not None and (offs.dtype.name != "int32" or len(offs.shape) != 1):
        raise RuntimeError(f"{name}: Offsets have to be int32, of one dimension; got {offs.dtype} {list(offs.shape)}")
    stacks = [x.shape[0] for x in (input, mat2) if len(x.shape) == STACK]
    if len(set(stacks)) > 1 or (offs is not None and stacks and offs.shape[0] != stacks[0]):
        raise RuntimeError(
            f"{name}: matrix batch sizes have to match, got {list(input.shape)} and {list(mat2.shape)}"
            + ("" if offs is None else f" with {offs.shape[0]} offs")
        )


@_grouped_mm.rule
def _(input, mat2, offs, bias, out_dtype):  # type: ignore[no-untyped-def]
    check_grouped(input, mat2, offs, bias, out_dtype)
    groups = offs.shape[:1] if input.ndim == mat2.ndim and offs is not None else input.shape[:-2] if offs is None else ()
    return Meta((*groups, input.shape[-2], mat2.shape[-1]), input.dtype)
