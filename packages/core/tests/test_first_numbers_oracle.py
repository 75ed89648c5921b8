"""Arithmetic with a number before the tensor, `tenfold.div(300, x)`, whatever the number and the dtype: as in PyTorch."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")

NUMBERS = [True, 0, 3, -1, 300, 2**31, -(2**63), 1.5, -0.0, 131008.0, 1e39, 1e300, math.inf, math.nan, 2 + 3j]
DTYPES = ["bool", "uint8", "int8", "int64", "float16", "bfloat16", "float32", "float64", "complex64"]
VALUES = [1, 2, 0, 1]


def called(lib, name, number, dtype, shape, **options):
    x = (
        lib.tensor(VALUES).to(getattr(lib, dtype)).reshape(shape)
        if math.prod(shape) == 4
        else lib.ones(shape, dtype=getattr(lib, dtype))
    )
    try:
        result = getattr(lib, name)(number, x, **options)
    except (RuntimeError, TypeError) as error:
        return type(error).__name__, None
    kind = str(result.dtype).rpartition(".")[2]
    return kind, result.to(lib.complex128 if result.dtype.is_complex else lib.float64).numpy()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "logical_and", "bitwise_xor", "remainder"])
@pytest.mark.filterwarnings("ignore")
def test_a_number_before_a_tensor(name, dtype):
    for number in NUMBERS:
        if name == "remainder" and dtype in ("uint8", "int8", "int64", "bool") and not isinstance(number, float):
            continue  # by zero, which PyTorch refuses in words of its own
        for shape in ((4,), (2, 2), (), (0,)):
            kind, values = called(tenfold, name, number, dtype, shape)
            expected_kind, expected = called(torch, name, number, dtype, shape)
            assert kind == expected_kind, (number, shape)
            if expected is not None and not (isinstance(number, complex) or (dtype == "complex64" and not math.isfinite(number))):
                np.testing.assert_allclose(values, expected, rtol={"float16": 1e-3, "bfloat16": 8e-3}.get(kind, 1e-6))


def test_a_quotient_of_integers_has_the_numbers_whole_value():
    """It was that of the number in the tensor's dtype: 300 / 2 was 22 for uint8."""
    x = tenfold.tensor([2, 4], dtype=tenfold.uint8)
    assert tenfold.div(300, x).tolist() == [150.0, 75.0]
    assert tenfold.true_divide(-1, x).tolist() == [-0.5, -0.25]
    assert (
        tenfold.div(300, x, rounding_mode="floor").tolist()
        == torch.div(300, torch.tensor([2, 4]).byte(), rounding_mode="floor").tolist()
    )
    assert tenfold.mul(2**17, tenfold.ones(1, dtype=tenfold.float16)).tolist() == [math.inf]
