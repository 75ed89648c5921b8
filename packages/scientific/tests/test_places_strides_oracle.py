"""How copies that are written at some places lie in memory: row by row, or in their input's order, as PyTorch's do."""

from __future__ import annotations

import pytest

import tenfold

torch = pytest.importorskip("torch")

INPUTS = {
    "row by row": lambda t: t.arange(24.0).reshape(4, 6),
    "transposed": lambda t: t.arange(24.0).reshape(6, 4).T,
    "channels last": lambda t: t.arange(24.0).reshape(1, 2, 3, 4).contiguous(memory_format=t.channels_last),
    "permuted": lambda t: t.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1),
    "with gaps": lambda t: t.arange(96.0).reshape(8, 12)[::2, ::2],
}
CALLS = {
    "masked_fill": lambda t, x: x.masked_fill(x > 3, 1.0),
    "masked_fill by a tensor": lambda t, x: x.masked_fill(x > 3, t.tensor(1.0)),
    "masked_fill by infinity": lambda t, x: x.masked_fill(x > 3, float("inf")),
    "masked_scatter": lambda t, x: x.masked_scatter(x > 3, t.zeros(24)),
    "put": lambda t, x: x.put(t.tensor([1, 5]), t.tensor([-1.0, -2.0])),
    "put, added": lambda t, x: x.put(t.tensor([1, 1]), t.tensor([-1.0, -2.0]), accumulate=True),
}


@pytest.mark.parametrize("lies", INPUTS)
@pytest.mark.parametrize("call", CALLS)
def test_strides(call: str, lies: str) -> None:
    mine, theirs = (CALLS[call](t, INPUTS[lies](t)) for t in (tenfold, torch))
    assert mine.tolist() == theirs.tolist()
    assert mine.stride() == theirs.stride()
