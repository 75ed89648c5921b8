"""Conformance: run every check on operators of a device; reports, and pytest parameters.

A backend's author writes one line in a test file:

    from tenfold.testing import conformance_tests

    test_conformance = conformance_tests("mydevice")
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from tenfold import plugins
from tenfold.dispatch.operators import Operator
from tenfold.testing import samples as registry
from tenfold.testing.checks import CHECKS, Case, Result, why_not
from tenfold.testing.inventory import completeness


@dataclass(repr=False)
class Report:
    """What the checks found."""

    device: str
    results: list[Result] = field(default_factory=list)

    def of(self, status: str) -> list[Result]:
        """The results that "passed", "failed" or were "skipped"."""
        return [r for r in self.results if r.status == status]

    @property
    def failures(self) -> list[Result]:
        return self.of("failed")

    @property
    def skips(self) -> Counter[str]:
        """How often each reason made a check impossible."""
        return Counter(f"{r.check}: {r.reason}" for r in self.of("skipped"))

    def __str__(self) -> str:
        counts = Counter(r.status for r in self.results)
        operators = len({r.operator for r in self.results})
        lines = [
            f"{operators} operators on {self.device}: {', '.join(f'{counts[s]} {s}' for s in ('passed', 'failed', 'skipped'))}"
        ]
        lines += [f"  skipped {count:5} x {reason}" for reason, count in self.skips.most_common()]
        lines += [f"  FAILED {line}" for line in self._grouped()]
        return "\n".join(lines)

    def _grouped(self) -> Iterator[str]:
        """The failures, those of one check, complaint and dtype together with their first sample."""
        groups: dict[tuple[str, ...], list[Result]] = {}
        for failure in self.failures:
            groups.setdefault((failure.operator, failure.check, *_kind(failure)), []).append(failure)
        for found in groups.values():
            yield f"{found[0]}" + (
                f"\n  and {len(found) - 1} more samples like it (`failures` has all)" if len(found) > 1 else ""
            )

    def __repr__(self) -> str:
        return f"<{str(self).splitlines()[0]}>"

    def raise_on_failure(self) -> None:
        """AssertionError that lists the failures, if there are any."""
        __tracebackhide__ = True  # pytest shows the failures, not this
        if self.failures:
            raise AssertionError(str(self))


def _kind(failure: Result) -> tuple[str, str]:
    """A failure's first line without its numbers, and the first dtype of its sample."""
    first = failure.reason.partition("\n")[0].replace("Scalars are", "Tensor-likes are")
    complaint = re.sub(r"(?<!\w)-?\d[\w.+-]*", "#", first)
    return complaint, failure.sample.partition("[")[0]


@functools.lru_cache(maxsize=2)
def case_of(operator: Operator, device: str) -> Case:
    """The case, kept while one operator's checks run one after the other: it knows which dtypes are accepted."""
    return Case(operator, device)


def check_operator(op: Any, device: Any = "cpu", checks: Iterable[str] | None = None) -> Report:
    """Run the checks (all, or those named) on one operator.

    >>> from tenfold import op
    >>> from tenfold.testing import check_operator
    >>> check_operator(op.gt, checks=["value"]).failures
    []
    >>> check_operator("gt", checks=["value"]).failures
    []
    """
    case = case_of(registry.operator_of(op), str(device))
    report = Report(str(case.key))
    for name in applicable(case) if checks is None else checks:
        reason = why_not(CHECKS[name], case)
        report.results += [case.skipped(name, reason)] if reason else CHECKS[name](case)
    return report


def applicable(case: Case) -> list[str]:
    """The checks that mean something for an operator: no others are made."""
    return [name for name, check in CHECKS.items() if not why_not(check, case)]


def conform(device: Any = "cpu", operators: Iterable[Any] | None = None) -> Report:
    """Run all checks on all operators (or those given), print the counts and the skips, and return the report."""
    report = Report(str(device))
    for operator in registry.operators(operators):
        report.results += check_operator(operator, device).results
    print(report)
    return report


def conformance_cases(device: Any = "cpu", operators: Iterable[Any] | None = None) -> list[Any]:
    """pytest parameters (operator, check), named "add-value", for tests that want marks of their own on some."""
    pairs = (
        (operator, check) for operator in registry.operators(operators) for check in applicable(case_of(operator, str(device)))
    )
    return [pytest.param(operator, check, id=f"{operator.name}-{check}") for operator, check in pairs]


def conformance_tests(device: Any = "cpu", operators: Iterable[Any] | None = None, xfail: dict[str, str] | None = None) -> Any:
    """A test function for a whole backend, a test for each operator and check.

    `xfail` names known failures, {"pow-first_gradient": "reason"}; one that passes after all is an error. A test in which
    nothing could be checked is reported as skipped, with the reason.
    """
    known = dict(xfail or {})
    cases = conformance_cases(device, operators)
    unknown = known.keys() - {case.id for case in cases}
    if unknown:
        raise ValueError(f"conformance_tests: xfail names no test: {', '.join(sorted(unknown))}")
    marked = [
        pytest.param(*c.values, id=c.id, marks=pytest.mark.xfail(reason=known[c.id], strict=True)) if c.id in known else c
        for c in cases
    ]

    @pytest.mark.parametrize(("operator", "check"), marked)
    def test_conformance(operator: Operator, check: str) -> None:
        require(device)
        run_test(operator, check, device)

    return test_conformance


def require(device: Any) -> None:
    """Skip the running test when the device is not available here."""
    backend = plugins.backend_of(str(device).partition(":")[0])
    if not backend.is_available():
        pytest.skip(f"device {device!s} is not available: {backend.unavailable_reason()}")


def run_test(operator: Operator, check: str, device: Any = "cpu") -> None:
    """One check of one operator as the body of a test: fails, passes with its counts printed, or skips with the reasons."""
    report = check_operator(operator, device, [check])
    print(report)
    report.raise_on_failure()
    if not report.of("passed"):
        pytest.skip("; ".join(sorted(report.skips)))


def completeness_cases(operators: Iterable[Any] | None = None) -> list[Any]:
    """pytest parameters (operator) for the completeness test."""
    return [pytest.param(operator, id=operator.name) for operator in registry.operators(operators)]


def completeness_tests(operators: Iterable[Any] | None = None, xfail: dict[str, str] | None = None) -> Callable[..., None]:
    """A test function that fails for every operator that lacks something (`completeness`)."""
    known = xfail or {}
    marked = [
        pytest.param(*c.values, id=c.id, marks=pytest.mark.xfail(reason=known[c.id], strict=True)) if c.id in known else c
        for c in completeness_cases(operators)
    ]

    @pytest.mark.parametrize("operator", marked)
    def test_completeness(operator: Operator) -> None:
        missing = completeness(operator)
        assert not missing, f"operator {operator.name} lacks: " + "; ".join(missing)

    return test_completeness
