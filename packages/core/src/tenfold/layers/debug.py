"""What `TENFOLD_DEBUG` switches on: a layer that says what every operator of this thread does.

1 says which plugins load (discovery.py). 2 adds each operator call with shapes and milliseconds, 3 the kernel that
served it, 4 checks every result against the shape rule and for NaN, and raises where they disagree.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from tenfold.dispatch import kernels
from tenfold.dispatch.operators import Operator
from tenfold.dispatch.runtime import Layer, call_inside
from tenfold.settings import environment
from tenfold.tensor.tensor import Tensor


def level() -> int:
    """The level asked for by the environment variable; 0 for anything that is no number."""
    text = environment.DEBUG.read()
    return int(text) if text.isdigit() else 0


class DebugLayer(Layer):
    """Prints operator calls to stderr, indented by depth, and checks results at level 4."""

    in_backward = True

    def __init__(self, level: int) -> None:
        self.level, self.depth = level, 0

    def handle(self, operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.depth += 1
        start = time.perf_counter()
        try:
            result = call_inside(self, operator, args, kwargs)
        finally:
            self.depth -= 1
        spent_ms = (time.perf_counter() - start) * 1e3
        given = ", ".join([described(a) for a in args] + [f"{k}={described(v)}" for k, v in kwargs.items()])
        kernel = f" by {served_by(operator, args)}" if self.level >= 3 else ""
        print(
            f"tenfold: {'  ' * self.depth}{operator.name}({given}) -> {described(result)} {spent_ms:.3f} ms{kernel}",
            file=sys.stderr,
        )
        if self.level >= 4:
            check(operator, args, kwargs, result)
        return result


def described(value: Any) -> str:
    """A tensor as dtype and shape, other values as they print, shortened."""
    if isinstance(value, Tensor):
        return f"{value.dtype.name}{list(value.shape)}"
    if isinstance(value, (tuple, list)) and any(isinstance(v, Tensor) for v in value):
        return "(" + ", ".join(described(v) for v in value) + ")"
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def served_by(operator: Operator, args: tuple[Any, ...]) -> str:
    """Where the kernel for this call stands, or that the body served it."""
    base = operator.inplace_of or operator
    key = next((a._key for a in args if isinstance(a, Tensor)), None)
    if key is None or key.level is not None:
        return "its body"
    arrays = [getattr(a, "_array", a) for a in args]
    for entry in reversed(kernels.KERNELS.get((base.name, key.device.type), [])):
        try:
            if entry.when is None or entry.when(*arrays):
                return f"{entry.location}" + (f" ({entry.note})" if entry.note else "")
        except TypeError:  # the condition wants arguments that were left at their defaults
            continue
    return "its body" if base.body is not None else "a kernel for any device"


def check(operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
    """Compare a result with what the operator gives on meta tensors; refuse NaN made from numbers without any."""
    if not isinstance(result, Tensor) or result._key.level is not None or operator.random or operator.inplace_of:
        return
    if all(isinstance(a, Tensor) for a in args[:1]) and args:
        try:
            expected = operator.fn(*[_on_meta(a) for a in args], **{k: _on_meta(v) for k, v in kwargs.items()})
        except NotImplementedError:  # the shape depends on the data
            expected = None
        if isinstance(expected, Tensor) and (expected.shape, expected.dtype) != (result.shape, result.dtype):
            raise RuntimeError(f"{operator.name}: the kernel gave {described(result)}, the shape rule says {described(expected)}")
    if result.is_floating_point() and not any(_has_nan(a) for a in args) and _has_nan(result):
        raise RuntimeError(f"{operator.name}: the result {described(result)} has NaN, the arguments have none")


def _on_meta(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.detach().to("meta")
    return type(value)(_on_meta(v) for v in value) if type(value) in (list, tuple) else value


def _has_nan(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_has_nan(v) for v in value)
    return isinstance(value, Tensor) and value.is_floating_point() and bool((value != value).any())
