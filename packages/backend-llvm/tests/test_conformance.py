"""Tenfold's own checks of the accelerated operators, with samples that are large enough for the compiled kernels."""

from __future__ import annotations

import importlib

from tenfold.llvm.kernels.attaching import ACCELERATED
from tenfold.llvm_plugin import MODULES
from tenfold.testing import conformance_tests

for _module in (name for names in MODULES.values() for name in names):
    importlib.import_module(f"tenfold.llvm.kernels.{_module}")

test_conformance = conformance_tests("cpu", operators=sorted(ACCELERATED))
