"""The cells of recurrent layers as data, forwards and back."""

from __future__ import annotations

from tenfold.llvm import maths
from tenfold.llvm.expressions import Expr, constant, select
from tenfold.llvm.recurrence import Cell, Elements, Place


def _plain(e: Elements) -> dict[str, Expr]:
    new = maths.tanh(e["x"] + e["sums"])
    return {"out": new, "h": new}


def _plain_back(e: Elements) -> dict[str, Expr]:
    out = e["out"]
    return {"inner": (e["flow"] + e["grad"]) * (1.0 - out * out), "flow": constant(0.0, out.type)}


def _relu(e: Elements) -> dict[str, Expr]:
    sums = e["x"] + e["sums"]
    new = select(sums <= 0.0, 0.0, sums)  # NaN stays
    return {"out": new, "h": new}


def _relu_back(e: Elements) -> dict[str, Expr]:
    out = e["out"]
    return {"inner": select(out <= 0.0, 0.0, e["flow"] + e["grad"]), "flow": constant(0.0, out.type)}


def _lstm(e: Elements) -> dict[str, Expr]:
    """i, f, o = sigmoid and g = tanh of the sums; c' = f c + i g; h' = o tanh(c')."""
    i, f, o = (maths.sigmoid(e[f"x{k}"] + e[f"sums{k}"]) for k in (0, 1, 3))
    g = maths.tanh(e["x2"] + e["sums2"])
    c = f * e["c"] + i * g
    h = o * maths.tanh(c)
    return {"gates0": i, "gates1": f, "gates2": g, "gates3": o, "cells": c, "c": c, "out": h, "h": h}


def _lstm_back(e: Elements) -> dict[str, Expr]:
    """1 - gate loses nothing where the gate is nearly 1."""
    i, f, g, o = (e[f"gates{k}"] for k in range(4))
    t = maths.tanh(e["cells"])
    d_h = e["flow"] + e["grad"]
    d_c = e["c"] + d_h * ((1.0 - t * t) * o)
    sums = (
        d_c * ((1.0 - i) * (i * g)),
        d_c * ((1.0 - f) * (f * e["before"])),
        d_c * ((1.0 - g) * ((g + 1.0) * i)),
        d_h * ((1.0 - o) * (o * t)),
    )
    return {**{f"inner{k}": s for k, s in enumerate(sums)}, "c": d_c * f, "flow": constant(0.0, t.type)}


def _gru(e: Elements) -> dict[str, Expr]:
    """r, z = sigmoid of sums; v = w_hn h + b_hn; n = tanh(x_n + r v); h' = n + z (h - n). What is kept: n, r, z and v."""
    r, z = (maths.sigmoid(e[f"x{k}"] + e[f"sums{k}"]) for k in (0, 1))
    v = e["sums2"]
    n = maths.tanh(e["x2"] + r * v)
    new = (e["h"] - n) * z + n
    return {"gates0": n, "gates1": r, "gates2": z, "gates3": v, "out": new, "h": new}


def _gru_back(e: Elements) -> dict[str, Expr]:
    """The gradients for x_n, the sums in r and z, and v; the last three go on into the state."""
    n, r, z, v = (e[f"gates{k}"] for k in range(4))
    d = e["flow"] + e["grad"]
    open_ = 1.0 - z
    of_n = (1.0 - n * n) * open_
    of_v = of_n * r
    slopes = of_n, (1.0 - r) * of_v * v, (e["before"] - n) * z * open_, of_v
    return {**{f"inner{k}": d * s for k, s in enumerate(slopes)}, "flow": d * z}


STEPS, STATE, SUMS = Place("steps"), Place("state"), Place("sums")
_PLAIN = {"x": STEPS, "sums": SUMS, "out": STEPS, "h": STATE}
_PLAIN_BACK = {"grad": STEPS, "out": STEPS, "inner": STEPS, "flow": Place("flow")}
PLAIN, RELU = Cell("rnn", True, _PLAIN, _plain), Cell("rnn of relu", True, _PLAIN, _relu)
PLAIN_BACK = Cell("gradient of rnn", False, _PLAIN_BACK, _plain_back)
RELU_BACK = Cell("gradient of rnn of relu", False, _PLAIN_BACK, _relu_back)
LSTM = Cell(
    "lstm",
    True,
    {"x": Place("steps", 4), "sums": SUMS, "gates": Place("turned", 4), "cells": STEPS, "out": STEPS, "h": STATE, "c": STATE},
    _lstm,
)
LSTM_BACK = Cell(
    "gradient of lstm",
    False,
    {
        "grad": STEPS, "gates": Place("turned", 4), "cells": STEPS, "before": Place("before"), "inner": Place("steps", 4),
        "flow": Place("flow"), "c": STATE,
    },
    _lstm_back,
)  # fmt: skip
GRU = Cell("gru", True, {"x": Place("steps", 3), "sums": SUMS, "gates": Place("steps", 4), "out": STEPS, "h": STATE}, _gru)
GRU_BACK = Cell(
    "gradient of gru",
    False,
    {
        "grad": STEPS, "gates": Place("steps", 4), "before": Place("before"), "inner": Place("steps", 4), "flow": Place("flow")
    },
    _gru_back,
)  # fmt: skip
