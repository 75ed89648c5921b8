"""The device "cuda": CuPy arrays in GPU memory, one index for each GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tenfold.cuda import availability, pinned, runtime, seeding
from tenfold.cuda.devices import index_of
from tenfold.cuda.element_types import DTYPES
from tenfold.dispatch.devices import Backend
from tenfold.tensor.tensor import Tensor, wrap
from tenfold.types.dtypes import complex32


def _interface(tensor: Any) -> Any:
    """`Tensor.__cuda_array_interface__`: how CuPy, Numba and their like find a tensor's memory on a GPU."""
    if tensor.device.type != "cuda" or runtime.is_replaced():
        raise AttributeError(f"Can't get __cuda_array_interface__ on non-CUDA tensor of {tensor.device}: move it by .cuda()")
    if tensor.requires_grad:
        raise RuntimeError("Can't get __cuda_array_interface__ of a tensor that requires grad: take its detach()")
    return tensor._array.__cuda_array_interface__


Tensor.__cuda_array_interface__ = property(_interface)  # type: ignore[attr-defined]


def _fill(result: Any, word: bytes, index: int) -> None:
    from tenfold.cuda.ranges import repeat  # with the first number, as it needs kernels

    repeat(result, word, index)


runtime.FILLS[:] = [_fill]


class CudaBackend(Backend):
    """Tensors as `cupy.ndarray`s (as NumPy arrays in the interpreter)."""

    name = "cuda"
    generator = seeding.CudaGenerator  # what Generator(device="cuda") is
    dtypes = DTYPES
    takes_numbers = True
    attends_in_groups = True  # attention reads keys that are repeated by a stride of 0 where they lie
    reports_indices = True  # what is out of bounds is found on the GPU and told at the next wait
    samples_places = True  # grid_sample has kernels, and gradients of its own

    @property
    def array_type(self) -> type:  # type: ignore[override]
        return runtime.current().array_type if self.is_available() else type(None)

    def is_available(self) -> bool:
        return runtime.is_replaced() or availability.probe()[0] > 0

    def unavailable_reason(self) -> str:
        return "" if self.is_available() else availability.probe()[1]

    def device_count(self) -> int:
        return int(runtime.current().device_count()) if self.is_available() else 0

    def current_index(self) -> int:
        return int(runtime.current().current_index())

    def timer(self) -> Any:
        """What the profiler asks for a GPU's times."""
        from tenfold.cuda.timing import Timer  # few programs measure

        return Timer()

    def _index(self, index: int | None) -> int:
        return self.current_index() if index is None else index

    def require_dtype(self, dtype: Any) -> None:
        """Raise the TypeError for an element type that the device lacks: NumPy has no name for complex32."""
        super().require_dtype(complex32 if dtype == complex32.numpy else dtype)

    def empty(self, shape: Sequence[int], dtype: Any, index: int | None) -> Any:
        self.require_dtype(np.dtype(dtype))
        return runtime.current().empty(tuple(shape), np.dtype(dtype), self._index(index))

    def from_numpy(self, array: Any, index: int | None) -> Any:
        self.require_dtype(array.dtype)
        if not isinstance(array, np.ndarray):  # drawn or counted on the device (sampling.py)
            return array
        return runtime.current().from_host(array, self._index(index))

    def from_numpy_later(self, array: Any, index: int | None) -> Any:
        """`from_numpy` of an array that stays as it is until the copy is done: from pinned memory the GPU reads it there."""
        if not self.is_pinned(array) or not array.size:
            return self.from_numpy(array, index)
        self.require_dtype(array.dtype)
        return pinned.from_host(runtime.current(), array, self._index(index))

    def pin_memory(self, tensor: Any) -> Any:
        """A copy of a CPU tensor in pinned memory; the tensor itself if it lies there, and in the interpreter."""
        if runtime.is_replaced() or self.is_pinned(tensor._array):
            return tensor
        return wrap(pinned.empty(runtime.current().module, tensor._array), tensor._key).copy_(tensor)

    def is_pinned(self, array: Any) -> bool:
        """Whether an array lies in pinned memory."""
        return isinstance(array, np.ndarray) and pinned.is_pinned(array)

    def to_numpy(self, array: Any) -> Any:
        return runtime.current().to_host(array)

    def as_strided(self, array: Any, shape: Sequence[int], strides: Sequence[int], offset: int) -> Any:
        itemsize = array.dtype.itemsize
        size = runtime.current().memory(array)[1]
        low = offset + sum((n - 1) * s for n, s in zip(shape, strides) if s < 0)
        high = offset + sum((n - 1) * s for n, s in zip(shape, strides) if s > 0)
        if 0 not in shape and (low < 0 or (high + 1) * itemsize > size):
            raise RuntimeError(
                f"setStorage: sizes {list(shape)}, strides {list(strides)}, storage offset {offset}, and itemsize {itemsize} "
                f"requiring a storage size of {(high + 1) * itemsize} are out of bounds for storage of size {size}"
            )
        return runtime.current().view(array, shape, [s * itemsize for s in strides], offset * itemsize, array.dtype)

    def shared(self, foreign: Any) -> tuple[Any, int]:
        """(an array on the memory of another library's, behind the work that its stream has; the GPU)."""
        now = runtime.current()
        if isinstance(foreign, now.array_type):
            array = foreign
        elif hasattr(foreign, "__cuda_array_interface__") and not runtime.is_replaced():
            array = now.module.asarray(foreign)
        else:
            array = now.module.from_dlpack(foreign)
        self.require_dtype(array.dtype)
        return array, self.index_of(array)

    def write(self, destination: Any, source: Any) -> None:
        from tenfold.cuda.kernels.conversion import write_there  # kernels load with the first copy

        now = runtime.current()
        if isinstance(source, np.ndarray) and not runtime.is_replaced():  # such as what memory that nobody wrote is filled with
            source = now.from_host(source, now.index_of(destination))
        write_there(destination, source)

    def memory(self, array: Any) -> tuple[Any, int, int]:
        return runtime.current().memory(array)

    def reinterpret(self, array: Any, dtype: Any) -> Any:
        count = self.memory(array)[1] // dtype.itemsize
        return runtime.current().view(array, (count,), (dtype.itemsize,), 0, dtype)

    def index_of(self, array: Any) -> int:
        return int(runtime.current().index_of(array))

    def data_ptr(self, array: Any) -> int:
        return int(runtime.current().pointer(array)) if array.size else 0

    def coerce(self, result: Any) -> Any:
        if isinstance(result, (np.generic, bool, int, float, complex)):
            return runtime.current().from_host(np.asarray(result), self.current_index())
        return super().coerce(result)

    def synchronize(self, index: int | None = None) -> None:
        runtime.current().synchronize(index)

    @property
    def many(self) -> Any:
        """What is done to many tensors in one launch (kernels/many.py), for packages that ask a backend whether it has that."""
        from tenfold.cuda.kernels import many  # with the first use, as it needs kernels

        return many

    def kept_number(self, number: Any, beside: Any) -> Any:
        """A 0-d array of a number (NumPy's) beside another array, which is kept for later calls: only to be read."""
        from tenfold.cuda.kernels.many import number_beside  # with the first use, as it needs kernels

        return number_beside(number, beside)

    def attention_words(self, query: Any, key: Any, value: Any, mask: Any) -> Any:
        """What the dropout of an attention draws from, where a kernel drops as it goes; None where it does not."""
        from tenfold.cuda.kernels.attention import words  # with the first use, as it needs kernels

        return words(query, key, value, mask)

    def manual_seed(self, seed: int) -> None:
        seeding.manual_seed_all(seed)

    def kept(self, devices: Any = None) -> Any:
        """What puts the GPUs' own random streams, all or those of some devices, back where they are."""
        if not self.is_available():
            return int
        return seeding.kept(range(self.device_count()) if devices is None else map(index_of, devices))

    def generator_on_the_host(self, index: int, source: Any) -> Any:
        """The CPU's generator for what only the CPU draws, from one for a GPU."""
        return seeding.on_the_host(index, source)

    def sampling(self, index: int | None) -> Any:
        from tenfold.cuda.sampling import Sampling  # with the first draw, as it needs kernels

        return Sampling(self._index(index))

    def numbers(self, index: int | None) -> Any:
        from tenfold.cuda.ranges import Numbers  # with the first range, as it needs kernels

        return Numbers(self._index(index))
