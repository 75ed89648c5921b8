"""Tests as a product: comparisons, samples for every operator, and conformance checks for any backend."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tenfold.testing.comparison import assert_allclose, assert_close, assert_equal
    from tenfold.testing.conformance import (
        Report,
        check_operator,
        completeness_tests,
        conform,
        conformance_cases,
        conformance_tests,
        run_test,
    )
    from tenfold.testing.inventory import completeness
    from tenfold.testing.random_tensors import make_tensor
    from tenfold.testing.registries import temporary_registrations
    from tenfold.testing.samples import ErrorSample, Make, Sample

__all__ = [
    "ErrorSample", "Make", "Report", "Sample", "assert_close", "assert_equal", "check_operator", "completeness",
    "completeness_tests", "conform", "conformance_cases", "conformance_tests", "make_tensor", "run_test",
    "assert_allclose",
    "temporary_registrations",
]  # fmt: skip

# Imported when first asked for: the plugin beside this file is loaded while `import tenfold` may still be going on.
_CONFORMANCE = ("Report", "check_operator", "completeness_tests", "conform", "conformance_cases", "conformance_tests", "run_test")
_MODULES = {
    "comparison": ("assert_allclose", "assert_close", "assert_equal"), "inventory": ("completeness",),
    "conformance": _CONFORMANCE,
    "random_tensors": ("make_tensor",), "registries": ("temporary_registrations",), "samples": ("ErrorSample", "Make", "Sample"),
}  # fmt: skip
_LAZY = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'tenfold.testing' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"tenfold.testing.{_LAZY[name]}"), name)
    globals()[name] = value
    return value
