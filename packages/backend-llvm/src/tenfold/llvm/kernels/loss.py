"""Cross entropy of logits (N, C) with class indices, and its gradient: the operators of tenfold-nn.

Weighed classes and ignored targets are in weighed_classes.py.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold.llvm import maths, session as sessions
from tenfold.llvm.expressions import convert, load, parameter
from tenfold.llvm.formats import in_one_piece
from tenfold.llvm.gates import gated
from tenfold.llvm.kernels import class_places
from tenfold.llvm.kernels.attaching import ACCELERATED
from tenfold.llvm.kernels.halves import HALVES, in_float32
from tenfold.llvm.kernels.weighed_classes import AT_CLASSES, fits, shares_of
from tenfold.llvm.products import HEAD
from tenfold.llvm.programs import GRAIN_ELEMENTS, Compiled, Program, empty, suitable
from tenfold.llvm.rows import Array as Argument, Rows, largest, length, pick, total
from tenfold.llvm.storage import FLOAT32, FLOAT64, INT64, Stored
from tenfold.llvm.writer import Function

Array = np.ndarray[Any, Any]


def _losses(stored: Stored, smoothed: bool = False) -> Rows:
    """The loss of each row in float64, its largest logit, and log(sum(exp(x - largest))).

    `smoothed`: a share of the target, the parameter, is that of all classes alike.
    """
    x = load(0, stored.computed)
    top = largest(x)
    log_sum = maths.log(total(maths.exp_of_negative(x - top)))
    loss = log_sum - convert(pick(0, 1, x.type) - top, "double") if x.type == "float" else log_sum - (pick(0, 1, x.type) - top)
    if smoothed:
        share = parameter(0, "double")
        loss = (1.0 - share) * loss + share * (log_sum - total(x - top) / length("double"))
    one, kept = Argument(FLOAT64, "scalar"), Argument(stored, "scalar")
    results = ((loss, one), (top, kept), (convert(log_sum, x.type), kept))
    return Rows(results, (Argument(stored, "row"), Argument(INT64, "scalar")), int(smoothed))


def _gradient(stored: Stored, shared: bool = False, smoothed: bool = False) -> Rows:
    """exp(x - top - log_sum) times the share of each row, or of all; `smoothed`: less what of it is each class's, a parameter."""
    x, top, log_sum = (load(i, stored.computed) for i in range(3))
    share = parameter(0, stored.computed) if shared else load(3, stored.computed)
    one = Argument(stored, "scalar")
    result = maths.exp(x - top - log_sum) * share
    if smoothed:
        result = result - parameter(0, stored.computed) * share
    return Rows(
        ((result, Argument(stored, "row")),), (Argument(stored, "row"), *[one] * (2 if shared else 3)), int(shared or smoothed)
    )


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


def _whole(rows: Rows) -> str:
    """A program whose function others call."""
    return rows.text().replace("define void @kernel(", "define internal void @rows(")


def _beyond(f: Function, target: str, rows: str, columns: str) -> str:
    """Whether a target is no column; as unsigned numbers the negative ones are too large."""
    found = f.variable("i1", "false")
    with f.loop(0, rows) as k:
        far = f.let(f"icmp uge i64 {f.whole(target, k)}, {columns}")
        so_far = f.let(f"load i1, ptr {found}")
        f.do(f"store i1 {f.let(f'or i1 {far}, {so_far}')}, ptr {found}")
    return f.let(f"load i1, ptr {found}")


def _convert(f: Function, stored: Stored, number: str) -> str:
    return number if stored is FLOAT64 else f.let(f"fptrunc double {number} to {stored.memory}")


def _mean(stored: Stored) -> str:
    """The losses, and their sum over a number, in one go; the second result is the count, or -1 if a target is no class.

    Context: as `_losses`; then sum, count; rows, the number.
    """
    f = Function(HEAD)
    columns, losses, _, _, _, target, out, count, rows, over = f.words(
        ["columns", "*losses", "*top", "*log_sum", "*x", "*target", "*out", "*count", "rows", "over"]
    )
    with f.either(_beyond(f, target, rows, columns)) as otherwise:
        f.do(f"store {stored.memory} -1.0, ptr {count}")
        otherwise()
        f.do(f"call void @rows(ptr %ctx, i64 0, i64 {rows})")
        total_ = f.variable("double", "0.0")
        with f.loop(0, rows) as k:
            loss = f.let(f"load double, ptr {f.at(losses, k, 'double')}")
            so_far = f.let(f"load double, ptr {total_}")
            f.do(f"store double {f.let(f'fadd double {so_far}, {loss}')}, ptr {total_}")
        share = f.let(f"sitofp i64 {over} to double")
        mean = f.let(f"fdiv double {f.let(f'load double, ptr {total_}')}, {share}")
        f.do(f"store {stored.memory} {_convert(f, stored, mean)}, ptr {out}")
        number = f.let(f"sitofp i64 {rows} to {stored.memory}")
        f.do(f"store {stored.memory} {number}, ptr {count}")
    return _whole(_losses(stored)) + f.text()


def _gradient_of_mean(stored: Stored) -> str:
    """The gradient where all rows have one share, in one go; the flag says whether a target is no class.

    Context: columns, out, x, top, log_sum, share (a float64); then target, flag; rows.
    """
    f = Function(HEAD)
    columns, out, _, _, _, share, target, flag, rows = f.words(
        ["columns", "*out", "*x", "*top", "*log_sum", "share", "*target", "*flag", "rows"]
    )
    far = _beyond(f, target, rows, columns)
    f.do(f"store i64 {f.let(f'zext i1 {far} to i64')}, ptr {flag}")
    with f.when(f.let(f"xor i1 {far}, true")):
        f.do(f"call void @rows(ptr %ctx, i64 0, i64 {rows})")
        taken = _convert(f, stored, f.let(f"bitcast i64 {share} to double"))
        with f.loop(0, rows) as k:
            place = f.at(out, f.add(f.mul(k, columns), f.whole(target, k)), stored.memory)
            left = f.let(f"fsub {stored.memory} {f.let(f'load {stored.memory}, ptr {place}')}, {taken}")
            f.do(f"store {stored.memory} {left}, ptr {place}")
    return _whole(_gradient(stored, True)) + f.text()


MEAN = Compiled("cross_entropy in one go", _mean)
GRADIENT_OF_MEAN = Compiled("gradient of cross_entropy in one go", _gradient_of_mean)
AT_TARGETS = Compiled("cross_entropy at the targets", _at_targets)
FEWEST, FEW_PLACES = 64, 16  # classes of a place that are worth a row, and places that are too few for vectors
LOSSES, GRADIENT = Program("cross_entropy", _losses), Program("cross_entropy gradient", _gradient)


def _suits(input: Array, target: Array, weight: Any, ignore_index: int, label_smoothing: float) -> Stored | None:
    """The dtype, if the call has the common form, but for targets that are no class."""
    if (
        weight is not None
        or not 0 <= label_smoothing <= 1
        or input.ndim != 2
        or target.shape != input.shape[:1]
        or not input.size
    ):
        return None
    if target.dtype != np.int64 or not target.flags.carray:
        return None
    stored = suitable(input)
    if stored not in (FLOAT32, FLOAT64) or 0 <= ignore_index < input.shape[1]:
        return None
    return stored


def _classes(target: Array, count: int) -> bool:
    """Whether every target is a class; as unsigned numbers the negative ones are too large."""
    return bool(np.maximum.reduce(target.view(np.uint64)) < count)


def _little(input: Array, reduction: str, label_smoothing: float) -> bool:
    """Whether all is done in one go: where no second thread would help, and the rows have one share."""
    return reduction != "none" and input.size <= GRAIN_ELEMENTS and not label_smoothing


def fused_cross_entropy(
    input: Array, target: Array, weight: Array | None, ignore_index: int, label_smoothing: float, reduction: str
) -> Any:
    if input.ndim > 2 and input.size:
        return _of_places(input, target, weight, ignore_index, label_smoothing, reduction)
    stored = _suits(input, target, weight, ignore_index, label_smoothing)
    if stored is None:
        return _weighed(input, target, weight, ignore_index, label_smoothing, reduction)
    N, C = input.shape
    losses, top, log_sum = np.empty(N), np.empty(N, stored.dtype), np.empty(N, stored.dtype)
    if _little(input, reduction, label_smoothing):
        loss, count = np.empty((), stored.dtype), np.empty((), stored.dtype)
        over = N if reduction == "mean" else 1
        done = MEAN.run((stored,), 1, 1, C, losses, top, log_sum, input, target, loss, count, N, over)
        if not done or count.item() > 0:
            return (loss, count, top, log_sum) if done else NotImplemented
    if not _classes(target, C):
        return _weighed(input, target, weight, ignore_index, label_smoothing, reduction)
    smoothing = (float(label_smoothing),) if label_smoothing else ()
    if not LOSSES.rows((stored, bool(smoothing)), N, C, losses, top, log_sum, input, target, *smoothing):
        return NotImplemented
    if reduction == "none":
        loss = losses.astype(stored.dtype, copy=False)
    else:
        summed = np.add.reduce(losses)
        loss = np.asarray(summed if reduction == "sum" else summed / N, stored.dtype)
    return loss, np.asarray(N, stored.dtype), top, log_sum


def _of_places(input: Array, target: Array, weight: Array | None, *options: Any) -> Any:
    """The same for (N, C, *S): where few places lie side by side, the classes of each are made a row, if they are many."""
    if not _as_rows(input, target):
        return class_places.entropies(input, target, weight, *options)
    made = fused_cross_entropy(_rows(input), in_one_piece(target).reshape(-1), weight, *options)
    if made is NotImplemented:
        return NotImplemented
    loss, total, *kept = made
    return (loss.reshape(target.shape) if loss.ndim else loss), total, *(a.reshape(target.shape) for a in kept)


def _as_rows(input: Array, target: Array) -> bool:
    fits = target.shape == input.shape[:1] + input.shape[2:]
    return fits and target.size < FEW_PLACES * len(input) and input.shape[1] >= FEWEST


def _rows(x: Array) -> Array:
    return in_one_piece(np.moveaxis(x, 1, -1)).reshape(-1, x.shape[1])


def _weighed(input: Array, target: Array, weight: Array | None, ignore_index: int, label_smoothing: float, reduction: str) -> Any:
    """The same with weighed classes or ignored targets."""
    stored = None if label_smoothing else fits(input, target, weight)
    shares = None if stored is None else shares_of(stored, target, weight, ignore_index, input.shape[1])
    if stored is None or shares is None:
        return NotImplemented
    N, C = input.shape
    losses, top, log_sum = np.empty(N), np.empty(N, stored.dtype), np.empty(N, stored.dtype)
    if not LOSSES.rows((stored, False), N, C, losses, top, log_sum, input, shares.classes):
        return NotImplemented
    loss = shares.reduced(stored, losses, reduction)
    return NotImplemented if loss is None else (loss, shares.total(stored), top, log_sum)


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
    given = (grad, input, target, weight, ignore_index, label_smoothing, reduction, total_weight, top, log_sum)
    if input.ndim > 2 and input.size:
        return _of_places_grad(*given)
    stored = _suits(input, target, weight, ignore_index, label_smoothing)
    if stored is None:
        return _weighed_grad(*given)
    if suitable(top, log_sum) is not stored or grad.dtype != stored.dtype:
        return NotImplemented
    N, C = input.shape
    if not grad.ndim and _little(input, reduction, label_smoothing):
        out, flag = np.empty(input.shape, stored.dtype), np.empty((), np.int64)
        one = grad.item() / N if reduction == "mean" else grad.item()
        done = GRADIENT_OF_MEAN.run((stored,), 1, 1, C, out, input, top, log_sum, one, target, flag, N)
        if not done or not flag.item():
            return out if done else NotImplemented
    if not _classes(target, C):
        return _weighed_grad(*given)
    share = np.empty(N, stored.dtype)
    share[...] = grad / stored.dtype.type(N) if reduction == "mean" else grad
    out = empty(input.shape, stored)
    smoothing = (float(label_smoothing) / C,) if label_smoothing else ()
    if not GRADIENT.rows((stored, False, bool(smoothing)), N, C, out, input, top, log_sum, share, *smoothing):
        return NotImplemented
    if label_smoothing:
        share *= stored.dtype.type(1 - label_smoothing)
    return out if AT_TARGETS.run((stored,), N, 1 << 20, out, target, share, C) else NotImplemented


def _of_places_grad(grad: Array, input: Array, target: Array, weight: Array | None, *others: Any) -> Any:
    if not _as_rows(input, target):
        return class_places.entropies_grad(grad, input, target, weight, *others)
    *options, top, log_sum = others
    places, tops, sums = (in_one_piece(a).reshape(-1) for a in (target, top, log_sum))
    grad = in_one_piece(grad).reshape(-1) if grad.ndim else grad
    given: tuple[Any, ...] = (grad, _rows(input), places, weight, *options, tops, sums)
    made = fused_cross_entropy_grad(*given)
    if made is NotImplemented:
        return NotImplemented
    return in_one_piece(np.moveaxis(made.reshape(*target.shape, -1), -1, 1))


def _weighed_grad(
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
    stored = None if label_smoothing else fits(input, target, weight)
    if stored is None or suitable(top, log_sum) is not stored or {grad.dtype, total_weight.dtype} != {stored.dtype}:
        return NotImplemented
    N, C = input.shape
    shares = shares_of(stored, target, weight, ignore_index, C)
    if shares is None:
        return NotImplemented
    share, out = shares.of_gradient(stored, grad, total_weight, reduction), empty(input.shape, stored)
    if not GRADIENT.rows((stored, False, False), N, C, out, input, top, log_sum, share):
        return NotImplemented
    return out if AT_CLASSES.run((stored,), N, 1 << 20, out, shares.classes, share, C) else NotImplemented


def _of_halves(serve: Any, wide: Any) -> Any:
    """Half precision: of places it is read and written as it is; rows are widened."""

    def halves(*arguments: Any) -> Any:
        input, target = arguments[:2] if serve is fused_cross_entropy else arguments[1:3]
        if input.ndim > 2 and input.size and not _as_rows(input, target):
            made = (_of_places if serve is fused_cross_entropy else _of_places_grad)(*arguments)
            if made is not NotImplemented:
                return made
        return wide(*arguments)

    return halves


# The words of the gates, as native/losses.ll reads them.
BENEATH, SERVE, MOST, MEAN_WORD, SUM_WORD, DTYPES, INDEX, LOOPS, WORDS = 0, 1, 2, 3, 4, 8, 12, 16, 20
NAMES = sys.intern("mean"), sys.intern("sum")


def _gate(name: str, serve: Any, arguments: int, program: Compiled) -> None:
    """Attach a function with a native gate before it."""

    def wrapped(beneath: Any) -> Any:
        session = sessions.session()
        if session is None:
            return beneath
        words = np.zeros(WORDS, np.int64)
        session.native.keep.append((beneath, serve))
        words[[BENEATH, SERVE, MOST, INDEX]] = id(beneath), id(serve), GRAIN_ELEMENTS, id(INT64.dtype)
        words[[MEAN_WORD, SUM_WORD]] = [id(text) for text in NAMES]
        for i, stored in enumerate((FLOAT32, FLOAT64)):
            words[DTYPES + i] = id(stored.dtype)
            program.enter((stored,), words, LOOPS + i)
        made = session.native.builtin("loss_gate" if serve is fused_cross_entropy else "loss_grad_gate", words)
        return gated(_of_halves(serve, in_float32(made)), arguments, 0, HALVES)(made)

    ACCELERATED[name] = serve
    kernel(getattr(op, name), device="cpu", wrap=True, note="floats")(wrapped)


_gate("fused_cross_entropy", fused_cross_entropy, 6, MEAN)
_gate("fused_cross_entropy_grad", fused_cross_entropy_grad, 10, GRADIENT_OF_MEAN)
