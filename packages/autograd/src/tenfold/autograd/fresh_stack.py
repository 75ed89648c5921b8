"""Running a function on a stack of its own, in a thread that is in everything else where the caller is.

A custom Function may go backward inside of its own backward pass, to any depth; an interpreter's stack ends.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from tenfold.amp.settings import SETTINGS
from tenfold.autograd.anomaly import ANOMALY, set_here
from tenfold.autograd.levels import SCOPES
from tenfold.dispatch.runtime import STATE, set_grad_enabled_here, set_inference_here, set_transforms

_COPIED = ("layers", "reentering", "devices", "overrides_off")


def on_fresh_stack(function: Callable[[], Any], begin: Callable[[], None]) -> None:
    """Run a function in a new thread, after `begin`, with this thread's modes; what it raises is raised here."""
    state = {name: getattr(STATE, name) for name in _COPIED}
    modes = STATE.grad_enabled, STATE.inference, STATE.transforms, ANOMALY.enabled, ANOMALY.check_nan
    others = [(place, dict(vars(place))) for place in (SCOPES, SETTINGS)]
    raised: list[BaseException] = []

    def run() -> None:
        for name, value in state.items():
            setattr(STATE, name, value)
        for place, values in others:
            vars(place).update(values)
        _set(*modes)
        try:
            begin()
            function()
        except BaseException as error:  # noqa: BLE001 - it goes on in the caller's thread
            raised.append(error)
        finally:
            _set(True, False, (), False, True)  # the counts of threads in each mode

    thread = threading.Thread(target=run, name="nested backward")
    thread.start()
    thread.join()
    if raised:
        raise raised[0]


def _set(grad_enabled: bool, inference: bool, transforms: tuple[Any, ...], anomaly: bool, check_nan: bool) -> None:
    set_grad_enabled_here(grad_enabled)
    set_inference_here(inference)
    set_transforms(transforms)
    set_here(anomaly, check_nan)


__all__ = ["on_fresh_stack"]
