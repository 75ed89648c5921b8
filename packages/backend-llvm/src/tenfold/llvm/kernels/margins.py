"""Losses that ask for margins between the scores of a row, and their gradients, each one pass: operators of tenfold-nn."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.products import HEAD
from tenfold.llvm.programs import Compiled, empty, suitable
from tenfold.llvm.storage import FLOAT32, FLOAT64, Stored
from tenfold.llvm.writer import Function

Array = np.ndarray[Any, Any]

import_module("tenfold.nn.ops.loss.class_margins")  # tenfold-nn is there where somebody asks for its operators' kernels
NOTE = "float32 and float64, rows in one piece"


class _Rows(Function):
    """A function over rows of scores, with numbers of their dtype."""

    def __init__(self, stored: Stored) -> None:
        super().__init__(HEAD)
        self.type = stored.memory

    def number(self, address: str, index: str | int) -> str:
        return self.let(f"load {self.type}, ptr {self.at(address, index, self.type)}")

    def put(self, value: str, address: str, index: str | int) -> None:
        self.do(f"store {self.type} {value}, ptr {self.at(address, index, self.type)}")

    def of(self, operation: str, *values: str) -> str:
        return self.let(f"{operation} {self.type} {', '.join(values)}")

    def wide(self, value: str) -> str:
        return value if self.type == "double" else self.let(f"fpext float {value} to double")

    def narrow(self, value: str) -> str:
        return value if self.type == "double" else self.let(f"fptrunc double {value} to float")

    def real(self, word: str) -> str:
        """A number of the context, which are float64."""
        return self.narrow(self.let(f"bitcast i64 {word} to double"))

    def more(self, variable: str, value: str) -> None:
        """Add a float64 to a variable."""
        so_far = self.let(f"load double, ptr {variable}")
        self.do(f"store double {self.let(f'fadd double {so_far}, {value}')}, ptr {variable}")

    def mark(self, flags: str, index: str, value: int) -> None:
        self.do(f"store i8 {value}, ptr {self.at(flags, index)}")

    def marked(self, flags: str, index: str) -> str:
        return self.let(f"trunc i8 {self.let(f'load i8, ptr {self.at(flags, index)}')} to i1")


def _classes(stored: Stored, slopes: bool, squared: bool, weighed: bool) -> str:
    """The losses of rows with one class each in float64, or what they add to the gradient of the scores.

    Context: scores, classes, weights, losses or the gradient of each, gradient of the scores, flag for a class that there is not;
    columns, margin, a factor.
    """
    f = _Rows(stored)
    x, target, weight, losses, out, flag, columns, margin, factor = f.words(
        ["*x", "*target", "*weight", "*losses", "*out", "*flag", "columns", "margin", "factor"]
    )
    wanted, over = f.real(margin), f.let(f"bitcast i64 {factor} to double")
    total = f.variable("double")
    with f.loop("%lo", "%hi") as k:
        row = f.at(x, f.mul(k, columns), f.type)
        goal = f.at(out, f.mul(k, columns), f.type)
        own = f.whole(target, k)
        with f.either(f.let(f"icmp ult i64 {own}, {columns}")) as otherwise:
            f.do(f"store double 0.0, ptr {total}")
            base = f.of("fsub", wanted, f.number(row, own))
            share = f.let(f"fmul double {f.wide(f.number(weight, own)) if weighed else '1.0'}, {over}")
            if slopes:
                of_loss = f.let(f"load double, ptr {f.at(losses, k, 'double')}")
                share = f.let(f"fmul double {share}, {of_loss}")
            with f.loop(0, columns) as c:
                gap = f.of("fadd", base, f.number(row, c))
                other = f.let(f"icmp ne i64 {c}, {own}")
                kept = f.let(f"and i1 {other}, {f.let(f'fcmp ogt {f.type} {gap}, 0.0')}")
                made = f.wide(gap)
                if slopes:
                    made = f.let(f"fmul double {f.let(f'fadd double {made}, {made}')}, {share}") if squared else share
                elif squared:
                    made = f.let(f"fmul double {made}, {made}")
                made = f.let(f"select i1 {kept}, double {made}, double 0.0")
                f.more(total, made)
                if slopes:
                    f.put(f.narrow(made), goal, c)
            all_ = f.let(f"load double, ptr {total}")
            if slopes:
                f.put(f.narrow(f.let(f"fneg double {all_}")), goal, own)
            else:
                f.do(f"store double {f.let(f'fmul double {all_}, {share}')}, ptr {f.at(losses, k, 'double')}")
            otherwise()
            f.do(f"store i64 1, ptr {flag}")
    return f.text()


def _labels(stored: Stored, slopes: bool) -> str:
    """The same for rows with several labels each, those before the first negative one.

    Context: scores, labels, which classes are labels (bytes), losses or the gradient of each, gradient of the scores, flag;
    columns, a factor.
    """
    f = _Rows(stored)
    x, target, hits, losses, out, flag, columns, factor = f.words(
        ["*x", "*target", "*hits", "*losses", "*out", "*flag", "columns", "factor"]
    )
    over = f.let(f"bitcast i64 {factor} to double")
    total, at_label, count = f.variable("double"), f.variable("double"), f.variable("i64")
    with f.loop("%lo", "%hi") as k:
        first = f.mul(k, columns)
        row, goal, labels = f.at(x, first, f.type), f.at(out, first, f.type), f.at(target, first, "i64")
        marks = f.at(hits, first)
        f.do(f"store double 0.0, ptr {total}")
        f.do(f"store i64 0, ptr {count}")
        with f.until() as leave:
            n = f.let(f"load i64, ptr {count}")
            leave(f.let(f"icmp sge i64 {n}, {columns}"))
            label = f.whole(labels, n)
            leave(f.let(f"icmp slt i64 {label}, 0"))
            far = f.let(f"icmp sge i64 {label}, {columns}")
            with f.when(far):
                f.do(f"store i64 1, ptr {flag}")
            leave(far)
            f.mark(marks, label, 1)
            f.do(f"store i64 {f.add(n, 1)}, ptr {count}")
        share = over
        if slopes:
            of_loss = f.let(f"load double, ptr {f.at(losses, k, 'double')}")
            share = f.let(f"fmul double {over}, {of_loss}")
        with f.loop(0, f.let(f"load i64, ptr {count}")) as n:
            label = f.whole(labels, n)
            base = f.of("fsub", "1.0", f.number(row, label))
            f.do(f"store double 0.0, ptr {at_label}")
            with f.loop(0, columns) as c:
                gap = f.of("fadd", base, f.number(row, c))
                free = f.let(f"xor i1 {f.marked(marks, c)}, true")
                kept = f.let(f"and i1 {free}, {f.let(f'fcmp ogt {f.type} {gap}, 0.0')}")
                made = f.let(f"select i1 {kept}, double {share if slopes else f.wide(gap)}, double 0.0")
                f.more(at_label if slopes else total, made)
                if slopes:
                    f.put(f.of("fadd", f.number(goal, c), f.narrow(made)), goal, c)
            if slopes:
                taken = f.narrow(f.let(f"load double, ptr {at_label}"))
                f.put(f.of("fsub", f.number(goal, label), taken), goal, label)
        if not slopes:
            loss = f.let(f"fmul double {f.let(f'load double, ptr {total}')}, {over}")
            f.do(f"store double {loss}, ptr {f.at(losses, k, 'double')}")
    return f.text()


CLASSES = Compiled("margins of classes", _classes)
LABELS = Compiled("margins of labels", _labels)
GRAIN = 1 << 14  # gaps for which a second thread is woken


def _fits(input: Array, target: Array, shape: tuple[int, ...], weight: Array | None = None) -> Stored | None:
    if not 1 <= input.ndim <= 2 or not input.size or type(target) is not np.ndarray or target.shape != shape:
        return None
    if target.dtype != np.int64 or not target.flags.carray or (weight is not None and weight.shape != input.shape[-1:]):
        return None
    stored = suitable(input, weight)
    return stored if stored in (FLOAT32, FLOAT64) else None


def _reduced(losses: Array, stored: Stored, shape: tuple[int, ...], reduction: str) -> Array:
    if reduction == "none":
        return losses.astype(stored.dtype).reshape(shape)
    total = np.add.reduce(losses)
    return np.asarray(total if reduction == "sum" else total / len(losses), stored.dtype)


def _gradients(grad: Array, rows: int, reduction: str) -> Array:
    """The gradient of each row's loss."""
    wide = grad.astype(np.float64).reshape(-1)
    return np.broadcast_to(wide / rows if reduction == "mean" else wide, (rows,)).copy()


def fused_class_margins(input: Array, target: Array, weight: Array | None, p: int, margin: float, reduction: str) -> Any:
    stored = _fits(input, target, input.shape[:-1], weight)
    if stored is None:
        return NotImplemented
    C, losses, flag = input.shape[-1], np.empty(input.size // input.shape[-1]), np.zeros((), np.int64)
    given = (input, target, 0 if weight is None else weight, losses, 0, flag, C, float(margin), 1 / C)
    done = CLASSES.run((stored, False, p == 2, weight is not None), len(losses), max(1, GRAIN // C), *given)
    return _reduced(losses, stored, target.shape, reduction) if done and not flag.item() else NotImplemented


def fused_class_margins_grad(
    grad: Array, input: Array, target: Array, weight: Array | None, p: int, margin: float, reduction: str
) -> Any:
    stored = _fits(input, target, input.shape[:-1], weight)
    if stored is None:
        return NotImplemented
    C, flag, out = input.shape[-1], np.zeros((), np.int64), empty(input.shape, stored)
    losses = _gradients(grad, input.size // C, reduction)
    given = (input, target, 0 if weight is None else weight, losses, out, flag, C, float(margin), 1 / C)
    done = CLASSES.run((stored, True, p == 2, weight is not None), len(losses), max(1, GRAIN // C), *given)
    return out if done and not flag.item() else NotImplemented


def fused_label_margins(input: Array, target: Array, reduction: str) -> Any:
    stored = _fits(input, target, input.shape)
    if stored is None:
        return NotImplemented
    C, losses, flag = input.shape[-1], np.empty(input.size // input.shape[-1]), np.zeros((), np.int64)
    given = (input, target, np.zeros(input.size, np.uint8), losses, 0, flag, C, 1 / C)
    done = LABELS.run((stored, False), len(losses), max(1, GRAIN // C), *given)
    return _reduced(losses, stored, input.shape[:-1], reduction) if done and not flag.item() else NotImplemented


def fused_label_margins_grad(grad: Array, input: Array, target: Array, reduction: str) -> Any:
    stored = _fits(input, target, input.shape)
    if stored is None:
        return NotImplemented
    C, flag, out = input.shape[-1], np.zeros((), np.int64), np.zeros(input.shape, stored.dtype)
    losses = _gradients(grad, input.size // C, reduction)
    given = (input, target, np.zeros(input.size, np.uint8), losses, out, flag, C, 1 / C)
    done = LABELS.run((stored, True), len(losses), max(1, GRAIN // C), *given)
    return out if done and not flag.item() else NotImplemented


for _serve, _arguments in (
    (fused_class_margins, 6), (fused_class_margins_grad, 7), (fused_label_margins, 3), (fused_label_margins_grad, 4),
):  # fmt: skip
    chosen(_serve.__name__, _serve, _arguments, NOTE, halves=1)
