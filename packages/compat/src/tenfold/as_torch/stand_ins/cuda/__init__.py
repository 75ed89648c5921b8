"""`torch.cuda` where tenfold-backend-cuda is not installed: the answers of a PyTorch that was built without CUDA.

Questions are answered (no device, no memory in use), seeds are taken, and what needs a device raises AssertionError with
PyTorch's words and what to install.
"""

from __future__ import annotations

import collections
import contextlib
import importlib
import sys
from collections.abc import Iterator
from typing import Any

import tenfold
from tenfold.as_torch.stand_ins.absent import show
from tenfold.dispatch.devices import AcceleratorError as AcceleratorError, OutOfMemoryError as OutOfMemoryError

_WHY = (
    "Torch not compiled with CUDA enabled: CUDA devices are in the package tenfold-backend-cuda: pip install tenfold-backend-cuda"
)
_TYPED = "Float Double Half BFloat16 Long Int Short Char Byte Bool"
default_generators = ()
has_half, has_magma = True, False
_initialized = False
CudaError = AcceleratorError


class DeferredCudaCallError(Exception):
    """An error of a call that waited for the device; there are none."""


def is_available() -> bool:
    """False: there is no CUDA device.

    >>> is_available()
    False
    """
    return False


is_initialized = is_bf16_supported = is_tf32_supported = is_available


def device_count() -> int:
    """The number of devices: 0."""
    return 0


def memory_allocated(device: Any = None) -> int:
    """The bytes in use: 0."""
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_cached = max_memory_cached = memory_allocated


def memory_stats(device: Any = None) -> dict[str, Any]:
    """What is known of the devices' memory: nothing."""
    return collections.OrderedDict()


def manual_seed(seed: int) -> None:
    """Seed the devices' generators; there are none."""


manual_seed_all = manual_seed


def seed() -> None:
    """Seed the devices' generators; there are none."""


seed_all = empty_cache = seed


def get_rng_state_all() -> list[Any]:
    """The states of the devices' generators; there are none."""
    return []


def set_rng_state_all(new_states: Any) -> None:
    """Set the states of the devices' generators: nothing, unless some are given."""
    if len(new_states):
        _lazy_init()


def get_arch_list() -> list[str]:
    """The architectures that there are kernels for: none."""
    return []


def get_gencode_flags() -> str:
    """The compiler's flags: none."""
    return ""


def _lazy_init() -> None:
    raise _refusal()


def _refusal(name: str = "") -> Exception:
    """PyTorch's error for a build without CUDA; where the package is installed, its reason why there is no device."""
    installed = sys.modules.get("tenfold.cuda")
    if installed is None:
        return AssertionError(_WHY)
    return RuntimeError(f"{name and f'torch.cuda.{name}: '}No CUDA GPUs are available: {installed.unavailable_reason()}")


def _device_needed(name: str) -> Any:
    def missing(*arguments: Any, **options: Any) -> Any:
        raise _refusal(name)

    missing.__name__ = missing.__qualname__ = name
    missing.__doc__ = "AssertionError: there is no device."
    return missing


_NEED_A_DEVICE = (
    "current_device current_stream default_stream get_device_capability get_device_name get_device_properties get_rng_state "
    "set_rng_state init initial_seed ipc_collect mem_get_info memory_summary memory_snapshot reset_peak_memory_stats "
    "reset_max_memory_allocated reset_max_memory_cached reset_accumulated_memory_stats set_device synchronize cudart "
    "can_device_access_peer current_blas_handle set_per_process_memory_fraction get_sync_debug_mode set_sync_debug_mode "
    "graph_pool_handle make_graphed_callables caching_allocator_alloc caching_allocator_delete"
)
globals().update({name: _device_needed(name) for name in _NEED_A_DEVICE.split()})


def is_current_stream_capturing() -> bool:
    """False: no graph is being captured."""
    return False


class device:  # noqa: N801 - PyTorch's name
    """A context with another current device; without devices it does nothing, as in PyTorch."""

    def __init__(self, device: Any) -> None:
        self.idx = device

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass


class device_of(device):  # noqa: N801 - PyTorch's name
    """A context with the device of a tensor, which is no CUDA device."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if obj.is_cuda else -1)


class StreamContext(device):
    """A context with another current stream; without devices it does nothing."""


@contextlib.contextmanager
def stream(stream: Any) -> Iterator[None]:
    """A context with another current stream; without devices it does nothing."""
    yield


class Stream:
    """A stream of a device; there is none."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        name = f"torch.cuda.{type(self).__name__}"
        if "tenfold.cuda" in sys.modules:
            raise RuntimeError(f"{name}: the package tenfold-backend-cuda has none")
        raise RuntimeError(f"{name} requires CUDA support. {_WHY}")


class Event(Stream):
    """An event of a device; there is none."""


class CUDAGraph(Stream):
    """Recorded work of a device; there is none."""


class graph(Stream):  # noqa: N801 - PyTorch's name
    """A context that records work of a device; there is none."""


make_graphed_callables = graph
ExternalStream = MemPool = Stream


class _TensorType(type):
    """The class of `torch.cuda.FloatTensor` and its kin, of which no tensor is an instance."""

    dtype: Any
    is_cuda = True

    def __instancecheck__(cls, instance: Any) -> bool:
        return False

    def __call__(cls, *data: Any, **options: Any) -> Any:
        raise TypeError(f"type torch.cuda.{cls.__name__} not available. {_WHY}")


def _typed(title: str) -> _TensorType:
    dtype = getattr(tenfold, f"{title}Tensor").dtype
    return _TensorType(f"{title}Tensor", (), {"dtype": dtype, "__module__": "torch.cuda"})


globals().update({f"{title}Tensor": _typed(title) for title in _TYPED.split()})


def __getattr__(name: str) -> Any:
    if name == "amp":
        return importlib.import_module("tenfold.amp.cuda")
    if name in ("nvtx", "random"):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module 'torch.cuda' has no attribute {name!r} ({_WHY.partition(': ')[2]})")


_MEMORY = (
    "caching_allocator_alloc caching_allocator_delete empty_cache max_memory_allocated max_memory_cached max_memory_reserved "
    "mem_get_info memory_allocated memory_cached memory_reserved memory_snapshot memory_stats memory_summary "
    "reset_accumulated_memory_stats reset_max_memory_allocated reset_max_memory_cached reset_peak_memory_stats "
    "set_per_process_memory_fraction"
)
memory = show(f"{__name__}.memory", {name: globals()[name] for name in _MEMORY.split()})
streams = show(f"{__name__}.streams", {"Event": Event, "ExternalStream": ExternalStream, "Stream": Stream})
profiler = show(f"{__name__}.profiler", {name: _device_needed(name) for name in ("profile", "start", "stop")})
