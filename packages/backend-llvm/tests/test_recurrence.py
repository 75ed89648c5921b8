"""Compiled recurrent layers, against the kernels of tenfold-nn and the definition of one cell."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.llvm.kernels import recurrence
from tenfold.nn.cpu.rnn import gru, lstm, plain

WIDTHS = [1, 5, 16, 17, 40]
SIZES = [[3, 3, 3], [5, 4, 1, 1], [1], [20, 20], [7, 2]]
KINDS = {"lstm": 4, "gru": 3, "tanh": 1, "relu": 1}


def arrays(kind, dtype, hidden, sizes, biases):
    """Arguments of a layer: input, states, weights, biases; then gradients of the output and of the states."""
    rng = np.random.default_rng(len(sizes) + hidden)
    rows, batch, parts = sum(sizes), sizes[0], KINDS[kind]

    def made(*shape):
        return (rng.standard_normal(shape) / 2).astype(dtype)

    states = [made(batch, hidden) for _ in range(1 + (kind == "lstm"))]
    weights = [made(parts * hidden, 6), made(parts * hidden, hidden) / dtype(hidden**0.5)]
    given = [made(parts * hidden) if n < biases else None for n in range(2)]
    return [made(rows, 6), *states, *weights, *given], [made(rows, hidden), *(made(batch, hidden) for _ in states)]


def both_ways(module, kind, forwards, back, sizes, reverse):
    """The results of a layer and of its gradient, by the functions of a module."""
    if kind == "lstm":
        out = module.fused_lstm(*forwards, None, sizes, reverse)
        return out, module.fused_lstm_grad(*back, *forwards, None, *out[3:], sizes, reverse)
    if kind == "gru":
        out = module.fused_gru(*forwards, sizes, reverse)
        return out, module.fused_gru_grad(*back, *forwards, out[0], out[2], sizes, reverse)
    out = module.fused_rnn(*forwards, sizes, reverse, kind == "relu")
    return out, module.fused_rnn_grad(*back, forwards[3], out[0], sizes, reverse, kind == "relu")


def reference(kind):
    return {"lstm": lstm, "gru": gru}.get(kind, plain)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("hidden", WIDTHS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_against_the_kernels_beneath(kind, dtype, hidden, reverse):
    for sizes in SIZES:
        for biases in range(3):
            given = (kind, *arrays(kind, dtype, hidden, sizes, biases), sizes, reverse)
            for ours, theirs in zip(both_ways(recurrence, *given), both_ways(reference(kind), *given), strict=True):
                assert ours is not NotImplemented
                for x, y in zip(ours, theirs, strict=True):
                    assert (x.dtype, x.shape) == (y.dtype, y.shape)
                    np.testing.assert_allclose(x, y, rtol=0, atol=1e-5 if dtype == np.float32 else 1e-12)


def test_one_cell_by_its_definition():
    (x, h, c, w_ih, w_hh, b_ih, b_hh), _ = arrays("lstm", np.float64, 3, [2], 2)
    i, f, g, o = np.split(x @ w_ih.T + h @ w_hh.T + b_ih + b_hh, 4, 1)
    i, f, o = (1 / (1 + np.exp(-v)) for v in (i, f, o))
    cell = f * c + i * np.tanh(g)
    out, *_, cells = recurrence.fused_lstm(x, h, c, w_ih, w_hh, b_ih, b_hh, None, [2], False)
    np.testing.assert_allclose(cells, cell, atol=1e-14)
    np.testing.assert_allclose(out, o * np.tanh(cell), atol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_that_hurt_stay_in_their_sequence(kind):
    """NaN and infinities of one sequence do not reach the others, and are where the kernel beneath has them."""
    sizes = [4, 4, 3]
    forwards, back = arrays(kind, np.float32, 8, sizes, 2)
    forwards[0][1, 2], forwards[0][5, 0], forwards[1][2] = np.nan, np.inf, 1e30
    back[0][3, 4] = np.nan
    given = (kind, forwards, back, sizes, False)
    for ours, theirs in zip(both_ways(recurrence, *given), both_ways(reference(kind), *given), strict=True):
        for x, y in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(np.isnan(x), np.isnan(y))
            np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_rows_are_shared_out_to_threads(threads):
    """Every sequence is computed by itself: the same numbers, whoever computes it."""
    sizes = [130] * 3 + [101, 50]
    given = ("lstm", *arrays("lstm", np.float32, 64, sizes, 2), sizes, True)
    before = tenfold.get_num_threads()
    try:
        tenfold.set_num_threads(1)
        alone = both_ways(recurrence, *given)
        tenfold.set_num_threads(threads)
        shared = both_ways(recurrence, *given)
    finally:
        tenfold.set_num_threads(before)
    for ours, theirs in zip(shared, alone, strict=True):
        for x, y in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(x, y, atol=1e-6)


def test_what_the_kernel_beneath_does():
    """Sizes that contradict each other must not reach native code."""
    forwards, _ = arrays("gru", np.float32, 4, [3, 2], 2)
    for sizes in ([3, 3], [2, 3], [5], [3, 2, 0], []):
        assert recurrence.fused_gru(*forwards, sizes, False) is NotImplemented
    forwards[3] = forwards[3].astype(np.float64)
    assert recurrence.fused_gru(*forwards, [3, 2], False) is NotImplemented
    forwards, _ = arrays("lstm", np.float32, 4, [3, 2], 2)
    assert recurrence.fused_lstm(*forwards, np.ones((2, 4), np.float32), [3, 2], False) is NotImplemented


def test_strided_arguments_and_arguments_that_stay():
    forwards, back = arrays("lstm", np.float32, 6, [4, 2], 2)
    kept = [a.copy() for a in (*forwards, *back)]
    expected = both_ways(recurrence, "lstm", forwards, back, [4, 2], False)
    for a, b in zip((*forwards, *back), kept, strict=True):
        np.testing.assert_array_equal(a, b)
    strided = [np.repeat(a, 2, -1)[..., ::2] for a in (*forwards, *back)]
    found = both_ways(recurrence, "lstm", strided[:7], strided[7:], [4, 2], False)
    for ours, theirs in zip(found, expected, strict=True):
        for x, y in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(x, y)


def test_layers_use_it():
    plan = str(tenfold.llvm.explain(tenfold.op.fused_gru, *_tensors("gru"), [3, 2], False))
    assert "compiled code serves" in plan


def _tensors(kind):
    return [tenfold.tensor(a) for a in arrays(kind, np.float32, 8, [3, 2], 2)[0]]
