"""`tenfold.Stream` and `tenfold.Event` of whatever device there is, and the module of a device: `get_device_module`."""

from __future__ import annotations

import importlib
from abc import ABCMeta
from typing import Any

from tenfold.dispatch.devices import accelerator_backend, accelerator_type, device


def get_device_module(device: Any = None) -> Any:
    """The module of a device type, such as `tenfold.cuda`; None: that of the accelerator, or `tenfold.cpu` where there is none.

    Raises: RuntimeError for a device that has no module.

    >>> import tenfold
    >>> tenfold.get_device_module("cpu").__name__
    'tenfold.cpu'
    """
    if device is None:
        kind = accelerator_type() if accelerator_backend() is not None else "cpu"
    else:
        kind = _type_of(device)
    try:
        return importlib.import_module(f"tenfold.{kind}")
    except ModuleNotFoundError as error:
        raise RuntimeError(f"Device '{kind}' does not have a module that is registered as 'tenfold.{kind}': {error}") from None


def _type_of(given: Any) -> str:
    return str(device(given).type)


class _Kind(ABCMeta):
    """A class of whatever has its methods; made, it gives an object of a device's own class."""

    _methods: tuple[str, ...] = ()

    def __instancecheck__(cls, instance: Any) -> bool:
        return cls.__subclasscheck__(type(instance))

    def __subclasscheck__(cls, other: type) -> bool:
        return super().__subclasscheck__(other) or all(hasattr(other, name) for name in cls._methods)


class Stream(metaclass=_Kind):
    """A queue of a device's work: `Stream("cuda")` is a `tenfold.cuda.Stream`; None: of the accelerator.

    `with stream:` sends the work of a block to it.

    >>> import tenfold
    >>> isinstance(tenfold.cpu.Stream(), tenfold.Stream)
    True
    """

    _methods = ("record_event", "wait_event", "wait_stream")

    def __new__(cls, device: Any = None, *, priority: int = 0, **known: Any) -> Any:
        if device is None:
            device = accelerator_type()
        module = get_device_module(device)
        return module.Stream() if _type_of(device) == "cpu" else module.Stream(device, priority, **known)


class Event(metaclass=_Kind):
    """A mark in a device's work: `Event("cuda")` is a `tenfold.cuda.Event`; None: of the accelerator.

    >>> import tenfold
    >>> tenfold.Event("cpu").query()
    True
    """

    _methods = ("query", "record", "synchronize", "wait")

    def __new__(
        cls, device: Any = None, *, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> Any:
        if device is None:
            device = accelerator_type()
        made = get_device_module(device).Event
        return made() if _type_of(device) == "cpu" else made(enable_timing, blocking, interprocess)
