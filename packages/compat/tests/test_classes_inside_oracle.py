"""Classes that programs look up in PyTorch's inner modules are what their objects are made of."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")


def _functions(t: Any) -> list[Any]:
    inside = importlib.import_module(f"{t.__name__}.autograd.function")

    class Twice(inside.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    node = Twice.apply(t.ones(2, requires_grad=True)).grad_fn
    kind = Twice._backward_cls
    return [
        isinstance(Twice, inside.FunctionMeta), issubclass(inside.FunctionMeta, type), isinstance(node, inside.BackwardCFunction),
        isinstance(node, inside.FunctionCtx), kind.__name__, issubclass(kind, inside.BackwardCFunction),
        isinstance((t.ones(1, requires_grad=True) * 2).grad_fn, inside.BackwardCFunction),
    ]  # fmt: skip


def _weak_references(t: Any) -> list[Any]:
    weak = importlib.import_module(f"{t.__name__}.utils.weak")
    x = t.ones(2)
    reference = weak.TensorWeakRef(x)
    found = [reference() is x]
    del x
    with pytest.raises(AssertionError) as caught:
        weak.TensorWeakRef([1])
    return [*found, reference() is None, str(caught.value)]


@pytest.mark.parametrize("program", [_functions, _weak_references])
def test_classes(program: Any) -> None:
    assert program(tenfold) == program(torch)
