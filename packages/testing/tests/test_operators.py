"""Every operator that core declares is complete and conforms on the CPU."""

from __future__ import annotations

import pytest

from tenfold.dispatch.operators import OPERATORS, Operator
from tenfold.testing import completeness_tests, conformance_tests
from tenfold.testing.samples import load, samples_of

FAMILIES = ("pointwise", "activation", "reduction", "matmul", "view", "indexing", "conversion", "creation", "random")

load()


def _declared_by_core(operator: Operator) -> bool:
    """Not by another test of the same run."""
    return operator.family in FAMILIES and operator.declared.__module__.startswith("tenfold.ops.")


CORE = [name for name, operator in OPERATORS.items() if _declared_by_core(operator)]

# Known failures: reason, check, operators. A test that passes after all fails here, so that its name goes from the list.
KNOWN: list[tuple[str, str, str]] = []

# What operators lack: in words, operators.
LACKING: list[tuple[str, str]] = [("samples: only a machine with a CUDA device can run one", "cuda")]

FAILING = {f"{name}-{check}": reason for reason, check, names in KNOWN for name in names.split()}
INCOMPLETE = {name: lacks for lacks, names in LACKING for name in names.split()}

test_conformance = conformance_tests("cpu", CORE, xfail=FAILING)
test_completeness = completeness_tests(CORE, xfail=INCOMPLETE)


@pytest.mark.parametrize("name", [n for n in CORE if not n.endswith("_")])
def test_samples_are_repeatable(name: str) -> None:
    assert repr(samples_of(name)) == repr(samples_of(name))
