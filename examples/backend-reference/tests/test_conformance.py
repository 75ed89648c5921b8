"""Tenfold's own checks, for every operator that this device has a kernel for."""

from __future__ import annotations

from tenfold_reference.claims import CLAIMS

from tenfold.testing import conformance_tests

test_conformance = conformance_tests("ref", operators=CLAIMS)
