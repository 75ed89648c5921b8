"""What autocast does in this thread: on or off and the dtype for each device type, and whether casts are kept.

`autocast` changes these for a block; the functions here read and change them by themselves, as programs that carry
autocast's state from one place to another do.
"""

from __future__ import annotations

import threading
from typing import Any

from tenfold.dispatch.devices import device
from tenfold.plugins import backends
from tenfold.tensor.tensor import Tensor
from tenfold.types import dtypes

# Device types of PyTorch's that may be asked about though no backend here has them.
_KNOWN = frozenset(
    "cpu cuda ipu xpu mkldnn opengl opencl ideep hip ve fpga maia xla lazy vulkan mps meta hpu mtia privateuseone".split()
)


class Settings(threading.local):
    """One thread's settings; what is not in a dictionary is at its default."""

    def __init__(self) -> None:
        self.enabled: dict[str, bool] = {}
        self.fast: dict[str, dtypes.dtype] = {}
        self.cache = True
        self.nesting = 0
        self.casts: dict[int, tuple[Tensor, int, Tensor]] = {}  # id: (tensor, its version then, cast)


SETTINGS = Settings()


def default_dtype(device_type: str) -> dtypes.dtype:
    """The half type that products on devices of a type get if nobody says otherwise."""
    return dtypes.bfloat16 if device_type == "cpu" else dtypes.float16


def checked(device_type: Any) -> str:
    if isinstance(device_type, device):
        device_type = device_type.type
    if not isinstance(device_type, str):
        raise TypeError(f"argument 'device_type' (position 1) must be str, not {type(device_type).__name__}")
    kind = device_type.partition(":")[0]  # of "cuda:0"
    if kind not in _KNOWN and kind not in backends():
        known = ", ".join(sorted({*_KNOWN, *backends()}))
        raise RuntimeError(f"Expected one of {known} device type at start of device string: {kind}")
    return kind


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether operators on devices of a type are cast here.

    >>> import tenfold
    >>> with tenfold.autocast("cpu"):
    ...     tenfold.is_autocast_enabled("cpu"), tenfold.is_autocast_enabled("cuda")
    (True, False)
    """
    return SETTINGS.enabled.get(checked(device_type), False)


def get_autocast_dtype(device_type: str) -> dtypes.dtype:
    """The dtype that products on devices of a type get, here or with an `autocast` that names none.

    >>> import tenfold
    >>> tenfold.get_autocast_dtype("cpu")
    tenfold.bfloat16
    """
    device_type = checked(device_type)
    return SETTINGS.fast.get(device_type) or default_dtype(device_type)


def set_autocast_dtype(device_type: str, dtype: dtypes.dtype) -> None:
    """Choose the dtype that products on devices of a type get where an `autocast` names none.

    >>> import tenfold
    >>> tenfold.set_autocast_dtype("cpu", tenfold.float16)
    >>> tenfold.get_autocast_dtype("cpu")
    tenfold.float16
    >>> tenfold.set_autocast_dtype("cpu", tenfold.bfloat16)
    """
    if not isinstance(dtype, dtypes.dtype):
        raise TypeError(f"set_autocast_dtype(): argument 'dtype' (position 2) must be tenfold.dtype, not {type(dtype).__name__}")
    SETTINGS.fast[checked(device_type)] = dtype


def is_autocast_cache_enabled() -> bool:
    """Whether weights are cast once for all uses inside an `autocast`."""
    return SETTINGS.cache


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Choose whether weights are cast once for all uses inside an `autocast`."""
    SETTINGS.cache = enabled


def clear_autocast_cache() -> None:
    """Forget the casts of weights."""
    SETTINGS.casts.clear()


def autocast_increment_nesting() -> int:
    """Count one more block of `autocast`, and return how many there are."""
    SETTINGS.nesting += 1
    return SETTINGS.nesting


def autocast_decrement_nesting() -> int:
    """Count one block of `autocast` less, and return how many are left."""
    SETTINGS.nesting -= 1
    return SETTINGS.nesting


def get_autocast_gpu_dtype() -> dtypes.dtype:
    """`get_autocast_dtype("cuda")`."""
    return get_autocast_dtype("cuda")


def get_autocast_cpu_dtype() -> dtypes.dtype:
    """`get_autocast_dtype("cpu")`."""
    return get_autocast_dtype("cpu")


def set_autocast_gpu_dtype(dtype: dtypes.dtype) -> None:
    """`set_autocast_dtype("cuda", dtype)`."""
    set_autocast_dtype("cuda", dtype)


def set_autocast_cpu_dtype(dtype: dtypes.dtype) -> None:
    """`set_autocast_dtype("cpu", dtype)`."""
    set_autocast_dtype("cpu", dtype)


def is_autocast_cpu_enabled() -> bool:
    """`is_autocast_enabled("cpu")`."""
    return is_autocast_enabled("cpu")
