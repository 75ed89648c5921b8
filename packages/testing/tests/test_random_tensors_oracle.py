"""make_tensor draws PyTorch's numbers: within the dtype's limits, with gaps, in other formats."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold
from tenfold import testing

torch = pytest.importorskip("torch")
LIBS = ((tenfold, testing), (torch, torch.testing))
INF = float("inf")
DTYPES = "bool uint8 int8 int64 float16 bfloat16 float32 complex64".split()
BOUNDS = [(None, None), (0, 2), (-1000, 1000), (-INF, INF), (None, 5), (1.2, 3.8), (-0.5, 0.5), (300, 400), (2, 1), (-3.5, -3.2)]


def made(lib: Any, home: Any, dtype: str, *size: int, **options: Any) -> Any:
    lib.manual_seed(3)
    try:
        return home.make_tensor(*size, dtype=getattr(lib, dtype), device="cpu", **options)
    except (ValueError, RuntimeError) as error:
        return type(error).__name__


def told(x: Any) -> Any:
    return x if isinstance(x, str) else (x.tolist(), x.stride(), str(x.dtype).split(".")[1])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
def test_numbers(dtype: str, bounds: Any) -> None:
    ours, theirs = (made(lib, home, dtype, 4, 5, low=bounds[0], high=bounds[1], exclude_zero=True) for lib, home in LIBS)
    assert told(ours) == told(theirs)


@pytest.mark.parametrize("dtype", ["int64", "float32", "complex64"])
@pytest.mark.parametrize("size", [(), (3,), (1, 1), (2, 3, 2), (0, 3)], ids=str)
def test_gaps(dtype: str, size: Any) -> None:
    ours, theirs = (made(lib, home, dtype, *size, noncontiguous=True) for lib, home in LIBS)
    assert told(ours) == told(theirs)


def test_formats() -> None:
    ours, theirs = (made(lib, home, "float32", 2, 3, 4, 5, memory_format=lib.channels_last) for lib, home in LIBS)
    assert told(ours) == told(theirs)


@pytest.mark.parametrize(
    ("dtype", "low", "high"), [("bool", 2, 3), ("bool", -2, -1), ("uint8", 256, 300), ("float64", 2**1025, 2**1026)]
)
def test_intervals_without_a_number_of_the_dtype_are_refused(dtype: str, low: int, high: int) -> None:
    assert [made(lib, home, dtype, 3, low=low, high=high) for lib, home in LIBS] == ["ValueError"] * 2


@pytest.mark.parametrize("size", [0, 3])
def test_a_size_that_is_a_tensor(size: int) -> None:
    ours, theirs = (made(lib, home, "float32", lib.tensor(size)) for lib, home in LIBS)
    assert told(ours) == told(theirs)
