"""Gradients that `grad` gives for batches and for filled-in numbers: for what is not used, and in which dtype."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("options", [{"allow_unused": True}, {"materialize_grads": True}, {}], ids=str)
@pytest.mark.parametrize("count", [1, 2])
def test_batches_of_gradients_of_what_is_not_used(count: int, options: dict[str, Any]) -> None:
    found = []
    for lib in (tenfold, torch):
        x, unused = lib.ones(3, requires_grad=True), lib.ones(2, requires_grad=True)
        try:
            got = lib.autograd.grad(x * 2, [unused, x][:count], lib.eye(3), is_grads_batched=True, **options)
            found.append([None if g is None else g.tolist() for g in got])
        except RuntimeError:
            found.append("refused")
    assert found[0] == found[1]


@pytest.mark.parametrize("dtype", ["float16", "float64"])
@pytest.mark.parametrize("name", ["fill_", "masked_fill_"])
def test_a_number_filled_in_has_a_gradient_of_its_own_dtype(name: str, dtype: str) -> None:
    found = []
    for lib in (tenfold, torch):
        value = lib.tensor(2.0, dtype=getattr(lib, dtype), requires_grad=True)
        x = lib.zeros(3)
        x.fill_(value) if name == "fill_" else x.masked_fill_(lib.tensor([True, False, True]), value)
        (g,) = lib.autograd.grad((x * x).sum(), value)
        found.append((str(g.dtype).rpartition(".")[2], tuple(g.shape), g.item()))
    assert found[0] == found[1]
