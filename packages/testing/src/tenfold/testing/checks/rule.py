"""Checks of shapes, dtypes and memory: what the rule promises, what the kernel delivers."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from tenfold.dispatch.devices import CPU
from tenfold.tensor.tensor import Tensor
from tenfold.testing.checks.case import Case, Result, Skip, demand, missing_reason, results_of, unless
from tenfold.testing.samples import Sample


def _shape_from_data(case: Case) -> str:
    return case.registered.data_dependent and f"results' shapes depend on data: {case.registered.data_dependent}"


@unless(_shape_from_data)
def shape_rule(case: Case) -> Iterator[Result]:
    """Results have the shapes and dtypes that the shape rule (or the body, on the meta device) gives."""
    for dtype in case.dtypes:
        for ours, shapes in zip(case.samples(dtype), case.samples(dtype, "meta")):

            def compare(ours: Sample = ours, shapes: Sample = shapes) -> None:
                got, promised = results_of(case.call(ours)), results_of(case.call(shapes))
                assert len(got) == len(promised), f"{len(got)} results, the rule gives {len(promised)}"
                for i, (a, b) in enumerate(zip(got, promised)):
                    _compare(case, f"result {i} of {case.operator.name}" if len(got) > 1 else case.operator.name, a, b)

            yield case.attempt("shape_rule", repr(ours), compare)
    if not case.samples():
        yield case.skipped("shape_rule", "no samples")


def _compare(case: Case, what: str, a: Any, b: Any) -> None:
    if not isinstance(b, Tensor):
        assert type(a) is type(b), f"{what}: {a!r}, the rule gives {b!r}"
        return
    assert a.shape == b.shape, f"{what}: shape {list(a.shape)}, the rule gives {list(b.shape)}"
    assert a.dtype is b.dtype, f"{what}: dtype {a.dtype}, the rule gives {b.dtype}{_widened(a.dtype, b.dtype)}"
    if b.is_meta and not a.is_meta:
        # An operator that was asked for another device says so in its samples; else it stays where its arguments are.
        assert a.device is case.key or a.device == CPU, f"{what}: device {a.device}, expected {case.key}"


def _widened(got: Any, promised: Any) -> str:
    """What most often makes a kernel's result double."""
    if got.category == promised.category == 2 and got.itemsize == 8:
        return "; a NumPy scalar such as np.log(2) widens what it meets, a Python number does not"
    return ""


@unless(lambda case: "" if any(s.tensors for s in case.samples()) else "an operator without tensors chooses its dtypes itself")
def dtypes(case: Case) -> Iterator[Result]:
    """A dtype that the rule accepts works; one that it refuses is refused with an error of the same type."""
    for dtype in case.candidates:
        samples = case.samples(dtype)[:1]
        if not samples:
            yield case.skipped("dtypes", "no samples")
            return
        refused = case.refusal(dtype)
        yield case.attempt("dtypes", f"{dtype.name}: {samples[0]!r}", functools.partial(_as_refused, case, samples[0], refused))


def _as_refused(case: Case, sample: Sample, refused: Exception | None) -> None:
    if refused is None:
        case.call(sample)
        return
    if not sample.tensors:
        raise Skip("an operator without tensor arguments chooses its dtypes itself")
    try:
        case.call(sample)
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        if case.lacks_kernel(error):
            raise Skip(missing_reason(case.key)) from None
        found, expected = f"{type(error).__name__} ({error})", f"{type(refused).__name__} ({refused})"
        demand(type(error) is type(refused), f"{case.operator.name}: the rule raises {expected}, the operator {found}")
        return
    raise AssertionError(f"{case.operator.name} runs where its rule refuses: {type(refused).__name__}: {refused}")


def _free_to_share(case: Case) -> str:
    is_free = case.operator.body is not None and not case.operator.view
    return "a composite may return its argument or a view of it" if is_free else ""


@unless(_free_to_share)
def memory(case: Case) -> Iterator[Result]:
    """A view shares its first argument's memory; the results of other primitives and kernels are memory of their own."""
    operator = case.operator

    def compare(sample: Sample, dtype: Any) -> None:
        inputs = [t for t in sample.tensors if t.numel()]
        for result in results_of(case.call(sample)):
            if not isinstance(result, Tensor) or not result.numel() or not inputs:
                continue
            if operator.view:
                assert _same_memory(result, inputs[0]), f"{operator.name} is a view, but its result is a copy"
                if not operator.nondifferentiable:
                    assert result._is_view(), f"{operator.name}: the view has no _base"
            elif not (operator.returns_argument and result is inputs[0]):
                for t in inputs:
                    assert not _same_memory(result, t), f"{operator.name} returned the memory of its argument, but is no view"

    yield from case.each("memory", compare, case.dtypes[:1])


def _same_memory(a: Any, b: Any) -> bool:
    """Whether two tensors lie in the same memory object."""
    if a._key.device is not b._key.device:
        return False
    first, second = (t._key.backend.memory(t._array)[0] for t in (a, b))
    return first is not None and first is second
