"""Whole tensors beside whole numbers that their dtype has and that it has not, beside PyTorch's."""

from __future__ import annotations

import pytest

import tenfold

torch = pytest.importorskip("torch")

WHOLE = [0, 1, -1, 3, 127, 128, -128, -129, 255, 256, 300, 2**15, 2**31 - 1, 2**31, -(2**31) - 1, 2**40]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64"])
@pytest.mark.parametrize("name", ["add", "sub", "mul", "eq", "lt", "bitwise_and", "remainder", "floor_divide", "add_", "mul_"])
def test_whole_numbers_within_a_dtype_and_beyond(name, dtype):
    def found(lib, number, shape):
        x = (lib.arange(4).reshape(2, 2) * 50 - 20).to(getattr(lib, dtype))
        try:
            y = getattr(x[shape].clone(), name)(number)
        except RuntimeError:
            return RuntimeError
        return str(y.dtype).rpartition(".")[2], y.tolist()

    for number in WHOLE:
        for shape in ((), (0, 1), slice(0, 0)):
            assert found(tenfold, number, shape) == found(torch, number, shape), (number, shape)
