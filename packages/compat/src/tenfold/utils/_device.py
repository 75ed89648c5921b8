"""`torch.utils._device`: the default device of a context, and the functions that make tensors on it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import tenfold
from tenfold.dispatch.gradmode import DecoratorContext
from tenfold.overrides import TorchFunctionMode

_MAKERS = (
    "arange as_tensor asarray bartlett_window blackman_window empty empty_permuted empty_strided eye full hamming_window "
    "hann_window kaiser_window linspace logspace ones rand randint randn randperm scalar_tensor sparse_bsc_tensor "
    "sparse_bsr_tensor sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor "
    "sparse_csr_tensor tensor tril_indices triu_indices zeros"
)


@functools.cache
def _device_constructors() -> set[Callable[..., Any]]:
    """The functions that make tensors on a default device.

    >>> tenfold.ones in _device_constructors()
    True
    """
    return {getattr(tenfold, name) for name in _MAKERS.split() if hasattr(tenfold, name)}


class DeviceContext(TorchFunctionMode):
    """A context whose factories make tensors on a device unless they are told another.

    >>> with DeviceContext(tenfold.device("meta")):
    ...     tenfold.ones(2).device.type
    'meta'
    """

    def __init__(self, device: Any) -> None:
        self.device = tenfold.device(device)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        named = dict(kwargs or {})
        if func in _device_constructors() and named.get("device") is None:
            named["device"] = self.device
        return func(*args, **named)


class _On(DecoratorContext):
    """A device that functions, and the code of generators, run under."""

    def __init__(self, device: Any) -> None:
        self._device = device

    def __enter__(self) -> Any:
        self._context = tenfold.device(self._device)
        return self._context.__enter__()

    def __exit__(self, *exc: object) -> Any:
        return self._context.__exit__(*exc)

    def clone(self) -> _On:
        return _On(self._device)


def device_decorator(device: Any, func: Callable[..., Any]) -> Callable[..., Any]:
    """The function, run under a device.

    >>> device_decorator("meta", tenfold.ones)(2).device.type
    'meta'
    """
    return _On(device)(func)


def set_device(device: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that runs a function under a device."""
    return functools.partial(device_decorator, tenfold.device(device))
