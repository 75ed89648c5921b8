"""Regular numbers made on the device, against the CPU's, in every dtype that they have."""

from __future__ import annotations

import pytest

import tenfold
from tenfold.cuda import ranges

DTYPES = [
    None, "float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool",
    "complex64", "complex128",
]  # fmt: skip
CALLS = {
    "linspace": [(0, 1, 101), (-3, 7.5, 8), (5, 5, 1), (1, 2, 0), (10, 0, 11), (0, 1.0, 5000), (0, float("inf"), 5)],
    "logspace": [(0, 2, 7), (1.5, 0, 4)],
    "arange": [
        (10,), (3, 100, 7), (10, -5, -3), (0, 1, 0.1), (0.5, 9.3, 2), (5, 0, -0.7), (0,), (1.5, 9), (5000,),
    ],
    "eye": [(5,), (3, 7), (7, 3), (0,), (40, 50)],
}  # fmt: skip


def outcome(name, given, dtype, device):
    dtype = None if dtype is None else getattr(tenfold, dtype)
    try:
        return getattr(tenfold, name)(*given, dtype=dtype, device=device)
    except (RuntimeError, NotImplementedError, ValueError, OverflowError) as error:
        return type(error)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_factories(name, dtype):
    for given in CALLS[name]:
        expected, got = (outcome(name, given, dtype, device) for device in ("cpu", "cuda"))
        if isinstance(expected, type):
            assert got is expected, given
            continue
        assert got.device.type == "cuda"
        assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
        same = got.cpu() == expected
        off = (got.cpu() - expected).abs() if got.is_floating_point() or got.is_complex() else same.logical_not()
        # Compiled, a product and a sum of float64 are rounded once.
        tolerance = 4e-15 if got.dtype in (tenfold.float64, tenfold.complex128) else 0
        assert bool((same | (off <= tolerance) | (expected != expected)).all()), given


def test_other_factories():
    for call in (
        lambda d: tenfold.linspace(1, 1 + 2j, 5, device=d),
        lambda d: tenfold.linspace(0, 1, 5, out=tenfold.empty(5, device=d)),
        lambda d: tenfold.arange(5, out=tenfold.empty(5, device=d, dtype=tenfold.int64)),
        lambda d: tenfold.hann_window(7, device=d),
        lambda d: tenfold.arange(6, device=d, requires_grad=False).view(2, 3) + 1,
    ):  # fmt: skip
        assert call("cuda").cpu().equal(call("cpu"))
    assert tenfold.arange(2**40, 2**40 + 3, device="cuda").tolist() == [2**40, 2**40 + 1, 2**40 + 2]
    assert tenfold.linspace(0, 1, 5, device="cuda", requires_grad=True).requires_grad
    with pytest.raises(RuntimeError):
        tenfold.linspace(0, 1, -1, device="cuda")


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int16", "bfloat16", "float16", "int32", "float32", "int64", "complex64"]
)
def test_one_number_everywhere(dtype):
    """By its bits, in memory whose dimensions lie in any order, and not beyond it."""
    for number in (1, 100, 0) if dtype != "bool" else (1, 0):
        one = tenfold.full((1,), number, dtype=getattr(tenfold, dtype))
        memory = tenfold.zeros(70, 60, dtype=one.dtype, device="cuda")
        part = memory[1:69].t()
        ranges.repeat(part._array, one._array.tobytes(), 0)
        assert memory[1:69].cpu().equal(one.expand(68, 60))
        assert memory[0].cpu().equal(memory[69].cpu())
        assert memory[0].sum().item() == 0
