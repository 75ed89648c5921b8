"""Gradients of views of views that show an element several times: between those the gradient is shared."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")

VIEWS = {
    "once": lambda x: x.as_strided((2, 3), (1, 1)),
    "of an overlapping view": lambda x: x.as_strided((2, 3), (1, 1)).as_strided((2, 2), (1, 1)),
    "of a result": lambda x: (x * 2).as_strided((2, 3), (1, 1)).as_strided((2, 2), (2, 1)),
    "of windows": lambda x: x.unfold(0, 3, 1).as_strided((4,), (1,)),
    "of an expanded view": lambda x: x.expand(2, 8).as_strided((2, 2), (1, 1)),
    "thrice": lambda x: x.as_strided((2, 4), (1, 1)).as_strided((3, 2), (1, 1)).as_strided((4,), (1,)),
    "from an offset": lambda x: x[1:].as_strided((2, 4), (1, 1), 1).as_strided((3, 2), (1, 1), 2),
    "over gaps": lambda x: x[::2].as_strided((3, 2), (2, 1)),
}


def gradients(lib: Any, view: Any) -> Any:
    x = lib.arange(8.0, dtype=lib.float64).requires_grad_()
    y = view(x)
    weights = lib.arange(1.0, y.numel() + 1, dtype=lib.float64).reshape(y.shape)
    (first,) = lib.autograd.grad((y * y * weights).sum(), x, create_graph=True)
    (second,) = lib.autograd.grad((first * first).sum(), x)
    return first.tolist(), second.tolist()


@pytest.mark.parametrize("name", VIEWS)
def test_gradients(name: str) -> None:
    ours, theirs = (gradients(lib, VIEWS[name]) for lib in (tenfold, torch))
    assert ours[0] == theirs[0]
    assert ours[1] == theirs[1]
