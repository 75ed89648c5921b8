"""Recurrence: a product of all inputs first, then for each step one product and one launch; the operators of tenfold-nn.

Sums are kept in float32 for half precision, into which cuBLAS adds the state's product. Backward it is the same: one launch for
the gradients of a step's sums, one product that takes them to the step before.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from tenfold.cuda import cublas, runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.array_kernels import wide
from tenfold.cuda.kernels.elementwise import run
from tenfold.cuda.kernels.handwritten import F64, FLOATS, Handwritten, contiguous, start, statistics_dtype
from tenfold.cuda.precision import switches
from tenfold.dispatch.operators import op

BLOCK = 512
MOST = 2**28  # elements of a state or a weight


def served(like: Any, *others: Any) -> bool:
    """Whether all arrays are of one dtype that products and programs have, and not empty; of states 32 bits count the gates."""
    given = [a for a in others if a is not None]
    if like.dtype not in FLOATS or not like.size or any(a.dtype != like.dtype for a in given):
        return False
    return all(0 < a.size <= MOST for a in given)


def multiply(out: Any, a: Any, b: Any, add: bool = False) -> None:
    """Write a @ b to `out`, or add it to what is there."""
    if runtime.is_replaced():
        found = wide(a) @ wide(b)
        out[...] = out + found if add else found
    else:
        cublas.product_into(runtime.current(), out, a, b, add)


def copied(x: Any, dtype: Any) -> Any:
    """A new row-major array of a dtype."""
    now = runtime.current()
    return run("cast", x, out=now.empty(x.shape, dtype, now.index_of(x)))


class Steps:
    """The steps of one call in the order of calculation, and what its launches have in common."""

    def __init__(self, like: Any, first: Any, batch_sizes: Sequence[int], reverse: bool) -> None:
        self.now = runtime.current()
        self.index, self.dtype = self.now.index_of(like), like.dtype
        self.kind = statistics_dtype(like.dtype)
        self.width = first.shape[1]
        self.first = contiguous(first)
        self.padded = batch_sizes[0] == batch_sizes[-1]
        ends = accumulate(batch_sizes)
        self.walk = [(slice(end - n, end), n) for end, n in zip(ends, batch_sizes, strict=True)][:: -1 if reverse else 1]
        self.befores = [None, *[rows for rows, _ in self.walk[:-1]]]  # the rows of the step before each

    def empty(self, *shape: int, kept: bool = False) -> Any:
        """Memory in the operator's dtype; `kept`: in that of sums."""
        return self.now.empty(shape, self.kind if kept else self.dtype, self.index)

    def launch(self, name: str, count: int, arguments: tuple[Any, ...], **fixed: int) -> None:
        """Run a program over a step's elements."""
        constants = (*fixed.items(), ("DOUBLE", int(self.kind == F64)), ("BLOCK", BLOCK))
        start(Handwritten(name, constants), (-(-count // BLOCK),), arguments, self.index)

    def before(self, states: Any, step: int) -> tuple[Any, int]:
        """(the states that a step started from, how many of its rows have theirs there); the others have the first state."""
        rows = self.befores[step]
        if rows is None:
            return self.first, 0
        return states[rows], min(rows.stop - rows.start, self.walk[step][1])

    def keeps(self, step: int) -> bool:
        """Whether a step's state is written to that of all sequences: each one of packed steps, else the last."""
        return not self.padded or step == len(self.walk) - 1


def _biases(x: Any, b_ih: Any, b_hh: Any) -> tuple[Any, Any, int]:
    return (x, x, 0) if b_ih is None else (contiguous(b_ih), contiguous(b_hh), 1)


@kernel(op.fused_lstm, device="cuda", plays=switches)
def fused_lstm(
    input: Any, hx: Any, cx: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, w_hr: Any, batch_sizes: list[int], reverse: bool
) -> Any:
    if not served(input, hx, cx, w_ih, w_hh, b_ih, b_hh, w_hr) or (b_ih is None) != (b_hh is None):
        return NotImplemented
    steps, N, H, projected = Steps(input, cx, batch_sizes, reverse), len(input), cx.shape[1], w_hr is not None
    sums = steps.empty(N, 4 * H, kept=True)
    multiply(sums, input, w_ih.T)
    out, cells, gates = steps.empty(N, hx.shape[1]), steps.empty(N, H, kept=True), steps.empty(4 * N, H, kept=True)
    last_h, last_c = steps.empty(*hx.shape) if steps.padded else copied(hx, hx.dtype), steps.empty(*cx.shape)
    *biases, biased = _biases(sums, b_ih, b_hh)
    pre, h, weight = steps.empty(*cx.shape) if projected else out, contiguous(hx), w_hh.T
    for k, (rows, n) in enumerate(steps.walk):
        multiply(sums[rows], h[:n], weight, add=True)
        prev, joined = steps.before(cells, k)
        new = out[rows]
        arrays = (pre if projected else new, cells[rows], gates[4 * rows.start : 4 * rows.stop], last_h, last_c, sums[rows])
        flags = {"BIAS": biased, "KEPT": int(steps.keeps(k)), "PROJECTED": int(projected)}
        steps.launch("lstm_step", n * H, (*arrays, prev, steps.first, *biases, n * H, H, joined), **flags)
        if projected:
            multiply(new, pre[:n], w_hr.T)
            if steps.keeps(k):
                run("cast", new, out=last_h[:n])
        h = new if steps.padded else last_h
    return out, last_h, last_c, gates, cells


@kernel(op.fused_lstm_grad, device="cuda", plays=switches)
def fused_lstm_grad(
    grad: Any,
    grad_h: Any,
    grad_c: Any,
    input: Any,
    hx: Any,
    cx: Any,
    w_ih: Any,
    w_hh: Any,
    b_ih: Any,
    b_hh: Any,
    w_hr: Any,
    gates: Any,
    cells: Any,
    batch_sizes: list[int],
    reverse: bool,
) -> Any:
    if not served(grad, grad_h, grad_c, cx, w_hh, w_hr) or gates.dtype != cells.dtype or gates.dtype not in FLOATS:
        return NotImplemented
    steps, N, H, projected = Steps(grad, cx, batch_sizes, reverse), len(grad), cx.shape[1], w_hr is not None
    inner, g, cells, gates = steps.empty(N, 4 * H), contiguous(grad), contiguous(cells), contiguous(gates)
    flow_h, flow_c = copied(grad_h, steps.kind), copied(grad_c, steps.kind)
    pre, d_out = steps.empty(N if projected else 0, H), steps.empty(N if projected else 0, hx.shape[1])
    through = steps.empty(*cx.shape, kept=True) if projected else flow_h
    for k in reversed(range(len(steps.walk))):
        rows, n = steps.walk[k]
        if projected:
            run("add", flow_h[:n], g[rows], out=d_out[rows])
            multiply(through[:n], d_out[rows], w_hr)
        prev, joined = steps.before(cells, k)
        own = (inner[rows], flow_c, pre[rows] if projected else inner, through, g if projected else g[rows])
        saved = (gates[4 * rows.start : 4 * rows.stop], cells[rows], prev, steps.first)
        steps.launch("lstm_step_back", n * H, (*own, *saved, n * H, H, joined), PROJECTED=int(projected))
        multiply(flow_h[:n], inner[rows], w_hh)
    return inner, _narrowed(flow_h, grad), _narrowed(flow_c, grad), pre, d_out


def _narrowed(flow: Any, grad: Any) -> Any:
    return flow if flow.dtype == grad.dtype else copied(flow, grad.dtype)


@kernel(op.fused_gru, device="cuda", plays=switches)
def fused_gru(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, batch_sizes: list[int], reverse: bool) -> Any:
    if not served(input, hx, w_ih, w_hh, b_ih, b_hh) or (b_ih is None) != (b_hh is None):
        return NotImplemented
    steps, N, H = Steps(input, hx, batch_sizes, reverse), len(input), hx.shape[1]
    sums, state = steps.empty(N, 3 * H, kept=True), steps.empty(len(hx), 3 * H, kept=True)
    multiply(sums, input, w_ih.T)
    out, gates = steps.empty(N, H), steps.empty(N, 4 * H, kept=True)
    last = steps.empty(*hx.shape) if steps.padded else copied(hx, hx.dtype)
    *biases, biased = _biases(sums, b_ih, b_hh)
    h, weight = steps.first, w_hh.T
    for k, (rows, n) in enumerate(steps.walk):
        multiply(state[:n], h[:n], weight)
        arrays = (out[rows], gates[rows], last, sums[rows], state, h, *biases)
        steps.launch("gru_step", n * H, (*arrays, n * H, H), BIAS=biased, KEPT=int(steps.keeps(k)))
        h = out[rows] if steps.padded else last
    return out, last, gates


@kernel(op.fused_gru_grad, device="cuda", plays=switches)
def fused_gru_grad(
    grad: Any,
    grad_h: Any,
    input: Any,
    hx: Any,
    w_ih: Any,
    w_hh: Any,
    b_ih: Any,
    b_hh: Any,
    output: Any,
    gates: Any,
    batch_sizes: list[int],
    reverse: bool,
) -> Any:
    if not served(grad, grad_h, hx, w_hh) or output.dtype != grad.dtype or gates.dtype not in FLOATS:
        return NotImplemented
    steps, N, H = Steps(grad, hx, batch_sizes, reverse), len(grad), hx.shape[1]
    inner, g, gates, output = steps.empty(N, 4 * H), contiguous(grad), contiguous(gates), contiguous(output)
    flow = copied(grad_h, steps.kind)
    for k in reversed(range(len(steps.walk))):
        rows, n = steps.walk[k]
        prev, joined = steps.before(output, k)
        arrays = (inner[rows], flow, g[rows], gates[rows], prev, steps.first)
        steps.launch("gru_step_back", n * H, (*arrays, n * H, H, joined))
        multiply(flow[:n], inner[rows, H:], w_hh, add=True)
    return inner, _narrowed(flow, grad)


@kernel(op.fused_rnn, device="cuda", plays=switches)
def fused_rnn(
    input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, batch_sizes: list[int], reverse: bool, relu: bool
) -> Any:
    if not served(input, hx, w_ih, w_hh, b_ih, b_hh) or (b_ih is None) != (b_hh is None):
        return NotImplemented
    steps, N, H = Steps(input, hx, batch_sizes, reverse), len(input), hx.shape[1]
    sums = steps.empty(N, H, kept=True)
    multiply(sums, input, w_ih.T)
    out, last = steps.empty(N, H), steps.empty(*hx.shape) if steps.padded else copied(hx, hx.dtype)
    *biases, biased = _biases(sums, b_ih, b_hh)
    h, weight = steps.first, w_hh.T
    for k, (rows, n) in enumerate(steps.walk):
        multiply(sums[rows], h[:n], weight, add=True)
        flags = {"RELU": int(relu), "BIAS": biased, "KEPT": int(steps.keeps(k))}
        steps.launch("plain_step", n * H, (out[rows], last, sums[rows], *biases, n * H, H), **flags)
        h = out[rows] if steps.padded else last
    return out, last


@kernel(op.fused_rnn_grad, device="cuda", plays=switches)
def fused_rnn_grad(grad: Any, grad_h: Any, w_hh: Any, output: Any, batch_sizes: list[int], reverse: bool, relu: bool) -> Any:
    if not served(grad, grad_h, w_hh) or output.dtype != grad.dtype:
        return NotImplemented
    steps = Steps(grad, grad_h, batch_sizes, reverse)
    inner, g, output, flow = steps.empty(*grad.shape), contiguous(grad), contiguous(output), copied(grad_h, steps.kind)
    for rows, n in reversed(steps.walk):
        arrays = (inner[rows], flow, g[rows], output[rows])
        steps.launch("plain_step_back", n * grad.shape[1], (*arrays, n * grad.shape[1]), RELU=int(relu))
        multiply(flow[:n], inner[rows], w_hh)
    return inner, _narrowed(flow, grad)
