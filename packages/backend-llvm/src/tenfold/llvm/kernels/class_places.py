"""Losses of classes at places, (N, C, *S), and of half precision: what rows of classes (loss.py, nll.py) do not have."""

from __future__ import annotations

from math import inf, nan, prod
from typing import Any

import numpy as np

from tenfold.llvm.class_planes import BLOCK, gradient, kept, likelihood_slopes, likelihoods, losses
from tenfold.llvm.formats import in_one_piece
from tenfold.llvm.programs import GRAIN_ELEMENTS, Compiled, empty, suitable
from tenfold.llvm.storage import LARGEST, Stored

Array = np.ndarray[Any, Any]

LOSSES, GRADIENT = Compiled("cross_entropy of places", losses), Compiled("gradient of cross_entropy of places", gradient)
LIKELIHOODS, SLOPES = Compiled("nll_loss of places", likelihoods), Compiled("gradient of nll_loss of places", likelihood_slopes)
MOST_CLASSES = 1 << 24  # whose numbers float32 has


class Planes:
    """A call's arrays in one piece, and how its places are shared out."""

    __slots__ = ("blocks", "columns", "ignored", "inner", "items", "shape", "stored", "target", "weight", "x")

    def __init__(self, stored: Stored, x: Array, target: Array, weight: Array | None, ignored: int) -> None:
        self.stored, self.x, self.target, self.weight, self.ignored = stored, x, target, weight, ignored
        self.shape = (1, x.shape[0]) if x.ndim == 2 else (x.shape[0], prod(x.shape[2:]))  # rows are places of one image
        self.columns, self.inner = x.shape[1], self.shape[1]
        self.blocks = -(-self.inner // BLOCK)
        self.items = self.shape[0] * self.blocks

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.columns, self.inner, self.blocks, self.ignored

    @property
    def steps(self) -> tuple[int, ...]:
        """From image to image, class to class and place to place."""
        return (0, 1, self.columns) if self.x.ndim == 2 else (self.columns * self.inner, self.inner, 1)

    @property
    def weights(self) -> Any:
        return 0 if self.weight is None else self.weight

    def grain(self, each: int) -> int:
        """Blocks for which a second thread is woken, where a place takes as long as so many elements."""
        elements: int = each * min(self.inner, BLOCK)
        return max(1, GRAIN_ELEMENTS // elements)

    def results(self, reduction: str) -> tuple[Any, Array, Array, Array]:
        """Memory for each place's loss, for sums and weights of blocks, and whether a target is no class."""
        out = empty(self.target.shape, self.stored) if reduction == "none" else 0
        return out, *np.empty((2, self.items)), np.zeros((), np.int64)

    def smoothing(self, share: float) -> tuple[float, ...]:
        """What each class has of a loss, and the sum of all weights; nothing without."""
        if not share:
            return ()
        return share / self.columns, float(self.columns if self.weight is None else self.weight.astype(np.float64).sum())


def planes(x: Array, target: Array, weight: Array | None, ignored: int) -> Planes | None:
    """The call, if it has the common form."""
    if x.ndim < 2 or target.shape != x.shape[:1] + x.shape[2:] or not x.size or x.shape[1] >= MOST_CLASSES:
        return None
    if target.dtype != np.int64 or not -(2**63) <= ignored < 2**63:
        return None
    x, target = in_one_piece(x), in_one_piece(target)
    stored = suitable(x, weight)
    if (
        stored is None
        or stored.memory == "i64"
        or not target.flags.carray
        or (weight is not None and weight.shape != x.shape[1:2])
    ):
        return None
    return Planes(stored, x, target, weight, ignored)


def reduced(call: Planes, out: Any, sums: Array, totals: Array, reduction: str) -> tuple[Array, Array]:
    """The loss, and the sum of the weights."""
    total, lost = (float(a[0]) if call.items == 1 else float(a.sum()) for a in (totals, sums))
    if reduction == "mean":
        lost = lost / total if total else nan if not lost else inf * lost
    return (out if reduction == "none" else _number(lost, call.stored)), _number(total, kept(call.stored))


def _number(value: float, stored: Stored) -> Array:
    if -LARGEST[stored] <= value <= LARGEST[stored]:
        return np.array(value, stored.dtype)
    with np.errstate(over="ignore"):
        return np.array(value, stored.dtype)


def incoming(call: Planes, grad: Array, total: Array, reduction: str) -> tuple[Any, float] | None:
    """The gradients of places, or the one number of all."""
    if grad.dtype != call.stored.dtype:
        return None
    if reduction == "none":
        return in_one_piece(grad), 0.0
    with np.errstate(all="ignore"):
        return 0, float(grad / total.astype(np.float64)) if reduction == "mean" else float(grad)


def entropies(x: Array, target: Array, weight: Array | None, ignored: int, smoothing: float, reduction: str) -> Any:
    """`fused_cross_entropy`."""
    call = planes(x, target, weight, ignored) if x.ndim > 2 and 0 <= smoothing <= 1 else None
    if call is None:
        return NotImplemented
    out, sums, totals, flag = call.results(reduction)
    tops, logs = (empty(target.shape, kept(call.stored)) for _ in range(2))
    key = (call.stored, weight is not None, reduction == "none", bool(smoothing))
    given = (call.x, call.target, call.weights, out, tops, logs, sums, totals, flag)
    done = LOSSES.run(key, call.items, call.grain(call.columns), *given, *call.sizes, *call.smoothing(smoothing))
    return (*reduced(call, out, sums, totals, reduction), tops, logs) if done and not flag else NotImplemented


def entropies_grad(
    grad: Array, x: Array, target: Array, weight: Array | None, ignored: int, smoothing: float, reduction: str, total: Array,
    tops: Array, logs: Array,
) -> Any:  # fmt: skip
    """`fused_cross_entropy_grad`, of targets that are classes."""
    call = planes(x, target, weight, ignored) if x.ndim > 2 and 0 <= smoothing <= 1 else None
    share = None if call is None else incoming(call, grad, total, reduction)
    if call is None or share is None or suitable(tops, logs) is not kept(call.stored):
        return NotImplemented
    out = empty(x.shape, call.stored)
    key = (call.stored, weight is not None, reduction == "none", bool(smoothing))
    given = (out, call.x, call.target, call.weights, tops, logs, share[0], *call.sizes, share[1])
    done = GRADIENT.run(key, call.items, call.grain(call.columns), *given, *call.smoothing(smoothing))
    return out if done else NotImplemented


def likelihood(x: Array, target: Array, weight: Array | None, ignored: int, reduction: str) -> Any:
    """`fused_nll_loss`."""
    call = planes(x, target, weight, ignored)
    if call is None:
        return NotImplemented
    out, sums, totals, flag = call.results(reduction)
    key = (call.stored, weight is not None, reduction == "none")
    given = (call.x, call.target, call.weights, out, sums, totals, flag, *call.steps, *call.sizes)
    done = LIKELIHOODS.run(key, call.items, call.grain(4), *given)
    return reduced(call, out, sums, totals, reduction) if done and not flag else NotImplemented


def likelihood_grad(
    grad: Array, x: Array, target: Array, weight: Array | None, ignored: int, reduction: str, total: Array
) -> Any:
    """`fused_nll_loss_grad`; a target that is no class is left to the kernel beneath, which refuses it."""
    call = planes(x, target, weight, ignored)
    share = None if call is None else incoming(call, grad, total, reduction)
    if call is None or share is None or not _classes(call):
        return NotImplemented
    out = empty(x.shape, call.stored)
    out.reshape(-1).view(np.uint8).fill(0)
    key = (call.stored, weight is not None, reduction == "none")
    given = (out, call.target, call.weights, share[0], *call.steps, *call.sizes, share[1])
    return out if SLOPES.run(key, call.items, call.grain(4), *given) else NotImplemented


def _classes(call: Planes) -> bool:
    """Whether every target is a class or ignored; as unsigned numbers the negative ones are too large."""
    wrong = call.target.view(np.uint64) >= call.columns
    return not wrong.any() or bool((call.target[wrong] == call.ignored).all())
