"""Tenfold's own checks of the accelerated operators; the package's samples are large enough for the compiled loops."""

from __future__ import annotations

from tenfold.testing import conformance_tests

test_conformance = conformance_tests("cpu", operators=("exp", "sigmoid", "gelu", "softmax", "log_softmax"))
