"""Rows of a table by index and the table's gradient: operators of tenfold-nn."""

from __future__ import annotations

from typing import Any

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels import bags, places as at, sums  # noqa: F401 - the first attaches kernels of this family too
from tenfold.cuda.kernels.array_kernels import cast
from tenfold.cuda.kernels.elementwise import run
from tenfold.cuda.kernels.handwritten import FLOATS, contiguous
from tenfold.dispatch.operators import op
from tenfold.settings.determinism import are_deterministic_algorithms_enabled


def _rows(indices: Any, width: Any) -> at.Places | None:
    """The places of whole rows; None for what are no indices."""
    if indices.dtype not in at.INTEGERS:
        return None
    found = at.Index(0, indices, (*indices.strides, *[0] * len(width)))
    return at.Places((*indices.shape, *width), (*[None] * indices.ndim, *range(1, len(width) + 1)), (found,), False)


@kernel(op.embedding_rows, device="cuda", plays=True, recycles=True)
def embedding_rows(weight: Any, input: Any, padding_idx: int, scale_grad_by_freq: bool, sparse: bool) -> Any:
    places = _rows(input, weight.shape[1:])
    return NotImplemented if places is None else at.take("embedding", weight, places)


@kernel(op.embedding_weight_grad, device="cuda", plays=are_deterministic_algorithms_enabled)
def embedding_weight_grad(grad: Any, indices: Any, num_weights: int, padding_idx: int, scale_by_freq: bool) -> Any:
    places = _rows(indices, grad.shape[indices.ndim :])
    if places is None or grad.dtype not in FLOATS or grad.shape != places.shape:
        return NotImplemented
    index = runtime.current().index_of(grad)
    table = sums.zeros((num_weights, *grad.shape[indices.ndim :]), sums.accumulator(grad.dtype), index)
    skipped = padding_idx if padding_idx >= 0 else None
    grad = grad if skipped is None or not any(grad.strides) else contiguous(grad)  # what is skipped, is so row by row
    if not sums.add_to("embedding", table, places, grad, grad.strides, skipped):
        return NotImplemented
    if scale_by_freq:
        counts = sums.zeros((num_weights,), sums.I32, index)
        one = runtime.current().from_host(sums.ONE, index)
        flat = at.Places(indices.shape, (None,) * indices.ndim, (at.Index(0, indices, indices.strides),), False)
        at.run("add", "embedding", one, (0,) * indices.ndim, counts, flat)
        often = run("clamp_min", counts, 1)
        table = run("div", table, cast(often, table.dtype).reshape(-1, *[1] * (table.ndim - 1)))
    return cast(table, grad.dtype)
