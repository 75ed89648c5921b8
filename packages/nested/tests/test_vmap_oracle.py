"""Nested tensors under vmap: their first dimension is one of examples, and PyTorch's refusals of the others."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")


def nested(engine: Any, *shapes: tuple[int, ...]) -> Any:
    return engine.nested.nested_tensor([engine.ones(shape) for shape in shapes])


def refusal(engine: Any, call: Any) -> str:
    with pytest.raises(RuntimeError) as caught:
        call(engine)
    return str(caught.value)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda e: e.func.vmap(lambda x: x, in_dims=2)(nested(e, (2, 2), (3, 2))),
            "Nested tensors can only be vmapped over dim=0",
        ),
        (
            lambda e: e.func.vmap(lambda x: x, out_dims=2)(nested(e, (2, 2), (3, 2))),
            "Nested tensors can only be vmapped over dim=0",
        ),
        (lambda e: e.func.vmap(e.func.vmap(e.sin))(nested(e, (2, 2, 2), (2, 2, 3))), "Only one level of vmap is supported"),
        (
            lambda e: e.func.vmap(lambda x, y: x @ y, in_dims=(0, 1))(nested(e, (3, 2), (4, 2)), e.ones(2, 2, 4)),
            "Fallback not supported for mixed nested / non-nested arguments without bdim=0",
        ),
    ],
)
def test_refusals(call: Any, message: str) -> None:
    assert message in refusal(torch, call)
    assert message in refusal(tenfold, call)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_rows_are_examples() -> None:
    found = [x.tolist() for x in tenfold.func.vmap(lambda x: x * 4 + 3)(nested(tenfold, (2, 2), (3, 2))).unbind()]
    assert found == [[[7.0, 7.0]] * 2, [[7.0, 7.0]] * 3]
