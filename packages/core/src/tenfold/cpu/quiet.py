"""Kernels without NumPy's floating-point warnings: infinities and NaN are results here, not accidents."""

from __future__ import annotations

import contextvars
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy._core import umath

from tenfold.types.numbers import ARRAYS

# np.errstate costs 1.1 us a call. NumPy keeps its error state in this context variable, so running a function inside a
# context in which the state is "ignore" is one C call, 0.1 us. Other NumPy versions may lack it: then errstate.
_variable: Any = getattr(umath, "_extobj_contextvar", None)
_ignore: Any = umath._make_extobj(all="ignore") if _variable is not None and hasattr(umath, "_make_extobj") else None


def _with_errstate(function: Any) -> Callable[..., Any]:
    def silent(*args: Any, **kwargs: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*args, **kwargs)

    return silent


def runner(state: Any = _ignore) -> Any:
    """`run(function, *args)` in a context of its own with warnings off, if this NumPy can."""
    if state is None:
        return None
    context = contextvars.Context()
    context.run(_variable.set, state)
    return context.run


def _traps() -> tuple[Any, frozenset[Any]]:
    """A runner under which overflow and invalid numbers are errors, and the dtypes of whose exp and division that holds."""
    run = None if _ignore is None else runner(umath._make_extobj(all="ignore", over="raise", invalid="raise"))
    if run is None:
        return run, frozenset()

    def does_trap(ufunc: Any, *args: Any) -> bool:
        try:
            run(ufunc, *args)
        except FloatingPointError:
            return True
        return False

    def is_trapped(dtype: Any) -> bool:
        large = [np.full(n, 1000, dtype)[::step] for n in (1, 7, 100) for step in (1, -1, 3)]
        infinite = [np.full(n, np.inf, dtype) for n in (1, 7, 100)]
        return all(does_trap(np.exp, x) for x in large) and all(does_trap(np.divide, x, x) for x in infinite)

    return run, frozenset(d for d in (np.dtype(np.float32), np.dtype(np.float64)) if is_trapped(d))


# Runs a formula of moderate numbers: FloatingPointError says that another one is wanted.
trapped, TRAPPED = _traps()


def quiet(function: Any, arguments: int | None = None) -> Any:
    """The function, run with floating-point warnings off; NumPy's own state is as before afterwards.

    With `arguments` (known for NumPy's ufuncs) it takes one or two arrays and `out`, faster.

    A context can be entered once at a time: a second thread (or a finalizer) that calls the same function meanwhile gets
    a RuntimeError before the function starts, and takes the slower way. A kernel's own RuntimeError comes up twice the
    same, since kernels depend on nothing but their arguments. Call paths do that themselves (`recovered` in
    dispatch/full.py): they call `direct`, which is no Python function, and `direct.again` where it could not start.
    """
    slow, run = _with_errstate(function), runner()
    silent: Any
    if run is None:
        silent = slow
    elif isinstance(function, np.ufunc) or arguments:
        silent = (_quiet_unary if (arguments or function.nin) == 1 else _quiet_binary)(function, run, slow)
    else:
        silent = _quiet_function(function, run, slow)
    functools.update_wrapper(silent, function)
    silent.__wrapped__ = function
    if run is not None:
        silent.direct = functools.partial(run, function)
        silent.direct.again, silent.direct.of = slow, silent  # what wraps `silent` inherits its attributes, and is not meant
        if isinstance(function, np.ufunc) and function.nin == 2:
            silent.direct.with_number = _with_number(function, runner(), silent)
    return silent


def _with_number(ufunc: Any, run: Any, silent: Any) -> Callable[..., Any]:
    """The same for an array and a Python number."""

    def with_number(input: Any, other: Any, out: Any = None) -> Any:
        try:
            return run(ufunc, input, ARRAYS[input.dtype][other], out=out)
        except (KeyError, OverflowError, RuntimeError):  # integers; a number too large; as in `quiet`
            return silent(input, other, out)

    return with_number


def _quiet_unary(ufunc: Any, run: Any, slow: Any) -> Callable[..., Any]:
    def silent(input: Any, out: Any = None) -> Any:
        try:
            return run(ufunc, input, out)
        except RuntimeError:
            return slow(input, out)

    return silent


def _quiet_binary(ufunc: Any, run: Any, slow: Any) -> Callable[..., Any]:
    def silent(input: Any, other: Any, out: Any = None) -> Any:
        try:
            return run(ufunc, input, other, out=out)
        except RuntimeError:
            return slow(input, other, out=out)

    return silent


def _quiet_function(function: Any, run: Any, slow: Any) -> Callable[..., Any]:
    def silent(*args: Any, **kwargs: Any) -> Any:
        try:
            return run(function, *args, **kwargs)
        except RuntimeError:
            return slow(*args, **kwargs)

    return silent
