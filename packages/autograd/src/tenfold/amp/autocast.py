"""The autocast layer: chooses the dtype in which each operator runs.

Source: P. Micikevicius et al., "Mixed Precision Training", ICLR 2018; the lists follow PyTorch's for the CPU and CUDA.
"""

from __future__ import annotations

import functools
import warnings
from typing import Any

from tenfold.amp import lists
from tenfold.dispatch.operators import Operator
from tenfold.dispatch.runtime import STATE, Layer, call_inside
from tenfold.plugins import backends
from tenfold.tensor.tensor import Tensor
from tenfold.types import dtypes


def is_autocast_available(device_type: str) -> bool:
    """Whether autocast knows this device type: every registered one.

    >>> import tenfold
    >>> tenfold.amp.is_autocast_available("cpu")
    True
    """
    return device_type in backends()


class autocast(Layer):  # noqa: N801 - PyTorch's name
    """Run operators inside in the dtype that suits them: products in `dtype`, losses (and off the CPU sums) in float32.

    Only float32 and half tensors on devices of the given type are cast. The gradient graph holds the casts, so
    gradients arrive in the dtype of the parameters. Also a decorator.

    >>> import tenfold
    >>> a = tenfold.ones(2, 2)
    >>> with tenfold.autocast("cpu", dtype=tenfold.bfloat16):
    ...     (a @ a).dtype, (a @ a).prod().dtype
    (tenfold.bfloat16, tenfold.float32)
    """

    def __init__(self, device_type: str, dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"autocast: expected `device_type` of type `str`, got: `{type(device_type)}`")
        if not is_autocast_available(device_type):
            if device_type != "cuda":
                raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
            if enabled:
                warnings.warn(
                    "User provided device_type of 'cuda', but CUDA is not available. Disabling", UserWarning, stacklevel=2
                )
            enabled = False
        self.device_type, self.enabled, self.lists = device_type, enabled, lists.for_device(device_type)
        self.fast_dtype = dtype or _default_dtype(device_type)
        if self.fast_dtype not in (dtypes.float16, dtypes.bfloat16):
            raise RuntimeError(f"autocast: dtype must be tenfold.float16 or tenfold.bfloat16, got {self.fast_dtype}")
        self.cache_enabled = cache_enabled is not False
        self._casts: dict[int, tuple[Tensor, int, Tensor]] = {}  # id: (tensor, its version then, cast)

    def handle(self, operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        # The innermost autocast decides alone.
        STATE.layers = tuple(layer for layer in STATE.layers if not isinstance(layer, autocast))
        name = operator.name
        if name in self.lists.kept:
            return operator.fn(*args, **kwargs)
        if self.enabled and (name in self.lists.lower or name in self.lists.float32):
            target = self.fast_dtype if name in self.lists.lower else dtypes.float32
            cast = functools.partial(self._cast, target=target)
            return operator.fn(*_map(cast, args), **_map(cast, kwargs))
        return call_inside(self, operator, args, kwargs)  # what a body calls is cast too

    def _cast(self, x: Any, target: dtypes.dtype) -> Any:
        if not isinstance(x, Tensor) or x.device.type != self.device_type or x.dtype is target:
            return x
        if x.dtype not in (dtypes.float32, dtypes.float16, dtypes.bfloat16):
            return x
        if not (self.cache_enabled and x.is_leaf and x.requires_grad and STATE.grad_enabled):
            return x.to(target)
        # A weight used several times is cast once, and its gradients meet at one node.
        known = self._casts.get(id(x))
        if known is None or known[1] != x._version or known[2].dtype is not target:
            known = self._casts[id(x)] = (x, x._version, x.to(target))
        return known[2]

    def __exit__(self, *exc: object) -> None:
        super().__exit__(*exc)
        if not any(isinstance(layer, autocast) for layer in STATE.layers):
            self._casts.clear()

    def __call__(self, function: Any) -> Any:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with autocast(self.device_type, self.fast_dtype, self.enabled, self.cache_enabled):
                return function(*args, **kwargs)

        return wrapped


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether operators on devices of a type are cast here.

    >>> import tenfold
    >>> with tenfold.autocast("cpu"):
    ...     tenfold.is_autocast_enabled("cpu"), tenfold.is_autocast_enabled("cuda")
    (True, False)
    """
    layer = _innermost(device_type)
    return layer is not None and layer.enabled


def get_autocast_dtype(device_type: str) -> dtypes.dtype:
    """The dtype that products on devices of a type get, here or with an `autocast` that names none.

    >>> import tenfold
    >>> tenfold.get_autocast_dtype("cpu")
    tenfold.bfloat16
    """
    layer = _innermost(device_type)
    return _default_dtype(device_type) if layer is None else layer.fast_dtype


def get_autocast_gpu_dtype() -> dtypes.dtype:
    """`get_autocast_dtype("cuda")`."""
    return get_autocast_dtype("cuda")


def get_autocast_cpu_dtype() -> dtypes.dtype:
    """`get_autocast_dtype("cpu")`."""
    return get_autocast_dtype("cpu")


def is_autocast_cpu_enabled() -> bool:
    """`is_autocast_enabled("cpu")`."""
    return is_autocast_enabled("cpu")


def is_autocast_cache_enabled() -> bool:
    """Whether weights are cast once for all uses inside an `autocast`."""
    layer = next((layer for layer in reversed(STATE.layers) if isinstance(layer, autocast)), None)
    return layer is None or layer.cache_enabled


def clear_autocast_cache() -> None:
    """Forget the casts of weights."""
    for layer in STATE.layers:
        if isinstance(layer, autocast):
            layer._casts.clear()


def _innermost(device_type: str) -> autocast | None:
    layers = (layer for layer in reversed(STATE.layers) if isinstance(layer, autocast))
    return next((layer for layer in layers if layer.device_type == device_type), None)


def _default_dtype(device_type: str) -> dtypes.dtype:
    return dtypes.bfloat16 if device_type == "cpu" else dtypes.float16


def _map(function: Any, value: Any) -> Any:
    """Apply to every leaf of nested tuples, lists and dictionaries."""
    if isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
        return type(value)([_map(function, v) for v in value])
    if isinstance(value, dict):
        return {k: _map(function, v) for k, v in value.items()}
    return function(value)
