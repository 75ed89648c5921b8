"""Every operator that core declares is complete and conforms on the CPU."""

from __future__ import annotations

import pytest

from tenfold.operators import OPERATORS
from tenfold.testing import completeness_tests, conformance_tests
from tenfold.testing.samples import load, samples_of

FAMILIES = ("pointwise", "activation", "reduction", "matmul", "view", "indexing", "conversion", "creation", "random")

load()
CORE = [name for name, operator in OPERATORS.items() if operator.family in FAMILIES]

# Known failures, each with its reason; a test that passes after all fails here, so that the line goes.
INCOMPLETE: dict[str, str] = {}
FAILING: dict[str, str] = {}

test_conformance = conformance_tests("cpu", CORE, xfail=FAILING)
test_completeness = completeness_tests(CORE, xfail=INCOMPLETE)


@pytest.mark.parametrize("name", [n for n in CORE if not n.endswith("_")])
def test_samples_are_repeatable(name: str) -> None:
    assert repr(samples_of(name)) == repr(samples_of(name))
