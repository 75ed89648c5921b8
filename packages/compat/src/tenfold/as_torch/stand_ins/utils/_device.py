"""`torch.utils._device`: the default device of a context, and the functions that make tensors on it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import tenfold
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


def device_decorator(device: Any, func: Callable[..., Any]) -> Callable[..., Any]:
    """The function, run under a device."""

    @functools.wraps(func)
    def run(*args: Any, **kwargs: Any) -> Any:
        with tenfold.device(device):
            return func(*args, **kwargs)

    return run
