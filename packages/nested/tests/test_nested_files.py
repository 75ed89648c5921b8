"""Nested tensors in files: what was saved comes back, from PyTorch and to PyTorch, and rows outside of the memory are refused."""

from __future__ import annotations

import io
from typing import Any

import pytest

import tenfold

torch: Any = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors is in prototype stage")


def moved(value: Any, writer: Any, reader: Any, **options: Any) -> Any:
    file = io.BytesIO()
    writer.save(value, file)
    file.seek(0)
    return reader.load(file, **options)


def rows_of(nested: Any) -> list[Any]:
    return [row.tolist() for row in nested.unbind()]


def made(lib: Any, layout: str, requires_grad: bool = False) -> Any:
    rows = [lib.arange(6.0).reshape(3, 2), lib.ones(1, 2)]
    return lib.nested.nested_tensor(rows, layout=getattr(lib, layout), requires_grad=requires_grad)


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("writer", [tenfold, torch])
@pytest.mark.parametrize("reader", [tenfold, torch])
def test_strided(writer: Any, reader: Any, requires_grad: bool, weights_only: bool) -> None:
    value = made(writer, "strided", requires_grad)
    back = moved({"x": value}, writer, reader, weights_only=weights_only)["x"]
    assert back.is_nested
    assert str(back.layout) == str(reader.strided)
    assert back.requires_grad is requires_grad
    assert rows_of(back) == rows_of(value)
    turned = moved(value.detach().transpose(1, 2), writer, reader)
    assert rows_of(turned) == rows_of(value.detach().transpose(1, 2))


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("reader", [tenfold, torch])
def test_jagged(reader: Any, requires_grad: bool, weights_only: bool) -> None:
    value = made(tenfold, "jagged", requires_grad)
    back = moved({"x": value}, tenfold, reader, weights_only=weights_only)["x"]
    assert str(back.layout) == str(reader.jagged)
    assert back.requires_grad is requires_grad
    assert rows_of(back) == rows_of(value)
    narrowed = tenfold.nested.narrow(tenfold.arange(12.0).reshape(3, 4), 1, 1, tenfold.tensor([3, 1, 2]), layout=tenfold.jagged)
    assert rows_of(moved(narrowed, tenfold, reader)) == rows_of(narrowed) == [[1.0, 2.0, 3.0], [5.0], [9.0, 10.0]]


def test_no_rows() -> None:
    assert moved(tenfold.nested.nested_tensor([]), tenfold, tenfold).size(0) == 0


@pytest.mark.parametrize("begins", [[0, 7], [0, -1]])
def test_strided_rows_outside_of_the_buffer_are_refused(begins: list[int]) -> None:
    value = made(tenfold, "strided")
    value._begins = begins
    with pytest.raises(RuntimeError, match="a row of size"):
        moved(value, tenfold, tenfold)


def test_jagged_rows_outside_of_the_values_are_refused() -> None:
    value = made(tenfold, "jagged")
    value._offsets = tenfold.tensor([0, 3, 9])
    with pytest.raises(RuntimeError, match="rows at"):
        moved(value, tenfold, tenfold)
