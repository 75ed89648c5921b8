"""Dropout, one launch for what is drawn and dropped, and its gradient, another: the operators of tenfold-nn.

Whole feature maps are dropped by a mask that is drawn first, one number for each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cuda import capturing, runtime, seeding
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.argument_types import Word
from tenfold.cuda.kernels.conversion import clone
from tenfold.cuda.kernels.elementwise import allocate, run
from tenfold.cuda.kernels.handwritten import F64, FLOATS, Handwritten, start
from tenfold.cuda.sampling import BERNOULLI, Sampling
from tenfold.dispatch.operators import op
from tenfold.types.memory_format import preserve_format

BLOCK = 1024  # counters of a program, of four elements each
BOOL = np.dtype(np.bool_)


@kernel(op.fused_dropout, device="cuda")
def fused_dropout(input: Any, p: float, whole_features: bool, scale: float, shift: float, rest: float) -> Any:
    if input.dtype not in FLOATS or (whole_features and input.ndim < 2):
        return NotImplemented
    numbers = float(scale), float(shift), float(rest)
    if not whole_features:
        return _drawn(input, 1.0 - p, numbers)
    shape = (*input.shape[:2], *(1,) * (input.ndim - 2))
    mask = Sampling(runtime.current().index_of(input))._samples(BERNOULLI, None, shape, BOOL, 1.0 - p)
    if shift or rest:
        return run("drop_to", input, mask, *numbers), mask
    return run("drop", input, mask, numbers[0]), mask


def _drawn(input: Any, kept: float, numbers: tuple[float, float, float]) -> tuple[Any, Any]:
    now = runtime.current()
    index = now.index_of(input)
    whole = input.flags.c_contiguous or runtime.order_in_memory(input) is not None
    x = input if whole else clone(input, preserve_format)
    out, mask = allocate(x.shape, x.dtype, x), allocate(x.shape, BOOL, x)
    programs = -(-x.size // (4 * BLOCK))
    capture = capturing.current() if capturing.CAPTURES else None
    if capture is None:
        words, (seed, offset) = out, seeding.reserve(index, None, programs * BLOCK)
    else:  # where a replay begins is on the device
        words, offset = capture.draw(index, None, programs * BLOCK)
        seed = 0
    if programs:
        fixed = {
            "SHIFTED": int(any(numbers[1:])), "DOUBLE": int(x.dtype == F64), "PLACED": int(capture is not None),
            "BIG": int(x.size > 2**31 - 8 * BLOCK), "BLOCK": BLOCK,
        }  # fmt: skip
        arguments = (out, mask, x, words, Word(seed), Word(offset), x.size, float(kept), *numbers)
        start(Handwritten("drop_samples", tuple(fixed.items())), (programs,), arguments, index)
    return out, mask


@kernel(op.fused_dropout_grad, device="cuda")
def fused_dropout_grad(grad: Any, mask: Any, scale: float) -> Any:
    return NotImplemented if mask.dtype != BOOL else run("drop", grad, mask, float(scale))
