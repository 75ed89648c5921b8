"""Recurrent layers, all steps of one direction in one call: the operators of tenfold-nn and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from tenfold.cpu.quiet import quiet
from tenfold.llvm.cells import GRU, GRU_BACK, LSTM, LSTM_BACK, PLAIN, PLAIN_BACK, RELU, RELU_BACK
from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.large_calls import dot
from tenfold.llvm.programs import Compiled, empty, suitable
from tenfold.llvm.recurrence import Cell, recurrence, tile_for
from tenfold.llvm.storage import FLOAT32, FLOAT64
from tenfold.settings.threads import get_num_threads

Array = np.ndarray[Any, Any]

NOTE = "float32 and float64 in one piece"
MOST_ROWS = 48  # of an item: more would not stay in the cache beside the weight
WORTH_SHARING = 1 << 20  # multiplications from which a second thread gets rows of the batch

RECURRENCE = Compiled("recurrence", recurrence, vectors=True)


class _Call:
    """A call's dtype and sizes; `fine` where there is a compiled form."""

    def __init__(self, rows: int, state: Array, weight: Array, batch_sizes: Sequence[int], *arrays: Array | None) -> None:
        self.stored = suitable(state, weight, *arrays)
        self.batch: int = state.shape[0] if state.ndim == 2 else 0
        self.hidden: int = state.shape[1] if state.ndim == 2 else 0
        self.sizes = list(batch_sizes)
        self.fine = (
            self.stored in (FLOAT32, FLOAT64)
            and weight.ndim == 2
            and weight.shape[1] == self.hidden > 0
            and self.batch > 0
            and len(self.sizes) > 0
            and self.sizes[0] == self.batch
            and self.sizes[-1] > 0
            and sum(self.sizes) == rows
            and all(a >= b for a, b in zip(self.sizes, self.sizes[1:]))
        )

    def empty(self, shape: tuple[int, ...]) -> Array:
        """A new array of the call's dtype."""
        assert self.stored is not None
        return empty(shape, self.stored)

    def tables(self, reverse: bool, back: bool) -> list[Array]:
        """The first row and the number of rows of every step in the order of calculation; and of the step before, forwards."""
        steps = [(end - size, size) for end, size in zip(accumulate(self.sizes), self.sizes)]
        steps = steps[::-1] if reverse else steps
        before = [(0, 0), *steps[:-1]]
        if back:
            steps, before = steps[::-1], before[::-1]
        table = np.array([*zip(*steps), *zip(*before)], np.int64)
        return list(table)

    def run(
        self, cell: Cell, reverse: bool, weight: Array, row: int, offset: int, bias: Array | None, arrays: dict[str, Array]
    ) -> bool:
        """Walk over all steps; `weight` multiplies what begins at `offset` of rows of length `row`."""
        assert self.stored is not None
        depth, columns = weight.shape
        threads = get_num_threads() if len(self.sizes) * self.batch * depth * columns >= WORTH_SHARING else 1
        share = min(MOST_ROWS, -(-self.batch // threads))
        tile = tile_for(self.stored, share)
        panels = _panels(weight, tile.width)
        wide = len(panels) * tile.width
        start, sums = np.zeros(wide, self.stored.dtype), panels
        if cell.forwards:
            sums = np.empty((self.batch, wide), self.stored.dtype)
            if bias is not None:
                start[:columns] = bias
        else:
            arrays["flow"] = _widened(arrays["flow"], wide)
        return RECURRENCE.run(
            (tile, cell), -(-self.batch // share), 1, *self.tables(reverse, not cell.forwards), panels, start, sums,
            *(arrays[name] for name in cell.arrays), len(self.sizes), self.hidden, depth, len(panels), wide, share, row, offset,
        )  # fmt: skip


def _panels(weight: Array, width: int) -> Array:
    """A matrix (depth, columns) as panels (block, depth, width); zeros fill the last one."""
    depth, columns = weight.shape
    blocks = -(-columns // width)
    if columns % width:
        weight = _widened(weight, blocks * width)
    return np.ascontiguousarray(weight.reshape(depth, blocks, width).transpose(1, 0, 2))


def _widened(x: Array, width: int) -> Array:
    """The rows with zeros behind them."""
    wide = np.zeros((len(x), width), x.dtype)
    wide[:, : x.shape[1]] = x
    return wide


def _solid(*arrays: Any) -> list[Any]:
    """The arrays in one piece each."""
    return [a if a is None or a.flags.carray else np.ascontiguousarray(a) for a in arrays]


def _together(*biases: Array | None) -> Array | None:
    given = [b for b in biases if b is not None]
    return None if not given else given[0] if len(given) == 1 else given[0] + given[1]


def _fits(input: Array, w_ih: Array, w_hh: Array, parts: int, hidden: int, *biases: Array | None) -> bool:
    """Whether the input and its weights have sizes that belong together; else the kernel beneath says what is wrong."""
    rows = parts * hidden
    return (
        input.ndim == w_ih.ndim == 2
        and w_ih.shape == (rows, input.shape[1])
        and len(w_hh) == rows
        and all(b is None or b.shape == (rows,) for b in biases)
    )


@quiet
def fused_rnn(
    input: Array,
    hx: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None,
    b_hh: Array | None,
    batch_sizes: list[int],
    reverse: bool,
    relu: bool,
) -> Any:
    input, hx, w_ih, w_hh, b_ih, b_hh = _solid(input, hx, w_ih, w_hh, b_ih, b_hh)
    call = _Call(len(input), hx, w_hh, batch_sizes, input, w_ih, b_ih, b_hh)
    if not call.fine or not _fits(input, w_ih, w_hh, 1, call.hidden, b_ih, b_hh):
        return NotImplemented
    x, h = dot(input, w_ih.T), hx.copy()
    arrays = {"x": x, "out": x, "h": h}
    cell = RELU if relu else PLAIN
    done = call.run(cell, reverse, w_hh.T, call.hidden, 0, _together(b_ih, b_hh), arrays)
    return (x, h) if done else NotImplemented


@quiet
def fused_rnn_grad(
    grad: Array, grad_h: Array, w_hh: Array, output: Array, batch_sizes: list[int], reverse: bool, relu: bool
) -> Any:
    grad, grad_h, w_hh, output = _solid(grad, grad_h, w_hh, output)
    call = _Call(len(output), grad_h, w_hh, batch_sizes, grad, output)
    if not call.fine or len(w_hh) != call.hidden or grad.shape != output.shape != (len(output), call.hidden):
        return NotImplemented
    inner = call.empty(output.shape)
    arrays = {"grad": grad, "out": output, "inner": inner, "flow": grad_h}
    if not call.run(RELU_BACK if relu else PLAIN_BACK, reverse, w_hh, call.hidden, 0, None, arrays):
        return NotImplemented
    return inner, arrays["flow"][:, : call.hidden].copy()


@quiet
def fused_lstm(
    input: Array,
    hx: Array,
    cx: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None,
    b_hh: Array | None,
    w_hr: Array | None,
    batch_sizes: list[int],
    reverse: bool,
) -> Any:
    if w_hr is not None:
        return NotImplemented
    input, hx, cx, w_ih, w_hh, b_ih, b_hh = _solid(input, hx, cx, w_ih, w_hh, b_ih, b_hh)
    call = _Call(len(input), hx, w_hh, batch_sizes, input, cx, w_ih, b_ih, b_hh)
    if not call.fine or cx.shape != hx.shape or not _fits(input, w_ih, w_hh, 4, call.hidden, b_ih, b_hh):
        return NotImplemented
    N, H = len(input), call.hidden
    x, h, c = dot(input, w_ih.T), hx.copy(), cx.copy()
    gates, cells, out = call.empty((4 * N, H)), call.empty((N, H)), call.empty((N, H))
    arrays = {"x": x, "gates": gates, "cells": cells, "out": out, "h": h, "c": c}
    done = call.run(LSTM, reverse, w_hh.T, H, 0, _together(b_ih, b_hh), arrays)
    return (out, h, c, gates, cells) if done else NotImplemented


@quiet
def fused_lstm_grad(
    grad: Array,
    grad_h: Array,
    grad_c: Array,
    input: Array,
    hx: Array,
    cx: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None,
    b_hh: Array | None,
    w_hr: Array | None,
    gates: Array,
    cells: Array,
    batch_sizes: list[int],
    reverse: bool,
) -> Any:
    if w_hr is not None:
        return NotImplemented
    grad, grad_h, grad_c, cx, w_hh, gates, cells = _solid(grad, grad_h, grad_c, cx, w_hh, gates, cells)
    N = len(grad)
    call = _Call(N, grad_h, w_hh, batch_sizes, grad, grad_c, cx, gates, cells)
    H = call.hidden
    if not call.fine or len(w_hh) != 4 * H or gates.shape != (4 * N, H):
        return NotImplemented
    if not grad.shape == cells.shape == (N, H) or not grad_c.shape == cx.shape == grad_h.shape:
        return NotImplemented
    inner, d_c = call.empty((N, 4 * H)), grad_c.copy()
    arrays = {
        "grad": grad, "gates": gates, "cells": cells, "before": cells, "first": cx, "inner": inner, "flow": grad_h, "c": d_c
    }  # fmt: skip
    if not call.run(LSTM_BACK, reverse, w_hh, 4 * H, 0, None, arrays):
        return NotImplemented
    none = np.empty((0, H), inner.dtype)
    return inner, arrays["flow"][:, :H].copy(), d_c, none, none


@quiet
def fused_gru(
    input: Array,
    hx: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None,
    b_hh: Array | None,
    batch_sizes: list[int],
    reverse: bool,
) -> Any:
    input, hx, w_ih, w_hh, b_ih, b_hh = _solid(input, hx, w_ih, w_hh, b_ih, b_hh)
    call = _Call(len(input), hx, w_hh, batch_sizes, input, w_ih, b_ih, b_hh)
    if not call.fine or not _fits(input, w_ih, w_hh, 3, call.hidden, b_ih, b_hh):
        return NotImplemented
    N, H = len(input), call.hidden
    x, h = dot(input, w_ih.T), hx.copy()
    if b_ih is not None:
        x += b_ih
    gates, out = call.empty((N, 4 * H)), call.empty((N, H))
    done = call.run(GRU, reverse, w_hh.T, H, 0, b_hh, {"x": x, "gates": gates, "out": out, "h": h})
    return (out, h, gates) if done else NotImplemented


@quiet
def fused_gru_grad(
    grad: Array,
    grad_h: Array,
    input: Array,
    hx: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None,
    b_hh: Array | None,
    output: Array,
    gates: Array,
    batch_sizes: list[int],
    reverse: bool,
) -> Any:
    grad, grad_h, hx, w_hh, output, gates = _solid(grad, grad_h, hx, w_hh, output, gates)
    N = len(grad)
    call = _Call(N, grad_h, w_hh, batch_sizes, grad, hx, output, gates)
    H = call.hidden
    if not call.fine or len(w_hh) != 3 * H or gates.shape != (N, 4 * H):
        return NotImplemented
    if not grad.shape == output.shape == (N, H) or hx.shape != grad_h.shape:
        return NotImplemented
    inner = call.empty((N, 4 * H))
    arrays = {"grad": grad, "gates": gates, "before": output, "first": hx, "inner": inner, "flow": grad_h}
    if not call.run(GRU_BACK, reverse, w_hh, 4 * H, H, None, arrays):
        return NotImplemented
    return inner, arrays["flow"][:, :H].copy()


for _serve, _arguments, _rounded in (
    (fused_rnn, 9, 2),
    (fused_rnn_grad, 7, 2),
    (fused_lstm, 10, 3),
    (fused_lstm_grad, 15, 5),
    (fused_gru, 8, 2),
    (fused_gru_grad, 12, 2),
):
    chosen(_serve.__name__, _serve, _arguments, NOTE, halves=_rounded)
