"""Attaches kernels to the device "cuda": with several GPUs each one runs where its arrays are.

CuPy launches and allocates on the current GPU, whatever GPU its operands are on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any

from tenfold.cuda import availability, runtime
from tenfold.cuda.playing import played
from tenfold.dispatch import kernels


@lru_cache(maxsize=1)
def _several() -> bool:
    return availability.probe()[0] > 1


def kernel(
    target: Any, *, device: str, chooses_device: bool = False, plays: Callable[[], Any] | bool = False, recycles: bool = False,
    **options: Any,
) -> Callable[[Any], Any]:  # fmt: skip
    """`tenfold.dispatch.kernels.kernel`, for functions that CuPy's calls are in.

    `chooses_device` is for functions that launch where their arrays are by themselves, `plays` for those whose calls can be
    played again (playing.py): True, or a function that gives the switches which they depend on; small results of those that
    `recycles` come back.
    """
    register = kernels.kernel(target, device=device, **options)

    def attach(function: Any) -> Any:
        found = function if chooses_device else where_its_arrays_are(function)
        switches = plays if callable(plays) else None
        register(played(found, switches, function, recycles, bool(options.get("into"))) if plays else found)
        return function

    return attach


def where_its_arrays_are(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with the GPU of its first array as the current one."""

    @wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        if runtime.is_replaced() or not _several():
            return function(*arguments, **options)
        index = _place(arguments)
        cuda = runtime.current().module.cuda
        if index is None or index == cuda.runtime.getDevice():
            return function(*arguments, **options)
        with cuda.Device(index):
            return function(*arguments, **options)

    return call


def _place(arguments: Any) -> int | None:
    """The number of the GPU that the first array is on."""
    for x in arguments:
        if type(x) in (list, tuple):
            found = _place(x)
            if found is not None:
                return found
        found = getattr(getattr(x, "data", None), "device_id", None)
        if found is not None:
            return int(found)
    return None
