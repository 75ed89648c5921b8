"""The autocast layer: chooses the dtype in which each operator runs.

Source: P. Micikevicius et al., "Mixed Precision Training", ICLR 2018; the lists follow PyTorch's for the CPU and CUDA.
"""

from __future__ import annotations

import functools
import threading
import warnings
from collections.abc import Iterator
from typing import Any

from tenfold.amp import lists
from tenfold.amp.settings import (
    SETTINGS,
    autocast_decrement_nesting,
    autocast_increment_nesting,
    checked,
    clear_autocast_cache,
    get_autocast_dtype,
    is_autocast_enabled,
)
from tenfold.dispatch.devices import device
from tenfold.dispatch.operators import Operator, op
from tenfold.dispatch.runtime import STATE, Layer, call_inside, count_active, enter_outermost, leave_outermost
from tenfold.plugins import backends
from tenfold.tensor.tensor import Tensor
from tenfold.types import dtypes


def is_autocast_available(device_type: str) -> bool:
    """Whether autocast knows this device type: every registered one. RuntimeError for what is none.

    >>> import tenfold
    >>> tenfold.amp.is_autocast_available("cpu")
    True
    """
    return device(device_type).type in backends()


class _Here(threading.local):
    """What of this thread's casting layers counts among those that operators look for."""

    counted = 0


_HERE = _Here()


class Casting(Layer):
    """Casts the arguments of every operator as this thread's settings say, once however many of these are entered."""

    only_casts = True  # so that what has its dtypes already need not show itself to it

    def handle(self, operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        layers = STATE.layers
        if layers:
            layers = STATE.layers = tuple([layer for layer in layers if not isinstance(layer, Casting)])
        first = args[0] if args else None
        if type(first) is Tensor and SETTINGS.enabled.get(first._key.type):
            device_type = first._key.type
        else:
            device_type = _device_type(args, kwargs)
        kinds = {} if device_type is None else lists.for_device(device_type).kinds
        kind = kinds.get(operator.name)
        if kind is None:
            form = operator.inplace_of or operator
            if (form.body or form.overload_body) is not None or (form is not operator and kinds.get(form.name, "kept") != "kept"):
                return call_inside(self, operator, args, kwargs)  # what a body calls is cast, too
        if layers:
            return _cast_and_called(operator, kind, device_type, args, kwargs)
        # Nobody else looks: the call and its casts go the short way, as outside of all layers.
        counted, _HERE.counted = _HERE.counted, 0
        count_active(-counted)
        try:
            return _cast_and_called(operator, kind, device_type, args, kwargs)
        finally:
            count_active(counted)
            _HERE.counted += counted

    def __enter__(self) -> Any:
        _HERE.counted += 1
        return super().__enter__()

    def __exit__(self, *exc: object) -> None:
        super().__exit__(*exc)
        _HERE.counted -= 1


def _cast_and_called(
    operator: Operator, kind: str | None, device_type: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    if kind == "banned":
        raise RuntimeError(
            f"{operator.name} and its layer are unsafe to autocast on {device_type}: a probability of half precision is easily 0 "
            "or 1, whose logarithm has no finite gradient. Leave out the sigmoid before it and take "
            "binary_cross_entropy_with_logits (BCEWithLogitsLoss), or convert to float32 inside autocast(..., enabled=False)"
        )
    if kind is not None and kind != "kept":
        lower = kind == "lower" or (kind == "widest" and not _any_float32(device_type, args, kwargs))
        target = get_autocast_dtype(device_type) if lower else dtypes.float32
        cast = functools.partial(_cast, device_type=device_type, target=target)
        args = tuple([_cast(x, device_type, target) if type(x) is Tensor else _map(cast, x) for x in args])
        kwargs = {k: _map(cast, v) for k, v in kwargs.items()} if kwargs else kwargs
    return operator.fn(*args, **kwargs)


def _device_type(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The device type on whose lists a call goes: that of its tensors, if autocast is on for it."""
    on = [name for name, enabled in SETTINGS.enabled.items() if enabled]
    return next((t.device.type for t in _tensors([args, kwargs]) if t.device.type in on), None) if on else None


def _any_float32(device_type: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    return any(t.dtype is dtypes.float32 and t.device.type == device_type for t in _tensors([args, kwargs]))


def _tensors(value: Any) -> Iterator[Tensor]:
    """The tensors in nested tuples, lists and dictionaries."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (tuple, list, dict)):
        for v in value.values() if isinstance(value, dict) else value:
            yield from _tensors(v)


def _cast(x: Any, device_type: str, target: dtypes.dtype) -> Any:
    if not isinstance(x, Tensor) or x.dtype is target or x._key.type != device_type:
        return x
    if x.dtype not in (dtypes.float32, dtypes.float16, dtypes.bfloat16):
        return x
    if not (SETTINGS.cache and x.is_leaf and x.requires_grad and STATE.grad_enabled):
        return op.to_dtype.fn(x, target)
    # A weight used several times is cast once, and its gradients meet at one node.
    casts = SETTINGS.casts
    known = casts.get(id(x))
    if known is None or known[1] != x._version or known[2].dtype is not target:
        known = casts[id(x)] = (x, x._version, op.to_dtype.fn(x, target))
    return known[2]


class autocast(Casting):  # noqa: N801 - PyTorch's name
    """Run operators inside in the dtype that suits them: products in `dtype`, losses (and off the CPU sums) in float32.

    Only float32 and half tensors on devices of the given type are cast; an `autocast` for another type around this one
    goes on. The gradient graph holds the casts, so gradients arrive in the dtype of the parameters. Also a decorator.

    >>> import tenfold
    >>> a = tenfold.ones(2, 2)
    >>> with tenfold.autocast("cpu", dtype=tenfold.bfloat16):
    ...     (a @ a).dtype, (a @ a).prod().dtype
    (tenfold.bfloat16, tenfold.float32)
    """

    def __init__(self, device_type: str, dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        device_type = device_type.partition(":")[0]
        if not is_autocast_available(device_type) and device_type != "cuda":
            if not device_type.isidentifier():  # as devices themselves are refused
                raise RuntimeError(f"Invalid device string: '{device_type}'")
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        self.device = device_type
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        self._cache_enabled = SETTINGS.cache if cache_enabled is None else cache_enabled
        self._enabled = enabled and self._possible()
        self._previous: list[tuple[bool, dtypes.dtype, bool]] = []  # one for each block that is open

    def _possible(self) -> bool:
        """Whether there is such a device, and its products can have the dtype; warns where not."""
        why = None
        if not is_autocast_available(self.device):
            why = "User provided device_type of 'cuda', but CUDA is not available. Disabling"
        elif self.fast_dtype not in (dtypes.float16, dtypes.bfloat16):
            why = (
                f"In {self.device.upper()} autocast, but the target dtype is not supported. Disabling autocast.\n"
                f"{self.device.upper()} Autocast only supports dtypes of {dtypes.bfloat16}, {dtypes.float16} currently."
            )
        if why is not None:
            warnings.warn(why, UserWarning, stacklevel=3)
        return why is None

    def __enter__(self) -> Any:
        self._previous.append((is_autocast_enabled(self.device), get_autocast_dtype(self.device), SETTINGS.cache))
        self._set(self._enabled, self.fast_dtype, self._cache_enabled)
        autocast_increment_nesting()
        return super().__enter__()

    def __exit__(self, *exc: object) -> None:
        super().__exit__(*exc)
        if autocast_decrement_nesting() == 0:
            clear_autocast_cache()
        self._set(*self._previous.pop())
        _stay_on()

    def _set(self, enabled: bool, dtype: dtypes.dtype, cache: bool) -> None:
        SETTINGS.enabled[self.device], SETTINGS.fast[self.device], SETTINGS.cache = enabled, dtype, cache

    def __call__(self, function: Any) -> Any:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return wrapped


_OUTSIDE = Casting()  # the layer of a thread in which autocast was switched on by hand, around all others


def _stay_on() -> None:
    """Have operators cast outside of every block, too, exactly if autocast is on for some device type."""
    on, there = any(SETTINGS.enabled.values()), _OUTSIDE in STATE.layers
    if there and not on:
        leave_outermost(_OUTSIDE)
        _HERE.counted -= 1
    elif on and not (there or SETTINGS.nesting):
        enter_outermost(_OUTSIDE)
        _HERE.counted += 1


def set_autocast_enabled(*arguments: Any, **named: Any) -> None:
    """`set_autocast_enabled(device_type, enabled)`: cast operators on devices of a type, or no longer.

    `set_autocast_enabled(enabled)` is about "cuda". It holds in this thread until it is changed, inside a block until its end.

    >>> import tenfold
    >>> tenfold.set_autocast_enabled("cpu", True)
    >>> (tenfold.ones(2, 2) @ tenfold.ones(2, 2)).dtype
    tenfold.bfloat16
    >>> tenfold.set_autocast_enabled("cpu", False)
    """
    given = [*arguments, *(named[key] for key in ("device_type", "enabled") if key in named)]
    if len(given) not in (1, 2) or len(given) != len(arguments) + len(named):
        raise TypeError("set_autocast_enabled() takes (device_type, enabled) or (enabled)")
    device_type, enabled = given if len(given) == 2 else ("cuda", *given)
    if not isinstance(enabled, bool):
        raise TypeError(
            f"set_autocast_enabled(): argument 'enabled' (position {len(given)}) must be bool, not {type(enabled).__name__}"
        )
    SETTINGS.enabled[checked(device_type)] = enabled
    _stay_on()


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """`set_autocast_enabled("cpu", enabled)`."""
    set_autocast_enabled("cpu", enabled)


def _map(function: Any, value: Any) -> Any:
    """Apply to every leaf of nested tuples, lists and dictionaries; those in which nothing changes stay what they are."""
    if isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
        made = [_map(function, v) for v in value]
        return value if all(a is b for a, b in zip(made, value)) else type(value)(made)
    if isinstance(value, dict):
        return {k: _map(function, v) for k, v in value.items()}
    return function(value)
