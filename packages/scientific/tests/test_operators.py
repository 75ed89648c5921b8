"""Every operator of this package is complete and conforms on the CPU."""

from __future__ import annotations

from tenfold.dispatch.operators import OPERATORS, Operator
from tenfold.testing import completeness_tests, conformance_tests
from tenfold.testing.samples import load

load()


REMOVED = "tenfold.scientific.ops.linalg.removed"  # they only raise: test_older_names.py


def _declared_here(operator: Operator) -> bool:
    home = operator.declared.__module__
    return home.startswith("tenfold.scientific.") and home != REMOVED


SCIENTIFIC = [name for name, operator in OPERATORS.items() if _declared_here(operator)]

test_conformance = conformance_tests("cpu", SCIENTIFIC)
test_completeness = completeness_tests(SCIENTIFIC)
