"""Operators, kernels, gradients and samples that exist for the duration of a test."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from tenfold import plugins
from tenfold.dispatch import devices, kernels
from tenfold.dispatch.operators import OPERATORS, reset_code
from tenfold.tensor.tensor import Tensor
from tenfold.testing import samples as registry
from tenfold.testing.checks.forms import methods_of
from tenfold.testing.checks.gradient import has_autograd
from tenfold.testing.conformance import case_of


@contextlib.contextmanager
def temporary_registrations() -> Iterator[None]:
    """Whatever a block declares or attaches (operators, kernels, gradients, samples) is gone after it.

    Entries may also be taken out inside the block, for example the kernel that another one stands in for.

    >>> from tenfold.dispatch.operators import composite, OPERATORS
    >>> from tenfold.testing import temporary_registrations
    >>> with temporary_registrations():
    ...     @composite("pointwise")
    ...     def twice(input: Tensor) -> Tensor:
    ...         return input + input
    ...     "twice" in OPERATORS
    True
    >>> "twice" in OPERATORS
    False
    """
    _load_everything()
    tables: list[dict[str, Any]] = [OPERATORS, registry.SAMPLES, *_gradient_tables()]
    kept = [dict(table) for table in tables]
    lists = [(table, {k: list(v) for k, v in table.items()}) for table in (kernels.KERNELS, registry.ERROR_SAMPLES)]
    methods = dict(vars(Tensor))
    try:
        yield
    finally:
        for name in vars(Tensor).keys() - methods.keys():
            delattr(Tensor, name)
        for name, member in methods.items():
            if vars(Tensor)[name] is not member and not name.startswith("__"):
                setattr(Tensor, name, member)
        for table, entries in zip(tables, kept):
            table.clear()
            table.update(entries)
        for listing, entries_of in lists:
            _restore_lists(listing, entries_of)
        _forget()


def _load_everything() -> None:
    """What is loaded later would look like a registration of the block."""
    registry.load()
    families = {operator.family for operator in OPERATORS.values()}
    for family in families:
        for device_type in ("cpu", kernels.ANY_DEVICE, *kernels.TABLES):
            plugins.load_kernels(device_type, family)
        if has_autograd():
            plugins.load_family("tenfold_gradients", family)


def _gradient_tables() -> list[dict[str, Any]]:
    if not has_autograd():
        return []
    from tenfold.autograd.gradients import GRADIENTS

    return [GRADIENTS]


def _restore_lists(table: dict[Any, list[Any]], entries: dict[Any, list[Any]]) -> None:
    """The same list objects with their old contents: registrations keep references to them."""
    for key in list(table):
        if key in entries:
            table[key][:] = entries[key]
        else:
            del table[key]


def refresh(name: str) -> None:
    """Let the next call of an operator see what is attached to it now."""
    _forget()
    operator = OPERATORS.get(name)
    if operator is not None:
        reset_code(operator)


def _forget() -> None:
    """Drop what was remembered about operators: kernels found, gradient nodes made."""
    for table in (*kernels.TABLES.values(), devices.META.kernels):
        for key in [k for k in vars(table) if k != "device_type"]:
            delattr(table, key)
    for operator in OPERATORS.values():
        operator.calls.kernels.clear()
        operator.calls.forget_gradient()
    methods_of.cache_clear()
    case_of.cache_clear()
