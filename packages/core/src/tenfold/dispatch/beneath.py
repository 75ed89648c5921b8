"""Whether somebody is asked beneath the gradient tape: a mode or a tensor's class with PyTorch's `__torch_dispatch__`.

How they are asked is the service `ask_beneath`, in the package tenfold-compat. A mode counts as an entered layer, and such a
tensor's key has no kernels, so that the call paths take the full dispatch, which looks here.
"""

from typing import Any, ClassVar, Self

from tenfold.dispatch.devices import META, NO_KERNELS, OverrideKey
from tenfold.dispatch.overrides import disabled_torch_function
from tenfold.dispatch.runtime import STATE


class BeneathKey(OverrideKey):
    """The key of a tensor whose class has `__torch_dispatch__`; `overrides`: and a `__torch_function__` of its own.

    A `wrapper` has a shape and no memory: what it means is in other tensors that its class knows.
    """

    __slots__ = ()
    _made: ClassVar[dict[Any, Any]] = {}

    def __new__(cls, device: Any, overrides: bool = False, wrapper: bool = False) -> Self:
        found: Self | None = cls._made.get((device, overrides, wrapper))
        if found is None:
            found = object.__new__(cls)
            found.device, found.override, found.kernels, found.level = device, overrides, NO_KERNELS, None
            found.type, found.index = device.type, device.index
            holder = META if wrapper else device
            found.backend, found.array_type, found.coerce = holder.backend, holder.array_type, holder.coerce
            cls._made[device, overrides, wrapper] = found
        return found


def asks(cls: type) -> bool:
    """Whether a class has a `__torch_dispatch__` that says anything."""
    found = getattr(cls, "__torch_dispatch__", None)
    return found is not None and found is not disabled_torch_function


def is_asked(tensors: list[Any]) -> bool:
    """Whether a mode is entered or a class among the tensors' asks; vmap and jvp come before."""
    found = bool(STATE.beneath)
    for t in tensors:
        key = t._key
        if key.level is not None:
            return False
        found = found or type(key) is BeneathKey
    return found
