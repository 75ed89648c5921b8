"""What `TENFOLD_DEBUG` switches on: a layer that says what every operator of this thread does.

1 says which plugins load (discovery.py). 2 adds each operator call with shapes and milliseconds, 3 the kernel that
served it, 4 checks every result against the shape rule and for NaN and every argument for having been left as it was, and
raises where one is wrong. The checks call no operator of the tensors' device, so they also work where it has few kernels.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from tenfold.dispatch import kernels
from tenfold.dispatch.devices import META
from tenfold.dispatch.failures import as_meta_tensor
from tenfold.dispatch.meta import DataDependent
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
        kept = remembered((args, kwargs)) if self.level >= 4 else []
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
            check(operator, args, kwargs, result, kept)
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
    entries = kernels.KERNELS.get((base.name, key.device.type), [])
    wraps = "".join(f"{entry.location} around " for entry in reversed(entries) if entry.wrap)
    for entry in (e for e in reversed(entries) if not e.wrap):
        try:
            if entry.when is None or entry.when(*arrays):
                return wraps + str(entry.location) + (f" ({entry.note})" if entry.note else "")
        except TypeError:  # the condition wants arguments that were left at their defaults
            continue
    return wraps + ("its body" if base.body is not None else "a kernel for any device")


def check(operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any, kept: list[Kept]) -> None:
    """Refuse results of another shape or dtype than declared, NaN made from numbers without any, and written arguments."""
    for tensor, array, version, before in kept:
        # In place, a tensor may get another array, that of another shape.
        if tensor._array is array and _version(tensor) == version and not np.array_equal(_bytes(tensor), before):
            raise RuntimeError(f"{operator.name}: the kernel wrote to its argument {described(tensor)}")
    results = list(tensors_in(result))
    if operator.inplace_of is None and _is_served(operator, (args, kwargs)):
        for got, promised in zip(results, _promised(operator, args, kwargs) or results, strict=True):
            if (got.shape, got.dtype) != (promised.shape, promised.dtype):
                raise RuntimeError(
                    f"{operator.name}: the kernel gave {described(result)}, the shape rule says {described(promised)}"
                )
    for got in results if operator.family != "creation" else ():  # which may be asked for NaN, or for any memory
        if _has_nan(got) and not any(_has_nan(t) for t in tensors_in((args, kwargs))):
            raise RuntimeError(f"{operator.name}: the result {described(result)} has NaN, the arguments have none")


Kept = tuple[Tensor, Any, int, Any]  # an argument with its array, version and bytes before the call


def remembered(arguments: Any) -> list[Kept]:
    """What the arguments hold before the call; a write that is meant raises the version."""
    return [(t, t._array, _version(t), _bytes(t)) for t in tensors_in(arguments)]


def tensors_in(value: Any) -> Iterator[Tensor]:
    """The tensors that have memory of their own: in tuples, lists and dictionaries, none on "meta" or of a transform."""
    if isinstance(value, Tensor):
        if value._key.level is None and value._key.device is not META:
            yield value
    elif isinstance(value, (tuple, list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from tensors_in(item)


def _version(tensor: Tensor) -> int:
    return 0 if tensor._storage is None else tensor._storage.version


def _host(tensor: Tensor) -> Any:
    return tensor._key.backend.to_numpy(tensor._array)


def _bytes(tensor: Tensor) -> Any:
    return np.array(_host(tensor), order="C").reshape(-1).view(np.uint8)


def _is_served(operator: Operator, arguments: Any) -> bool:
    """Whether a kernel may have served the call; of a composite's body the calls inside are checked."""
    return operator.body is None or any(getattr(t._key.kernels, operator.name) is not None for t in tensors_in(arguments))


def _promised(operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any] | None:
    """The results on meta tensors; None where they depend on data, or are on another device."""
    if operator.moves:
        return None
    try:
        on_meta = as_meta_tensor(args), {k: as_meta_tensor(v) for k, v in kwargs.items() if k not in ("out", "device")}
        promised = operator.fn(*on_meta[0], **on_meta[1])
    except DataDependent:
        return None
    except (RuntimeError, NotImplementedError):
        if operator.body is not None:  # it may have asked for data
            return None
        raise
    return [t for t in (promised if isinstance(promised, (tuple, list)) else (promised,)) if isinstance(t, Tensor)]


def _has_nan(tensor: Tensor) -> bool:
    return tensor.dtype.category >= 2 and bool(np.isnan(_host(tensor)).any())
