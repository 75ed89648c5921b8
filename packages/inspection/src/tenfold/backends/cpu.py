"""What the CPU can do."""

from __future__ import annotations

import numpy as np


def get_cpu_capability() -> str:
    """The widest vectors that NumPy found: "AVX512", "AVX2", or "DEFAULT".

    >>> get_cpu_capability() in ("AVX512", "AVX2", "DEFAULT")
    True
    """
    _features: dict[str, bool] = np._core._multiarray_umath.__cpu_features__  # type: ignore[attr-defined]
    return "AVX512" if _features.get("AVX512F") else "AVX2" if _features.get("AVX2") else "DEFAULT"
