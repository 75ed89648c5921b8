"""What products of 8-bit floating numbers accept: recipes of scales, their sizes, and slices."""

from __future__ import annotations

from typing import Any

import tenfold as tf
from tenfold.nn.ops.grouped import MATRIX, STACK, check_slices
from tenfold.nn.ops.products import EIGHT_BITS

BLOCK, PADDED = 128, 4  # elements that have a scale; what rows of scales of blocks are rounded up to
TENSOR, ROW, ROW_BLOCK, SQUARE = 0, 1, 4, 5  # numbers of ScalingType
PAIRS = ((TENSOR, TENSOR), (ROW, ROW), (ROW_BLOCK, ROW_BLOCK), (ROW_BLOCK, SQUARE), (SQUARE, ROW_BLOCK))
OF_BIAS = ("float32", "bfloat16", "float16")
NAMES = ("TensorWise", "RowWise", "BlockWise1x16", "BlockWise1x32", "BlockWise1x128", "BlockWise128x128")


def check_scaled_recipes(matrices: Any, scales: Any, recipes: Any, swizzles: Any, bias: Any, contraction: Any) -> None:
    """Refuse arrays, recipes and scales that do not fit, with PyTorch's exception types."""
    for name, x in zip(("mat_a", "mat_b"), matrices):
        if len(x.shape) != MATRIX:
            raise ValueError(f"_scaled_mm_v2: {name} must be a matrix, got shape {list(x.shape)}")
    (M, K), (K2, N) = (x.shape for x in matrices)
    if contraction and len(contraction) != MATRIX:
        raise ValueError(f"_scaled_mm_v2: contraction_dim must have exactly 2 elements, got {list(contraction)}")
    if contraction and [d % MATRIX for d in contraction] != [1, 0]:
        raise RuntimeError(f"_scaled_mm_v2: contraction_dim is [1, 0], got {list(contraction)}; transpose the matrix")
    if K != K2:
        raise ValueError(f"_scaled_mm_v2: mat_a and mat_b shapes cannot be multiplied ({M}x{K} and {K2}x{N})")
    if any(kind for given in swizzles for kind in given):
        raise ValueError(
            f"_scaled_mm_v2: scales are taken with NO_SWIZZLE, got swizzles {list(swizzles[0])} and {list(swizzles[1])}"
        )
    if bias is not None and bias.dtype.name not in OF_BIAS:
        raise ValueError(f"_scaled_mm_v2: Bias must be Float32 or BFloat16 or Half, but got {bias.dtype}")
    if bias is not None and tuple(bias.shape) != (N,):
        raise ValueError(f"_scaled_mm_v2: Bias must be size {N} but got {bias.shape[0] if bias.shape else 1}")
    _check_scales(matrices, scales, recipes, (M, K, N))


def _check_scales(matrices: Any, scales: Any, recipes: Any, sizes: tuple[int, int, int]) -> None:
    M, K, N = sizes
    kinds = tuple(recipe[0] if len(recipe) == 1 else None for recipe in recipes)
    eight = [d.numpy for d in EIGHT_BITS]
    told = [[NAMES[k] if 0 <= k < len(NAMES) else k for k in recipe] for recipe in recipes]
    fits = kinds in PAIRS and all(len(s) == 1 and s[0].dtype == tf.float32.numpy for s in scales)
    if not fits or any(x.dtype not in eight for x in matrices):
        raise ValueError(
            "Invalid scaling configuration. _scaled_mm_v2 takes matrices of float8_e4m3fn or float8_e5m2 and one scale tensor "
            "each in float32, by recipes TensorWise or RowWise for both, or BlockWise1x128 and at most one BlockWise128x128; got "
            f"{matrices[0].dtype} and {matrices[1].dtype}, recipes {told[0]} and {told[1]}, scales of "
            f"{[str(x.dtype) for x in scales[0]]} and {[str(x.dtype) for x in scales[1]]}"
        )
    for name, recipe, scale, outer in (("scale_a", kinds[0], scales[0][0], M), ("scale_b", kinds[1], scales[1][0], N)):
        accepted = _sizes(recipe, outer, K, name == "scale_b")
        found = tuple(scale.shape)
        if set(found) - {1} if recipe == TENSOR else found not in accepted:
            wanted = "1 Float element" if recipe == TENSOR else f"the shape {list(accepted[0])}"
            raise ValueError(f"_scaled_mm_v2: {name} must have {wanted} by the recipe {NAMES[recipe or 0]}, got {list(found)}")


def _sizes(recipe: Any, outer: int, inner: int, second: bool) -> list[tuple[int, int]]:
    """Which shapes scales may have by a recipe other than TENSOR."""
    blocks, across = -(-inner // BLOCK), -(-outer // BLOCK)
    if recipe == SQUARE:
        return [(blocks, across), (-(-blocks // PADDED) * PADDED, across)]
    if recipe == ROW_BLOCK:
        return [(outer, blocks)]
    return [(1, outer) if second else (outer, 1)]


def check_scaled_grouped(input: Any, mat2: Any, scale_a: Any, scale_b: Any, offs: Any, bias: Any, out_dtype: Any) -> None:
    """Refuse arrays whose sizes, dtypes or scales do not fit, with PyTorch's exception type."""
    name = "scaled_grouped_mm"
    for label, x in (("mat_a", input), ("mat_b", mat2)):
        if len(x.shape) not in (MATRIX, STACK):
            raise RuntimeError(f"{name}: {label} has to be 2 or 3d, got shape {list(x.shape)}")
        if x.dtype != EIGHT_BITS[0].numpy:
            raise RuntimeError(f"{name}: Expected {label} to be Float8_e4m3 matrix, got {x.dtype}")
    check_slices(name, input, mat2, offs)
    if bias is not None:
        raise RuntimeError(f"{name}: Bias not supported yet; add it to the result")
    if out_dtype is not None and out_dtype.name not in OF_BIAS:
        raise RuntimeError(f"{name}: out_dtype is bfloat16, float16 or float32, got {out_dtype}")
    groups = offs.shape[0] if offs is not None and len(input.shape) == len(mat2.shape) else 1
    for label, scale, x, size in (("scale_a", scale_a, input, input.shape[-2]), ("scale_b", scale_b, mat2, mat2.shape[-1])):
        accepted = (x.shape[0], size) if len(x.shape) == STACK else (size * groups,)
        if scale.dtype != tf.float32.numpy or tuple(scale.shape) != accepted:
            raise RuntimeError(f"{name}: {label} is float32 of shape {list(accepted)}, got {scale.dtype} {list(scale.shape)}")
