"""Writes of a function being differentiated to tensors that it did not get as arguments: refused, as in PyTorch.

The tensor would keep the place in the graph of a transform that has ended. What the function itself makes, it may write.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from types import CodeType
from typing import Any

from tenfold.tensor.tensor import Tensor


def check_captured(name: str, target: Tensor, function: Any) -> None:
    """Refuse a write of a differentiated value to a tensor that the function reaches without being given it."""
    while hasattr(function, "__wrapped__"):  # a transform of the user's function, whose arguments are no captures
        function = function.__wrapped__
    if function is not None and any(t is target or t._base is target for t in captured(function)):
        raise RuntimeError(
            f"{name}: During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place operation "
            f"that would mutate a captured Tensor. This is not supported; please rewrite the function being transformed to "
            f"explicitly accept the mutated Tensor(s) as inputs."
        )


def captured(function: Any, depth: int = 4) -> Iterator[Tensor]:
    """The tensors that a function reaches by its closure, its globals, its bound object and its fixed arguments."""
    if isinstance(function, Tensor):
        yield function
    elif isinstance(function, (list, tuple, set)) and depth:
        for value in function:
            yield from captured(value, depth - 1)
    elif isinstance(function, dict) and depth:
        yield from captured(list(function.values()), depth)
    elif isinstance(function, functools.partial):
        yield from captured([function.func, function.args, function.keywords], depth)
    elif depth and not isinstance(function, (type, str, int, float, complex, type(None))):
        yield from _of_callable(function, depth - 1)


def _of_callable(function: Any, depth: int) -> Iterator[Tensor]:
    for cell in getattr(function, "__closure__", None) or ():
        try:
            yield from captured(cell.cell_contents, depth)
        except ValueError:  # not assigned yet
            continue
    code = getattr(function, "__code__", None)
    if isinstance(code, CodeType):
        known = function.__globals__
        yield from captured([known[name] for name in code.co_names if name in known and callable_or_tensor(known[name])], depth)
    elif hasattr(function, "__func__"):
        yield from captured([function.__func__, function.__self__], depth)
    elif hasattr(function, "_parameters"):  # a module
        yield from (t for t in [*function.parameters(), *function.buffers()])


def callable_or_tensor(value: Any) -> bool:
    """Whether a global can lead to a captured tensor at small cost: a tensor, or a plain function or module of the program."""
    return isinstance(value, Tensor) or hasattr(value, "_parameters")
