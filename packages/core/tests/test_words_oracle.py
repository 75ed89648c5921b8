"""Refusals in PyTorch's words, and what it makes of tensors among numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")

REFUSED = {
    "mm": lambda t: t.mm(t.ones(2, 2), t.ones(2, 2).double()),
    "mm of nothing": lambda t: t.mm(t.ones(0, 2).short(), t.ones(2, 2)),
    "bmm": lambda t: t.bmm(t.ones(1, 2, 2).double(), t.ones(1, 2, 2)),
    "dot": lambda t: t.dot(t.ones(2), t.ones(2).double()),
    "vdot": lambda t: t.vdot(t.ones(2), t.ones(2).int()),
    "addmm": lambda t: t.addmm(t.ones(2, 2).double(), t.ones(2, 2), t.ones(2, 2)),
    "baddbmm": lambda t: t.baddbmm(t.ones(1, 2, 2), t.ones(1, 2, 2).double(), t.ones(1, 2, 2)),
    "addmm of one": lambda t: t.addmm(t.ones(2, 2), t.ones(2, 2), t.ones(2, 2).double()),
    "matmul": lambda t: t.matmul(t.ones(2), t.ones(2, 2) * 1j),
    "convolution": lambda t: t.nn.functional.conv1d(t.ones(1, 1, 3), t.ones(1, 1, 2).double()),
    "heaviside": lambda t: t.heaviside(t.ones(2), t.ones(2).double()),
    "heaviside of integers": lambda t: t.ones(2).heaviside(t.ones(2).int()),
    "heaviside of complex": lambda t: t.heaviside(t.ones(2) * 1j, t.ones(2) * 1j),
    "heaviside with complex": lambda t: t.heaviside(t.ones(2), t.ones(2) * 1j),
    "heaviside_ with complex": lambda t: (t.ones(2) * 1j).heaviside_(t.ones(2)),
    "heaviside of complex dtypes": lambda t: t.heaviside(t.ones(2) * 1j, t.ones(2).to(t.complex128)),
    "complex": lambda t: t.complex(t.ones(1), t.ones(1).double()),
    "complex out": lambda t: t.complex(t.ones(1), t.ones(1), out=t.ones(1)),
    "frexp mantissa": lambda t: t.frexp(t.ones(2), out=(t.ones(2).double(), t.ones(2).int())),
    "frexp exponent": lambda t: t.frexp(t.ones(2), out=(t.ones(2), t.ones(2).double())),
    "frombuffer rest": lambda t: t.frombuffer(bytearray(9), dtype=t.int32),
    "frombuffer count": lambda t: t.frombuffer(bytearray(5), dtype=t.int8, count=6, offset=1),
    "frombuffer offset": lambda t: t.frombuffer(bytearray(5), dtype=t.int8, count=6, offset=9),
    "empty_strided": lambda t: t.empty_strided((2,), ()),
    "copy_": lambda t: t.ones(1).copy_(t.ones(2, 1, 2, 1)),
    "chain_matmul": lambda t: t.chain_matmul(),
    "einsum": lambda t: t.einsum("a"),
    "unique": lambda t: t.unique(t.ones(2, 0), dim=0),
    "unique_consecutive": lambda t: t.unique_consecutive(t.ones(0, 0), dim=0),
    "index_put": lambda t: t.zeros(3).long().index_put_((t.tensor([0]),), t.ones(1)),
    "tensors among numbers": lambda t: t.tensor([t.ones(2)]),
    "no tensors among numbers": lambda t: t.tensor([t.ones(0)]),
    "lists after a tensor": lambda t: t.tensor([t.ones(1), [1]]),
    "shorter tensor": lambda t: t.tensor([[1, 2], t.ones(1)]),
    "norm of no columns": lambda t: (
        t.linalg.vector_norm(t.zeros(0, 0), -1, dim=0) if t is torch else t.norm(t.zeros(0, 0), -1, 0)
    ),
}


@pytest.mark.filterwarnings("ignore:torch.chain_matmul:UserWarning")
@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    with pytest.raises((RuntimeError, TypeError, ValueError)) as theirs:
        REFUSED[name](torch)
    with pytest.raises(theirs.type) as ours:
        REFUSED[name](tenfold)
    said = str(theirs.value).split("\n")[0].replace("0because", "0 because")
    assert said.rstrip(". ") in str(ours.value)


def test_numbers_among_rows_of_boundaries() -> None:
    for t in (torch, tenfold):
        for value in (1, t.tensor(1.0)):
            with pytest.raises(
                RuntimeError, match="a scalar only when boundaries tensor dimension is 1, but we got boundaries tensor"
            ):
                t.searchsorted(t.ones(2, 3), value)
        with pytest.raises(RuntimeError, match="first N-1 dimensions of boundaries tensor and input value tensor must match"):
            t.searchsorted(t.ones(2, 3), t.ones(3, 2))


def itself() -> list[Any]:
    z: list[Any] = [0]
    z.append(z)
    return z


def deep(n: int) -> Any:
    z: Any = 1
    for _ in range(n):
        z = [z]
    return z


def test_lists_without_an_end() -> None:
    for data in (itself(), [[1, 2], itself()]):
        with pytest.raises(TypeError, match="self-referential lists are incompatible"):
            tenfold.tensor(data)
    with pytest.raises(ValueError, match="too many dimensions 'list'"):
        tenfold.tensor(deep(200))


MIXED = [
    lambda t: [t.ones(1), t.ones(1)], lambda t: [t.ones(1, 1), 1], lambda t: [1, t.ones(1)], lambda t: [[t.ones(1)], [2]],
    lambda t: (t.ones(1, 1, 1),), lambda t: [t.ones(1).int(), t.ones(()).double()], lambda t: [t.ones(1).int(), 2.5],
    lambda t: [[1, 2], t.ones(2)], lambda t: [[t.tensor(2)]], lambda t: [[], []], lambda t: [np.ones(2), np.ones(2)],
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:Creating a tensor from a list:UserWarning")
@pytest.mark.parametrize("number", range(len(MIXED)))
def test_tensors_among_numbers(number: int) -> None:
    theirs, ours = torch.tensor(MIXED[number](torch)), tenfold.tensor(MIXED[number](tenfold))
    assert ours.tolist() == theirs.tolist()
    assert tuple(ours.shape) == tuple(theirs.shape)
    assert str(ours.dtype).split(".")[1] == str(theirs.dtype).split(".")[1]


@pytest.mark.parametrize("kind", ["bfloat16", "float16", "float32"])
@pytest.mark.parametrize("limit", [0.1, 0.3, 0.5])
def test_limits_of_hardshrink_are_rounded(kind: str, limit: float) -> None:
    values = [0.1, -0.1, 0.1001, 0.3008, -0.3008, 0.2998, 0.5, 0.501, float("nan"), float("inf")]
    theirs = torch.nn.functional.hardshrink(torch.tensor(values, dtype=getattr(torch, kind)), limit)
    ours = tenfold.hardshrink(tenfold.tensor(values, dtype=getattr(tenfold, kind)), limit)
    assert np.array_equal(ours.tolist(), theirs.tolist(), equal_nan=True)
