"""Checks that an operator's other forms are the function: method, `out=`, in-place, Python operator."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from tenfold.dispatch.operators import OPERATORS, Operator
from tenfold.dispatch.spellings import takes_out
from tenfold.ops import _dunders as dunders
from tenfold.ops.creation.factories import empty
from tenfold.tensor.tensor import Tensor
from tenfold.testing import samples as registry
from tenfold.testing.checks.case import Case, Result, assert_same, copied, demand, results_of, to_host, unless
from tenfold.testing.samples import Sample
from tenfold.types.promotion import can_cast


@functools.cache
def methods_of(operator: Operator) -> tuple[str, ...]:
    """The Tensor methods that are this operator."""
    return tuple(name for name, member in vars(Tensor).items() if getattr(member, "op", None) is operator)


def _starts_with_tensor(sample: Sample) -> bool:
    return bool(sample.args) and isinstance(sample.args[0], Tensor)


def _callable_methods(case: Case) -> list[str]:
    return [n for n in methods_of(case.operator) if not n.startswith("__") or n == "__getitem__"]


def _no_method(case: Case) -> str:
    return case.registered.no_value or ("" if _callable_methods(case) else "the operator is no Tensor method")


@unless(_no_method)
def method(case: Case) -> Iterator[Result]:
    """`x.op(...)` is `op(x, ...)`."""
    names = _callable_methods(case)

    def compare(sample: Sample, dtype: Any) -> None:
        for name in names:
            x, *rest = sample.map(copied).args if case.registered.mutates else sample.args
            case.reseed()
            assert_same(getattr(x, name)(*rest, **sample.kwargs), case.call(sample), f"method {name}", exact=True)

    yield from case.each("method", compare, case.dtypes[:2], _starts_with_tensor)


def _no_out(case: Case) -> str:
    return case.registered.no_value or ("" if takes_out(case.operator) else "the operator takes no out=")


@unless(_no_out)
def out(case: Case) -> Iterator[Result]:
    """`op(..., out=t)` writes the function's result into `t` (also into strided memory) and returns `t`."""

    def compare(sample: Sample, dtype: Any) -> None:
        if case.operator.name == "where" and sample.note == "number":
            return  # PyTorch's where(out=) takes tensors alone
        expected = case.call(sample)
        several = isinstance(expected, tuple)
        for make in (_empty_like, _strided_like, _wrong_size):
            targets = tuple(make(t) for t in results_of(expected))
            given = targets if several else targets[0]
            case.reseed()
            returned = case.operator.fn(*sample.args, **sample.kwargs, out=given)
            for r, t in zip(results_of(returned), targets):
                assert r is t, f"{case.operator.name}(out=t) did not return t"
            assert_same(list(targets), results_of(expected), f"{case.operator.name}(out=)", exact=True)

    yield from case.each("out", compare, case.dtypes[:2])


def _empty_like(t: Any) -> Any:
    return empty(t.shape, dtype=t.dtype, device=t.device)


def _strided_like(t: Any) -> Any:
    """Zeros in every second element of a memory."""
    return registry.Make(t.device).place(np.zeros(tuple(t.shape), t.dtype.numpy), "strided")


def _wrong_size(t: Any) -> Any:
    """Empty: PyTorch resizes it without a warning."""
    return empty((0,), dtype=t.dtype, device=t.device)


def _inplace_form(case: Case) -> Operator | None:
    form = OPERATORS.get(case.operator.name + "_")
    return form if form is not None and form.inplace_of is case.operator else None


def _no_inplace_form(case: Case) -> str:
    return case.registered.no_value or ("" if _inplace_form(case) else "the operator has no in-place form")


@unless(_no_inplace_form)
def inplace(case: Case) -> Iterator[Result]:
    """`op_(x, ...)` writes what `op(x, ...)` returns into `x`, returns `x`, and counts a new version of its memory."""
    form = _inplace_form(case)
    assert form is not None

    def compare(sample: Sample, dtype: Any) -> None:
        expected = case.call(sample)
        for target in (sample.args[0].clone(), _strided_copy(sample.args[0])):
            narrower = form.refuses_narrowing and expected.dtype is not target.dtype
            if narrower or expected.shape != target.shape or not can_cast(expected.dtype, target.dtype):
                _refuses(form, target, sample)
                continue
            version = target._version
            case.reseed()
            returned = form.fn(target, *sample.args[1:], **sample.kwargs)
            assert returned is target, f"{form.name} did not return its first argument"
            assert_same(target, expected.to(target.dtype), f"{form.name} against {case.operator.name}")
            assert target._version > version, f"{form.name} did not advance the version of the memory it wrote"

    yield from case.each("inplace", compare, case.dtypes, _starts_with_tensor)


def _strided_copy(t: Any) -> Any:
    copy = _strided_like(t)
    copy._key.backend.write(copy._array, t._array)
    return copy


def _refuses(form: Any, target: Any, sample: Sample) -> None:
    """A result that does not fit into the first argument is an error that leaves it alone.

    Where the operator has a form of its own for one element or none, it may take that as it is.
    """
    before = to_host(target).copy()
    try:
        form.fn(target, *sample.args[1:], **sample.kwargs)
    except RuntimeError as error:
        demand(form.name.rstrip("_") in str(error), f"{form.name}: the message does not name the operator: {error}")
        demand(to_host(target).tobytes() == before.tobytes(), f"{form.name} wrote to its argument before it refused it")
        return
    if form.overload_body is not None and target.numel() < 2 and to_host(target).tobytes() == before.tobytes():
        return
    raise AssertionError(f"{form.name} accepted a result that does not fit: {sample!r}")


def _python_operators(case: Case) -> tuple[list[str], list[str]]:
    """The special methods that are the operator as it stands, and with the operands swapped."""
    name = case.operator.name
    straight = [m for m, o in {**dunders.BINARY, **dunders.UNARY}.items() if o == name and not m.startswith("__r")]
    swapped = [
        m for m, o in {**dunders.SWAPPED, **dunders.BINARY}.items() if o == name and m.startswith("__r") and m != "__rshift__"
    ]
    if name == "rsub":  # the reflected method of sub is an operator of its own
        straight, swapped = ["__rsub__"], []
    return straight, swapped


@unless(lambda case: "" if any(_python_operators(case)) else "no Python operator means it")
def python_operator(case: Case) -> Iterator[Result]:
    """`x + y` and `2 + x` are `add`; likewise every other Python operator."""
    name = case.operator.name
    straight, swapped = _python_operators(case)

    def compare(sample: Sample, dtype: Any) -> None:
        expected = case.call(sample)
        for m in straight:
            x, *rest = sample.args
            assert_same(getattr(x, m)(*rest), expected, f"{m} against {name}")
        for m in swapped:
            x, y = sample.args
            if isinstance(y, Tensor):
                assert_same(getattr(y, m)(x), expected, f"{m} against {name}")

    yield from case.each(
        "python_operator", compare, case.dtypes, lambda sample: not sample.kwargs and _starts_with_tensor(sample)
    )
