"""The conformance checks, one function each: `check(case)` yields a `Result` for every sample and dtype it tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tenfold.testing.checks.case import Case, Result, Skip, why_not
from tenfold.testing.checks.errors import errors, refuses_wrong_types
from tenfold.testing.checks.forms import inplace, method, out, python_operator
from tenfold.testing.checks.gradient import first_gradient, gradient_memory, second_gradient
from tenfold.testing.checks.rule import dtypes, memory, shape_rule
from tenfold.testing.checks.special import special
from tenfold.testing.checks.transforms import batching, forward_mode, forward_over_reverse, gradients_of_batches
from tenfold.testing.checks.value import conditions, layouts, unchanged, value

CHECKS: dict[str, Callable[[Case], Iterator[Result]]] = {
    check.__name__: check
    for check in (
        value, layouts, conditions, unchanged, memory, shape_rule, dtypes, method, out, inplace, python_operator, errors,
        refuses_wrong_types, first_gradient, second_gradient, gradient_memory, special, batching,
        forward_mode, forward_over_reverse, gradients_of_batches,
    )
}  # fmt: skip

__all__ = ["CHECKS", "Case", "Result", "Skip", "why_not"]
