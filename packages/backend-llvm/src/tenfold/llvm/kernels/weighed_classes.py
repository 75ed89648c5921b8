"""Classes that are weighed, and targets that are ignored: what cross entropy and the negative log likelihood have besides rows.

Of each row a share: its class's weight, 0 for a target that is ignored, whose class is read as the first one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.llvm.products import HEAD
from tenfold.llvm.programs import Compiled, suitable
from tenfold.llvm.storage import FLOAT32, FLOAT64, Stored
from tenfold.llvm.writer import Function

Array = np.ndarray[Any, Any]


def fits(input: Array, target: Array, weight: Array | None) -> Stored | None:
    """The dtype of rows (N, C) with targets (N) and, where there are any, weights (C)."""
    if input.ndim != 2 or target.shape != input.shape[:1] or not input.size:
        return None
    if target.dtype != np.int64 or not target.flags.carray or (weight is not None and weight.shape != input.shape[1:]):
        return None
    stored = suitable(input, weight)
    return stored if stored in (FLOAT32, FLOAT64) else None


def _wide(f: Function, stored: Stored, place: str) -> str:
    """A number in memory as float64."""
    number = f.let(f"load {stored.memory}, ptr {place}")
    return number if stored is FLOAT64 else f.let(f"fpext {stored.memory} {number} to double")


def _store(f: Function, stored: Stored, number: str, place: str) -> None:
    """A float64 to memory."""
    narrow = number if stored is FLOAT64 else f.let(f"fptrunc double {number} to {stored.memory}")
    f.do(f"store {stored.memory} {narrow}, ptr {place}")


def _add_to(f: Function, variable: str, number: str) -> None:
    so_far = f.let(f"load double, ptr {variable}")
    f.do(f"store double {f.let(f'fadd double {so_far}, {number}')}, ptr {variable}")


def _shares(stored: Stored, weighed: bool) -> str:
    """The class and the share of each row, the sum of the shares, and whether a target is no class.

    Context: targets, weights, classes, shares, sum, flag; rows, columns, the target that is ignored.
    """
    f = Function(HEAD)
    target, weight, classes, shares, summed, flag, rows, columns, ignored = f.words(
        ["*target", "*weight", "*classes", "*shares", "*sum", "*flag", "rows", "columns", "ignored"]
    )
    total = f.variable("double", "0.0")
    f.do(f"store i64 0, ptr {flag}")
    with f.loop(0, rows) as k:
        given = f.whole(target, k)
        kept = f.let(f"icmp ne i64 {given}, {ignored}")
        column = f.let(f"select i1 {kept}, i64 {given}, i64 0")
        far = f.let(f"icmp uge i64 {column}, {columns}")
        column = f.let(f"select i1 {far}, i64 0, i64 {column}")
        with f.when(far):
            f.do(f"store i64 1, ptr {flag}")
        f.do(f"store i64 {column}, ptr {f.at(classes, k, 'i64')}")
        share = _wide(f, stored, f.at(weight, column, stored.memory)) if weighed else "1.0"
        share = f.let(f"select i1 {kept}, double {share}, double 0.0")
        f.do(f"store double {share}, ptr {f.at(shares, k, 'double')}")
        _add_to(f, total, share)
    f.do(f"store double {f.let(f'load double, ptr {total}')}, ptr {summed}")
    return f.text()


def _reduced(stored: Stored, reduction: str) -> str:
    """The losses of rows, times their shares; those of ignored targets are 0 whatever they are.

    Context: losses in float64, shares, targets, result, sum of the shares; rows, the target that is ignored.
    """
    f = Function(HEAD)
    losses, shares, target, out, summed, rows, ignored = f.words(
        ["*losses", "*shares", "*target", "*out", "*sum", "rows", "ignored"]
    )
    total = f.variable("double", "0.0")
    with f.loop(0, rows) as k:
        loss = f.let(f"load double, ptr {f.at(losses, k, 'double')}")
        share = f.let(f"load double, ptr {f.at(shares, k, 'double')}")
        product = f.let(f"fmul double {loss}, {share}")
        kept = f.let(f"icmp ne i64 {f.whole(target, k)}, {ignored}")
        product = f.let(f"select i1 {kept}, double {product}, double 0.0")
        if reduction == "none":
            _store(f, stored, product, f.at(out, k, stored.memory))
        else:
            _add_to(f, total, product)
    if reduction != "none":
        result = f.let(f"load double, ptr {total}")
        if reduction == "mean":
            result = f.let(f"fdiv double {result}, {f.let(f'load double, ptr {summed}')}")
        _store(f, stored, result, out)
    return f.text()


def _at_classes(stored: Stored) -> str:
    """From each row's class its share is taken. Context: rows, classes, shares; columns."""
    f = Function(HEAD)
    out, classes, shares, columns = f.words(["*out", "*classes", "*shares", "columns"])
    with f.loop("%lo", "%hi") as k:
        row = f.at(out, f.mul(k, columns), stored.memory)
        share = f.let(f"load {stored.memory}, ptr {f.at(shares, k, stored.memory)}")
        place = f.at(row, f.whole(classes, k), stored.memory)
        left = f.let(f"fsub {stored.memory} {f.let(f'load {stored.memory}, ptr {place}')}, {share}")
        with f.when(f.let(f"fcmp une {stored.memory} {share}, 0.0")):
            f.do(f"store {stored.memory} {left}, ptr {place}")
    return f.text()


SHARES = Compiled("the shares of classes", _shares)
REDUCED = Compiled("losses times shares", _reduced)
AT_CLASSES = Compiled("the gradient at classes", _at_classes)


class Shares:
    """The class and the share of each row, and their sum."""

    __slots__ = ("classes", "flag", "ignored", "shares", "sum", "target")

    def __init__(self, target: Array, ignored: int) -> None:
        self.target, self.ignored = target, ignored
        self.classes, self.shares = np.empty(len(target), np.int64), np.empty(len(target))
        self.sum, self.flag = np.empty(()), np.empty((), np.int64)

    def reduced(self, stored: Stored, losses: Array, reduction: str) -> Array | None:
        """What is made of the losses of rows in float64; None where there is no code."""
        out = np.empty(self.target.shape if reduction == "none" else (), stored.dtype)
        given = (losses, self.shares, self.target, out, self.sum, len(losses), self.ignored)
        return out if REDUCED.run((stored, reduction), 1, 1, *given) else None

    def total(self, stored: Stored) -> Array:
        """The sum of the shares."""
        return self.sum.astype(stored.dtype)

    def of_gradient(self, stored: Stored, grad: Array, total: Array, reduction: str) -> Array:
        """What each row's losses get of the gradient."""
        with np.errstate(all="ignore"):
            made: Array = self.shares.astype(stored.dtype) * (grad / total if reduction == "mean" else grad)
        made[self.target == self.ignored] = 0
        return made


def shares_of(stored: Stored, target: Array, weight: Array | None, ignored: int, columns: int) -> Shares | None:
    """The shares of rows; None where a target is no class, or there is no code."""
    if not -(2**63) <= ignored < 2**63:
        return None
    made = Shares(target, ignored)
    results = (made.classes, made.shares, made.sum, made.flag)
    given = (target, 0 if weight is None else weight, *results, len(target), columns, ignored)
    done = SHARES.run((stored, weight is not None), 1, 1, *given)
    return made if done and not made.flag.item() else None
