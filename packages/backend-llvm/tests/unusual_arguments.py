"""Calls with arguments that are not the usual ones: samples of tenfold-testing of which one argument is another, or named.

Arguments are kept as recipes, for a call may write into what it is given: `made` makes them anew.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from compared_calls import outcome, seen_whole

import tenfold
from tenfold.testing.samples import find, samples_of

BEYOND = 1 << 70  # an int of more than 64 bits
DTYPES = (
    tenfold.bool, tenfold.uint8, tenfold.int32, tenfold.int64, tenfold.float16, tenfold.bfloat16, tenfold.float32,
    tenfold.float64, tenfold.complex64,
)  # fmt: skip


class Class(tenfold.Tensor):
    """A class of tensors of a program's own."""


@dataclass(frozen=True)
class Recipe:
    """A tensor: its elements, its dtype, how it lies and what it is."""

    array: Any
    dtype: Any
    kind: str = "rows"

    def make(self) -> Any:
        if self.kind == "inference":
            with tenfold.inference_mode():
                return self._laid()
        x = self._laid()
        if self.kind in KINDS:
            return KINDS[self.kind](x)
        return x

    def _laid(self) -> Any:
        x = tenfold.from_numpy(np.array(self.array)).to(self.dtype)
        if self.kind == "columns":
            return x.t().contiguous().t() if x.dim() == 2 else x.transpose(0, -1).clone().transpose(0, -1) if x.dim() else x
        if self.kind == "apart" and x.dim():
            return tenfold.stack([x, x], -1)[..., 0]
        return x


KINDS: dict[str, Callable[[Any], Any]] = {
    "leaf": lambda x: x.requires_grad_(),
    "result": lambda x: x.requires_grad_() * 1,
    "subclass": lambda x: x.as_subclass(Class),
    "view": lambda x: x[...],
}
LAID = ("columns", "apart", "inference", *KINDS)


def recipe(value: Any) -> Any:
    """An argument of a sample, its tensors as recipes."""
    if isinstance(value, tenfold.Tensor):
        wide = value.detach().float() if value.dtype is tenfold.bfloat16 else value.detach()
        return Recipe(wide.numpy().copy(), value.dtype, "rows" if value.is_contiguous() else "columns")
    return type(value)(map(recipe, value)) if type(value) in (list, tuple) else value


def made(value: Any) -> Any:
    """The argument itself."""
    if isinstance(value, Recipe):
        return value.make()
    return type(value)(map(made, value)) if type(value) in (list, tuple) else copy.copy(value)


def others(value: Any) -> Iterator[Any]:
    """What may stand where this argument does, right or wrong."""
    if isinstance(value, Recipe):
        yield from _tensors(value)
    elif type(value) in (list, tuple):
        yield from _sequences(value)
    elif value is None or type(value) in (bool, int, float):
        yield from _numbers(value)
    elif type(value) is str:
        yield from ("another", None, 1)
    elif isinstance(value, tenfold.dtype):
        yield from (*DTYPES, float, 0, "float32")


def _numbers(value: Any) -> Iterator[Any]:
    number = value or 0
    yield from (
        None,
        True,
        False,
        0,
        1,
        2,
        -1,
        1.0,
        0.0,
        -0.0,
        -number - 1,
        float(number),
        50,
        "1",
        1j,
        float("nan"),
        float("inf"),
    )
    yield from (BEYOND, np.int64(number), np.int32(number), np.float32(number), np.float64(number), np.bool_(bool(number)))
    yield from (Recipe(np.array(number), d) for d in (tenfold.int64, tenfold.float32, tenfold.bool))
    yield from (Recipe(np.array(float(number)), tenfold.float32, "leaf"), Recipe(np.array([number]), tenfold.int64))
    yield from ((number,), [number], (), (number, number), (True,), [1.0])


def _sequences(value: Any) -> Iterator[Any]:
    kind = type(value)
    yield from (list(value), tuple(value), kind(), value[:-1], kind([*value, *value[-1:]]), value[::-1], None, 1, True, 1.0)
    for k, item in enumerate(value[:2]):
        yield from (kind([*value[:k], other, *value[k + 1 :]]) for other in others(item))


def _tensors(value: Recipe) -> Iterator[Any]:
    array = value.array
    real = array.real
    yield from (Recipe(real if d.category < 3 else array, d, value.kind) for d in DTYPES if d is not value.dtype)
    yield from (replace(value, kind=kind) for kind in LAID if value.dtype.category > 1 or kind not in ("leaf", "result"))
    shapes = [(*array.shape[:d], n, *array.shape[d + 1 :]) for d in range(array.ndim) for n in (0, 1, array.shape[d] + 1)]
    for shape in [*shapes, (), (1, *array.shape), (array.size,), array.shape[1:]]:
        yield replace(value, array=np.resize(array, shape) if array.size else np.zeros(shape, array.dtype))
    if array.dtype.kind in "fi" and array.size:
        for number in (np.nan, np.inf, -np.inf, -0.0) if array.dtype.kind == "f" else (-1, 99):
            changed = array.copy()
            changed.reshape(-1)[0] = number
            yield from (replace(value, array=changed), replace(value, array=changed, kind="leaf" if number < 1 else "view"))
    yield from (1, 1.5, True, None, "a", np.float64(1.5), [1.0], array)


@dataclass(frozen=True)
class Call:
    """A call, whose arguments are recipes, in a context."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    context: str = "enable_grad"

    def told(self, function: Any, drawn: bool) -> Any:
        """What comes of it: results, or the error; the first argument, which it may have written; the gradients."""
        try:
            args, kwargs = made(self.args), {name: made(value) for name, value in self.kwargs.items()}
        except (RuntimeError, TypeError, ValueError):
            return None  # there is no such tensor
        if drawn:
            tenfold.manual_seed(0)
        with getattr(tenfold, self.context)():
            result = outcome(function, *args, **kwargs)
        found = result if isinstance(result, (tuple, list)) else (result,)
        told = [seen_whole(y) if isinstance(y, (tenfold.Tensor, Exception)) else repr(y) for y in found]
        written = [seen_whole(x) for x in (*args, kwargs.get("out")) if isinstance(x, tenfold.Tensor)]
        return told, written, self.context == "enable_grad" and _gradients(found, [*args, *kwargs.values()])


def near(told: Any, other: Any) -> bool:
    """Whether the same was told but for the rounding of elements, which are lists in words."""
    if type(told) in (list, tuple) and type(other) is type(told) and len(told) == len(other):
        return all(map(near, told, other))
    if told == other or type(told) is not str or type(other) is not str or not told.startswith("["):
        return bool(told == other)
    x, y = (np.array(json.loads(words.replace("nan", "NaN").replace("inf", "Infinity"))) for words in (told, other))
    return x.shape == y.shape and np.allclose(x, y, 1e-4, 1e-4, equal_nan=True)


def _gradients(results: Any, given: list[Any]) -> Any:
    """The gradients of the leaves of a sum of squares."""
    recorded = [y for y in results if isinstance(y, tenfold.Tensor) and y.requires_grad and y.dtype.category == 2]
    leaves = [x for x in given if isinstance(x, tenfold.Tensor) and x.requires_grad and x.is_leaf]
    if not recorded or not leaves:
        return None
    failed = outcome(lambda: sum((y * y).sum() for y in recorded).backward())
    return failed and type(failed), [x.grad if x.grad is None else seen_whole(x.grad) for x in leaves]


def calls(operator: Any) -> Iterator[Call]:
    """Plain calls of an operator, then those of which one argument is another: of the one of these with the most arguments."""
    found = find(operator)
    if found is None:
        return
    samples = [s for s in samples_of(operator, dtype=(found.dtypes or (tenfold.float32,))[0]) if _is_small(s)]
    plain = [Call(tuple(map(recipe, s.args)), {name: recipe(v) for name, v in s.kwargs.items()}) for s in samples]
    yield from plain[:4]
    for call in sorted(plain[:4], key=lambda call: len(call.args) + len(call.kwargs))[-1:]:
        for changed in _changed(call, operator):
            if "split" not in operator.name or all(a is not BEYOND for a in (*changed.args, *changed.kwargs.values())):
                yield changed  # but for so many parts, which neither way is ever done with


def _is_small(sample: Any) -> bool:
    return all(x.numel() < 2000 and (x.dtype in DTYPES or x.dtype is tenfold.complex128) for x in sample.tensors)


def _is_float(value: Any) -> bool:
    return isinstance(value, Recipe) and value.dtype.category == 2


def _converted(value: Any, dtype: Any) -> Any:
    return replace(value, dtype=dtype) if _is_float(value) else value


def _changed(call: Call, operator: Any) -> Iterator[Call]:
    args, kwargs, params = call.args, call.kwargs, operator.params
    for k, value in enumerate(args):
        yield from (replace(call, args=(*args[:k], other, *args[k + 1 :])) for other in others(value))
    for name, value in kwargs.items():
        yield from (replace(call, kwargs={**kwargs, name: other}) for other in others(value))
    leaves = tuple(replace(a, kind="leaf") if _is_float(a) else a for a in args)
    for given in (args, leaves):
        yield from (replace(call, args=given, context=context) for context in ("no_grad", "inference_mode", "enable_grad"))
    for dtype in DTYPES:
        yield replace(call, args=tuple(_converted(a, dtype) for a in args))
    positional = [p.name for p in params if not p.keyword_only]
    if len(args) <= len(positional):
        for k in range(len(args)):
            yield replace(call, args=args[:k], kwargs={**dict(zip(positional[k:], args[k:], strict=False)), **kwargs})
    yield from (replace(call, args=given) for given in (args[:-1], (*args, None), (*args, True), (*args, *args[:1])))
    for p in params[len(args) :]:
        if p.name not in kwargs and (p.default is None or type(p.default) in (bool, int, float)):
            yield from (replace(call, kwargs={**kwargs, p.name: other}) for other in (p.default, *others(p.default)))
    tensors = [a for a in args if isinstance(a, Recipe)]
    for dtype in (tenfold.float32, tenfold.float64, tenfold.int64) if tensors else ():
        yield from (
            replace(call, kwargs={**kwargs, "out": Recipe(a, dtype)}) for a in (np.zeros(tensors[0].array.shape), np.zeros(0))
        )
