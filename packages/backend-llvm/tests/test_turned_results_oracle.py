"""What is computed of a result that lies column by column lies as in PyTorch: native results say how they lie."""

from __future__ import annotations

import pytest

import tenfold

torch = pytest.importorskip("torch")
DTYPES = ("float32", "float64", "float16", "int64", "uint8")
CALLS = {
    "product": lambda lib, x, y: (x + 1) * y,
    "comparison": lambda lib, x, y: (x + 1) > y,
    "comparisons beside each other": lambda lib, x, y: (x > 0) & (y > 0),
    "either": lambda lib, x, y: (x > 0).logical_or(y > 0),
    "comparison of masks": lambda lib, x, y: (x > 0) == (y > 0),
    "choice": lambda lib, x, y: lib.where(x > 0, y, 1),
    "maximum": lambda lib, x, y: lib.maximum(x + 1, y),
    "remainder": lambda lib, x, y: lib.remainder(x + 1, y + 1),
    "quotient rounded down": lambda lib, x, y: lib.div(x + 1, y + 1, rounding_mode="floor"),
    "clamp": lambda lib, x, y: (x + 1).clamp(y, y),
    "next number": lambda lib, x, y: lib.nextafter((x + 1).float(), y.float() + 1),
    "after a conversion": lambda lib, x, y: (x + 1).double() + y.double(),
    "of what is flipped": lambda lib, x, y: x.flip(0) * y,
    "running sum of positions": lambda lib, x, y: x.nonzero().cumsum(0),
    "running sum": lambda lib, x, y: (x + 1).cumsum(0),
    "filled where a mask holds": lambda lib, x, y: (x + 1).masked_fill(x > 0, 2),
    "of three": lambda lib, x, y: lib.addcmul((x + 1).float(), y.float(), y.float()),
}


@pytest.mark.parametrize("name", CALLS)
def test_strides_are_pytorchs(name):
    for dtype in DTYPES:
        results = []
        for lib in (tenfold, torch):
            x = lib.arange(12).reshape(4, 3).to(getattr(lib, dtype)).t()
            y = lib.arange(12).reshape(3, 4).to(getattr(lib, dtype))
            for _ in range(3):
                result = CALLS[name](lib, x, y)
            results.append((tuple(result.stride()), result.tolist()))
        assert results[0] == results[1], dtype


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_beside_numbers_by_its_compiled_loops(dtype):
    """Which are there once larger tensors have met a number."""
    found = []
    for lib in (tenfold, torch):
        large = lib.ones(5000, dtype=getattr(lib, dtype))
        for name in ("add_", "mul_", "sub_", "div_"):
            getattr(large, name)(0.1)
        x, y = (lib.ones(4, 3).to(large.dtype).t(), lib.ones(3, 4).to(large.dtype))
        made = [x + 0.1, x * 0.1, x - 0.1, x / 0.1, x > 0.1]
        found.append([(z.stride(), z.is_contiguous(), (z * y).stride()) for z in made])
    assert found[0] == found[1]


def test_a_turned_result_is_no_view():
    for lib in (tenfold, torch):
        x = (lib.ones(3, 4).t() + 1) * 2
        assert (x._version, x._is_view(), x.stride()) == (0, False, (1, 4))
        x.add_(1)
        assert x._version == 1
