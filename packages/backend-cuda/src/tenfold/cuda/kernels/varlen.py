"""Attention over sequences of different lengths: the programs of attention with a table of where sequences begin and end.

The table is made and looked at on the device, so that nothing waits for the host to read it. What attention's kernels do not
serve, and calls without a query or a key, go through the bodies.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from tenfold.cuda import reports, runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels import decoding
from tenfold.cuda.kernels.attention import attended, sizes
from tenfold.cuda.kernels.attention_gradient import gradients
from tenfold.cuda.kernels.handwritten import Handwritten, contiguous, start
from tenfold.cuda.kernels.heads import Call, fit, in_rows
from tenfold.dispatch.operators import op

CODE = reports.WORDS.index("varlen_attn")
LANES = 256  # sequences that a program of the table has
NO_MASK = tuple((name, 0) for name in ("MASK", "DROPS", "m_b", "m_h", "m_t", "m_s", "threshold", "keep"))
NO_POINTERS = (("mask_ptr", None), ("words_ptr", None))


@kernel(op.fused_varlen_attention, device="cuda")
def fused_varlen_attention(
    query: Any,
    key: Any,
    value: Any,
    cu_seq_q: Any,
    cu_seq_k: Any,
    seqused_k: Any,
    max_q: int,
    max_k: int,
    scale: float | None,
    left: int,
    right: int,
) -> Any:
    call = _call((query, key, value), (cu_seq_q, cu_seq_k, seqused_k), (max_q, max_k), scale, (left, right))
    if call is not None and decoding.serves(call, max_q, max_k, False):
        return decoding.attended(call, query, value.shape[-1])
    return attended(call, query, value)


@kernel(op.fused_paged_attention, device="cuda")
def fused_paged_attention(
    query: Any,
    key: Any,
    value: Any,
    cu_seq_q: Any,
    seqused_k: Any,
    block_table: Any,
    max_q: int,
    max_k: int,
    scale: float | None,
    left: int,
    right: int,
) -> Any:
    count, group = cu_seq_q.size - 1, query.shape[1] // max(1, key.shape[2])
    if not fit(query, key, value) or count < 1 or min(max_q, max_k) < 1 or block_table.size == 0:
        return NotImplemented
    index, (q, k, v) = runtime.current().index_of(query), map(in_rows, (query, key, value))
    steps = tuple(
        n // x.dtype.itemsize
        for x, of_step in ((q, (0, q.strides[1], q.strides[0])), (k, _of_pages(k)), (v, _of_pages(v)))
        for n in of_step
    )
    room = block_table.shape[1] * key.shape[1]
    given, constants = _constants(q, v, (max_q, min(max_k, room)), scale, (left, right), steps)
    table = _table((cu_seq_q, seqused_k, seqused_k), count, (len(query), room), (max_q, room), index, paged=True)
    call = Call(
        (q, k, v, table), (max_q, min(max_k, room), q.shape[1], group, *steps, *given), constants, count * q.shape[1], index, None
    )
    pages = decoding.Pages(contiguous(block_table), key.shape[1], key.shape[0], CODE)
    found = decoding.attended(call, query, value.shape[-1], pages)
    if runtime.is_replaced():
        reports.check()
    return found


def _of_pages(x: Any) -> tuple[int, int, int]:
    """Bytes from page to page, from head to head and from key to key."""
    return x.strides[0], x.strides[2], x.strides[1]


@kernel(op.fused_varlen_attention_grad, device="cuda")
def fused_varlen_attention_grad(
    grad: Any,
    query: Any,
    key: Any,
    value: Any,
    output: Any,
    log_sum_exp: Any,
    cu_seq_q: Any,
    cu_seq_k: Any,
    max_q: int,
    max_k: int,
    scale: float | None,
    left: int,
    right: int,
) -> Any:
    call = _call((query, key, value), (cu_seq_q, cu_seq_k, None), (max_q, max_k), scale, (left, right))
    return gradients(call, grad, (query, key, value), output, log_sum_exp)


def _call(
    given: tuple[Any, Any, Any], tables: tuple[Any, Any, Any], most: tuple[int, int], scale: float | None, window: tuple[int, int]
) -> Call | None:
    query, key, value = given
    count, shapes = tables[0].size - 1, [x.shape for x in given]
    if not fit(*given) or count < 1 or min(most) < 1 or not shapes[0][1:-1] == shapes[1][1:-1] == shapes[2][1:-1]:
        return None
    q, k, v, group = _heads(query, key, value)
    steps = tuple(step // x.dtype.itemsize for x in (q, k, v) for step in (0, x.strides[1], x.strides[0]))
    numbers, constants = _constants(query, value, most, scale, window, steps)
    index = runtime.current().index_of(query)
    table = _table(tables, count, (len(query), len(key)), most, index)
    return Call((q, k, v, table), (*most, q.shape[1], group, *steps, *numbers), constants, count * q.shape[1], index, None)


def _constants(
    query: Any, value: Any, most: tuple[int, int], scale: float | None, window: tuple[int, int], steps: tuple[int, ...]
) -> tuple[tuple[float, int, int], tuple[tuple[str, Any], ...]]:
    """(scale and window as the programs take them, what is fixed of them)."""
    E = query.shape[-1]
    left, right = (min(size, max(most)) for size in window)
    constants = (
        ("CAUSAL", int(0 <= right < most[0] - 1)), ("BEHIND", int(0 <= left < most[1] - 1)), ("TABLE", 1), *NO_MASK, *NO_POINTERS,
        *sizes(steps, query.dtype, E, value.shape[-1]),
    )  # fmt: skip
    return (1 / sqrt(max(1, E)) if scale is None else float(scale), left, right), constants


def _heads(query: Any, key: Any, value: Any) -> tuple[Any, Any, Any, int]:
    """(q, k, v, heads of q for each of k), (T, heads, E): keys that are repeated for groups of heads are read once."""
    group = 1
    if query.ndim == 4 and query.shape[2] > 1 and not key.strides[2] and not value.strides[2]:
        group, key, value = query.shape[2], key[:, :, 0], value[:, :, 0]
    return _as_heads(query), _as_heads(key), _as_heads(value), group


def _as_heads(x: Any) -> Any:
    x = in_rows(x, 0)
    if x.ndim == 3:
        return x
    together = x.ndim == 4 and x.strides[1] == x.shape[2] * x.strides[2]
    return (x if together else contiguous(x)).reshape(len(x), -1, x.shape[-1])


def _table(
    tables: tuple[Any, Any, Any], count: int, rows: tuple[int, int], most: tuple[int, int], index: int, paged: bool = False
) -> Any:
    """(first query, queries, first key, keys) of each sequence, and of the rest; what is wrong is reported.

    `paged`: each has room for as many keys as `rows` says, and begins at none.
    """
    now = runtime.current()
    made = now.empty((count + 1, 4), np.dtype(np.int32), index)
    starts_q, starts_k = contiguous(tables[0]), contiguous(tables[1])
    used = starts_k if tables[2] is None else contiguous(tables[2])
    most = most if tables[2] is None else (most[0], rows[1])  # there is more room than keys
    program = Handwritten(
        "sequence_table", (("USED", 2 if paged else int(tables[2] is not None)), ("BLOCK", LANES)), by_address=True
    )
    given = (made, reports.words(now), starts_q, starts_k, used, CODE, count, *rows, *most)
    start(program, (-(-(count + 1) // LANES),), given, index)
    if runtime.is_replaced():
        reports.check()
    return made
