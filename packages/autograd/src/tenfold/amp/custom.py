"""Custom functions under autocast: `custom_fwd` and `custom_bwd` decorate the methods of a `Function`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tenfold.amp.autocast import autocast
from tenfold.amp.settings import get_autocast_dtype, is_autocast_enabled
from tenfold.tensor.tensor import Tensor
from tenfold.types import dtypes


def custom_fwd(fwd: Callable[..., Any] | None = None, *, device_type: str, cast_inputs: Any = None) -> Any:
    """Decorate `forward`: its backward will run under the same autocast; with `cast_inputs` it runs in that dtype without.

    Floating tensors on the device other than float64 are cast. Use `custom_bwd` on `backward`.
    """
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        ctx._dtype = get_autocast_dtype(device_type)
        ctx._fwd_used_autocast = is_autocast_enabled(device_type)
        if cast_inputs is None or not ctx._fwd_used_autocast:
            return fwd(ctx, *args, **kwargs)
        ctx._fwd_used_autocast = False
        with autocast(device_type, enabled=False):
            return fwd(ctx, *_cast(args, device_type, cast_inputs), **_cast(kwargs, device_type, cast_inputs))

    return forward


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Any:
    """Decorate `backward`: it runs under the autocast that `forward` ran under."""
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        with autocast(device_type, dtype=ctx._dtype, enabled=ctx._fwd_used_autocast):
            return bwd(ctx, *args, **kwargs)

    return backward


def _cast(value: Any, device_type: str, dtype: Any) -> Any:
    """Nested arguments with their floating tensors of the device in another dtype."""
    if isinstance(value, Tensor):
        eligible = value.is_floating_point() and value.device.type == device_type and value.dtype is not dtypes.float64
        return value.to(dtype) if eligible else value
    if isinstance(value, dict):
        return {name: _cast(item, device_type, dtype) for name, item in value.items()}
    return type(value)(_cast(item, device_type, dtype) for item in value) if type(value) in (list, tuple) else value
