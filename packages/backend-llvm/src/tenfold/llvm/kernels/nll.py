"""The negative log likelihood of classes and its gradient: operators of tenfold-nn, in the common form."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.dispatch.devices import CPU
from tenfold.llvm.kernels.attaching import chosen, quickly
from tenfold.llvm.kernels.class_places import likelihood, likelihood_grad
from tenfold.llvm.kernels.loss import _classes, _convert, _suits
from tenfold.llvm.products import HEAD
from tenfold.llvm.programs import Compiled, empty, suitable
from tenfold.llvm.quick_subscripts import INT64
from tenfold.llvm.quick_views import free, here
from tenfold.llvm.storage import FLOAT32, FLOAT64, Stored
from tenfold.llvm.writer import Function
from tenfold.tensor.tensor import wrap

Array = np.ndarray[Any, Any]
NOTE = "floats, half precision too"


def _picked(stored: Stored, weighed: bool) -> str:
    """Minus the sum of the elements that targets name times their weights, in float64, and the weights' sum.

    Context: x, target, weight, loss, total, flag, which says whether a target is no class; rows, columns, the target that counts
    nothing, whether the loss is divided by the total.
    """
    f = Function(HEAD)
    x, target, weight, loss, total, flag, rows, columns, ignored, mean = f.words(
        ["*x", "*target", "*weight", "*loss", "*total", "*flag", "rows", "columns", "ignored", "mean"]
    )
    lost, share, far = f.variable("double", "0.0"), f.variable("double", "0.0"), f.variable("i64", "0")
    with f.loop(0, rows) as k:
        column = f.whole(target, k)
        with f.when(f.let(f"icmp ne i64 {column}, {ignored}")), f.either(f.let(f"icmp ult i64 {column}, {columns}")) as otherwise:
            number = _wide(f, stored, f.at(x, f.add(f.mul(k, columns), column), stored.memory))
            factor = _wide(f, stored, f.at(weight, column, stored.memory)) if weighed else "1.0"
            _added(f, lost, f.let(f"fmul double {f.let(f'fneg double {number}')}, {factor}"))
            _added(f, share, factor)
            otherwise()
            f.do(f"store i64 1, ptr {far}")
    f.do(f"store i64 {f.let(f'load i64, ptr {far}')}, ptr {flag}")
    sums = [f.let(f"load double, ptr {place}") for place in (lost, share)]
    divided = f.let(f"fdiv double {sums[0]}, {sums[1]}")
    result = f.let(f"select i1 {f.let(f'icmp ne i64 {mean}, 0')}, double {divided}, double {sums[0]}")
    for value, place in ((result, loss), (sums[1], total)):
        f.do(f"store {stored.memory} {_convert(f, stored, value)}, ptr {place}")
    return f.text()


def _wide(f: Function, stored: Stored, place: str) -> str:
    number = f.let(f"load {stored.memory}, ptr {place}")
    return number if stored.memory == "double" else f.let(f"fpext {stored.memory} {number} to double")


def _added(f: Function, place: str, number: str) -> None:
    before = f.let(f"load double, ptr {place}")
    f.do(f"store double {f.let(f'fadd double {before}, {number}')}, ptr {place}")


PICKED = Compiled("nll_loss", _picked, vectors=True)
FEW = 1 << 12  # rows that one thread adds up


def fused_nll_loss(input: Array, target: Array, weight: Array | None, ignore_index: int, reduction: str) -> Any:
    stored = _suits(input, target, None, -1, 0.0)
    known = stored is not None and (weight is None or (suitable(input, weight) is stored and weight.shape == input.shape[1:]))
    if not known or reduction == "none" or len(input) > FEW or not -(2**63) <= ignore_index < 2**63:
        return likelihood(input, target, weight, ignore_index, reduction)
    loss, total, flag = np.empty((), input.dtype), np.empty((), input.dtype), np.empty((), np.int64)
    given = (
        input,
        target,
        0 if weight is None else weight,
        loss,
        total,
        flag,
        *input.shape,
        ignore_index,
        int(reduction == "mean"),
    )
    if not PICKED.run((stored, weight is not None), 1, 1, *given) or flag.item():
        return likelihood(input, target, weight, ignore_index, reduction)
    return loss, total


def fused_nll_loss_grad(
    grad: Array, input: Array, target: Array, weight: Array | None, ignore_index: int, reduction: str, total_weight: Array
) -> Any:
    stored = _suits(input, target, weight, ignore_index, 0.0)
    if stored is None or reduction == "none" or grad.ndim or grad.dtype != input.dtype or not _classes(target, input.shape[1]):
        return likelihood_grad(grad, input, target, weight, ignore_index, reduction, total_weight)
    N, C = input.shape
    out = empty(input.shape, stored)
    out.fill(0)
    out.reshape(-1)[np.arange(0, N * C, C) + target] = -grad / input.dtype.type(N) if reduction == "mean" else -grad
    return out


chosen("fused_nll_loss", fused_nll_loss, 5, NOTE)
chosen("fused_nll_loss_grad", fused_nll_loss_grad, 7, NOTE)


REDUCTIONS, SERVED = ("mean", "sum", "none"), frozenset((FLOAT32.dtype, FLOAT64.dtype))


def nll_loss(
    input: Any, target: Any, weight: Any = None, size_average: Any = None, ignore_index: Any = -100, reduce: Any = None,
    reduction: Any = "mean",
) -> Any:  # fmt: skip
    """Minus what targets name of rows of log probabilities."""
    x, places = input._array, target._array
    if not free(input) or not here(target) or x.ndim != 2 or x.dtype not in SERVED or places.dtype is not INT64:
        return NotImplemented
    if places.shape != x.shape[:1] or size_average is not None or reduce is not None or type(ignore_index) is not int:
        return NotImplemented
    if reduction not in REDUCTIONS or not x.size:
        return NotImplemented
    weights = None
    if weight is not None:
        weights = weight._array
        if not free(weight) or weight._node is not None or weights.shape != x.shape[1:] or weights.dtype is not x.dtype:
            return NotImplemented
    made = fused_nll_loss(x, places, weights, ignore_index, reduction)
    return made if made is NotImplemented else wrap(made[0], CPU)


quickly(nll_loss)
