"""PyTorch's `torch.cuda.cudart()`: some functions of the CUDA runtime, which give an error's number (0: none), by CuPy."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

from tenfold.cuda import pinned, runtime


class CudaError(RuntimeError):
    """An error of the CUDA runtime by its number."""

    def __init__(self, code: int) -> None:
        super().__init__(f"{cudaGetErrorString(cudaError(code))} ({int(code)})")


class cudaError(IntEnum):  # noqa: N801 - CUDA's name
    """Numbers of errors. Source: NVIDIA, CUDA runtime API, "Data types used by CUDA Runtime"."""

    success = 0
    errorInvalidValue = 1
    errorMemoryAllocation = 2
    errorNotReady = 600

    @classmethod
    def _missing_(cls, value: object) -> cudaError:
        made = int.__new__(cls, int(str(value)))
        made._name_, made._value_ = f"error{value}", int(str(value))
        return made


def cudaGetErrorString(error: int) -> str:
    """What an error is, in the runtime's words."""
    known = {0: "no error", 1: "invalid argument", 2: "out of memory", 600: "device not ready"}.get(int(error))
    if known is not None or runtime.is_replaced():
        return known or f"error {int(error)}"
    return str(runtime.current().module.cuda.runtime.CUDARuntimeError(int(error)))


def check_error(res: int) -> None:
    """Raise `CudaError` for what is not 0."""
    if int(res) != 0:
        raise CudaError(int(res))


def _told(call: Callable[[Any], Any]) -> cudaError:
    """The number of the error that a call of the runtime ends with."""
    if runtime.is_replaced():
        return cudaError.success
    library = runtime.current().module.cuda.runtime
    try:
        call(library)
    except library.CUDARuntimeError as error:
        return cudaError(error.status)
    return cudaError.success


def cudaHostRegister(ptr: int, size: int, flags: int) -> cudaError:
    """Pin memory of the host where it lies: tensors in it say that they are pinned."""
    found = _told(lambda library: library.hostRegister(ptr, size, flags))
    if not found and not runtime.is_replaced():
        pinned.REGISTERED[ptr] = size
    return found


def cudaHostUnregister(ptr: int) -> cudaError:
    """Let memory be paged again."""
    pinned.REGISTERED.pop(ptr, None)
    return _told(lambda library: library.hostUnregister(ptr))


def cudaStreamCreate(ptr: int) -> cudaError:
    """Make a stream, whose handle is written to an address."""
    import ctypes  # for this rare call

    def create(library: Any) -> None:
        ctypes.c_size_t.from_address(ptr).value = library.streamCreate()

    return _told(create)


def cudaStreamDestroy(stream: int) -> cudaError:
    """Give a stream back."""
    return _told(lambda library: library.streamDestroy(stream))


def cudaMemGetInfo(device: int = 0) -> tuple[int, int]:
    """(free, total) bytes of a GPU."""
    from tenfold.cuda.memory import mem_get_info  # which loads more than this module needs

    return mem_get_info(device)


def cudaProfilerStart() -> cudaError:
    """Let NVIDIA's profilers begin to record."""
    return _told(lambda library: library.profilerStart())


def cudaProfilerStop() -> cudaError:
    """Let them stop."""
    return _told(lambda library: library.profilerStop())
