"""Attention in one launch, without the matrix of scores: the operators of tenfold-nn. Gradients are attention_gradient.py's.

float32, float16 and bfloat16 with at most 512 features a head (float32: 256); all else goes through the bodies. Few queries to
many keys are decoding.py's.
"""

from __future__ import annotations

from math import ceil, prod, sqrt
from typing import Any, NamedTuple

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels import cudnn_attention, decoding
from tenfold.cuda.kernels.attention_gradient import gradients
from tenfold.cuda.kernels.attention_tiles import launch
from tenfold.cuda.kernels.handwritten import F32, FLOATS, Handwritten, contiguous, start
from tenfold.cuda.kernels.heads import MOST, Call, fit, groups_of, heads_of, rows_of, wide_of
from tenfold.cuda.kernels.planes import power
from tenfold.cuda.precision import products_in_tf32, switches
from tenfold.cuda.sampling import noted
from tenfold.dispatch.operators import op

# What the programs' other form takes: attention over sequences of different lengths (varlen.py).
NO_TABLE: tuple[tuple[str, Any], ...] = (("TABLE", 0), ("BEHIND", 0), ("table_ptr", None), ("left", 0), ("right", 0))

WEIGHED = 32  # queries, and keys, of a program that writes weights
REGISTERS = 255  # of its threads at most: without a limit the assembler gives them 128, and spills


def _mask(mask: Any, query: Any, keys: int, grouped: bool) -> tuple[Any, tuple[int, int, int, int]] | None:
    """(the mask, its strides along batch, head, query and key); None where its sizes do not fit, or its heads lie unevenly."""
    shape = (*query.shape[:-1], keys)
    if mask.ndim > len(shape):
        return None
    sizes = (1,) * (len(shape) - mask.ndim) + mask.shape
    if any(n not in (1, m) for n, m in zip(sizes, shape)):
        return None  # which the body refuses
    own = (0,) * (len(shape) - mask.ndim) + tuple(s // mask.dtype.itemsize for s in mask.strides)
    strides = [0 if n == 1 else s for n, s in zip(sizes, own)]
    lead = list(zip(shape[:-2], strides[:-2]))
    if grouped:  # heads are the last two dimensions
        (a, outer), (b, inner) = lead[-2:]
        if outer != b * inner and a > 1:
            return None
        lead[-2:] = [(a * b, inner)]
    while len(lead) > 2:  # batch dimensions are one if their strides agree
        (a, outer), (b, inner), *rest = lead
        if outer != b * inner:
            return None
        lead = [(a * b, inner), *rest]
    while len(lead) < 2:
        lead.insert(0, (1, 0))
    return mask, (lead[0][1], lead[1][1], strides[-2], strides[-1])


def _kind_of_mask(mask: Any) -> int:
    return 0 if mask is None else 1 if mask.dtype.kind == "b" else 2


def _served(query: Any, key: Any, value: Any, mask: Any) -> bool:
    if not fit(query, key, value) or not query.shape[:-2] == key.shape[:-2] == value.shape[:-2]:
        return False
    return mask is None or mask.dtype.kind == "b" or mask.dtype in FLOATS


class Dropout(NamedTuple):
    """Weights that are left out."""

    words: Any  # a seed and a first counter on the device; None: all weights stay
    p: float

    @property
    def numbers(self) -> tuple[int, float]:
        """(of how many bits a weight that stays is at least, what it is multiplied by)."""
        return ceil(self.p * 2**24), 0.0 if self.p >= 1 else 1 / (1 - self.p)


NOTHING_DROPPED = Dropout(None, 0.0)


def _call(
    query: Any, key: Any, value: Any, mask: Any, is_causal: bool, scale: float | None, dropout: Dropout = NOTHING_DROPPED
) -> Call | None:
    if not _served(query, key, value, mask):
        return None
    shaped, (query, key, value, group) = query, groups_of(query, key, value)
    found = (query, (0, 0, 0, 0)) if mask is None else _mask(mask, shaped, key.shape[-2], query.ndim < shaped.ndim)
    if found is None:
        return None
    q, k, v = map(heads_of, (query, key, value))
    E, V = query.shape[-1], value.shape[-1]
    steps = (*q.strides, *k.strides, *v.strides)
    factor = 1 / sqrt(max(1, E)) if scale is None else float(scale)
    constants = (
        ("CAUSAL", int(is_causal)), ("MASK", _kind_of_mask(mask)), ("DROPS", int(dropout.words is not None)), *NO_TABLE,
        *sizes(steps, query.dtype, E, V),
    )  # fmt: skip
    numbers = (query.shape[-2], key.shape[-2], q.array.shape[1], group, *steps, *found[1], factor, *dropout.numbers)
    heads = q.array.shape[0] * q.array.shape[1]
    arrays = (q.array, k.array, v.array, found[0], query if dropout.words is None else dropout.words)
    rows = rows_of(q.array, q.array.shape[1]), rows_of(k.array, q.array.shape[1])
    return Call(arrays, numbers, constants, heads, runtime.current().index_of(query), rows)


def sizes(steps: tuple[int, ...], dtype: Any, E: int, V: int) -> tuple[tuple[str, Any], ...]:
    """What is fixed of the features of a head and of the distances between them."""
    precision = "tf32" if dtype == F32 and products_in_tf32() else "ieee"
    return (
        ("ALIGNED", int(not any(s % 16 for s in steps))), ("PRECISION", precision),
        ("E", E), ("V", V), ("WIDE_E", power(E, 16, MOST)), ("WIDE_V", power(V, 16, MOST)),
    )  # fmt: skip


def words(query: Any, key: Any, value: Any, mask: Any) -> Any:
    """Two words that say where the dropout of an attention draws; None where its weights are not these kernels' to drop."""
    if not _served(query, key, value, mask) or _mask_is_odd(query, key, mask):
        return None
    rows, keys = prod(query.shape[:-1]), key.shape[-2]
    return noted(rows * -(-keys // 4), runtime.current().index_of(query))


def _mask_is_odd(query: Any, key: Any, mask: Any) -> bool:
    return mask is not None and _mask(mask, query, key.shape[-2], False) is None


@kernel(op.fused_attention, device="cuda", plays=switches)
def fused_attention(query: Any, key: Any, value: Any, attn_mask: Any, is_causal: bool, scale: float | None) -> Any:
    by_cudnn = cudnn_attention.attended(query, key, value, attn_mask, is_causal, scale)
    if by_cudnn is not None:
        return by_cudnn
    call = _call(query, key, value, attn_mask, is_causal, scale)
    if call is not None and decoding.serves(call, query.shape[-2], key.shape[-2], is_causal):
        return decoding.attended(call, query, value.shape[-1])
    return attended(call, query, value)


@kernel(op.fused_dropped_attention, device="cuda", plays=switches)
def fused_dropped_attention(
    query: Any, key: Any, value: Any, attn_mask: Any, words: Any, dropout_p: float, is_causal: bool, scale: float | None
) -> Any:
    dropout = Dropout(contiguous(words), dropout_p)
    return attended(_call(query, key, value, attn_mask, is_causal, scale, dropout), query, value)


def attended(call: Call | None, query: Any, value: Any) -> Any:
    """The result and the log-sum-exp; NotImplemented where there is no call."""
    if call is None:
        return NotImplemented
    out, sums = call.empty(query, value.shape[-1], query.dtype), call.empty(query, 1, F32, features=0)
    launch("attend", call, (out, sums), (), ())
    return out, sums


@kernel(op.fused_attention_weights, device="cuda", plays=switches)
def fused_attention_weights(
    query: Any, key: Any, log_sum_exp: Any, attn_mask: Any, words: Any, dropout_p: float, average: bool, wide: bool
) -> Any:
    if query.ndim < 3 or log_sum_exp.dtype != F32 or log_sum_exp.shape != query.shape[:-1]:
        return NotImplemented
    dropout = NOTHING_DROPPED if words is None else Dropout(contiguous(words), dropout_p)
    call = _call(query, key, key, attn_mask, False, None, dropout)
    if call is None or call.numbers[3] > 1:  # heads in groups are merged
        return NotImplemented
    (T, S), lead = (query.shape[-2], key.shape[-2]), query.shape[:-2]
    lots, lead = (call.heads // lead[-1], lead[:-1]) if average else (call.heads, lead)
    out = runtime.current().empty((*lead, T, S), F32 if wide else query.dtype, call.device)
    program, each = weights_program(call.constants, query.dtype, average), -(-T // WEIGHED) * -(-S // WEIGHED)
    given = (out, call.lying(log_sum_exp, 0), *call.arrays, *call.numbers, *call.places[:3])
    start(program, (lots * each,), given, call.device)
    return out


def weights_program(constants: tuple[tuple[str, Any], ...], dtype: Any, average: bool) -> Handwritten:
    """The program of a block of weights."""
    wide = wide_of(dict(constants)) > 128 or dtype == F32
    fixed = (("AVERAGE", int(average)), *constants, ("ROWS", WEIGHED), ("COLUMNS", WEIGHED))
    return Handwritten("attention_weights", fixed, 8 if wide else 4, 1, True, REGISTERS)


@kernel(op.fused_attention_grad, device="cuda", plays=switches)
def fused_attention_grad(
    grad: Any,
    query: Any,
    key: Any,
    value: Any,
    output: Any,
    log_sum_exp: Any,
    attn_mask: Any,
    is_causal: bool,
    scale: float | None,
) -> Any:
    given = (query, key, value)
    by_cudnn = cudnn_attention.gradients(grad, given, output, log_sum_exp, attn_mask, is_causal, scale)
    if by_cudnn is not None:
        return by_cudnn
    call = _call(query, key, value, attn_mask, is_causal, scale)
    return gradients(call, grad, (query, key, value), output, log_sum_exp)


@kernel(op.fused_dropped_attention_grad, device="cuda", plays=switches)
def fused_dropped_attention_grad(
    grad: Any,
    query: Any,
    key: Any,
    value: Any,
    output: Any,
    log_sum_exp: Any,
    attn_mask: Any,
    words: Any,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
) -> Any:
    call = _call(query, key, value, attn_mask, is_causal, scale, Dropout(contiguous(words), dropout_p))
    return gradients(call, grad, (query, key, value), output, log_sum_exp)
