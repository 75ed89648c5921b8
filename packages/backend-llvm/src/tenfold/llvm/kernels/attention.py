"""Scaled dot-product attention and its gradient: the operators of tenfold-nn."""

from __future__ import annotations

from math import prod, sqrt
from typing import Any

import numpy as np

from tenfold.llvm.attention import QUERIES, Attention, forward
from tenfold.llvm.attention_gradient import gradient
from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.programs import Compiled, empty
from tenfold.llvm.storage import BY_DTYPE, FLOAT32, FLOAT64, Stored
from tenfold.llvm.writer import registers

Array = np.ndarray[Any, Any]

FORWARD = Compiled("attention", forward)
GRADIENT = Compiled("the gradient of attention", gradient)
WIDEST = 256  # elements of a query or value, whose blocks stand on the stack
NOTE = f"float32 and float64, queries and values of whole registers up to {WIDEST} elements"


class _Call:
    """The arrays of a call as heads (outer, inner, rows, elements); `fine` where there is a compiled form."""

    def __init__(self, query: Array, key: Array, value: Array, mask: Array | None, is_causal: bool, scale: float | None) -> None:
        self.lead, self.queries, self.keys = query.shape[:-2], query.shape[-2], key.shape[-2]
        self.widths = query.shape[-1], value.shape[-1]
        self.is_causal = is_causal
        self.factor = float(1 / sqrt(max(1, self.widths[0])) if scale is None else scale)
        stored = BY_DTYPE.get(query.dtype)
        self.stored = stored if stored in (FLOAT32, FLOAT64) else None
        self.fine = self.stored is not None and self._fits(query, key, value, mask)

    def _fits(self, query: Array, key: Array, value: Array, mask: Array | None) -> bool:
        assert self.stored is not None
        lanes = registers().lanes(self.stored)
        return (
            query.ndim >= 2
            and query.shape[:-2] == key.shape[:-2] == value.shape[:-2]
            and query.dtype == key.dtype == value.dtype
            and key.shape[-1] == self.widths[0]
            and value.shape[-2] == self.keys
            and query.size > 0
            and value.size > 0
            and all(width % lanes == 0 and width <= WIDEST for width in self.widths)
            and (mask is None or (mask.ndim <= query.ndim and mask.dtype in (np.bool_, query.dtype)))
        )

    def kind(self, mask: Array | None) -> Attention:
        """What the code is made for."""
        assert self.stored is not None
        form = "" if mask is None else "keep" if mask.dtype == np.bool_ else "add"
        return Attention(self.stored, *self.widths, form, self.is_causal)

    def heads(self, x: Array) -> Array:
        """An array with two dimensions of heads, its rows in one piece: a view where that can be."""
        inner = self.lead[-1] if self.lead else 1
        found = x.reshape(prod(self.lead[:-1]), inner, *x.shape[-2:])
        if found.strides[-1] != found.itemsize or not found.flags.aligned or not found.dtype.isnative:
            found = np.ascontiguousarray(found)
        return found

    def mask(self, mask: Array) -> Array:
        """A mask for each head, broadcast without a copy where its rows are in one piece."""
        if mask.ndim < 2 or mask.shape[-1] != self.keys:
            mask = np.ascontiguousarray(
                np.broadcast_to(mask, (*mask.shape[:-2], mask.shape[-2] if mask.ndim > 1 else 1, self.keys))
            )
        elif mask.strides[-1] != mask.itemsize:
            mask = np.ascontiguousarray(mask)
        return self.heads(np.broadcast_to(mask, (*self.lead, self.queries, self.keys)))

    def numbers(self, *arrays: Array) -> list[Any]:
        """The distances and sizes that follow the arrays."""
        steps = [step for x in arrays for step in x.strides[:3]]
        return [*steps, self.lead[-1] if self.lead else 1, self.queries, self.keys, self.factor]


def fused_attention(query: Array, key: Array, value: Array, attn_mask: Array | None, is_causal: bool, scale: float | None) -> Any:
    call = _Call(query, key, value, attn_mask, is_causal, scale)
    if not call.fine:
        return NotImplemented
    stored: Stored = call.stored  # type: ignore[assignment]
    q, k, v = (call.heads(x) for x in (query, key, value))
    masks = [] if attn_mask is None else [call.mask(attn_mask)]
    out, sums = _beside((*query.shape[:-1], call.widths[1]), stored), np.empty(query.shape[:-1], stored.dtype)
    items = prod(call.lead) * -(-call.queries // QUERIES)
    arrays = [q, k, v, call.heads(out), *masks]
    done = FORWARD.run(
        (call.kind(attn_mask),), items, _grain(call, min(QUERIES, call.queries)), sums, *arrays, *call.numbers(*arrays)
    )
    return (out, sums) if done else NotImplemented


def fused_attention_grad(
    grad: Array,
    query: Array,
    key: Array,
    value: Array,
    output: Array,
    log_sum_exp: Array,
    attn_mask: Array | None,
    is_causal: bool,
    scale: float | None,
) -> Any:
    call = _Call(query, key, value, attn_mask, is_causal, scale)
    if not call.fine or any(a.dtype != query.dtype for a in (grad, output, log_sum_exp)):
        return NotImplemented
    if grad.shape != output.shape or output.shape != (*query.shape[:-1], call.widths[1]):
        return NotImplemented
    stored: Stored = call.stored  # type: ignore[assignment]
    q, k, v, g = (call.heads(x) for x in (query, key, value, grad))
    masks = [] if attn_mask is None else [call.mask(attn_mask)]
    results = [_beside(x.shape, stored) for x in (query, key, value)]
    for zeroed in results[1:]:
        zeroed.fill(0)
    arrays = [q, k, v, g, *(call.heads(x) for x in (output, *results)), *masks]
    done = GRADIENT.run(
        (call.kind(attn_mask),), prod(call.lead), _grain(call, call.queries), np.ascontiguousarray(log_sum_exp), *arrays,
        *call.numbers(*arrays),
    )  # fmt: skip
    return tuple(results) if done else NotImplemented


def _beside(shape: tuple[int, ...], stored: Stored) -> Array:
    """A new array for a result. Of four dimensions a row's heads lie beside one another, as in PyTorch.

    What follows joins the heads of each row, and needs no copy then.
    """
    if len(shape) != 4:
        return empty(shape, stored)
    outer, heads, rows, width = shape
    return empty((outer, rows, heads, width), stored).swapaxes(1, 2)


def _grain(call: _Call, queries: int) -> int:
    """Items for which a second thread is woken."""
    work: int = queries * call.keys * sum(call.widths)
    return max(1, (1 << 18) // work)


chosen("fused_attention", fused_attention, 6, NOTE)
chosen("fused_attention_grad", fused_attention_grad, 9, NOTE)
