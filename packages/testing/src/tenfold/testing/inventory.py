"""Completeness: what an operator lacks of documentation, samples, rule, kernel and gradient."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenfold.dispatch.kernels import table
from tenfold.dispatch.operators import TENSOR_ROLES, Operator, as_operator
from tenfold.plugins import autograd
from tenfold.testing import samples as registry
from tenfold.testing.checks.gradient import has_autograd

# Families whose values are compared with a formula that is not the operator's own code.
COMPARED = ("pointwise", "activation", "reduction", "loss")


def completeness(op: Any) -> list[str]:
    """What an operator lacks, in words; an empty list when it is complete.

    >>> from tenfold import op
    >>> from tenfold.testing import completeness
    >>> completeness(op.add)
    []
    """
    operator = as_operator(op)
    return [*_documentation(operator), *_samples(operator), *_rule_and_kernel(operator), *_gradient(operator)]


def _documentation(operator: Operator) -> Iterator[str]:
    if not operator.doc.strip():
        yield "a docstring"
    elif ">>>" not in operator.doc:
        yield "an example in its docstring"


def _samples(operator: Operator) -> Iterator[str]:
    found = registry.find(operator)
    if found is None or not registry.samples_of(operator, dtype=(found.dtypes or (None,))[0]):
        yield "samples (tenfold.testing.samples)"
    if found is not None and operator.family in COMPARED and found.reference is None and not found.no_reference:
        yield "a reference for its values (tenfold.testing.references, or no_reference= with the reason)"
    if _tensors(operator) and not registry.error_samples_of(operator):
        yield "error samples (tenfold.testing.samples)"


def _tensors(operator: Operator) -> bool:
    return any(p.role in TENSOR_ROLES for p in operator.params)


def _rule_and_kernel(operator: Operator) -> Iterator[str]:
    if operator.body is not None:
        return
    if operator.shape_rule is None:
        yield "a shape rule (@fn.rule)"
    if getattr(table("cpu"), operator.name) is None:
        yield "a kernel for the CPU"


def _gradient(operator: Operator) -> Iterator[str]:
    """A primitive on tensors has a gradient or says why not; known only where tenfold-autograd is installed."""
    if operator.body is not None or operator.nondifferentiable or not _tensors(operator):
        return
    if has_autograd() and not autograd().has_gradient(operator):
        yield "a gradient rule, or nondifferentiable= with the reason"
