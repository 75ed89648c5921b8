"""Whether this machine can run the device "cuda", and if not, what is missing: asked once, then remembered."""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import os
import sys
from functools import lru_cache
from typing import Any

# cudaError_t values, from the CUDA runtime's documentation.
NO_DEVICE, INSUFFICIENT_DRIVER = 100, 35
INSTALL = "pip install 'tenfold-backend-cuda[gpu]'"
DRIVER = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
NO_DRIVER = "no NVIDIA driver was found; install one from nvidia.com/drivers, and see that nvidia-smi lists the GPU"


@lru_cache(maxsize=1)
def load_cupy() -> tuple[Any, str]:
    """(the module cupy, ""), or (None, why it cannot be imported)."""
    try:
        return importlib.import_module("cupy"), ""
    except ModuleNotFoundError as error:
        if error.name == "cupy":
            return None, f"CuPy is not installed; install it with {INSTALL}"
        return None, f"CuPy is installed but needs the module {error.name}: {INSTALL}"
    except Exception as error:  # noqa: BLE001 - a broken installation raises anything
        return None, f"CuPy is installed but cannot be imported ({type(error).__name__}: {error}); reinstall it with {INSTALL}"


def has_driver() -> bool:
    """Whether the driver's library, which the CUDA runtime loads by this name, is here."""
    try:
        ctypes.CDLL(DRIVER)
    except OSError:
        return False
    return True


@lru_cache(maxsize=1)
def probe() -> tuple[int, str]:
    """(number of devices, ""), or (0, why there is none)."""
    if "cupy" not in sys.modules and importlib.util.find_spec("cupy") is not None and not has_driver():
        return 0, NO_DRIVER  # found out without CuPy, whose import takes 0.3 s from programs that only ask
    cupy, reason = load_cupy()
    if cupy is None:
        return 0, reason
    try:
        count = int(cupy.cuda.runtime.getDeviceCount())
    except Exception as error:  # noqa: BLE001 - the driver's own errors, whose class needs CuPy to name
        return 0, _explain(cupy, error)
    return (count, "") if count else (0, _no_device())


def _explain(cupy: Any, error: Exception) -> str:
    status = getattr(error, "status", None)
    if status == NO_DEVICE:
        return _no_device()
    if status == INSUFFICIENT_DRIVER:
        driver, runtime = int(cupy.cuda.runtime.driverGetVersion()), int(cupy.cuda.runtime.runtimeGetVersion())
        if driver == 0:
            return NO_DRIVER
        return (
            f"the NVIDIA driver supports CUDA {version(driver)} and this CuPy needs CUDA {version(runtime)}; "
            f"update the driver, or install the CuPy for CUDA {driver // 1000}"
        )
    return f"the CUDA runtime failed ({type(error).__name__}: {error}); nvidia-smi may tell more"


def _no_device() -> str:
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return f"CUDA_VISIBLE_DEVICES={visible!r} hides every GPU; unset it, or set it to a GPU's number such as 0"
    return "the NVIDIA driver works but this machine has no CUDA GPU; see nvidia-smi"


def version(number: int) -> str:
    """CUDA's version numbers as people write them.

    >>> version(13020)
    '13.2'
    """
    return f"{number // 1000}.{number % 1000 // 10}"


def forget() -> None:
    """Look again at the next question: something was installed or replaced."""
    load_cupy.cache_clear()
    probe.cache_clear()
