"""What the CPU can do."""

from __future__ import annotations

from numpy._core._multiarray_umath import __cpu_features__ as _features


def get_cpu_capability() -> str:
    """The widest vectors that NumPy found: "AVX512", "AVX2", or "DEFAULT".

    >>> get_cpu_capability() in ("AVX512", "AVX2", "DEFAULT")
    True
    """
    return "AVX512" if _features.get("AVX512F") else "AVX2" if _features.get("AVX2") else "DEFAULT"
