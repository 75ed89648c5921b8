"""Checks of refusals: the error's type, and a message that names the operator."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any

from tenfold.dispatch.operators import OPERATORS, Operator, Param
from tenfold.testing import samples as registry
from tenfold.testing.checks.case import Case, Result, demand, unless
from tenfold.testing.samples import ErrorSample, Sample


@unless(lambda case: "" if registry.error_samples_of(case.operator, "cpu") else "no error samples")
def errors(case: Case) -> Iterator[Result]:
    """Every error sample raises its type, with a message that matches and names the operator."""
    for sample in registry.error_samples_of(case.operator, case.key):
        yield case.attempt("errors", repr(sample), functools.partial(_refused, case, sample))


def _refused(case: Case, sample: ErrorSample) -> None:
    name = case.operator.name
    try:
        case.operator.fn(*sample.args, **sample.kwargs)
    except sample.error as error:
        text = str(error)
        demand(type(error) is sample.error, f"{name} raised {type(error).__name__}, expected {sample.error.__name__}: {text}")
        demand(re.search(sample.match, text) is not None, f"{name}: the message does not match {sample.match!r}: {text}")
        named = _names(name, text) or _names_another(case.operator, text)
        demand(named, f"{name}: the message does not name the operator: {text}")
        return
    except Exception as error:
        raise AssertionError(
            f"{name} raised {type(error).__name__}, expected {sample.error.__name__}: {error}{_by_rule(case, sample)}"
        ) from error
    raise AssertionError(f"{name} accepted what it must refuse{_by_rule(case, sample)}")


def _by_rule(case: Case, sample: ErrorSample) -> str:
    """How a kernel refuses what the shape rule does, which runs before no kernel; nothing for what that accepts."""
    operator = case.operator
    moved = Sample(*sample.args, **sample.kwargs).map(lambda t: t.to("meta"))
    try:
        operator.fn(*moved.args, **moved.kwargs)
    except sample.error as refused:
        begun = f"a kernel that begins with op.{operator.name}.shape_rule(...), of a Meta(shape, dtype) for each array"
        return f"; {begun}, refuses it as the rule does: {refused}" if operator.shape_rule is not None else ""
    except Exception:  # noqa: BLE001 - the rule's own fault is told where the rule is checked
        return ""
    return ""


def _names(name: str, text: str) -> bool:
    bare = name.strip("_").split(".")[-1]
    return bare in text or bare.replace("_", ".", 1) in text


def _names_another(operator: Operator, text: str) -> bool:
    """Whether a message begins with the name of another operator: one that a composite's body called, or the public one
    that a primitive's docstring names as what it is for."""
    label = re.split(r"[^\w.]", text, maxsplit=1)[0].rstrip(".").removeprefix("torch.")
    if label.replace(".", "_") not in OPERATORS:
        return False
    return operator.body is not None or f"`{label}`" in operator.doc


def _must_be_tensors(case: Case) -> list[Param]:
    return [p for p in case.operator.params if p.role in ("tensor", "number")]


@unless(lambda case: "" if _must_be_tensors(case) else "no parameter must be a tensor")
def refuses_wrong_types(case: Case) -> Iterator[Result]:
    """A string where a tensor belongs is a TypeError that names the operator and the parameter."""
    tensors = _must_be_tensors(case)
    sample = next((s for s in case.samples() if len(s.args) >= len(tensors)), None)
    if sample is None:
        yield case.skipped("refuses_wrong_types", "no sample to change")
        return
    names = [p.name for p in case.operator.params if not p.keyword_only]
    for p in tensors:
        position = names.index(p.name) if p.name in names else len(names)
        if position < len(sample.args):
            args = (*sample.args[:position], "text", *sample.args[position + 1 :])
            attempt = functools.partial(_type_error, case, args, sample.kwargs, p.name)
            yield case.attempt("refuses_wrong_types", f"{p.name}='text'", attempt)


def _type_error(case: Case, args: tuple[Any, ...], kwargs: dict[str, Any], parameter: str) -> None:
    name = case.operator.name
    try:
        case.operator.fn(*args, **kwargs)
    except TypeError as error:
        demand(_names(name, str(error)), f"{name}: the message does not name the operator: {error}")
        demand(parameter in str(error), f"{name}: the message does not name the parameter {parameter}: {error}")
        return
    except Exception as error:
        raise AssertionError(f"{name}: {parameter}='text' raised {type(error).__name__}, expected TypeError: {error}") from error
    raise AssertionError(f"{name} accepted {parameter}='text'")
