"""Columns of items: the arguments of a function, and where its result goes."""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any


def check_function(function: Any) -> None:
    """TypeError for what cannot be called; a warning for what a process that is started anew cannot be sent.

    >>> check_function(len)
    """
    if not callable(function):
        raise TypeError(f"A callable function is expected, but {type(function)} is provided.")
    while isinstance(function, partial):
        function = function.func
    kind = "Local" if _is_local(function) else "Lambda" if getattr(function, "__name__", "") == "<lambda>" else None
    if kind is not None:
        warnings.warn(
            f"{kind} function is not supported by pickle, please use regular python function or functools.partial instead: "
            "give it a name at the top of a module",
            UserWarning,
            stacklevel=3,
        )


def _is_local(function: Any) -> bool:
    """Whether a function, or the class of what is called, was defined inside another function."""
    code = getattr(function, "__code__", None)
    if code is not None:
        return bool(code.co_flags & inspect.CO_NESTED)
    return "<locals>" in getattr(function, "__qualname__", type(function).__qualname__)


def check_columns(function: Callable[..., Any], columns: Any) -> None:
    """ValueError for a function that does not take as many arguments as there are columns.

    >>> check_columns(lambda a, b: a, [0, 2])
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some of those written in C have none
        return
    count = len(columns) if columns is not None and isinstance(columns, (list, tuple)) else 1
    try:
        signature.bind(*range(count))
    except TypeError as error:
        name = getattr(function, "__name__", str(function))
        raise ValueError(f"The function {name} takes {signature}, but {count} values are given to it: {error}") from None


def picked(item: Any, columns: Any) -> list[Any]:
    """The values of one column, or of several.

    >>> picked({"a": 1, "b": 2}, ["b", "a"])
    [2, 1]
    """
    return [item[column] for column in columns] if isinstance(columns, (list, tuple)) else [item[columns]]


def changed(item: Any, result: Any, columns: Any, output: Any) -> Any:
    """A copy of the item with a result in column `output` (-1: a new last one), or in the first of those that it was made of.

    >>> changed((1, 2), 3, 0, -1)
    (1, 2, 3)
    """
    values = list(item) if isinstance(item, tuple) else copy.copy(item)
    if output is not None:
        if output == -1:
            values.append(result)
        else:
            values[output] = result
    elif isinstance(columns, (list, tuple)):
        values[columns[0]] = result
        for column in sorted(columns[1:], reverse=True):
            del values[column]
    else:
        values[columns] = result
    return tuple(values) if isinstance(item, tuple) else values
