"""Indices of one number that differ between the examples of vmap, compared with PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")


def _write(t: Any, x: Any, i: Any) -> Any:
    x = x.clone()
    x[i] = 5.0
    return x


PROGRAMS = {
    "one of two": lambda t, x, i: x[:, i],
    "behind others": lambda t, x, i: x[..., None, i],
    "written": _write,
    "with a slice": lambda t, x, i: x[i, 1:],
    "with a list": lambda t, x, i: x[i, [0, 1]],
    "twice": lambda t, x, i: x[i, i],
    "gradient": lambda t, x, i: t.func.grad(lambda v: v[i, 0].sin())(x),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("shared", [False, True])
def test_results(name: str, shared: bool) -> None:
    def run(t: Any) -> Any:
        x = t.arange(9.0).view(3, 3) if shared else t.arange(36.0).view(4, 3, 3)
        if shared and name == "written":
            x = x[None].expand(4, 3, 3)
        dim = None if x.dim() == 2 else 0
        return t.vmap(lambda v, i: PROGRAMS[name](t, v, i), (dim, 0))(x, t.tensor([2, 0, 1, 2]))

    assert run(tenfold).tolist() == run(torch).tolist()


def test_two_levels() -> None:
    def run(t: Any) -> Any:
        x = t.arange(12).view(3, 4)
        return t.vmap(t.vmap(lambda i, j: x[i, j], (None, 0)), (0, None))(t.tensor([2, 0]), t.tensor([3, 1, 0]))

    assert run(tenfold).tolist() == run(torch).tolist()


def test_a_place_that_is_not_there_and_bools_are_refused() -> None:
    for t in (tenfold, torch):
        with pytest.raises(IndexError):
            t.vmap(lambda x, i: x[i], (None, 0))(t.ones(2), t.tensor([0, 2]))
        with pytest.raises(RuntimeError):
            t.vmap(lambda x, i: x[i])(t.ones(2, 3), t.tensor([True, False]))
