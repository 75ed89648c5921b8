"""Checks of values: against a reference, across memory layouts, on both sides of kernel conditions, and of the inputs after."""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tenfold.dispatch import kernels
from tenfold.dispatch.devices import CPU
from tenfold.dispatch.full import run_body
from tenfold.dispatch.operators import Operator
from tenfold.tensor.tensor import Tensor, wrap, wrap_all
from tenfold.testing import tolerances
from tenfold.testing.checks.case import Case, Result, Skip, assert_same, results_of, to_host, unless
from tenfold.testing.samples import Sample
from tenfold.types.memory_format import contiguous_format


@contextlib.contextmanager
def replaced(operator: Operator, device_type: str, function: Any) -> Iterator[None]:
    """The device's kernel replaced for the duration of a block; None leaves a composite to its body."""
    table = kernels.table(device_type)
    getattr(table, operator.name)
    kept = dict(table.__dict__)
    cached = operator.calls.kernels
    setattr(table, operator.name, function)
    cached.clear()
    try:
        yield
    finally:
        table.__dict__.clear()
        table.__dict__.update(kept)
        cached.clear()


def oracles(case: Case) -> list[Callable[[Case, Sample], None]]:
    """What an operator's result on the CPU can be compared with."""
    accelerated = case.operator.body is not None and getattr(kernels.table("cpu"), case.operator.name) is not None
    found: list[Callable[[Case, Sample], None]] = [against_body] * accelerated
    return found + [against_reference] * (case.registered.reference is not None)


def nothing_to_compare(case: Case) -> str:
    """Why values are not compared; empty when they are."""
    if case.registered.no_value:
        return case.registered.no_value
    if case.key is not CPU:
        return "random results differ between devices" if case.random else ""
    kind = "a composite's body is its definition" if case.operator.body is not None else "the CPU kernel is the definition"
    return "" if oracles(case) else f"no reference is registered with the samples; {kind}"


@unless(nothing_to_compare)
def value(case: Case) -> Iterator[Result]:
    """The result is that of the CPU (on another device), of the body (for a kernel of a composite), of the reference."""
    if case.key is not CPU:
        yield from _against_cpu(case)
        return
    for oracle in oracles(case):
        yield from case.each("value", lambda sample, dtype, oracle=oracle: oracle(case, sample))  # type: ignore[misc]


def _against_cpu(case: Case) -> Iterator[Result]:
    for dtype in case.dtypes:
        for ours, theirs in zip(case.samples(dtype), case.samples(dtype, "cpu")):

            def compare(ours: Sample = ours, theirs: Sample = theirs) -> None:
                assert_same(case.call(ours), case.call(theirs), f"{case.operator.name} on {case.key} against the CPU")

            yield case.attempt("value", repr(ours), compare)


def against_body(case: Case, sample: Sample) -> None:
    result = case.call(sample)
    with replaced(case.operator, case.key.type, None):
        expected = case.call(sample)
    assert_same(result, expected, f"kernel of {case.operator.name} against its body")


def against_reference(case: Case, sample: Sample) -> None:
    result = case.call(sample)
    got = results_of(result)
    floating = any(isinstance(r, Tensor) and r.dtype.category >= 2 for r in got)
    computed = sample.map(lambda t: _precise(t, floating))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # NumPy's, about empty slices and the like
        found = results_of(case.registered.reference(*computed.args, **computed.kwargs))
        wanted = [None if b is None else np.asarray(b) for b in found]
        assert len(got) == len(wanted), f"{len(got)} results, the reference has {len(wanted)}"
        for a, b in zip(got, wanted):
            if b is None:  # the definition leaves it open
                continue
            if not isinstance(a, Tensor):
                assert a == b.item(), f"{case.operator.name}: {a!r}, the reference has {b.item()!r}"
                continue
            assert tuple(a.shape) == b.shape, f"{case.operator.name}: shape {list(a.shape)}, the reference has {list(b.shape)}"
            expected = wrap(b.astype(a.dtype.numpy), CPU)
            try:
                assert_same(a, expected, f"{case.operator.name} against its reference")
            except AssertionError as failure:
                raise AssertionError(f"{failure}{_spoken(case.operator, sample, a, expected)}") from None


def _spoken(operator: Operator, sample: Sample, result: Any, expected: Any) -> str:
    """The first element that differs as a call of its own; nothing for what is not elementwise."""
    got, wanted = to_host(result), to_host(expected)
    places = _different(got, wanted, tolerances.implementation(expected.dtype))
    if not operator.pointwise or not len(places):
        return ""
    at = tuple(map(int, places[0]))
    try:
        call = sample.map(lambda t: np.broadcast_to(to_host(t), got.shape)[at].item())
    except ValueError:  # a tensor that is no operand, such as the places of a scatter
        return ""
    arguments = ", ".join([*map(repr, call.args), *(f"{k}={v!r}" for k, v in call.kwargs.items())])
    return f"\nThe first of them: {operator.name}({arguments}) is {got[at].item()}, the reference says {wanted[at].item()}"


def _different(got: Any, wanted: Any, tolerance: tuple[float, float]) -> Any:
    """The indices at which two arrays differ by more than rtol and atol."""
    wide = complex if got.dtype.kind == "c" else float
    return np.argwhere(~np.isclose(got.astype(wide), wanted.astype(wide), *tolerance, equal_nan=True))


def _precise(tensor: Any, floating: bool) -> Any:
    """The values as a NumPy array in double precision; integers only where the result is floating."""
    array = to_host(tensor)
    kind = array.dtype.kind
    wide = {"f": np.float64, "V": np.float64, "c": np.complex128}
    if floating:
        wide |= {"b": np.float64, "i": np.float64, "u": np.float64}
    return array.astype(wide.get(kind, array.dtype))


def _is_strided(sample: Sample) -> bool:
    return not all(t.is_contiguous() for t in sample.tensors)


def _layout_is_meaning(case: Case) -> str:
    if case.random:
        return "what a random operator draws first goes to the element that is first in memory"
    return case.registered.no_value or ("" if any(map(_is_strided, case.samples())) else "every sample's tensors are contiguous")


@unless(_layout_is_meaning)
def layouts(case: Case) -> Iterator[Result]:
    """Tensors of the same values in row-major memory give the same result."""

    def compare(sample: Sample, dtype: Any) -> None:
        plain = sample.map(lambda t: t.clone(memory_format=contiguous_format))
        assert all(t.is_contiguous() for t in plain.tensors), "clone(memory_format=contiguous_format) is not contiguous"
        assert_same(case.call(sample), case.call(plain), f"{case.operator.name}: strided memory against contiguous")

    yield from case.each("layouts", compare, where=_is_strided)


def unchanged(case: Case) -> Iterator[Result]:
    """The operator leaves its arguments, and all memory they lie in, as they were."""

    def compare(sample: Sample, dtype: Any) -> None:
        before = [_memory(t) for t in sample.tensors]
        case.call(sample)
        for i, (t, old) in enumerate(zip(sample.tensors, before)):
            assert np.array_equal(_memory(t), old), f"{case.operator.name} wrote to the memory of its argument {i}"

    yield from case.each("unchanged", compare)


def _memory(tensor: Any) -> Any:
    """A copy of the bytes of a tensor's whole memory, where the backend shows them, else of its elements."""
    backend = tensor._key.backend
    with contextlib.suppress(TypeError):  # a backend without `reinterpret`
        return np.array(backend.to_numpy(backend.memory_bytes(tensor._array)))
    return np.array(to_host(tensor)).reshape(-1).view(np.uint8)


def _conditional(case: Case) -> list[Any]:
    getattr(kernels.table(case.key.type), case.operator.name)  # loads them
    return [e for e in kernels.KERNELS.get((case.operator.name, case.key.type), []) if e.when is not None]


@unless(lambda case: "" if _conditional(case) else "no kernel has a condition (when=)")
def conditions(case: Case) -> Iterator[Result]:
    """Every kernel attached with `when=` serves some samples and not others, and agrees with what serves the others."""
    entries = _conditional(case)
    calls = list(_recorded(case))
    for entry in entries:
        held = [arguments for arguments in calls if entry.when(*arguments)]
        if not held or len(held) == len(calls):
            side = "no sample" if not held else "every sample"
            yield case.failed(
                "conditions", f"the condition of the kernel at {entry.location} holds for {side}: add samples for both sides"
            )
        for arguments in held:
            yield case.attempt("conditions", _arguments(arguments), functools.partial(_agrees, case, entry, arguments))


def _recorded(case: Case) -> Iterator[tuple[Any, ...]]:
    """The arguments with which the kernel is called for the samples of every dtype."""
    found: list[tuple[Any, ...]] = []
    kernel = getattr(kernels.table(case.key.type), case.operator.name)

    def record(*arguments: Any) -> Any:
        found.append(arguments)
        return kernel(*arguments)

    with replaced(case.operator, case.key.type, record):
        for dtype in case.dtypes:
            for sample in case.samples(dtype):
                with contextlib.suppress(RuntimeError, TypeError, ValueError, IndexError):
                    case.call(sample)
    return iter(found)


def _agrees(case: Case, entry: Any, arguments: tuple[Any, ...]) -> None:
    result = entry.function(*arguments)
    if result is NotImplemented:
        raise Skip("the kernel returned NotImplemented, which hands the call on")
    base = next((e for e in kernels.KERNELS[case.operator.name, case.key.type] if not e.accelerates), None)
    if base is not None:
        expected = _wrapped(base.function(*arguments), case.key)
    else:
        values = [_wrapped_argument(a, case.key) for a in arguments]
        names = {p.name: p.default for p in case.operator.params}
        names.update(zip((p.name for p in case.operator.kernel_params), values))
        with replaced(case.operator, case.key.type, None):
            expected = run_body(case.operator, names)
    what = f"kernel at {entry.location} against {'the unconditional kernel' if base else 'the body'}"
    assert_same(_wrapped(result, case.key), expected, what)


def _wrapped(result: Any, key: Any) -> Any:
    return wrap_all(result, key) if isinstance(result, (tuple, list)) else wrap(result, key)


def _wrapped_argument(value: Any, key: Any) -> Any:
    if isinstance(value, key.array_type):
        return wrap(value, key)
    if isinstance(value, (list, tuple)):
        return [_wrapped_argument(v, key) for v in value]
    return value


def _arguments(arguments: tuple[Any, ...]) -> str:
    return ", ".join(f"{a.dtype}{list(a.shape)}" if hasattr(a, "strides") else repr(a) for a in arguments)
