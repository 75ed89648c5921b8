"""Every operator of this package is complete and conforms on the CPU."""

from __future__ import annotations

from tenfold.dispatch.operators import OPERATORS, Operator
from tenfold.testing import completeness_tests, conformance_tests
from tenfold.testing.samples import load

load()


def _declared_here(operator: Operator) -> bool:
    return operator.declared.__module__.startswith("tenfold.scientific.")


SCIENTIFIC = [name for name, operator in OPERATORS.items() if _declared_here(operator)]

test_conformance = conformance_tests("cpu", SCIENTIFIC)
test_completeness = completeness_tests(SCIENTIFIC)
