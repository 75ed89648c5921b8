"""A dual tensor lies in its value's memory: writes to one are counted by the other, and backward passes refuse what changed."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning", "ignore:TypedStorage:UserWarning")


def made(t: Any) -> tuple[Any, Any, Any]:
    """Forward mode's module, a value, and a dual tensor of it."""
    forward = importlib.import_module(f"{t.__name__}.autograd.forward_ad")
    value = t.ones(2)
    return forward, value, forward.make_dual(value, t.ones(2))


def value_written(t: Any) -> Any:
    _, value, dual = made(t)
    w = t.ones(2, requires_grad=True)
    y = dual * w
    value.add_(1)
    y.sum().backward()
    return w.grad


def dual_written(t: Any) -> Any:
    _, value, dual = made(t)
    w = t.ones(2, requires_grad=True)
    y = value * w
    dual.add_(1)
    y.sum().backward()
    return w.grad


def unpacked_written(t: Any) -> Any:
    forward, _, dual = made(t)
    product, w = dual * 3, t.ones(2, requires_grad=True)
    primal = forward.unpack_dual(product).primal
    y = product * w
    primal.mul_(2)
    y.sum().backward()
    return w.grad


def versions(t: Any) -> Any:
    forward, value, dual = made(t)
    found = [dual._version]
    value.add_(1)
    found.append(dual._version)
    dual.mul_(2)
    dual[:1].add_(1)
    found += [dual._version, value._version, dual[1:]._version]
    forward.unpack_dual(dual).primal.add_(1)
    return [*found, dual._version, value._version, value.tolist()]


def places(t: Any) -> Any:
    forward, value, dual = made(t)
    primal = forward.unpack_dual(dual).primal
    at = value.data_ptr()
    return (
        at == dual.data_ptr() == primal.data_ptr(),
        dual.storage().data_ptr() == value.storage().data_ptr(),
        dual.is_set_to(value),
    )


def output(t: Any) -> Any:
    _, _, dual = made(t)
    return t.add(t.ones(2), 1, out=dual)


def input_of_output(t: Any) -> Any:
    _, _, dual = made(t)
    return t.add(dual, 1, out=t.ones(2))


def pushed_output(t: Any) -> Any:
    return t.func.jvp(lambda x: t.add(x, 1, out=t.ones(2)), (t.ones(2),), (t.ones(2),))


PROGRAMS: list[Callable[[Any], Any]] = [
    value_written, dual_written, unpacked_written, versions, places, output, input_of_output, pushed_output
]  # fmt: skip


def outcome(t: Any, program: Callable[[Any], Any]) -> Any:
    level = importlib.import_module(f"{t.__name__}.autograd.forward_ad").dual_level()
    try:
        if program is pushed_output:
            return program(t)
        with level:
            return program(t)
    except RuntimeError as error:
        return type(error)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_dual_tensor_lies_where_its_value_does(program: Callable[[Any], Any]) -> None:
    assert outcome(tenfold, program) == outcome(torch, program)
