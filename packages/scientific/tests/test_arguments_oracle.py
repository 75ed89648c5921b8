"""Arguments at the edges: no points, a 0-d tensor for a number, pivots that nobody asks for, outputs of another dtype."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")

CALLS = {
    "no frequencies": lambda lib: lib.fft.fftfreq(0),
    "half of no frequencies": lambda lib: lib.fft.rfftfreq(0),
    "points at one place": lambda lib: lib.fft.fftfreq(3, 0),
    "a 0-d distance": lambda lib: lib.gradient(lib.arange(9.0).reshape(3, 3) ** 2, spacing=lib.tensor(2.0)),
    "a 0-d distance and a dimension": lambda lib: lib.gradient(lib.arange(9.0).reshape(3, 3), spacing=lib.tensor(2), dim=1),
    "pivots unread": lambda lib: lib.lu_unpack(lib.ones(2, 2), lib.zeros(2), unpack_pivots=False),
    "pivots read": lambda lib: lib.lu_unpack(lib.ones(2, 2), lib.zeros(2)),
    "a power": lambda lib: lib.matrix_power(lib.ones(2, 2), 3, out=lib.empty(0, dtype=lib.float64)),
    "a slice": lambda lib: lib.slice_scatter(lib.ones(3, 3), lib.zeros(3, 3), out=lib.empty(0, dtype=lib.float64)),
    "a slice of the same dtype": lambda lib: lib.slice_scatter(lib.ones(3, 3), lib.zeros(3, 3), out=lib.empty(0)),
}


def outcome(lib: Any, call: Any) -> Any:
    try:
        made = call(lib)
    except RuntimeError:
        return RuntimeError
    return [(str(m.dtype).split(".")[-1], m.tolist()) for m in (made if isinstance(made, (tuple, list)) else [made])]


@pytest.mark.parametrize("name", CALLS)
def test_arguments(name: str) -> None:
    ours, theirs = (repr(outcome(lib, CALLS[name])) for lib in (tenfold, torch))
    assert ours == theirs
