"""Results that have memory of their own are no views to users: `detach_` takes them, as in PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize(
    "call",
    [
        lambda t, x: x.repeat(2, 1),
        lambda t, x: t.tile(x, (2, 2)),
        lambda t, x: t.kron(x, x),
        lambda t, x: t.rot90(x),
        lambda t, x: t.rot90(x, 3),
        lambda t, x: t.quantile(x, 0.5),
        lambda t, x: t.nanquantile(x, t.tensor([0.5, 0.2]), 0),
        lambda t, x: t.stft(x.repeat(4, 4)[0], 4, window=t.ones(4), return_complex=True),
        lambda t, x: x.put(t.tensor([0]), t.tensor([1.0])),
        lambda t, x: t.linalg.solve(t.eye(3), x[0]),
    ],
)
def test_detach_in_place(call: Any, requires_grad: bool) -> None:
    for t in (torch, tenfold):
        x = t.arange(9.0).reshape(3, 3).detach().requires_grad_(requires_grad)
        result = call(t, x)
        assert not result._is_view()
        result.detach_()
        assert result.grad_fn is None
        assert not result.requires_grad
