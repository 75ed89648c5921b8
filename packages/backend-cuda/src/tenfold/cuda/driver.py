"""Triton's own launches (`kernel[grid](...)`) on Tenfold's tensors, without PyTorch: for kernels that users write.

Tenfold's kernels do not come this way (launch.py is many times faster); what Triton offers beyond it, such as clusters and
tensor descriptors, does. Call `activate()` once; then a tensor of the device "cuda" is an argument like any other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold.cuda import runtime
from tenfold.cuda.architectures import MAJOR, MINOR

# From this version on Triton asks PyTorch only where that is loaded, and hiding it breaks the first look at an argument.
LOOKS_FOR_LOADED_TORCH = (3, 8)


def activate() -> Any:
    """Make Triton launch through CuPy's device and stream from now on; returns the driver.

    Raises: RuntimeError without a GPU, or where kernels are interpreted.
    """
    if runtime.is_replaced():
        raise RuntimeError("driver.activate(): this process interprets kernels, Triton needs no driver in it")
    import triton

    if version_of(triton) >= LOOKS_FOR_LOADED_TORCH:
        driver = make_driver(runtime.current().module)
        triton.runtime.driver.set_active(driver)
        return driver
    with without_torch():
        driver = make_driver(runtime.current().module)
        triton.runtime.driver.set_active(driver)
        _specialise_once()
    return driver


def version_of(triton: Any) -> tuple[int, int]:
    """(major, minor) of Triton."""
    major, minor = triton.__version__.split(".")[:2]
    return int(major), int(minor)


def make_driver(cupy: Any) -> Any:
    """Triton's CUDA driver with CuPy in the places where it asks PyTorch."""
    from triton.backends.nvidia.driver import CudaDriver, CudaLauncher, CudaUtils

    cuda = cupy.cuda.runtime

    class CupyDriver(CudaDriver):  # type: ignore[misc]
        """Device, stream and capability by CuPy."""

        def __init__(self) -> None:  # the parent's would import PyTorch
            self.utils, self.launcher_cls = CudaUtils(), CudaLauncher
            self.get_current_device = cuda.getDevice
            self.set_current_device = cuda.setDevice
            self.get_current_stream = lambda device: cupy.cuda.get_current_stream().ptr
            self.get_device_capability = lambda device: (
                cuda.deviceGetAttribute(MAJOR, device),
                cuda.deviceGetAttribute(MINOR, device),
            )

        @staticmethod
        def is_active() -> bool:
            return True

        def get_active_torch_device(self) -> Any:
            raise RuntimeError("this driver serves Tenfold's tensors: there is no PyTorch device")

        def get_device_interface(self) -> Any:
            return cupy.cuda

        def get_benchmarker(self) -> Callable[..., Any]:
            return milliseconds

        def get_empty_cache_for_benchmark(self) -> Any:
            return cupy.empty(256 * 2**20 // 4, "int32")  # larger than any level-2 cache

        def clear_cache(self, cache: Any) -> None:
            cache.fill(0)

    return CupyDriver()


def milliseconds(function: Callable[[], Any], quantiles: Any = None, repeats: int = 20, **_: Any) -> Any:
    """The median time of a call on the device (or the quantiles), after one to warm up: what Triton's autotuner asks for."""
    from tenfold.cuda.events import Event  # only the autotuner measures

    function()
    times = []
    for _repeat in range(repeats):
        start, end = Event(enable_timing=True), Event(enable_timing=True)
        start.record()
        function()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    return float(np.median(times)) if quantiles is None else np.quantile(times, quantiles).tolist()


class without_torch:  # noqa: N801 - used as a statement
    """Hides PyTorch from imports inside the block, if it is not loaded: Triton 3.6 would load it at the first launch."""

    def __enter__(self) -> None:
        self.hidden = "torch" not in sys.modules
        if self.hidden:
            sys.modules["torch"] = None  # type: ignore[assignment]

    def __exit__(self, *exc: object) -> None:
        if self.hidden:  # left in place it would break Triton 3.9
            sys.modules.pop("torch", None)


def _specialise_once() -> None:
    """Let Triton look at a first argument now, while PyTorch is hidden: it remembers the types that it found."""
    from triton._C.libtriton import native_specialize_impl
    from triton.backends.nvidia.compiler import CUDABackend

    native_specialize_impl(CUDABackend, 1, False, True, True)
