"""Parts that share memory and are no views: what is written, recorded and counted, in both libraries alike."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")

CUTS: dict[str, Any] = {
    "unsafe_split": lambda x: x.unsafe_split(2),
    "unsafe_split_with_sizes": lambda x: x.unsafe_split_with_sizes((1, 3)),
    "unsafe_chunk": lambda x: x.unsafe_chunk(2, -1),
}


def of_constants(lib: Any, cut: Any) -> Any:
    x = lib.arange(16.0).view(4, 4)
    a, b = cut(x)
    a.mul_(3)
    return x.tolist(), b.tolist(), a.stride(), a._is_view(), a._version, x._version


def of_a_result(lib: Any, cut: Any) -> Any:
    x = lib.arange(16.0).view(4, 4).requires_grad_()
    y = x * 2
    a, b = cut(y)
    a.mul_(3)
    (a.sum() + b.square().sum()).backward()
    return x.grad.tolist(), y.tolist(), y.grad_fn.name(), a._version, y._version


def with_gradients(lib: Any, cut: Any) -> Any:
    x, w = lib.arange(16.0).view(4, 4), lib.ones(()).requires_grad_()
    a, b = cut(x)
    a.mul_(w)
    return a.requires_grad, x.requires_grad, b.requires_grad


def where_nothing_is_recorded(lib: Any, cut: Any) -> Any:
    x = lib.arange(16.0).view(4, 4).requires_grad_()
    with lib.no_grad():
        a, _ = cut(x)
    return a.requires_grad, a._is_view()


@pytest.mark.parametrize("program", [of_constants, of_a_result, with_gradients, where_nothing_is_recorded])
@pytest.mark.parametrize("name", CUTS)
def test_parts_that_share_memory(name: str, program: Any) -> None:
    assert program(tenfold, CUTS[name]) == program(torch, CUTS[name])


FLAT: list[Any] = [
    lambda lib: lib.take_along_dim(lib.arange(12.0).view(3, 4).t(), lib.tensor([0, 5, 11])),
    lambda lib: lib.take_along_dim(lib.arange(12.0).view(3, 4), lib.tensor([[0, 5], [11, 2]]).t()),
    lambda lib: lib.take_along_dim(lib.arange(12.0).view(3, 4), lib.tensor([[0, 5], [11, 2]])),
    lambda lib: lib.take_along_dim(lib.arange(12.0).view(3, 4), lib.tensor([-1])),
    lambda lib: lib.gather(lib.zeros(3, 3), 5, lib.zeros(0, 3, dtype=lib.int64)),
    lambda lib: lib.gather(lib.zeros(()), 3, lib.zeros(0, dtype=lib.int64)),
    lambda lib: lib.gather(lib.zeros(3, 3), -2, lib.zeros(0, dtype=lib.int64)),
    lambda lib: lib.zeros(3, 3).scatter(5, lib.zeros(0, 3, dtype=lib.int64), lib.ones(3, 3)),
    lambda lib: lib.zeros(3, 3).scatter(0, lib.zeros(0, 3, dtype=lib.int64), lib.ones(3, 3).long()),
    lambda lib: lib.zeros(3, 3).scatter(0, lib.zeros(0, 5, dtype=lib.int64), lib.ones(2)),
    lambda lib: lib.zeros(3, 3).scatter_(7, lib.zeros(0, 3, dtype=lib.int64), 1.0),
    lambda lib: lib.zeros(3, 3).scatter_add(7, lib.zeros(0, 3, dtype=lib.int64), lib.ones(3, 3)),
    lambda lib: lib.zeros(3, 3).scatter_add_(0, lib.zeros(0, 3, dtype=lib.int64), lib.ones(3, 3).double()),
    lambda lib: lib.zeros(3, 3).scatter_reduce(0, lib.zeros(0, 3, dtype=lib.int64), lib.ones(3, 3), "median"),
    lambda lib: lib.zeros(3, 3).scatter_reduce(0, lib.zeros(0, 3, dtype=lib.int64), lib.ones(3, 3), "sum"),
]


@pytest.mark.parametrize("call", FLAT)
def test_what_is_refused_of_positions_is_refused_where_there_are_none(call: Any) -> None:
    found: list[Any] = []
    for lib in (tenfold, torch):
        try:
            found.append(call(lib).tolist())
        except (IndexError, RuntimeError) as error:
            found.append(type(error))
    assert found[0] == found[1]
