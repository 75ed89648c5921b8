"""Products of 8-bit floats with scales of blocks (`_scaled_mm_v2`) and of slices (`_scaled_grouped_mm`), one launch each.

Products with a scale for a matrix or a row are cuBLASLt's (products.py).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.capturing import constant, hold, place
from tenfold.cuda.kernels.eight_bits import BYTE
from tenfold.cuda.kernels.grouped_products import MOST, aligned, products_of_slices, served, steps_of, tile, unit
from tenfold.cuda.kernels.handwritten import Handwritten, contiguous, start
from tenfold.dispatch.operators import op
from tenfold.types.dtypes import BY_NAME

STACK = 3  # dimensions
ROW_BLOCK, SQUARE, BLOCK = 4, 5, 128  # recipes by number, and what they are recipes for
HALVED = 64  # rows of tiles from which on they have fewer columns
KINDS = {"float8_e4m3fn": 1, "float8_e5m2": 2}  # as programs/eight_bits.py has them


def program(rows: int, **flags: int) -> Handwritten:
    """The kernel `scaled_blocks` for matrices of so many rows."""
    high, wide, _, warps, stages = tile(rows, False)
    wide = wide if high < HALVED else wide // 2  # a block's sum is held beside the whole one's
    fixed = (*flags.items(), ("ROWS", high), ("COLUMNS", wide), ("INNER", BLOCK))
    return Handwritten("scaled_blocks", fixed, warps, stages, by_address=True)


@kernel(op._scaled_mm_v2, device="cuda")
def _scaled_mm_v2(
    input: Any, mat2: Any, scale_a: Any, recipe_a: Any, swizzle_a: Any, scale_b: Any, recipe_b: Any, swizzle_b: Any,
    bias: Any, out_dtype: Any, contraction_dim: Any, use_fast_accum: bool,
) -> Any:  # fmt: skip
    given = input, mat2, scale_a, recipe_a, swizzle_a, scale_b, recipe_b, swizzle_b, bias, out_dtype, contraction_dim
    op._scaled_mm_v2.shape_rule(*given, use_fast_accum)
    out_type = input.dtype if out_dtype is None else out_dtype.numpy
    if recipe_a[0] < ROW_BLOCK or not input.size or not mat2.size or max(input.size, mat2.size) > MOST or out_type.name in KINDS:
        return NotImplemented
    (M, K), N = input.shape, mat2.shape[1]
    kinds, a, b = (KINDS[input.dtype.name], KINDS[mat2.dtype.name]), input.view(BYTE), mat2.view(BYTE)
    now, index = runtime.current(), runtime.current().index_of(input)
    out = now.empty((M, N), out_type, index)
    steps = (*steps_of(a), *steps_of(b))
    of_a, of_b = steps_of(scale_a[0]), steps_of(scale_b[0])
    of_a, of_b = of_a if recipe_a[0] == ROW_BLOCK else of_a[::-1], of_b if recipe_b[0] == SQUARE else of_b[::-1]
    high, wide = (1 if recipe[0] == ROW_BLOCK else BLOCK for recipe in (recipe_a, recipe_b))
    found = program(
        M, A_UNIT=unit(a, 1, 0), B_UNIT=unit(b, 0, 1), ALIGNED=aligned((K, N), steps), A_KIND=kinds[0], B_KIND=kinds[1],
        A_HIGH=high, B_WIDE=wide, BIASED=int(bias is not None),
    )  # fmt: skip
    rows, columns = dict(found.fixed)["ROWS"], dict(found.fixed)["COLUMNS"]
    bias = out if bias is None else contiguous(bias)
    grid = (-(-M // rows) * -(-N // columns),)
    start(found, grid, (out, a, b, scale_a[0], scale_b[0], bias, M, K, N, *steps, *of_a, *of_b), index)
    return out


@kernel(op._scaled_grouped_mm, device="cuda")
def _scaled_grouped_mm(
    input: Any, mat2: Any, scale_a: Any, scale_b: Any, offs: Any, bias: Any, scale_result: Any, out_dtype: Any,
    use_fast_accum: bool,
) -> Any:  # fmt: skip
    op._scaled_grouped_mm.shape_rule(input, mat2, scale_a, scale_b, offs, bias, scale_result, out_dtype, use_fast_accum)
    dtype = BY_NAME["bfloat16"].numpy if out_dtype is None else out_dtype.numpy
    shape = (*input.shape[:-1], mat2.shape[-1])
    scales = contiguous(scale_a), contiguous(scale_b)
    stacks = offs is None
    if stacks and input.size:  # a stack's rows are slices of as many rows
        offs = _ends(*input.shape[:2], *place(runtime.current(), runtime.current().index_of(input)))
        hold(offs)
        input, scales = contiguous(input).reshape(-1, input.shape[-1]), (scales[0].reshape(-1), scales[1])
    if offs is None or not served(input, mat2, offs):
        return NotImplemented
    found = products_of_slices(input.view(BYTE), mat2.view(BYTE), contiguous(offs), dtype, scales)
    return found.reshape(shape) if stacks else found


@lru_cache(maxsize=64)
def _ends(stacks: int, rows: int, index: int, stream: int) -> Any:
    """Where slices of equally many rows end; of each stream its own."""
    return constant(runtime.current(), np.arange(rows, rows * stacks + 1, rows, dtype=np.int32), index)
