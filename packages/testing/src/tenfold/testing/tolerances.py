"""How close two results must be, by dtype: (rtol, atol), as in |actual - expected| <= atol + rtol * |expected|."""

from __future__ import annotations

from typing import Any

# `assert_close`'s defaults, PyTorch's: a result that was rounded once, or a few times, in its own dtype.
DEFAULT = {
    "float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7),
    "float8_e4m3fn": (0.25, 1e-2), "float8_e5m2": (0.25, 1e-2), "float8_e4m3fnuz": (0.25, 1e-2), "float8_e5m2fnuz": (0.25, 1e-2),
}  # fmt: skip

# Conformance: two correct implementations that add in another order, or round intermediate results in half precision.
IMPLEMENTATION = {
    "float16": (8e-3, 4e-3), "bfloat16": (6e-2, 3e-2), "float32": (2e-5, 1e-5), "float64": (1e-9, 1e-10),
    "complex64": (2e-5, 1e-5), "complex128": (1e-9, 1e-10),
}  # fmt: skip

# A gradient against central differences in float64: a step of 1e-6 leaves about 1e-9, and one part in 2000
# must show. A step, rtol and atol.
GRADIENT = (1e-6, 1e-5, 1e-7)
SECOND_GRADIENT = (1e-5, 5e-5, 1e-6)

EXACT = (0.0, 0.0)


def default(*dtypes: Any) -> tuple[float, float]:
    """The loosest default tolerance of some dtypes; integers and bool compare exactly."""
    found = [DEFAULT.get(d.name, EXACT) for d in dtypes]
    return max(r for r, _ in found), max(a for _, a in found)


def implementation(dtype: Any) -> tuple[float, float]:
    """The tolerance between two implementations of an operator whose result has this dtype."""
    return IMPLEMENTATION.get(dtype.name, EXACT)
