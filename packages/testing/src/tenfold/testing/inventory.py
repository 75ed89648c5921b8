"""Completeness: what an operator lacks of documentation, samples, rule, kernel and gradient."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from tenfold.dispatch.kernels import KERNELS, table
from tenfold.dispatch.operators import TENSOR_ROLES, Operator
from tenfold.plugins import as_modules, autograd, hook_results
from tenfold.testing import samples as registry
from tenfold.testing.checks.gradient import has_autograd
from tenfold.testing.references import NO_REFERENCE, REFERENCES

# Families whose values are compared with a formula that is not the operator's own code.
COMPARED = ("pointwise", "activation", "units", "reduction", "loss")


def completeness(op: Any) -> list[str]:
    """What an operator lacks, in words; an empty list when it is complete.

    >>> from tenfold import op
    >>> from tenfold.testing import completeness
    >>> completeness(op.add)
    []
    """
    operator = registry.operator_of(op)
    missing = [*_documentation(operator), *_samples(operator), *_rule_and_kernel(operator), *_gradient(operator)]
    return [*missing, *_misplaced(operator)]


def _documentation(operator: Operator) -> Iterator[str]:
    if not operator.doc.strip():
        yield "a docstring"
    elif ">>>" not in operator.doc:
        yield "an example in its docstring"


def _samples(operator: Operator) -> Iterator[str]:
    found = registry.find(operator)
    if found is None or not registry.samples_of(operator, dtype=(found.dtypes or (None,))[0]):
        yield "samples (tenfold.testing.samples)"
    if operator.family in COMPARED and not _compared(operator, found):
        yield "a reference for its values (tenfold.testing.references, or no_reference= with the reason)"
    if _tensors(operator) and not registry.error_samples_of(operator):
        yield "error samples (tenfold.testing.samples)"


def _compared(operator: Operator, found: registry.Samples | None) -> bool:
    """Whether values are compared, or the samples say why not."""
    if found is None:
        return operator.name in REFERENCES or operator.name in NO_REFERENCE
    return found.reference is not None or bool(found.no_reference)


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
    if operator.body is not None or operator.nondifferentiable or operator.no_derivative or not _tensors(operator):
        return
    if has_autograd() and not autograd().has_gradient(operator):
        yield "a gradient rule, or nondifferentiable= or no_derivative= with the reason"


def _misplaced(operator: Operator) -> Iterator[str]:
    """What stands where it is not looked for when the operator is first used: then it is there only by chance."""
    for entry in KERNELS.get((operator.name, "cpu"), ()):
        if not entry.accelerates:
            yield from _elsewhere(operator, "kernel", entry.owner, entry.attached, "tenfold_kernels", device="cpu")
    if has_autograd() and autograd().has_gradient(operator):
        rule = import_module("tenfold.autograd.gradients").find(operator)
        yield from _elsewhere(operator, "gradient rule", rule.owner, rule.location, "tenfold_gradients")


def _elsewhere(operator: Operator, what: str, owner: str, location: str, hook: str, **arguments: str) -> Iterator[str]:
    """The complaint about what its owner has in a module for other families only."""
    named = {str(plugin): answer for plugin, answer in hook_results(hook, **arguments)}.get(owner, {})
    files = {family: {_file(module) for module in as_modules(modules)} for family, modules in named.items()}
    here = files.pop(operator.family, set())
    if location.rpartition(":")[0] in set().union(*files.values()) - here:
        yield (
            f"a {what} where it is looked for: {location} is in no module that the plugin {owner} names for the family "
            f"{operator.family!r} ({hook})"
        )


def _file(module: str) -> str | None:
    return getattr(sys.modules.get(module), "__file__", None)
