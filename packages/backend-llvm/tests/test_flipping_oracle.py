"""Dimensions turned round, and floats made whole numbers by vectors, against PyTorch."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import tenfold
from tenfold.llvm import conversions
from tenfold.llvm.kernels import flipping

torch = pytest.importorskip("torch")
RNG = np.random.default_rng(0)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64", "int64", "uint8", "bool"])
@pytest.mark.parametrize("shape", [(5000,), (100, 50), (50, 100), (20, 30, 40), (3, 1, 5000), (3, 4)])
def test_flip(shape, dtype):
    numbers = RNG.integers(0, 100, shape)
    for count in range(len(shape) + 1):
        for dims in combinations(range(len(shape)), count):
            ours, theirs = (m.tensor(numbers).to(getattr(m, dtype)).flip(dims) for m in (tenfold, torch))
            np.testing.assert_array_equal(ours.double().numpy(), theirs.double().numpy(), err_msg=str(dims))
            assert tuple(ours.stride()) == tuple(theirs.stride())
    ours, theirs = (m.tensor(numbers.T).to(getattr(m, dtype)).flip(0) for m in (tenfold, torch))
    np.testing.assert_array_equal(ours.double().numpy(), theirs.double().numpy())


def test_what_is_turned_round_by_compiled_code():
    x = np.arange(6000, dtype=np.float32).reshape(60, 100)
    assert np.array_equal(flipping.flip(x, (1,)), x[:, ::-1])
    assert np.array_equal(flipping.flip(x, [0, -1]), x[::-1, ::-1])
    for refused in (((0, 0),), ((2,),), ((0.5,),)):
        assert flipping.flip(x, *refused) is NotImplemented
    with pytest.raises((RuntimeError, IndexError)):
        tenfold.ones(60, 100).flip(2)


@pytest.mark.parametrize("source", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("target", ["int32", "int64"])
def test_whole_numbers(source, target):
    numbers = (RNG.standard_normal(9000) * 100).astype(np.float32)
    ours, theirs = (m.tensor(numbers).to(getattr(m, source)) for m in (tenfold, torch))
    for _ in range(600):  # calls, after which the loop is there in any case
        made = ours.to(getattr(tenfold, target))
    np.testing.assert_array_equal(made.numpy(), theirs.to(getattr(torch, target)).numpy())
    text = conversions.text({"float32": "float", "float64": "double", "float16": "half", "bfloat16": "bfloat"}[source], "i32")
    assert text.count("br i1") == 2, "a branch for each number, which no vectors are made of"
