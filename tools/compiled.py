"""Which tests nox's session `compiled` runs: other packages' tests of numbers, beside the compiled CPU kernels."""

from __future__ import annotations

import re

from chosen import needs_oracle
from workspace import packages

SERVED = ("core", "autograd", "nn", "scientific", "optim")  # by kernels without which these packages' own sessions run
# Those start interpreters; those of conformance run in tests(backend-llvm), for the operators that it serves.
_OTHERS = re.compile(r"subprocess|sys\.executable|conformance_tests")


def tests_of_numbers() -> list[str]:
    """Test files of the packages that compiled kernels serve, but those that the session `oracle` runs beside these kernels."""
    found = [path for name in SERVED for path in sorted(packages()[name].folder.glob("tests/test_*.py"))]
    return [str(path) for path in found if not needs_oracle(path) and not _OTHERS.search(path.read_text(encoding="utf-8"))]
