"""The generated call paths and the full dispatch mean the same: both run every sample of every operator in every dtype."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tenfold.dispatch.full import dispatch
from tenfold.dispatch.operators import OPERATORS, Operator
from tenfold.tensor.tensor import Tensor
from tenfold.testing import samples as registry
from tenfold.testing.checks.case import DTYPES, Case, results_of, to_host
from tenfold.testing.samples import Sample


def outcome(call: Callable[..., Any], sample: Sample, values: bool = True) -> list[Any]:
    """What a call gives, down to strides and graph nodes, and what it leaves in its arguments; or its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            results = results_of(call(*sample.args, **sample.kwargs))
        except Exception as error:  # noqa: BLE001 - compared with the other path's
            return [type(error), str(error)]
    return [described(value, values) for value in (*results, *sample.tensors)]


def described(value: Any, values: bool) -> Any:
    if not isinstance(value, Tensor):
        return type(value), repr(value)
    node = None if value.grad_fn is None else value.grad_fn.name()
    place = (tuple(value.shape), value.stride(), value.dtype, value.device, node, value._is_view())
    return place if value.is_meta or not values else (*place, Values(to_host(value)))


class Values:
    """A tensor's elements, equal bit by bit; complex ones, which NumPy rounds otherwise into `out`, nearly."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, Values)
        if self.array.dtype.kind == "c":
            epsilon = 4 * np.finfo(self.array.dtype).eps
            return bool(np.allclose(self.array, other.array, rtol=epsilon, atol=epsilon, equal_nan=True))
        return bool(self.array.tobytes() == other.array.tobytes())

    def __hash__(self) -> int:
        return hash(self.array.shape)

    def __repr__(self) -> str:
        return repr(self.array)


def tracked(tensor: Tensor) -> Tensor:
    return tensor.requires_grad_() if tensor.dtype.category >= 2 and tensor.is_leaf else tensor


def samples_of(operator: Operator, dtype: Any, record: bool) -> list[Sample]:
    """The samples made anew, whose tensors an in-place operator may write; with `record` they are leaves of a graph."""
    base = operator.inplace_of or operator
    registered = registry.find(base)
    try:
        found = registry.samples_of(base, "cpu", dtype)
    except (RuntimeError, TypeError, ValueError):  # they are computed by operators that refuse the dtype
        return []
    if record:
        found = [sample.map(tracked) for sample in found]
    if operator.inplace_of is not None or (registered is not None and registered.mutates):
        found = [sample.map(lambda t: t.clone()) for sample in found]
    return found


def differences(operator: Operator, dtype: Any, record: bool) -> Iterator[str]:
    """What a call and the full dispatch of the same call make different."""
    case = Case(operator.inplace_of or operator)

    def in_full(*args: Any, **kwargs: Any) -> Any:
        return dispatch(operator, args, kwargs)

    for warming in samples_of(operator, dtype, record)[:1]:  # the first call finds the kernel
        outcome(operator.fn, warming)
    for first, second in zip(samples_of(operator, dtype, record), samples_of(operator, dtype, record)):
        text = repr(first)
        case.reseed()
        short = outcome(operator.fn, first, not case.registered.no_value)
        case.reseed()
        full = outcome(in_full, second, not case.registered.no_value)
        if short != full:
            yield f"{operator.name}: {dtype.name} {text}: {short}; in full: {full}"


def operators() -> list[Any]:
    own = [o for o in OPERATORS.values() if (o.declared.__module__ or "").startswith("tenfold.")]
    return [pytest.param(o, id=o.name) for o in own if registry.find(o.inplace_of or o) is not None]


registry.load()


@pytest.mark.parametrize("operator", operators())
def test_both_paths_agree(operator: Operator) -> None:
    found = [text for dtype in DTYPES for record in (False, True) for text in differences(operator, dtype, record)]
    assert not found, f"{len(found)} samples: " + "\n".join(found[:3])
