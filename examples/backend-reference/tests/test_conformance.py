"""Tenfold's own checks, for every operator that this device has a kernel for."""

from __future__ import annotations

from tenfold.testing import conformance_tests
from tenfold_reference.claims import CLAIMS

test_conformance = conformance_tests("ref", operators=CLAIMS)
