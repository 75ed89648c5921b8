"""Memory taken past tensors, and allocators of a program's own: PyTorch's `caching_allocator_alloc`, `CUDAPluggableAllocator`."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from typing import Any

from tenfold.cuda import runtime
from tenfold.cuda.devices import index_of
from tenfold.cuda.kernels import recycling

_taken: dict[int, Any] = {}  # by address: what keeps memory that was taken here
_state: dict[str, Any] = {"own": None}


def _cuda(what: str) -> Any:
    if runtime.is_replaced():
        raise RuntimeError(f"{what}: this process interprets kernels in the host's memory; allocators are a GPU's")
    return runtime.current().module.cuda


def caching_allocator_alloc(size: int, device: Any = None, stream: Any = None) -> int:
    """The address of so many bytes of the pool, which are in use until `caching_allocator_delete`.

    `stream`: the one that will use them, as a `Stream` or its handle; None: the current one.

    Raises: TypeError for a stream that is neither.
    """
    handle = getattr(stream, "cuda_stream", stream)
    if handle is not None and not isinstance(handle, int):
        raise TypeError(
            "Invalid type for stream argument, must be `torch.cuda.Stream` or `int` representing a pointer to a existing stream"
        )
    index, cuda = index_of(device), _cuda("caching_allocator_alloc")
    with contextlib.ExitStack() as inside:
        inside.enter_context(cuda.Device(index))
        if handle is not None:
            inside.enter_context(cuda.ExternalStream(handle, index) if handle else cuda.Stream.null)
        memory = cuda.alloc(size)
    _taken[memory.ptr] = memory
    return int(memory.ptr)


def caching_allocator_delete(mem_ptr: int) -> None:
    """Give back what `caching_allocator_alloc` gave.

    Raises: RuntimeError for an address that it did not give.
    """
    if mem_ptr not in _taken:
        raise RuntimeError(f"caching_allocator_delete: invalid device pointer: {mem_ptr:#x}")
    del _taken[mem_ptr]


def caching_allocator_enable(value: bool = True) -> None:
    """Whether freed memory is kept for the next tensors; if not, each is taken from the driver, which waits for the GPU."""
    cuda = _cuda("caching_allocator_enable")
    recycling.clear()
    pool = runtime.current().module.get_default_memory_pool()
    cuda.set_allocator((pool.malloc if _state["own"] is None else _state["own"].malloc) if value else None)


@contextlib.contextmanager
def caching_allocator_disabled() -> Iterator[None]:
    """A block in which memory is taken from the driver."""
    caching_allocator_enable(False)
    try:
        yield
    finally:
        caching_allocator_enable(True)


class CUDAPluggableAllocator:
    """An allocator in a shared library: C functions to take memory and to give it back.

    The first is `void* alloc(ssize_t size, int device, cudaStream_t stream)`, the other
    `void free(void* ptr, ssize_t size, int device, cudaStream_t stream)`.

    Raises: OSError for a library that is not there, AttributeError for a function that it lacks.
    """

    def __init__(self, path_to_so_file: str, alloc_fn_name: str, free_fn_name: str) -> None:
        library = ctypes.CDLL(path_to_so_file)
        self._alloc, self._free = getattr(library, alloc_fn_name), getattr(library, free_fn_name)
        self._alloc.restype = ctypes.c_void_p
        self._alloc.argtypes = (ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p)
        self._free.restype = None
        self._free.argtypes = (ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p)
        self._sizes: dict[int, tuple[int, int]] = {}  # by address: bytes, and the stream that it was taken for
        self._cupy: Any = None

    def allocator(self) -> CUDAPluggableAllocator:
        """What `MemPool` takes: itself."""
        return self

    def malloc(self, size: int) -> Any:
        """Memory as CuPy's arrays have it."""
        if self._cupy is None:
            self._cupy = _cuda("CUDAPluggableAllocator").PythonFunctionAllocator(self._take, self._give_back)
        return self._cupy.malloc(size)

    def _take(self, size: int, device: int) -> int:
        stream = int(runtime.current().module.cuda.get_current_stream().ptr)
        found = self._alloc(size, device, stream)
        if not found and size:
            raise MemoryError(f"CUDAPluggableAllocator: no memory for {size} bytes on cuda:{device}")
        self._sizes[found or 0] = size, stream
        return found or 0

    def _give_back(self, address: int, device: int) -> None:
        size, stream = self._sizes.pop(address, (0, 0))
        self._free(address, size, device, stream)


def change_current_allocator(allocator: CUDAPluggableAllocator) -> None:
    """Let tensors have the memory of an allocator from now on, each its own piece; before the first tensor is made.

    Raises: RuntimeError where tensors have taken memory already; TypeError for what is no allocator.
    """
    if not isinstance(allocator, CUDAPluggableAllocator):
        raise TypeError(f"change_current_allocator: expected a CUDAPluggableAllocator, got {type(allocator).__name__}")
    cuda = _cuda("change_current_allocator")
    if runtime.current().module.get_default_memory_pool().total_bytes():
        raise RuntimeError("Can't swap an already initialized allocator: do so before the first tensor is made")
    _state["own"] = allocator
    cuda.set_allocator(allocator.malloc)
