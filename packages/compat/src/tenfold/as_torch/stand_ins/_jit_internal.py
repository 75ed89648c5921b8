"""`torch._jit_internal`: marks for PyTorch's compiler of programs, which leave functions as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tenfold.as_torch.stand_ins.jit import (
    _overload,
    _overload_method,
    export,
    ignore,
    is_scripting,
    unused,
)
from tenfold.futures import Future

__all__ = ["Final", "Future", "_copy_to_script_wrapper", "_overload", "_overload_method", "boolean_dispatch", "export", "ignore",
           "is_scripting", "unused"]  # fmt: skip


def _copy_to_script_wrapper(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The method itself, which a compiled module would keep as Python."""
    return fn


def boolean_dispatch(
    arg_name: str, arg_index: int, default: bool, if_true: Any, if_false: Any, module_name: str, func_name: str
) -> Callable[..., Any]:
    """A function that calls one of two, by the truth of one argument.

    >>> pick = boolean_dispatch("both", 1, False, lambda x, both=False: (x, x), lambda x, both=False: x, "m", "pick")
    >>> pick(1), pick(1, True), pick(1, both=True)
    (1, (1, 1), (1, 1))
    """

    def chosen(*args: Any, **kwargs: Any) -> Any:
        true = kwargs.get(arg_name, args[arg_index] if arg_index < len(args) else default)
        return (if_true if true else if_false)(*args, **kwargs)

    chosen.__doc__, chosen.__name__, chosen.__module__ = if_true.__doc__ or if_false.__doc__, func_name, module_name
    return chosen
