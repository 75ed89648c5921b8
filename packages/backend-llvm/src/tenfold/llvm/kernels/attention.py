"""Scaled dot-product attention and its gradient: the operators of tenfold-nn."""

from __future__ import annotations

from math import inf, prod, sqrt
from typing import Any, NamedTuple

import numpy as np

from tenfold.llvm import session as sessions
from tenfold.llvm.attention import QUERIES, Attention, forward
from tenfold.llvm.attention_gradient import gradient
from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.kernels.halves import converted
from tenfold.llvm.matrix_attention import QUERIES as UNIT_QUERIES, forward as forward_by_unit
from tenfold.llvm.matrix_tiles import SIDE
from tenfold.llvm.matrix_unit import usable
from tenfold.llvm.programs import Compiled, empty
from tenfold.llvm.storage import BFLOAT16, BY_DTYPE, FLOAT32, FLOAT64, Stored
from tenfold.llvm.writer import registers

Array = np.ndarray[Any, Any]

FORWARD = Compiled("attention", forward, vectors=True)
BY_UNIT = Compiled("attention of the unit for bfloat16", forward_by_unit, vectors=True)
GRADIENT = Compiled("the gradient of attention", gradient, vectors=True)
WIDEST = 256  # elements of a query or value, whose blocks stand on the stack
NOTE = f"float32 and float64, queries and values of up to {WIDEST} elements"


class _Call:
    """The arrays of a call as heads (outer, inner, rows, elements).

    `fine` where there is a compiled form, `narrow` where there is one for rows with zeros behind them.
    """

    def __init__(
        self,
        query: Array,
        key: Array,
        value: Array,
        mask: Array | None,
        is_causal: bool,
        scale: float | None,
        *,
        unit: bool = False,
    ) -> None:
        self.lead, self.queries, self.keys = query.shape[:-2], query.shape[-2], key.shape[-2]
        self.widths = query.shape[-1], value.shape[-1]
        self.is_causal = is_causal
        self.factor = float(1 / sqrt(max(1, self.widths[0])) if scale is None else scale)
        stored = FLOAT32 if unit else BY_DTYPE.get(query.dtype)
        self.stored = stored if stored in (FLOAT32, FLOAT64) else None
        self.lanes = SIDE if unit else registers().lanes(self.stored) if self.stored is not None else 1
        fits = self.stored is not None and self._fits(query, key, value, mask)
        whole = all(width % self.lanes == 0 for width in self.widths)
        self.fine, self.narrow = fits and whole, fits and not whole and not unit

    def widened(self, x: Array) -> Array:
        """An array with zeros behind each row to whole registers, which change neither scores nor sums."""
        made = np.zeros((*x.shape[:-1], -(-x.shape[-1] // self.lanes) * self.lanes), x.dtype)
        made[..., : x.shape[-1]] = x
        return made

    def _fits(self, query: Array, key: Array, value: Array, mask: Array | None) -> bool:
        return (
            query.ndim >= 2
            and query.shape[:-2] == key.shape[:-2] == value.shape[:-2]
            and query.dtype == key.dtype == value.dtype
            and key.shape[-1] == self.widths[0]
            and value.shape[-2] == self.keys
            and query.size > 0
            and value.size > 0
            and max(self.widths) <= WIDEST
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

    def numbers(self, *arrays: Array) -> tuple[Any, ...]:
        """The distances and sizes that follow the arrays."""
        steps = [step for x in arrays for step in x.strides[:3]]
        return *steps, self.lead[-1] if self.lead else 1, self.queries, self.keys, self.factor


Laid = tuple[tuple[int, ...], tuple[int, ...] | None]  # sizes in the order of memory, and the way back from it


class Plan(NamedTuple):
    """What a call with arrays of these sizes and distances needs beside their addresses."""

    compiled: Compiled
    key: tuple[Any, ...]
    address: int
    items: int
    grain: int
    numbers: tuple[Any, ...]
    results: tuple[tuple[int, ...], ...]
    stored: Stored
    allocate: tuple[Any, ...]  # what makes each result of four dimensions
    laid: tuple[Laid, ...]  # how each lies


_PLANS: dict[Any, Plan] = {}
MOST_PLANS = 1 << 8
OUTER_AND_INNER = 4  # dimensions of arrays that are taken as they are


def _seen(what: tuple[Any, ...], *arrays: Array) -> tuple[Any, Plan | None]:
    """The name of a call and its plan, if such a call was served before."""
    name = what, *[(a.dtype, a.shape, a.strides) for a in arrays]
    for a in arrays:  # a loop, which for so few takes half of what a generator does
        if type(a) is not np.ndarray or not a.flags.aligned:
            return name, None
    return name, _PLANS.get(name)


def _keep(name: Any, given: list[Array], taken: list[Array], plan: Plan, mask: Array | None) -> None:
    """Keep a plan where all arrays were taken as they are, and the mask from where it lies."""
    if mask is not None and mask.ctypes.data != taken[-1].ctypes.data:
        return
    if plan.address and all(a.ndim == OUTER_AND_INNER and a.strides == b.strides for a, b in zip(given, taken)):
        if len(_PLANS) >= MOST_PLANS:
            _PLANS.clear()
        _PLANS[name] = plan


def _run(plan: Plan, *arguments: Any) -> None:
    if sessions.USED:
        sessions.use(plan.compiled, *plan.key)
    session = sessions.session()
    assert session is not None
    session.launch(plan.address, plan.items, plan.grain, *arguments, *plan.numbers)


def fused_attention(query: Array, key: Array, value: Array, attn_mask: Array | None, is_causal: bool, scale: float | None) -> Any:
    given = (query, key, value) if attn_mask is None else (query, key, value, attn_mask)
    name, plan = _seen((is_causal, scale), *given)
    if plan is not None:
        out, sums = _made(plan, 0), np.empty(plan.results[1], plan.stored.dtype)
        _run(plan, sums, query, key, value, out, *given[3:])
        return out, sums
    call = _Call(query, key, value, attn_mask, is_causal, scale)
    if call.narrow:
        wide = [call.widened(x) for x in (query, key, value)]
        found = fused_attention(wide[0], wide[1], wide[2], attn_mask, is_causal, call.factor)
        if found is NotImplemented:
            return found
        key_width, width = call.widths  # of two widths PyTorch's result lies row by row
        return _first(found[0], width, query if key_width == width else None), found[1]
    if not call.fine:
        return NotImplemented
    stored: Stored = call.stored  # type: ignore[assignment]
    q, k, v = (call.heads(x) for x in (query, key, value))
    masks = [] if attn_mask is None else [call.mask(attn_mask)]
    shapes = (*query.shape[:-1], call.widths[1]), query.shape[:-1]
    out, sums = _beside(shapes[0], stored, query), np.empty(shapes[1], stored.dtype)
    items, grain = prod(call.lead) * -(-call.queries // QUERIES), _grain(call, min(QUERIES, call.queries))
    arrays = [q, k, v, call.heads(out), *masks]
    kind, numbers = (call.kind(attn_mask),), call.numbers(*arrays)
    if not FORWARD.run(kind, items, grain, sums, *arrays, *numbers):
        return NotImplemented
    laid = (_laid(shapes[0], query),)
    plan = Plan(FORWARD, kind, FORWARD.known(kind), items, grain, numbers, shapes, stored, _allocators(shapes, stored), laid)
    _keep(name, [query, key, value, out], arrays, plan, attn_mask)
    return out, sums


def _by_unit(query: Any, key: Any, value: Any, attn_mask: Any, is_causal: bool, scale: float | None) -> Any:
    """Attention of bfloat16 by the processor's unit for it; NotImplemented for other arrays."""
    given = query, key, value
    if not all(type(a) is np.ndarray and a.dtype == BFLOAT16.dtype for a in given):
        return NotImplemented
    unit, call = usable(), _Call(*given, attn_mask, is_causal, scale, unit=True)
    if unit is None or not call.fine:
        return NotImplemented
    masks = [] if attn_mask is None else [call.mask(attn_mask if attn_mask.dtype == np.bool_ else converted(attn_mask, FLOAT32))]
    out, sums = _beside((*query.shape[:-1], call.widths[1]), BFLOAT16, query), np.empty(query.shape[:-1], FLOAT32.dtype)
    items, grain = prod(call.lead) * -(-call.queries // UNIT_QUERIES), _grain(call, min(UNIT_QUERIES, call.queries))
    arrays = [*(call.heads(x) for x in given), call.heads(out), *masks]
    done = BY_UNIT.run((unit, call.kind(attn_mask)), items, grain, sums, *arrays, *call.numbers(*arrays))
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
    inputs = query, key, value, grad, output
    mask = () if attn_mask is None else (attn_mask,)
    name, plan = _seen((is_causal, scale), *inputs, log_sum_exp, *mask)
    if plan is not None and log_sum_exp.flags.c_contiguous:
        results: tuple[Array, ...] = _made(plan, 0), _made(plan, 1), _made(plan, 2)
        _run(plan, log_sum_exp, np.empty(log_sum_exp.shape, plan.stored.dtype), *inputs, *results, *mask)
        return results
    call = _Call(query, key, value, attn_mask, is_causal, scale)
    if call.narrow and all(a.dtype == query.dtype for a in (grad, output, log_sum_exp)):
        q, k, v, g, out = (call.widened(x) for x in inputs)
        found = fused_attention_grad(g, q, k, v, out, log_sum_exp, attn_mask, is_causal, call.factor)
        if found is NotImplemented:
            return found
        return tuple([_first(x, like.shape[-1], like) for x, like in zip(found, inputs[:3], strict=True)])
    if not call.fine or any(a.dtype != query.dtype for a in (grad, output, log_sum_exp)):
        return NotImplemented
    if grad.shape != output.shape or output.shape != (*query.shape[:-1], call.widths[1]):
        return NotImplemented
    stored: Stored = call.stored  # type: ignore[assignment]
    masks = [] if attn_mask is None else [call.mask(attn_mask)]
    shapes = query.shape, key.shape, value.shape
    results = tuple([_beside(x.shape, stored, x) for x in inputs[:3]])
    arrays = [*(call.heads(x) for x in (*inputs, *results)), *masks]
    kind, items, grain, numbers = (call.kind(attn_mask),), prod(call.lead), _grain(call, call.queries), call.numbers(*arrays)
    room = np.empty(log_sum_exp.shape, stored.dtype)
    if not GRADIENT.run(kind, items, grain, np.ascontiguousarray(log_sum_exp), room, *arrays, *numbers):
        return NotImplemented
    known, laid = GRADIENT.known(kind), tuple([_laid(x.shape, x) for x in inputs[:3]])
    plan = Plan(GRADIENT, kind, known, items, grain, numbers, shapes, stored, _allocators(shapes, stored), laid)
    _keep(name, [*inputs, *results], arrays, plan, attn_mask)
    return results


def _allocators(shapes: tuple[tuple[int, ...], ...], stored: Stored) -> tuple[Any, ...]:
    session = sessions.session()
    assert session is not None
    return tuple([session.memory.allocator(prod(shape) * stored.size) for shape in shapes])


def _made(plan: Plan, number: int) -> Array:
    """`_beside` for a result of a plan, all of which have four dimensions."""
    sizes, back = plan.laid[number]
    made: Array = plan.allocate[number](sizes, plan.stored.dtype)
    return made if back is None else made.transpose(back)


def _laid(shape: tuple[int, ...], like: Array) -> Laid:
    """How a result lies: in the order of another of its shape, as PyTorch's; what joins the heads of a row then needs no copy."""
    if like.ndim != OUTER_AND_INNER or like.shape != shape or like.strides[3] != like.itemsize:
        return shape, None
    order = sorted(range(3), key=lambda d: -(like.strides[d] or inf))
    if order == [0, 1, 2]:
        return shape, None
    return (*(shape[d] for d in order), shape[3]), (*(order.index(d) for d in range(3)), 3)


def _beside(shape: tuple[int, ...], stored: Stored, like: Array) -> Array:
    """A new array for a result."""
    sizes, back = _laid(shape, like)
    made = empty(sizes, stored)
    return made if back is None else made.transpose(back)


def _first(x: Array, width: int, like: Array | None) -> Array:
    """The first elements of each row, as a result; row by row beside nothing."""
    stored, shape = BY_DTYPE[x.dtype], (*x.shape[:-1], width)
    made = empty(shape, stored) if like is None else _beside(shape, stored, like)
    made[...] = x[..., :width]
    return made


def _grain(call: _Call, queries: int) -> int:
    """Items for which a second thread is woken."""
    work: int = queries * call.keys * sum(call.widths)
    return max(1, (1 << 18) // work)


chosen("fused_attention", fused_attention, 6, NOTE, halves=1, unit=_by_unit)
chosen("fused_attention_grad", fused_attention_grad, 9, NOTE, halves=3)
