"""What every operator call reads: the globals of the generated call paths and the state of each thread.

`RUNTIME` is the globals dictionary of all generated operator functions (callpath.py), so one store here is seen by
all of them. `ACTIVE` counts the layers that any thread has entered and `GRAD_OFF` the threads that switched gradients
off: an operator tests these two integers and looks at its own thread's state only when they are not zero.
"""

from __future__ import annotations

import threading
from array import array
from typing import Any

RUNTIME: dict[str, Any] = {
    "__name__": "tenfold.dispatch.operators",
    "__builtins__": __builtins__,
    "ACTIVE": 0,
    "GRAD_OFF": 0,
    "INFERENCE": 0,  # threads in inference mode, whose results are marked
    "TRANSFORMS": 0,  # levels of vmap and jvp that any thread has entered; only random factories ask
    "new": object.__new__,
}


# The same counts as numbers in memory, for call paths in native code, in the order of `COUNTED`.
FLAGS = array("q", (0, 0, 0, 0))
COUNTED = ("ACTIVE", "GRAD_OFF", "INFERENCE", "TRANSFORMS")


class ThreadState(threading.local):
    """The layers entered by this thread, innermost last, and its gradient modes."""

    layers: tuple[Any, ...] = ()
    transforms: tuple[Any, ...] = ()  # vmap and jvp, outermost first
    beneath: tuple[Any, ...] = ()  # dispatch modes, which are asked beneath the gradient tape, innermost last
    reentering: tuple[Any, ...] = ()  # layers that want to be on again inside the body of the call under way
    devices: tuple[Any, ...] = ()  # the factories' default device is the last one; none is the CPU
    grad_enabled: bool = True
    inference: bool = False
    overrides_off: bool = False


STATE = ThreadState()
_lock = threading.Lock()


def _count(name: str, step: int) -> None:
    with _lock:
        RUNTIME[name] += step
        FLAGS[COUNTED.index(name)] = RUNTIME[name]


def count_active(step: int) -> None:
    """Note that a thread wants to see every call of an operator, or no longer."""
    _count("ACTIVE", step)


def grad_enabled() -> bool:
    """Whether this thread records gradients."""
    return STATE.grad_enabled


RUNTIME["grad_enabled"] = grad_enabled


def set_transforms(transforms: tuple[Any, ...]) -> None:
    """Replace this thread's stack of vmap and jvp levels."""
    state = STATE
    _count("TRANSFORMS", len(transforms) - len(state.transforms))
    state.transforms = transforms


def set_grad_enabled_here(enabled: bool) -> None:
    """Switch gradients on or off for this thread."""
    state = STATE
    if state.grad_enabled != enabled:
        state.grad_enabled = enabled
        with _lock:
            RUNTIME["GRAD_OFF"] += -1 if enabled else 1
            FLAGS[1] = RUNTIME["GRAD_OFF"]


def set_inference_here(enabled: bool) -> None:
    """Enter or leave inference mode in this thread."""
    if STATE.inference != enabled:
        STATE.inference = enabled
        _count("INFERENCE", 1 if enabled else -1)


class Layer:
    """Wraps the call of every operator while entered (`with layer:`), in this thread.

    Subclasses define `handle(operator, args, kwargs)`. While it runs, the layer itself is off, so calling
    `operator(*args, **kwargs)` reaches the next layer out, and in the end the kernel. A layer that also wants the
    operators that a composite's body calls uses `call_inside(self, operator, args, kwargs)` instead. Arguments are
    those of the caller, without defaults.

    >>> import tenfold
    >>> from tenfold.dispatch.runtime import Layer
    >>> class Count(Layer):
    ...     calls = 0
    ...     def handle(self, operator, args, kwargs):
    ...         self.calls += 1
    ...         return operator(*args, **kwargs)
    >>> with Count() as layer:
    ...     y = tenfold.ones(2) + 1
    >>> layer.calls
    2
    """

    def handle(self, operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        raise TypeError(f"{type(self).__name__} is a Layer without a method handle(operator, args, kwargs)")

    def __enter__(self) -> Any:
        STATE.layers = (*STATE.layers, self)
        _count("ACTIVE", 1)
        return self

    def __exit__(self, *exc: object) -> None:
        layers = STATE.layers
        if not layers or layers[-1] is not self:
            raise RuntimeError(f"{type(self).__name__}: layers must be left in the reverse order of entering")
        STATE.layers = layers[:-1]
        _count("ACTIVE", -1)


def enter_outermost(layer: Layer) -> None:
    """Enter a layer around all that this thread has entered, for as long as `leave_outermost` is not called."""
    STATE.layers = (layer, *STATE.layers)
    _count("ACTIVE", 1)


def leave_outermost(layer: Layer) -> None:
    """Leave a layer that `enter_outermost` entered."""
    STATE.layers = tuple(other for other in STATE.layers if other is not layer)
    _count("ACTIVE", -1)


def through_layers(operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Hand a call to this thread's innermost layer, with that layer switched off meanwhile."""
    layers = STATE.layers
    STATE.layers = layers[:-1]
    try:
        return layers[-1].handle(operator, args, kwargs)
    finally:
        STATE.layers = layers


def call_inside(layer: Layer, operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """From a layer's `handle`: carry the call out with the layer on again for what the operator's body calls."""
    previous = STATE.reentering
    STATE.reentering = (layer, *previous)
    try:
        return operator.fn(*args, **kwargs)
    finally:
        STATE.reentering = previous


class suspended_layers:  # noqa: N801 - PyTorch's name
    """Run a block with none of this thread's layers (an implementation's own bookkeeping)."""

    def __enter__(self) -> None:
        self.layers = STATE.layers
        STATE.layers = ()

    def __exit__(self, *exc: object) -> None:
        STATE.layers = self.layers
