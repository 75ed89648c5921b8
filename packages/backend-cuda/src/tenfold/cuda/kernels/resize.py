"""Resampling and its gradient: one launch by tables of places and weights.

Where a dimension's taps are many (antialiasing), dimensions are summed one after the other, in float32. The gradient is the same
kernel with the transposed tables, so that it adds in one order.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from math import prod
from typing import Any

import numpy as np

from tenfold.cuda import capturing, runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels import grid  # noqa: F401 - of the same family of operators
from tenfold.cuda.kernels.handwritten import F32, F64, FLOATS, Handwritten, start
from tenfold.cuda.kernels.planes import allocated, planes
from tenfold.cuda.kernels.pool import as_five
from tenfold.dispatch.operators import op
from tenfold.types.memory_format import suggested_format

tables: Any = import_module("tenfold.nn.ops.resize.tables")  # tenfold-nn is there where somebody asks for its operators' kernels
BLOCK = 256
TOGETHER = 64  # taps of all dimensions that are summed at once
BYTES, COPIES = 2, 3  # kinds of sums_of_places
U8 = np.dtype(np.uint8)
OF_BYTES = {n: np.dtype(f"i{n}") for n in (1, 2, 4, 8)}
Table = tuple[Any, Any, int]  # places, weights (None: all are 1), bits of weights that are whole numbers
_on_device: dict[Any, tuple[Any, Any]] = {}
KEPT = 256  # tables on the devices


@lru_cache(maxsize=256)
def _of_resampling(steps: Any, mode: str, align_corners: bool, antialias: bool, whole: bool) -> Table:
    if mode.startswith("nearest"):
        return tables.nearest(*steps, mode == "nearest-exact")[None], None, 0
    if whole:
        places, weights, bits = tables.whole_numbers(*steps, align_corners, mode, antialias)
        return places, weights, bits
    return (*tables.weighted(*steps, align_corners, mode, antialias), 0)


@lru_cache(maxsize=256)
def transposed(size: int, make: Any, *arguments: Any) -> Table:
    """For each of `size` inputs the outputs that read it, with their weights; -1 where there are no more."""
    places, weights, _ = make(*arguments)
    outputs = np.broadcast_to(np.arange(places.shape[1]), places.shape).reshape(-1)
    factors = np.ones(places.shape) if weights is None else weights
    given = places.reshape(-1)
    order = np.argsort(given, kind="stable")
    given = given[order]
    counts: Any = np.bincount(given, minlength=size)
    nth = np.arange(len(given)) - np.repeat(np.cumsum(counts) - counts, counts)
    at, by = np.full((max(1, counts.max(initial=0)), size), -1, np.int64), np.zeros((max(1, counts.max(initial=0)), size))
    at[nth, given], by[nth, given] = outputs[order], factors.reshape(-1)[order]
    return at, None if weights is None else by, 0


def identity(size: int) -> Table:
    return np.arange(size)[None], None, 0


def _upload(found: list[Table], kind: int, key: Any, index: int) -> tuple[Any, Any]:
    """The tables of three dimensions one behind the other, on a device."""
    now = runtime.current()
    place = (key, kind, *capturing.place(now, index))
    kept = _on_device.get(place)
    if kept is None:
        weighted = kind != COPIES and any(w is not None for _, w, _ in found)
        places = np.concatenate([p.reshape(-1) for p, _, _ in found]).astype(np.int32)
        weights = places[:1]
        if weighted:
            dtype = (F32, F64, np.dtype(np.int32))[kind]
            weights = np.concatenate([np.ones(p.size) if w is None else np.asarray(w).reshape(-1) for p, w, _ in found])
            weights = weights.astype(dtype)
        if len(_on_device) >= KEPT:
            _on_device.clear()
        kept = _on_device[place] = capturing.constant(now, places, index), capturing.constant(now, weights, index)
        if capturing.CAPTURES:
            del _on_device[place]  # its memory is the graph's
    capturing.lasting(*kept)
    return kept


def _summed(x: Any, found: list[Table], key: Any, kind: int, dtype: Any, last: bool) -> Any:
    """Sums by tables, one for each spatial dimension of x (N, C, *S), channels last in memory or not."""
    index = runtime.current().index_of(x)
    shape = (*x.shape[:2], *[t[0].shape[1] for t in found])
    out = allocated(shape, x, index, last, dtype)
    three = [*[identity(1)] * (3 - len(found)), *found]
    places, weights = _upload(three, kind, key, index)
    sizes = [t[0].size for t in three]
    weighted = int(kind != COPIES and any(w is not None for _, w, _ in three))
    constants = (("WEIGHTS", weighted), ("KIND", kind), ("LAST", int(last)), ("BLOCK", BLOCK))
    numbers = (
        out.size, shape[1], *planes(out).sizes[2:], *planes(x).strides, sizes[0], sizes[0] + sizes[1],
        *[len(t[0]) for t in three], max(t[2] for t in three),
    )  # fmt: skip
    program = Handwritten("sums_of_places", constants, 4, by_address=True)
    start(program, (-(-out.size // BLOCK),), (out, x, places, weights, *numbers), index)
    return out


def of_each(array: Any, found: list[Table], key: Any, kind: int) -> Any:
    """The last dimensions of an array summed by their tables; what is in front of them stays."""
    n = len(found)
    lead, x, last = array.shape[: array.ndim - n], as_five(array, n), bool(suggested_format(array).order)
    given = array.dtype
    if kind == COPIES:
        x, given = x.view(OF_BYTES[given.itemsize]), array.dtype
    passes: list[list[Table | None]] = [list(found)]
    if kind == BYTES or (kind != COPIES and prod(len(t[0]) for t in found) > TOGETHER):
        passes = [[t if d == one else None for d, t in enumerate(found)] for one in reversed(range(n))]
    wide = F32 if kind == 0 else given
    for i, some in enumerate(passes):
        whole = [identity(size) if t is None else t for t, size in zip(some, x.shape[2:])]
        dtype = x.dtype if kind == COPIES else given if i == len(passes) - 1 else wide
        x = _summed(x, whole, (key, i), kind, dtype, last)
    x = x.view(given) if kind == COPIES else x
    return x.reshape(*lead, *x.shape[2:])


def three(sizes: Any, default: int) -> tuple[int, ...]:
    return (*(default,) * (3 - len(sizes)), *sizes)


def small(*counts: int) -> bool:
    return all(0 < n < 2**31 for n in counts)


def kind_of(dtype: Any) -> int:
    return 1 if dtype == F64 else 0


@kernel(op.resample, device="cuda", plays=True)
def resample(input: Any, output_size: Any, scales: Any, mode: str, align_corners: bool, antialias: bool) -> Any:
    n, options = len(output_size), (mode, align_corners, antialias, input.dtype == U8)
    lead = input.shape[: input.ndim - n]
    if input.dtype not in (*FLOATS, U8) or n > 3 or not small(input.size, prod(lead) * prod(output_size)):
        return NotImplemented
    steps = tuple(zip(input.shape[len(lead) :], output_size, scales))
    found = [identity(s[0]) if tables.is_identity(*s) else _of_resampling(s, *options) for s in steps]
    kind = COPIES if mode.startswith("nearest") else BYTES if input.dtype == U8 else kind_of(input.dtype)
    return of_each(input, found, ("resample", steps, options), kind)


@kernel(op.resample_grad, device="cuda", plays=True)
def resample_grad(grad: Any, input_size: Any, scales: Any, mode: str, align_corners: bool, antialias: bool) -> Any:
    n, options = len(input_size), (mode, align_corners, antialias, False)
    lead = grad.shape[: grad.ndim - n]
    if grad.dtype not in FLOATS or n > 3 or not small(grad.size, prod(lead) * prod(input_size)):
        return NotImplemented
    steps = tuple(zip(input_size, grad.shape[len(lead) :], scales))
    found = [identity(s[0]) if tables.is_identity(*s) else transposed(s[0], _of_resampling, s, *options) for s in steps]
    return of_each(grad, found, ("resample_grad", steps, options), kind_of(grad.dtype))
