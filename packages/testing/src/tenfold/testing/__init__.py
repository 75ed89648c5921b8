"""Tests as a product: comparisons, samples for every operator, and conformance checks for any backend."""

from __future__ import annotations

from tenfold.testing.comparison import assert_close, assert_equal
from tenfold.testing.completeness import completeness
from tenfold.testing.conformance import (
    Report,
    check_operator,
    completeness_tests,
    conform,
    conformance_cases,
    conformance_tests,
    run_test,
)
from tenfold.testing.make_tensor import make_tensor
from tenfold.testing.registries import temporary_registrations
from tenfold.testing.samples import ErrorSample, Make, Sample

__all__ = [
    "ErrorSample", "Make", "Report", "Sample", "assert_close", "assert_equal", "check_operator", "completeness",
    "completeness_tests", "conform", "conformance_cases", "conformance_tests", "make_tensor", "run_test",
    "temporary_registrations",
]  # fmt: skip
