"""Attributes and methods of tensors that are no operators, for classes with a `__torch_function__` of their own.

PyTorch asks such a class for `x.shape`, `x.size()`, `len(x)` and all others, too. Here they are replaced in the class when it
is made, so that tensors of other classes know nothing of it.
"""

from __future__ import annotations

import functools
import inspect
from types import FunctionType
from typing import Any

from tenfold.dispatch.late_methods import load_core_methods
from tenfold.dispatch.overrides import disabled_torch_function, handle_torch_function
from tenfold.dispatch.runtime import RUNTIME, STATE

# Of the names with underscores these; the others are not for users.
_SPECIAL = frozenset(
    "__len__ __repr__ __float__ __int__ __complex__ __bool__ __index__ __contains__ __reversed__ __format__ __deepcopy__ "
    "__reduce_ex__ __array__ __setitem__".split()
)
_UNSEEN = frozenset(("as_subclass", "module_load", "ndimension", "nelement"))


def observe(cls: type, base: type) -> None:
    """Have the class's `__torch_function__` asked for what it inherits from `base` and did not define itself."""
    asked: Any = getattr(cls, "__torch_function__", None)
    if getattr(cls, "_asked_for_operators_alone", False):  # a layout of ours, whose table has operators
        return
    if asked is disabled_torch_function or getattr(asked, "__func__", asked) is vars(base)["__torch_function__"].__func__:
        return
    load_core_methods()
    for name, value in [item for c in base.__mro__[:-1] for item in vars(c).items()]:
        if name in _UNSEEN or (name[0] == "_" and name not in _SPECIAL) or inspect.getattr_static(cls, name) is not value:
            continue
        if isinstance(value, property):
            setattr(cls, name, _seen_property(value))
        elif isinstance(value, FunctionType) and not hasattr(value, "op"):
            if value.__name__[0] == "_":
                value.__name__ = name  # by which the class may tell what it is asked
            setattr(cls, name, _seen_method(value))


def is_attribute(func: Any) -> bool:
    """Whether what a class is asked for is an attribute, or a method that is no operator: such a function runs as it is."""
    return (
        isinstance(getattr(func, "__self__", None), property)
        or inspect.getattr_static(RUNTIME["Tensor"], func.__name__, None) is func
    )


def _seen_method(plain: FunctionType) -> Any:
    @functools.wraps(plain)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if STATE.overrides_off:
            return plain(self, *args, **kwargs)
        return handle_torch_function(plain, (self, *args), self, *args, **kwargs)

    return method


def _seen_property(plain: property) -> property:
    def get(self: Any) -> Any:
        return plain.__get__(self) if STATE.overrides_off else handle_torch_function(plain.__get__, (self,), self)

    def put(self: Any, value: Any) -> None:
        if STATE.overrides_off:
            plain.__set__(self, value)
        else:
            handle_torch_function(plain.__set__, (self, value), self, value)

    return property(get, put if plain.fset else None, plain.fdel, plain.__doc__)
