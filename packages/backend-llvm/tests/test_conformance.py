"""Tenfold's own checks of the accelerated operators, with samples that are large enough for the compiled kernels."""

from __future__ import annotations

import importlib

from tenfold.llvm.kernels.attaching import ACCELERATED
from tenfold.llvm_plugin import FAMILIES
from tenfold.testing import conformance_tests

for _family in FAMILIES:
    importlib.import_module(f"tenfold.llvm.kernels.{_family}")

test_conformance = conformance_tests("cpu", operators=sorted(ACCELERATED))
