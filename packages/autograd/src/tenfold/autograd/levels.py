"""Levels: what vmap and forward mode have in common.

A transform that is entered is a level. A tensor inside it is a wrapper: an ordinary `Tensor` whose array is a `Meta` with
the shape and dtype that the user's function sees and, beside them, the value: a tensor of a lower level (or none). Its
key names the transform. Dispatch hands an operator call to the highest level among the arguments, which computes on the
values, that is one level lower, and wraps the result. The tape on wrappers lies half a level above: it records the
calls that the wrappers are in, while a tape on the values records what the transform makes of them. So any nesting of
vmap, jvp and grad is right as long as each unwraps exactly its own level.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from tenfold.dispatch.devices import NO_KERNELS
from tenfold.dispatch.meta import Meta, MetaBackend
from tenfold.dispatch.operators import Operator
from tenfold.dispatch.runtime import RUNTIME, STATE, set_transforms
from tenfold.tensor.tensor import Tensor

new = object.__new__


class _Scopes(threading.local):
    """The functions that this thread is differentiating by their arguments (`grad`, `vjp` and what is made of them)."""

    depth = 0  # how many there are
    open: tuple[Any, ...] = ()  # their scopes, outermost first
    # Whether gradients are pulled back from directions that forward mode chose: rules need not ask whether these make sense.
    pushing = False


SCOPES = _Scopes()


class LevelBackend(MetaBackend):
    """What wrappers say about memory: strides and offsets are those of the value, so that views of wrappers agree."""

    def memory(self, array: Any) -> tuple[Any, int, int]:
        value = array.value
        return value._key.backend.memory(value._array)  # type: ignore[no-any-return]


_BACKEND = LevelBackend()


class LevelKey:
    """The key of a wrapper: on which device its value lies, and which transform handles it."""

    __slots__ = ("device", "level", "transform")
    override, kernels = False, NO_KERNELS
    backend, array_type, coerce = _BACKEND, Meta, _BACKEND.coerce

    def __init__(self, transform: Transform, device: Any) -> None:
        self.device, self.transform, self.level = device, transform, transform.level

    @property
    def type(self) -> Any:
        return self.device.type

    @property
    def index(self) -> Any:
        return self.device.index


class Transform:
    """One entered level; `with transform:` is its extent. Subclasses are `BatchLevel` and `DualLevel`."""

    level = 0
    shown = 0  # the number by which users see it: functions being differentiated count, too
    closed = False
    key_type = LevelKey
    by_hand = False  # entered with forward_ad: the user sees the wrappers, and may go backward from them
    # Whether a tape of a lower level records what this level computes.
    recorded_below = False
    within_recording = True  # what is inside `no_grad` as a whole, no tape below records

    def __init__(self) -> None:
        self.keys: dict[Any, LevelKey] = {}

    def __enter__(self) -> Any:
        entered = STATE.transforms
        self.level = level = entered[-1].level + 1 if entered else 1
        self.shown = level + SCOPES.depth
        self.within_recording = STATE.grad_enabled
        set_transforms((*entered, self))
        return self

    def __exit__(self, *exc: object) -> None:
        entered = STATE.transforms
        set_transforms(entered[:-1] if entered[-1] is self else tuple(t for t in entered if t is not self))
        self.closed = True

    def key(self, device: Any) -> LevelKey:
        """The key of this level's wrappers on a device."""
        found = self.keys.get(device)
        if found is None:
            found = self.keys[device] = self.key_type(self, device)
        return found

    def arranged(self, operator: Operator, source: Any, result: Any, wrapped: Any) -> Any:
        """Wrapped results in the tuple that `result` came in, as views of `source` where the operator makes views."""
        if hasattr(result, "_fields"):
            wrapped = type(result)(*wrapped)
        if operator.view and source is not None and self.owns(source):
            for view in (wrapped,) if isinstance(wrapped, Tensor) else wrapped:
                RUNTIME["share"](view, source)
        return wrapped

    def owns(self, value: Any) -> bool:
        """Whether a value is a wrapper of this level."""
        key = getattr(value, "_key", None)
        return key is not None and key.level is not None and key.transform is self

    def follows(self, tensor: Tensor) -> bool:
        """Whether the tape of this level has a place for a tensor: on those of func, only its own wrappers have."""
        return tensor._node is not None and self.owns(tensor)

    def make(self, array: Meta, device: Any) -> Tensor:
        """A wrapper with this array."""
        t: Any = new(Tensor)
        t._array, t._key = array, self.key(device)
        t._node = t._storage = t._base = None
        return t  # type: ignore[no-any-return]

    def lift(self, tensor: Tensor) -> Tensor:
        """A tensor of a lower level as a constant of this one; wrappers of this level stay."""
        return tensor if self.owns(tensor) else self.constant(tensor)

    def lifted(self, value: Any) -> Any:
        """An argument as the tape of this level may save it: without ties to the tapes of lower levels."""
        if isinstance(value, (list, tuple)) and any(isinstance(v, Tensor) for v in value):
            return [self.lifted(v) for v in value]
        if isinstance(value, Tensor) and value._node is not None:
            return self.lift(value)
        return value

    def quick(self, operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a call that needs nothing of the full dispatch; NotImplemented for all others."""
        return NotImplemented

    def before_write(self, tensor: Tensor) -> None:
        """Called before forward mode writes to a primal value, which a level may want to keep as it is."""

    # What the subclasses define

    def handles(self, operator: Operator) -> bool:
        """Whether a composite goes to `process` as a whole rather than through its body."""
        return False

    def constant(self, tensor: Tensor) -> Tensor:
        """A wrapper whose value does not depend on what the level varies."""
        raise TypeError(f"{type(self).__name__} defines no constant(tensor)")

    def mapped(self, tensor: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
        """A wrapper with the function applied to what it wraps, at the same place of its own tape."""
        raise TypeError(f"{type(self).__name__} defines no mapped(tensor, function)")

    def process(self, operator: Operator, values: dict[str, Any]) -> Any:
        """The result of a primitive, as wrappers of this level."""
        raise TypeError(f"{type(self).__name__} defines no process(operator, values)")

    def write(self, name: str, target: Tensor, result: Tensor) -> None:
        """Write a result of at most this level into a tensor in place."""
        raise TypeError(f"{type(self).__name__} defines no write(name, target, result)")

    def readable(self, tensor: Tensor) -> Tensor:
        """The value to hand out when the user asks for numbers; an error where there is no single one."""
        raise TypeError(f"{type(self).__name__} defines no readable(tensor)")

    def refuse_output(self, operator: Operator) -> None:
        """An error for `out=` with a wrapper of this level among the arguments."""
        if operator.random:
            raise RuntimeError(
                f"vmap: {operator.name}: calling out variants of random operations is not possible; use the result instead"
            )
        raise RuntimeError(
            f"Batching rule not implemented for aten::{operator.name}.out; the fallback path doesn't work on out= or view ops: "
            f"inside vmap use the result instead"
        )

    def refuse_data(self, what: str) -> None:
        """RuntimeError where `tensor.data` would leave the transform unnoticed."""

    def repr_of(self, tensor: Tensor) -> str:
        """What `print` shows."""
        raise TypeError(f"{type(self).__name__} defines no repr_of(tensor)")


class Below:
    """Run user code of a level's rule (a custom Function's) as seen from the level below."""

    def __init__(self, transform: Transform) -> None:
        self.transform = transform

    def __enter__(self) -> None:
        self.outer = STATE.transforms
        set_transforms(tuple(t for t in self.outer if t.level < self.transform.level))

    def __exit__(self, *exc: object) -> None:
        set_transforms(self.outer)


def current() -> Transform | None:
    """The innermost transform that this thread is in."""
    return STATE.transforms[-1] if STATE.transforms else None


def highest(tensors: Any) -> Transform | None:
    """The transform of the highest level among tensors; None when all are plain."""
    keys: list[Any] = [t._key for t in tensors if isinstance(t, Tensor)]
    keys = [key for key in keys if key.level is not None]
    return max(keys, key=lambda key: key.level).transform if keys else None


def recorded_below() -> bool:
    """Whether a tape of a lower level than the innermost records what goes on here."""
    # A `no_grad` inside a function being differentiated holds for that function alone, any other for all that is below.
    return (STATE.grad_enabled or SCOPES.depth > 0) and any(t.recorded_below for t in STATE.transforms)


def bare(tensor: Tensor) -> Tensor:
    """The same value without its place on the tape of its own level (values inside keep theirs)."""
    t: Any = new(Tensor)
    t._array, t._key, t._storage, t._node, t._base = tensor._array, tensor._key, tensor._storage, None, None
    return t  # type: ignore[no-any-return]


def primal_of(tensor: Any) -> Any:
    """The value of a tensor that was made dual by hand, at the dual tensor's place in the graph; others as they are."""
    while tensor._key.level is not None and tensor._key.transform.by_hand:
        value = bare(tensor._array.value)
        value._node = tensor._array.value._node if tensor._node is None else tensor._node
        tensor = value
    return tensor


def tensors_in(values: Any) -> list[Tensor]:
    """The tensors among operator arguments, list parameters included."""
    found: list[Tensor] = []
    for value in values:
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += [v for v in value if isinstance(v, Tensor)]
    return found
