"""Products of matrices of 8-bit floating numbers with scales of matrices, rows or blocks, and of slices of such matrices."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import tenfold as tf
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import composite
from tenfold.nn.ops.grouped import MATRIX, _grouped_mm
from tenfold.nn.ops.products import _scaled_mm
from tenfold.nn.ops.scaled_checks import BLOCK, check_scaled_grouped, check_scaled_recipes
from tenfold.tensor.tensor import Tensor


class ScalingType(IntEnum):
    """What has a scale of its own: a matrix, a row, so many neighbours of a row, or a block of 128 x 128.

    >>> import tenfold
    >>> tenfold.nn.functional.ScalingType.RowWise.value
    1
    """

    TensorWise = 0
    RowWise = 1
    BlockWise1x16 = 2
    BlockWise1x32 = 3
    BlockWise1x128 = 4
    BlockWise128x128 = 5


class SwizzleType(IntEnum):
    """The order in which scales lie in memory: as they are, or in tiles, which PyTorch's recipes for scales of 8 bits want.

    >>> import tenfold
    >>> tenfold.nn.functional.SwizzleType.NO_SWIZZLE.value
    0
    """

    NO_SWIZZLE = 0
    SWIZZLE_32_4_4 = 1


def scaled_mm(
    mat_a: Tensor, mat_b: Tensor, scale_a: Any, scale_recipe_a: Any, scale_b: Any, scale_recipe_b: Any, swizzle_a: Any = None,
    swizzle_b: Any = None, bias: Tensor | None = None, output_dtype: Any = tf.bfloat16, contraction_dim: Sequence[int] = (),
    use_fast_accum: bool = False,
) -> Tensor:  # fmt: skip
    """Product of matrices of 8-bit floating numbers, each times its scales, plus a bias: summed in float32.

    Shape: (M, K), (K, N), (N) -> (M, N). Scales in float32, by recipe: `TensorWise` one; `RowWise` (M, 1) and (1, N);
    `BlockWise1x128` (M, ceil(K / 128)) and (N, ceil(K / 128)); `BlockWise128x128` (ceil(K / 128), ceil(M / 128)) and
    (ceil(K / 128), ceil(N / 128)), whose first size may be rounded up to a multiple of 4. `TensorWise` and `RowWise` go with
    themselves, of the blocks at most one is of 128 x 128. Dtype: float8_e4m3fn and float8_e5m2; the result has
    `output_dtype`, with None that of `mat_a`. Raises: ValueError for sizes, scales and recipes that do not fit.

    Differs from PyTorch: its CPU has no blocks. Scales of 16 and 32 neighbours, and swizzled ones, are refused.

    >>> import tenfold
    >>> from tenfold.nn.functional import ScalingType, scaled_mm
    >>> x, half = tenfold.ones(1, 16).to(tenfold.float8_e4m3fn), tenfold.tensor(0.5)
    >>> scaled_mm(x, x.t(), half, ScalingType.TensorWise, half, ScalingType.TensorWise, output_dtype=tenfold.float32)
    tensor([[4.]])
    """
    return _scaled_mm_v2(
        mat_a, mat_b, _listed(scale_a), _numbers(scale_recipe_a), _numbers(swizzle_a), _listed(scale_b),
        _numbers(scale_recipe_b), _numbers(swizzle_b), bias, output_dtype, list(contraction_dim), use_fast_accum,
    )  # fmt: skip


def scaled_grouped_mm(
    mat_a: Tensor, mat_b: Tensor, scale_a: Any, scale_recipe_a: Any, scale_b: Any, scale_recipe_b: Any, swizzle_a: Any = None,
    swizzle_b: Any = None, bias: Tensor | None = None, offs: Tensor | None = None, output_dtype: Any = tf.bfloat16,
    contraction_dim: Sequence[int] = (), use_fast_accum: bool = False,
) -> Tensor:  # fmt: skip
    """Products of G pairs of matrices of float8_e4m3fn, as `grouped_mm` has them, with a scale for each row and column.

    Shape: as of `grouped_mm`. Scales in float32: of a stack (G, M) and (G, N), of a matrix (M) and (N), where both are matrices
    (G * M) and (G * N). Raises: ValueError for recipes other than `RowWise`, RuntimeError for sizes and dtypes that do not fit.

    >>> import tenfold
    >>> from tenfold.nn.functional import ScalingType, scaled_grouped_mm
    >>> x, y = (tenfold.ones(s).to(tenfold.float8_e4m3fn) for s in ((3, 16), (2, 16, 1)))
    >>> ends, rows = tenfold.tensor([1, 3], dtype=tenfold.int32), ScalingType.RowWise
    >>> scaled_grouped_mm(x, y, tenfold.ones(3), rows, tenfold.ones(2, 1), rows, offs=ends).flatten()
    tensor([16., 16., 16.], dtype=tenfold.bfloat16)
    """
    recipes, swizzles = (_numbers(scale_recipe_a), _numbers(scale_recipe_b)), (_numbers(swizzle_a), _numbers(swizzle_b))
    scales = _listed(scale_a), _listed(scale_b)
    if any(r != [ScalingType.RowWise] for r in recipes) or any(any(s) for s in swizzles) or any(len(s) != 1 for s in scales):
        raise ValueError(
            f"scaled_grouped_mm takes one scale tensor each by the recipe RowWise, without swizzles; got recipes "
            f"{recipes[0]} and {recipes[1]}, swizzles {swizzles[0]} and {swizzles[1]}"
        )
    if contraction_dim and [d % 2 for d in contraction_dim] != [1, 0]:
        raise ValueError(f"scaled_grouped_mm contracts the last dimension with the last but one, got {list(contraction_dim)}")
    return _scaled_grouped_mm(mat_a, mat_b, scales[0][0], scales[1][0], offs, bias, None, output_dtype, use_fast_accum)


def _listed(value: Any) -> list[Any]:
    return [] if value is None else list(value) if isinstance(value, (list, tuple)) else [value]


def _numbers(value: Any) -> list[int]:
    return [int(kind) for kind in _listed(value)]


def _spread(scale: Tensor, recipe: int, outer: int, inner: int) -> Tensor:
    """Scales of blocks as one for each element of (outer, inner)."""
    if recipe == ScalingType.BlockWise128x128:
        scale = scale.t().repeat_interleave(BLOCK, 0)[:outer]
    return scale.repeat_interleave(BLOCK, 1)[:, :inner]


@composite("scaled", method=None)
def _scaled_mm_v2(
    input: Tensor,
    mat2: Tensor,
    scale_a: Sequence[Tensor],
    recipe_a: Any,
    swizzle_a: Any,
    scale_b: Sequence[Tensor],
    recipe_b: Any,
    swizzle_b: Any,
    bias: Tensor | None,
    out_dtype: Any,
    contraction_dim: Any = (),
    use_fast_accum: bool = False,
) -> Tensor:
    """Product of matrices of 8-bit floating numbers, each times its scales, plus a bias: `scaled_mm` with numbers for recipes.

    Shape, dtype and errors: those of `torch.nn.functional.scaled_mm`.

    >>> import tenfold
    >>> x, one = tenfold.ones(1, 16).to(tenfold.float8_e4m3fn), [tenfold.tensor(1.0)]
    >>> tenfold._scaled_mm_v2(x, x.t(), one, [0], [], one, [0], [], None, tenfold.float32)
    tensor([[16.]])
    """
    arrays = [x._array for x in (input, mat2)], [[x._array for x in scales] for scales in (scale_a, scale_b)]
    check_scaled_recipes(
        *arrays, (recipe_a, recipe_b), (swizzle_a, swizzle_b), None if bias is None else bias._array, contraction_dim
    )
    if recipe_a[0] in (ScalingType.TensorWise, ScalingType.RowWise):
        return _scaled_mm(input, mat2, scale_a[0], scale_b[0], bias, None, out_dtype, use_fast_accum)
    (M, K), N = input.shape, mat2.size(1)
    a = input.float() * _spread(scale_a[0], recipe_a[0], M, K)
    product = a.mm(mat2.float() * _spread(scale_b[0], recipe_b[0], N, K).t())
    if bias is not None:
        product = product + bias.float()
    return product.to(out_dtype or input.dtype)


@_scaled_mm_v2.rule
def _(input, mat2, scale_a, recipe_a, swizzle_a, scale_b, recipe_b, swizzle_b, bias, out_dtype, contraction_dim, use_fast_accum):  # type: ignore[no-untyped-def]
    check_scaled_recipes((input, mat2), (scale_a, scale_b), (recipe_a, recipe_b), (swizzle_a, swizzle_b), bias, contraction_dim)
    return Meta((input.shape[0], mat2.shape[1]), input.dtype if out_dtype is None else out_dtype.numpy)


@composite("scaled", method=None)
def _scaled_grouped_mm(
    input: Tensor,
    mat2: Tensor,
    scale_a: Tensor,
    scale_b: Tensor,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    scale_result: Tensor | None = None,
    out_dtype: Any = None,
    use_fast_accum: bool = False,
) -> Tensor:
    """Products of G pairs of matrices of float8_e4m3fn, as `_grouped_mm` has them, with a scale for each row and column.

    Shape: as of `_grouped_mm`; scales in float32: of a stack (G, M) and (G, N), of a matrix (M) and (N), where both are matrices
    (G * M) and (G * N). Dtype: the result has `out_dtype`, at first bfloat16. `scale_result` has no part in it.
    Raises: RuntimeError for sizes and dtypes that do not fit, and for a bias, which there is none of, as in PyTorch.

    >>> import tenfold
    >>> x = tenfold.ones(2, 1, 16).to(tenfold.float8_e4m3fn)
    >>> tenfold._scaled_grouped_mm(x, x.mT, tenfold.ones(2, 1), tenfold.tensor([[1.0], [2.0]])).flatten()
    tensor([16., 32.], dtype=tenfold.bfloat16)
    """
    ends, added = (None if x is None else x._array for x in (offs, bias))
    check_scaled_grouped(input._array, mat2._array, scale_a._array, scale_b._array, ends, added, out_dtype)
    out = out_dtype or tf.bfloat16
    if input.dim() == mat2.dim() == MATRIX:
        product = _grouped_mm(input.float(), mat2.float(), offs)
        rows, columns = scale_a.view(len(product), -1, 1), scale_b.view(len(product), 1, -1)
        return (product * rows * columns).to(out)
    a, b = input.float() * scale_a.unsqueeze(-1), mat2.float() * scale_b.unsqueeze(-2)
    return _grouped_mm(a, b, offs).to(out)


@_scaled_grouped_mm.rule
def _(input, mat2, scale_a, scale_b, offs, bias, scale_result, out_dtype, use_fast_accum):  # type: ignore[no-untyped-def]
    check_scaled_grouped(input, mat2, scale_a, scale_b, offs, bias, out_dtype)
    groups = offs.shape[:1] if input.ndim == mat2.ndim and offs is not None else input.shape[:-2] if offs is None else ()
    return Meta((*groups, input.shape[-2], mat2.shape[-1]), tf.bfloat16.numpy if out_dtype is None else out_dtype.numpy)
