"""Every operator that nn declares is complete and conforms on the CPU."""

from __future__ import annotations

from tenfold.dispatch.operators import OPERATORS, Operator
from tenfold.testing import completeness_tests, conformance_tests
from tenfold.testing.samples import load

load()


def _declared_by_nn(operator: Operator) -> bool:
    """Not by another test of the same run."""
    return operator.declared.__module__.startswith("tenfold.nn.")


NN = [name for name, operator in OPERATORS.items() if _declared_by_nn(operator)]

test_conformance = conformance_tests("cpu", NN)
test_completeness = completeness_tests(NN)
