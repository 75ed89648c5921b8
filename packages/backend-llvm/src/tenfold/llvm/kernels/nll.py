"""The negative log likelihood of classes and its gradient: operators of tenfold-nn, in the common form."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.kernels.class_places import likelihood, likelihood_grad
from tenfold.llvm.kernels.loss import _classes, _convert, _suits
from tenfold.llvm.products import HEAD
from tenfold.llvm.programs import Compiled, empty
from tenfold.llvm.storage import Stored
from tenfold.llvm.writer import Function

Array = np.ndarray[Any, Any]
NOTE = "floats, half precision too"


def _picked(stored: Stored) -> str:
    """Minus the mean of the elements that targets name, added up in float64; the flag says whether a target is no class.

    Context: x, target, loss, flag; rows, columns, by how much the sum is divided.
    """
    f = Function(HEAD)
    x, target, loss, flag, rows, columns, over = f.words(["*x", "*target", "*loss", "*flag", "rows", "columns", "over"])
    total = f.variable("double", "0.0")
    far = f.variable("i64", "0")
    with f.loop(0, rows) as k:
        column = f.whole(target, k)
        with f.either(f.let(f"icmp ult i64 {column}, {columns}")) as otherwise:
            number = f.let(f"load {stored.memory}, ptr {f.at(x, f.add(f.mul(k, columns), column), stored.memory)}")
            wide = number if stored.memory == "double" else f.let(f"fpext {stored.memory} {number} to double")
            so_far = f.let(f"load double, ptr {total}")
            f.do(f"store double {f.let(f'fsub double {so_far}, {wide}')}, ptr {total}")
            otherwise()
            f.do(f"store i64 1, ptr {far}")
    f.do(f"store i64 {f.let(f'load i64, ptr {far}')}, ptr {flag}")
    share = f.let(f"sitofp i64 {over} to double")
    mean = f.let(f"fdiv double {f.let(f'load double, ptr {total}')}, {share}")
    f.do(f"store {stored.memory} {_convert(f, stored, mean)}, ptr {loss}")
    return f.text()


PICKED = Compiled("nll_loss", _picked, vectors=True)


def fused_nll_loss(input: Array, target: Array, weight: Array | None, ignore_index: int, reduction: str) -> Any:
    stored = _suits(input, target, weight, ignore_index, 0.0)
    if stored is None or reduction == "none":
        return likelihood(input, target, weight, ignore_index, reduction)
    (N, C), loss, flag = input.shape, np.empty((), input.dtype), np.empty((), np.int64)
    done = PICKED.run((stored,), 1, 1, input, target, loss, flag, N, C, N if reduction == "mean" else 1)
    if done and flag.item():
        return likelihood(input, target, weight, ignore_index, reduction)
    return (loss, np.asarray(N, input.dtype)) if done else NotImplemented


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
