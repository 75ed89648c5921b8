"""Kernels of primitives beneath accelerated composites, and what a device lacks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold
from tenfold import op
from tenfold.__main__ import main
from tenfold.dispatch.kernels import KERNELS, _detach, kernel

calls: list[str] = []


@pytest.fixture
def own_product():
    """A kernel of mm from outside, for small matrices on the CPU."""
    small = lambda input, mat2: input.ndim == 2 and input.size < 100  # noqa: E731

    def product(input: Any, mat2: Any) -> Any:
        calls.append("own")
        return np.matmul(input, mat2)

    kernel(op.mm, device="cpu", when=small)(product)
    entry = KERNELS["mm", "cpu"][-1]
    calls.clear()
    yield
    _detach(op.mm, "cpu", entry)
    calls.clear()
    tenfold.ones(2, 3) @ tenfold.ones(3, 2)
    assert not calls


@pytest.mark.parametrize(
    "call",
    [
        lambda a, b: tenfold.mm(a, b),
        lambda a, b: a @ b,
        lambda a, b: tenfold.matmul(a, b),
        lambda a, b: tenfold.matmul(a.expand(2, 2, 3), b)[0],
        lambda a, b: tenfold.addmm(tenfold.zeros(2, 2), a, b),
    ],
)
def test_a_kernel_of_the_primitive_is_not_hidden_by_an_acceleration(own_product, call):
    a, b = tenfold.arange(6.0).view(2, 3), tenfold.arange(6.0).view(3, 2)
    assert call(a, b).tolist() == [[10.0, 13.0], [28.0, 40.0]]
    assert calls == ["own"]


def test_where_its_condition_does_not_hold_the_device_computes_as_ever(own_product):
    assert (tenfold.ones(20, 20) @ tenfold.ones(20, 2)).sum().item() == 800
    assert not calls


def test_the_error_for_a_missing_kernel_names_the_composite_that_asked(cells):
    x = tenfold.ones(2, 2).to("cells")
    with pytest.raises(NotImplementedError, match=r"operator mm has no kernel for device 'cells', and matmul is made of it"):
        tenfold.matmul(x, x)
    with pytest.raises(NotImplementedError, match=r"operator mm has no kernel for device 'cells', and matmul is made of it"):
        x @ x
    with pytest.raises(NotImplementedError, match=r"operator mm has no kernel for device 'cells'; devices that have one: cpu"):
        tenfold.mm(x, x)


def test_the_list_of_primitives(cells, capsys):
    assert main(["op", "--primitives"]) == 0
    every = capsys.readouterr().out
    assert "primitives" in every.splitlines()[0]
    assert " mm" in every
    assert "matmul," not in every.replace("matmul (", "")
    assert main(["op", "--primitives", "--device", "cells"]) == 0
    lacking = capsys.readouterr().out
    assert " mm" in lacking
    assert int(lacking.split()[0]) <= int(every.split()[0])
    assert main(["op", "--primitives", "--device", "cpu"]) == 0
    assert capsys.readouterr().out.startswith("0 primitives")


def test_memory_as_bytes_is_a_flat_uint8_array_of_the_backend_on_the_same_memory(cells, monkeypatch):
    from cells import Cells, CellsBackend

    x = tenfold.ones(2, 2).to("cells")
    with pytest.raises(TypeError, match="reinterpret"):
        x.untyped_storage().tolist()
    monkeypatch.setattr(CellsBackend, "reinterpret", lambda self, array, dtype: Cells(array.array.reshape(-1).view(dtype)))
    flat = x._key.backend.memory_bytes(x._array)
    assert type(flat) is Cells
    assert (flat.dtype, flat.shape) == (np.dtype(np.uint8), (16,))
    flat.array[...] = 0
    assert x.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert x.untyped_storage().tolist() == [0] * 16
