"""Cross entropy of logits (N, C) with class indices, and its gradient: the operators of tenfold-nn.

Other forms (weights, smoothing, ignored targets, further dimensions) go to the kernel beneath.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.llvm import maths
from tenfold.llvm.expressions import convert, load
from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.products import HEAD
from tenfold.llvm.programs import Compiled, Program, empty, suitable
from tenfold.llvm.rows import Array as Argument, Rows, largest, pick, total
from tenfold.llvm.storage import FLOAT32, FLOAT64, INT64, Stored
from tenfold.llvm.writer import Function

Array = np.ndarray[Any, Any]


def _losses(stored: Stored) -> Rows:
    """The loss of each row in float64, its largest logit, and log(sum(exp(x - largest)))."""
    x = load(0, stored.computed)
    top = largest(x)
    log_sum = maths.log(total(maths.exp_of_negative(x - top)))
    loss = log_sum - convert(pick(0, 1, x.type) - top, "double") if x.type == "float" else log_sum - (pick(0, 1, x.type) - top)
    one, kept = Argument(FLOAT64, "scalar"), Argument(stored, "scalar")
    results = ((loss, one), (top, kept), (convert(log_sum, x.type), kept))
    return Rows(results, (Argument(stored, "row"), Argument(INT64, "scalar")))


def _gradient(stored: Stored) -> Rows:
    """exp(x - top - log_sum) times the share of each row."""
    x, top, log_sum, share = (load(i, stored.computed) for i in range(4))
    one = Argument(stored, "scalar")
    result = maths.exp(x - top - log_sum) * share
    return Rows(((result, Argument(stored, "row")),), (Argument(stored, "row"), one, one, one))


def _at_targets(stored: Stored) -> str:
    """out[k, target[k]] -= share[k]."""
    f = Function(HEAD)
    out, target, share, columns = f.words(["*out", "*target", "*share", "columns"])
    with f.loop("%lo", "%hi") as k:
        place = f.at(out, f.add(f.mul(k, columns), f.whole(target, k)), stored.memory)
        taken = f.let(f"load {stored.memory}, ptr {f.at(share, k, stored.memory)}")
        left = f.let(f"fsub {stored.memory} {f.let(f'load {stored.memory}, ptr {place}')}, {taken}")
        f.do(f"store {stored.memory} {left}, ptr {place}")
    return f.text()


AT_TARGETS = Compiled("cross_entropy at the targets", _at_targets)
LOSSES, GRADIENT = Program("cross_entropy", _losses), Program("cross_entropy gradient", _gradient)


def _suits(input: Array, target: Array, weight: Any, ignore_index: int, label_smoothing: float) -> Stored | None:
    """The dtype, if the call has the common form: every target is a class."""
    if weight is not None or label_smoothing or input.ndim != 2 or target.shape != input.shape[:1] or not input.size:
        return None
    if target.dtype != np.int64 or not target.flags.carray:
        return None
    stored = suitable(input)
    if stored not in (FLOAT32, FLOAT64) or 0 <= ignore_index < input.shape[1]:
        return None
    # as unsigned numbers the negative ones are too large
    return stored if np.maximum.reduce(target.view(np.uint64)) < input.shape[1] else None


def fused_cross_entropy(
    input: Array, target: Array, weight: Array | None, ignore_index: int, label_smoothing: float, reduction: str
) -> Any:
    stored = _suits(input, target, weight, ignore_index, label_smoothing)
    if stored is None:
        return NotImplemented
    N, C = input.shape
    losses, top, log_sum = np.empty(N), np.empty(N, stored.dtype), np.empty(N, stored.dtype)
    if not LOSSES.rows((stored,), N, C, losses, top, log_sum, input, target):
        return NotImplemented
    if reduction == "none":
        loss = losses.astype(stored.dtype, copy=False)
    else:
        summed = np.add.reduce(losses)
        loss = np.asarray(summed if reduction == "sum" else summed / N, stored.dtype)
    return loss, np.asarray(N, stored.dtype), top, log_sum


def fused_cross_entropy_grad(
    grad: Array,
    input: Array,
    target: Array,
    weight: Array | None,
    ignore_index: int,
    label_smoothing: float,
    reduction: str,
    total_weight: Array,
    top: Array,
    log_sum: Array,
) -> Any:
    stored = _suits(input, target, weight, ignore_index, label_smoothing)
    if stored is None or suitable(top, log_sum) is not stored or grad.dtype != stored.dtype:
        return NotImplemented
    N, C = input.shape
    share = np.empty(N, stored.dtype)
    share[...] = grad / stored.dtype.type(N) if reduction == "mean" else grad
    out = empty(input.shape, stored)
    if not GRADIENT.rows((stored,), N, C, out, input, top, log_sum, share):
        return NotImplemented
    return out if AT_TARGETS.run((stored,), N, 1 << 20, out, target, share, C) else NotImplemented


chosen("fused_cross_entropy", fused_cross_entropy, 6, "floats (N, C), every target a class, nothing special")
chosen("fused_cross_entropy_grad", fused_cross_entropy_grad, 10, "floats (N, C), every target a class, nothing special")
