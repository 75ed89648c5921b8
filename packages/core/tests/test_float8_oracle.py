"""Numbers that 8-bit floating point does not hold, against PyTorch: how they are stored, by every way in."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold

torch: Any = pytest.importorskip("torch")

VALUES = [
    0.0,
    -0.0,
    1e-3,
    1e-9,
    1.7,
    248.0,
    260.0,
    448.0,
    464.0,
    470.0,
    -470.0,
    6e4,
    6.2e4,
    1e30,
    float("inf"),
    -float("inf"),
    float("nan"),
]
WAYS = {
    "to": lambda lib, values, dtype: lib.tensor(values).to(dtype),
    "to from float64": lambda lib, values, dtype: lib.tensor(values, dtype=lib.float64).to(dtype),
    "to from bfloat16": lambda lib, values, dtype: lib.tensor(values, dtype=lib.bfloat16).to(dtype),
    "tensor": lambda lib, values, dtype: lib.tensor(values, dtype=dtype),
    "full": lambda lib, values, dtype: lib.stack([lib.full((), value, dtype=dtype).float() for value in values]),
    "copy_": lambda lib, values, dtype: lib.zeros(len(values), dtype=dtype).copy_(lib.tensor(values)),
    "integers": lambda lib, values, dtype: lib.tensor([0, 3, 1000, -70000]).to(dtype),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"])
def test_values_are_stored_as_in_pytorch(name: str, way: str) -> None:
    ours, theirs = [WAYS[way](lib, VALUES, getattr(lib, name)).float().tolist() for lib in (tenfold, torch)]
    assert repr(ours) == repr(theirs)


def test_an_array_of_the_dtype_stays_as_it_is() -> None:
    import ml_dtypes
    import numpy as np

    stored = np.array([448.0, np.nan], ml_dtypes.float8_e4m3fn)
    assert repr(tenfold.tensor(stored, dtype=tenfold.float8_e4m3fn).float().tolist()) == "[448.0, nan]"
    shared = tenfold.as_tensor(stored, dtype=tenfold.float8_e4m3fn)
    stored[0] = 1.0
    assert shared.float()[0] == 1.0
