"""Which tests nox's session `compiled` runs: other packages' tests of numbers, beside the compiled CPU kernels."""

from __future__ import annotations

import re

from chosen import needs_oracle
from workspace import packages

SERVED = ("core", "autograd", "nn", "scientific", "optim")  # by kernels without which these packages' own sessions run
CALLED = ("core", "autograd")  # whose operators native call paths are of: what they answer is compared with PyTorch there, too
# Those start interpreters; those of conformance run in tests(backend-llvm), for the operators that it serves.
_OTHERS = re.compile(r"subprocess|sys\.executable|conformance_tests")


def tests_of_numbers(natively: bool) -> list[str]:
    """Test files of the packages that compiled kernels serve, but those that the session `oracle` runs beside these kernels.

    `natively`: the kernels' own tests, too, and core's and autograd's that compare with PyTorch, for a Python on which there
    are call paths that other sessions' has not.
    """
    found = [
        path
        for name in SERVED
        for path in sorted(packages()[name].folder.glob("tests/test_*.py"))
        if not needs_oracle(path) or (natively and name in CALLED)
    ]
    own = [str(packages()["backend-llvm"].folder / "tests")] if natively else []
    return own + [str(path) for path in found if not _OTHERS.search(path.read_text(encoding="utf-8"))]
