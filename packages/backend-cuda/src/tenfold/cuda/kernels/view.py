"""Views: the operator's shape rule says where the elements lie; what it has said of a shape once is kept.

CuPy makes an array in a microsecond: with the rule's answer at hand a view costs little more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.dispatch.devices import device
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import OPERATORS, Operator
from tenfold.generic.view import restride  # with it come all operators that are views

MOST = 4096  # answers kept of an operator
PLAIN = (int, slice, type(None), type(Ellipsis))  # of which equal ones mean the same: not so True and 1, or 1.0


def _key(input: Any, arguments: tuple[Any, ...]) -> Any:
    """What a rule's answer depends on; None where two calls that compare equal need not mean the same."""
    for x in arguments:
        kind = type(x)
        if kind is tuple:
            if any(type(i) not in PLAIN for i in x):
                return None
        elif kind not in PLAIN:
            return None
    return (input.shape, input.strides, input.dtype, *arguments)


def _by_rule(operator: Operator) -> Callable[..., Any]:
    """The view, or views, that the operator's shape rule describes."""
    answers: dict[Any, Any] = {}

    def described(input: Any, arguments: tuple[Any, ...]) -> Any:
        found = operator.shape_rule(Meta(input.shape, input.dtype, input.strides), *arguments)
        return [_places(g) for g in found] if isinstance(found, (tuple, list)) else _places(found)

    def view(input: Any, *arguments: Any) -> Any:
        key = _key(input, arguments)
        try:
            found = None if key is None else answers.get(key)
        except TypeError:  # slices have no hash before Python 3.12
            found = key = None
        if found is None:
            found = described(input, arguments)
            if key is not None:
                if len(answers) >= MOST:
                    answers.clear()
                answers[key] = found
        if type(found) is list:
            return [_made(input, *places) for places in found]
        return _made(input, *found)

    return view


def _places(geometry: Meta) -> tuple[Any, ...]:
    return tuple(geometry.shape), tuple(geometry.strides), geometry.offset, geometry.dtype


def _made(input: Any, shape: tuple[int, ...], strides: tuple[int, ...], offset: int, dtype: Any) -> Any:
    if dtype is not input.dtype and dtype != input.dtype:
        return restride(device("cuda").backend, input, Meta(shape, dtype, strides, offset))
    return runtime.current().part(input, shape, strides, offset)


# What needs no rule's answer, or is served by other modules of this package.
OTHERS = ("as_strided", "real_part", "imag_part")
for _operator in list(OPERATORS.values()):
    if _operator.view and _operator.name not in OTHERS:
        kernel(_operator, device="cuda", chooses_device=True)(_by_rule(_operator))
