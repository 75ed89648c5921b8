"""Gradients of parameters, put together from the sums of several groups of rows."""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

from triton import language as tl


def norm_totals(
    weight_ptr, bias_ptr, weights_ptr, biases_ptr, splits, width, CENTERED: tl.constexpr, DOUBLE: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """The gradients of weight and, if CENTERED, bias in the parameters' dtypes: sums over `splits` rows of sums."""
    c = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    of_weight = tl.zeros([ROWS, COLUMNS], tl.float64 if DOUBLE else tl.float32)
    of_bias = tl.zeros([ROWS, COLUMNS], tl.float64 if DOUBLE else tl.float32)
    for start in range(0, splits, ROWS):
        r = start + tl.arange(0, ROWS)[:, None]
        place = r.to(tl.int64) * width + c
        mask = (r < splits) & (c < width)
        of_weight += tl.load(weights_ptr + place, mask, other=0.0)
        if CENTERED:
            of_bias += tl.load(biases_ptr + place, mask, other=0.0)
    tl.store(weight_ptr + c, tl.sum(of_weight, 0)[None, :].to(weight_ptr.dtype.element_ty), c < width)
    if CENTERED:
        tl.store(bias_ptr + c, tl.sum(of_bias, 0)[None, :].to(bias_ptr.dtype.element_ty), c < width)
