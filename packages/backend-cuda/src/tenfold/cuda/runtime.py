"""What the backend and its kernels need of an array library: memory, views, transfer and the launch of a Triton kernel.

Two runtimes have the same methods: `CupyRuntime` here, on a GPU, and `interpreter.InterpretedRuntime`, on NumPy arrays
without one. `current()` is the one in use; `xp` is its array module (CuPy, or NumPy in the interpreter).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any, Protocol

import numpy as np

from tenfold.cuda import architectures, availability, exhaustion, reports, staging, waits
from tenfold.cuda.capturing import refuse
from tenfold.cuda.recordings import RECORDINGS, Go, Origin, Step, spoil, started, taken
from tenfold.dispatch.devices import MissingDevice
from tenfold.types.memory_format import preserve_format

# What fills memory with a number's bytes (backend.py), by a kernel, whose module needs this one.
FILLS: list[Callable[[Any, bytes, int], None]] = []
# What looks for memory that can be given back (lifetimes.py), while there is some to look for.
BEFORE_ALLOCATION: list[Callable[[], None]] = []


class Runtime(Protocol):
    """The methods of a runtime; arrays have `shape`, `dtype`, `strides` in bytes."""

    array_type: type
    module: Any  # the array module

    def device_count(self) -> int: ...
    def current_index(self) -> int: ...
    def set_current(self, index: int) -> None: ...
    def index_of(self, array: Any) -> int: ...
    def empty(self, shape: Sequence[int], dtype: Any, index: int) -> Any: ...
    def from_host(self, array: Any, index: int) -> Any: ...
    def to_host(self, array: Any) -> Any: ...
    def to_peer(self, array: Any, index: int) -> Any: ...
    def view(self, array: Any, shape: Sequence[int], strides: Sequence[int], offset: int, dtype: Any) -> Any: ...
    def part(self, array: Any, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any: ...
    def memory(self, array: Any) -> tuple[Any, int, int]: ...
    def apart(self, a: Any, b: Any) -> bool: ...
    def pointer(self, array: Any) -> int: ...
    def pointers(self, arrays: Sequence[Any]) -> list[int]: ...
    def synchronize(self, index: int | None) -> None: ...
    def shared_words(self, count: int) -> Any: ...
    def on_host(self, words: Any) -> Any: ...
    def stream_pointer(self, index: int) -> int: ...
    def launch(self, kernel: Any, signature: tuple[str, ...], arguments: Sequence[Any], count: int, index: int) -> Any: ...
    def site(self, kernel: Any, signature: tuple[str, ...], tail: tuple[int, ...], count: int) -> Callable[..., Any]: ...
    def launch_grid(
        self, kernel: Any, signature: tuple[str, ...], arguments: Sequence[Any], grid: tuple[int, ...], index: int
    ) -> Any: ...
    def start(self, kernel: Any, grid: tuple[int, ...], arguments: Sequence[Any], index: int) -> Any: ...


def order_in_memory(array: Any) -> tuple[int, ...] | None:
    """The dimensions in the order in which they lie, of an array without gaps that is not row-major; None for any other.

    >>> order_in_memory(np.zeros((2, 3)).T), order_in_memory(np.zeros((2, 3))), order_in_memory(np.zeros((4, 3)).T[::2])
    ((1, 0), None, None)
    """
    if array.flags.c_contiguous or not array.size:
        return None
    order = sorted(range(array.ndim), key=lambda d: (-array.strides[d], array.shape[d]))
    step = array.dtype.itemsize
    for d in reversed(order):
        if array.shape[d] > 1 and array.strides[d] != step:
            return None
        step *= array.shape[d]
    return tuple(order)


def order_of_copy(array: Any) -> tuple[int, ...] | None:
    """The dimensions in the order in which a copy on another device has them, as PyTorch's has; None for a row-major one."""
    if array.flags.c_contiguous or not array.size:
        return None
    order = preserve_format.order_for(array)
    return None if order == tuple(range(array.ndim)) else order


def reach(array: Any) -> int:
    """Bytes from an array's first element to behind its furthest one.

    >>> reach(np.zeros((4, 3), np.float32)[:, :2]), reach(np.zeros((0, 3)))
    (44, 0)
    """
    if not array.size:
        return 0
    return int(sum((n - 1) * s for n, s in zip(array.shape, array.strides) if s > 0)) + int(array.dtype.itemsize)


def _bytes_used(memory: Any, end: int) -> int:
    """Bytes of a memory that arrays on it have reached: CuPy's pool rounds to 512, and says nothing of what was asked for.

    The first array that is looked at is the one that the memory was taken for, or lies in it with all that is of use.
    """
    known = getattr(memory, "tenfold_bytes", 0)
    if end <= known:
        return int(known)
    try:
        memory.tenfold_bytes = end
    except AttributeError:  # of memory that is not the pool's: it is not rounded
        return int(memory.size)
    return end


class Zeroed(Step):
    """A fill with zeros that is recorded (playing.py)."""

    def __init__(self, cupy: Any, array: Any, index: int) -> None:
        self.fill, self.pointers, self.size_bytes, self.index = (
            cupy.cuda.runtime.memsetAsync,
            [array.data.ptr],
            array.nbytes,
            index,
        )

    def placed(self, origin: Origin) -> Go:
        (base, offset), fill, size_bytes = origin(self.pointers[0]), self.fill, self.size_bytes

        def go(bases: list[int], stream: int) -> bool:
            fill(bases[base] + offset, 0, size_bytes, stream)
            return True

        return go


class CupyRuntime:
    """CUDA through CuPy."""

    def __init__(self, cupy: Any) -> None:
        self.module = cupy
        self.array_type = cupy.ndarray
        exhaustion.install(cupy)
        self._alloc, self._device = cupy.cuda.alloc, cupy.cuda.runtime.getDevice
        self._pooled = getattr(cupy.cuda.memory, "PooledMemory", None)

    def device_count(self) -> int:
        return availability.probe()[0]

    def current_index(self) -> int:
        return int(self.module.cuda.runtime.getDevice())

    def set_current(self, index: int) -> None:
        self.module.cuda.runtime.setDevice(index)

    def index_of(self, array: Any) -> int:
        return int(array.data.device_id)

    def empty(self, shape: Sequence[int], dtype: Any, index: int) -> Any:
        # Memory goes round untyped: CuPy then need not know the dtype.
        if type(shape) is not tuple:
            shape = tuple(shape)
        if not isinstance(dtype, np.dtype):
            dtype = np.dtype(dtype)
        if BEFORE_ALLOCATION:
            for release in BEFORE_ALLOCATION:
                release()
        if self._device() == index:
            found = self.array_type(shape, dtype, self._alloc(prod(shape) * dtype.itemsize))
        else:
            with self.module.cuda.Device(index):
                found = self.array_type(shape, dtype, self._alloc(prod(shape) * dtype.itemsize))
        return taken(found) if RECORDINGS else found

    def from_host(self, array: Any, index: int) -> Any:
        result = self.empty(array.shape, array.dtype, index)
        if array.size and not any(array.strides) and array.dtype.itemsize <= 8:
            self.repeat(result, array[(0,) * array.ndim].tobytes(), index)  # all of it may be more than the host has room for
            return result
        spoil()
        if array.size:
            refuse("a tensor cannot be copied from the host", "make it before, and copy new values into it between replays")
        if array.size and (order := order_of_copy(array)) is not None:
            result = result.reshape([array.shape[d] for d in order])
            with self.module.cuda.Device(index):
                staging.send(self.module, result, np.ascontiguousarray(array.transpose(order)))
            return result.transpose(np.argsort(order).tolist())
        elif array.size:
            with self.module.cuda.Device(index):
                staging.send(self.module, result, np.ascontiguousarray(array))
        return result

    def repeat(self, result: Any, word: bytes, index: int) -> None:
        """Fill memory without gaps with a number's bytes: a memset where all are zero, else a kernel that is told them."""
        if self._device() != index:
            with self.module.cuda.Device(index):
                self.repeat(result, word, index)
        elif any(word):
            FILLS[0](result, word, index)
        else:
            if RECORDINGS:
                started(Zeroed(self.module, result, index))
            result.data.memset_async(0, result.nbytes)

    def to_host(self, array: Any) -> Any:
        refuse("a tensor's values cannot be read", "leave out item(), cpu(), printing and operators of the host")
        spoil()
        waits.told()
        order = order_of_copy(array)
        with self.module.cuda.Device(self.index_of(array)):
            found = array.get() if order is None else array.transpose(order).get().transpose(np.argsort(order).tolist())
        reports.check()
        return found

    def to_peer(self, array: Any, index: int) -> Any:
        """A copy on another GPU, after the work that was given to the array's GPU and before what either is given next."""
        spoil()
        cuda = self.module.cuda
        order = order_of_copy(array) or tuple(range(array.ndim))
        with cuda.Device(self.index_of(array)):
            source = self.module.ascontiguousarray(array.transpose(order))
            done = cuda.get_current_stream().record()
        result = self.empty(source.shape, array.dtype, index)
        with cuda.Device(index):
            cuda.get_current_stream().wait_event(done)
            result.data.copy_from_device_async(source.data, source.nbytes)
            read = cuda.get_current_stream().record()
        with cuda.Device(self.index_of(array)):  # else it might write to what is still being read
            cuda.get_current_stream().wait_event(read)
        return result.transpose(np.argsort(order).tolist())

    def view(self, array: Any, shape: Sequence[int], strides: Sequence[int], offset: int, dtype: Any) -> Any:
        memory = self.module.cuda.MemoryPointer(array.data.mem, offset)
        return self.module.ndarray(tuple(shape), dtype, memory, strides=tuple(strides))

    def part(self, array: Any, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any:
        """A view of an array's own elements; the offset, in bytes, is from its first one."""
        return self.array_type(shape, array.dtype, array.data + offset if offset else array.data, strides)

    def memory(self, array: Any) -> tuple[Any, int, int]:
        memory = array.data.mem
        offset = int(array.data.ptr - memory.ptr)
        return memory, _bytes_used(memory, offset + reach(array)), offset

    def apart(self, a: Any, b: Any) -> bool:
        """Whether two arrays are surely of different memory: of two pieces that the pool gave out."""
        one, other = a.data.mem, b.data.mem
        return one is not other and type(one) is type(other) is self._pooled

    def pointer(self, array: Any) -> int:
        return int(array.data.ptr)

    def pointers(self, arrays: Sequence[Any]) -> list[int]:
        return [a.data.ptr for a in arrays]

    def shared_words(self, count: int) -> Any:
        """Zeros (int32) in pinned host memory, which kernels reach at the same address."""
        cupy = self.module
        memory = cupy.cuda.alloc_pinned_memory(4 * count)
        np.frombuffer(memory, np.int32, count)[:] = 0
        pointer = cupy.cuda.MemoryPointer(cupy.cuda.UnownedMemory(memory.ptr, 4 * count, memory, self.current_index()), 0)
        return cupy.ndarray((count,), np.int32, pointer)

    def on_host(self, words: Any) -> Any:
        """What `shared_words` gave, as the host reads it."""
        return np.frombuffer(words.data.mem._owner, np.int32, words.size)

    def stream_pointer(self, index: int) -> int:
        """The current stream of a GPU as a number."""
        with self.module.cuda.Device(index):
            return int(self.module.cuda.get_current_stream().ptr)

    def synchronize(self, index: int | None) -> None:
        refuse("the device cannot be waited for", "wait after the capture")
        with self.module.cuda.Device(self.current_index() if index is None else index):
            self.module.cuda.runtime.deviceSynchronize()
        for release in BEFORE_ALLOCATION:
            release()
        reports.check()

    def launch(self, kernel: Any, signature: tuple[str, ...], arguments: Sequence[Any], count: int, index: int) -> Any:
        from tenfold.cuda.launch import launch  # with the first kernel, as it needs Triton

        return launch(self.module, kernel, signature, arguments, count, index)

    def site(self, kernel: Any, signature: tuple[str, ...], tail: tuple[int, ...], count: int) -> Callable[..., Any]:
        """A launch whose last arguments are known: a function of the first ones and the GPU."""
        from tenfold.cuda.launch import Site  # with the first kernel, as it needs Triton

        return Site(self.module, kernel, signature, tail, count).launch

    def launch_grid(
        self, kernel: Any, signature: tuple[str, ...], arguments: Sequence[Any], grid: tuple[int, ...], index: int
    ) -> Any:
        from tenfold.cuda.launch import launch_grid  # with the first kernel, as it needs Triton

        return launch_grid(self.module, kernel, signature, arguments, grid, index)

    def start(self, kernel: Any, grid: tuple[int, ...], arguments: Sequence[Any], index: int) -> Any:
        from tenfold.cuda.launch import start  # with the first kernel, as it needs Triton

        self.start = start_of = partial(start, self.module)  # type: ignore[method-assign]
        return start_of(kernel, grid, arguments, index)


class Forked:
    """What a child of a process that used CUDA has: the driver's state does not survive a fork."""

    array_type = type(None)

    def device_count(self) -> int:
        return availability.probe()[0]

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(
            "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start "
            "method"
        )


# What is forgotten with a runtime: what calls of it have found.
ON_REPLACE: list[Callable[[], None]] = []
# What a child forgets: calls that have been seen before would go to the driver unasked.
AFTER_FORK: list[Callable[[], None]] = []


def _after_fork() -> None:
    if isinstance(_state["runtime"], CupyRuntime):
        replace(Forked())
        for forget in AFTER_FORK:
            forget()


os.register_at_fork(after_in_child=_after_fork)
_state: dict[str, Any] = {"runtime": None}


def current() -> Any:
    """The runtime in use; RuntimeError that says what is missing when there is none."""
    runtime = _state["runtime"]
    if runtime is None:
        count, reason = availability.probe()
        if not count:
            raise MissingDevice(f"device 'cuda' is not available: {reason}")
        runtime = _state["runtime"] = CupyRuntime(availability.load_cupy()[0])
        architectures.warn_of_old(runtime.module)
    return runtime


def replace(runtime: Any) -> None:
    """Use another runtime from now on; None: find out again."""
    _state["runtime"] = runtime
    for forget in ON_REPLACE:
        forget()
    vars(xp).clear()


def is_replaced() -> bool:
    """Whether the runtime in use is another than CUDA's."""
    return _state["runtime"] is not None and not isinstance(_state["runtime"], (CupyRuntime, Forked))


class ArrayModule:
    """The array module of the runtime in use; its functions become attributes when first asked for."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(current().module, name)
        setattr(self, name, value)
        return value


xp: Any = ArrayModule()
