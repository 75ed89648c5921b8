"""What can be done with a storage: read and write its bytes, copy, move, resize and share them."""

from __future__ import annotations

import gc
from typing import Any, Self

import numpy as np

from tenfold.dispatch.devices import located
from tenfold.dispatch.runtime import RUNTIME
from tenfold.dispatch.services import SERVICES
from tenfold.types.dtypes import dtype


class Memory:
    """The methods of storages; the memory itself is `array`, any array on it, and `key`, its device."""

    array: Any
    key: Any
    version: int

    @property
    def device(self) -> Any:
        return self.key.device

    @property
    def is_cuda(self) -> bool:
        return bool(self.key.device.type == "cuda")

    def nbytes(self) -> int:
        """Size of the memory in bytes."""
        return int(self.key.backend.memory(self.array)[1])

    size = __len__ = nbytes

    def element_size(self) -> int:
        return 1

    def data_ptr(self) -> int:
        """Address of the first byte."""
        backend = self.key.backend
        return int(backend.data_ptr(self.array) - backend.memory(self.array)[2]) if self.nbytes() else 0

    _cdata = property(id)

    def view(self, d: dtype) -> Any:
        """A 1-D tensor of a dtype over the whole memory, or as much of it as makes whole elements."""
        whole = self._bytes()
        used = whole.numel() // d.itemsize * d.itemsize
        if used != whole.numel():
            whole = whole[:used]
        return whole.view(d)

    def _bytes(self) -> Any:
        return RUNTIME["wrap"](self.key.backend.memory_bytes(self.array), self.key.device)

    def _made(self, *given: Any) -> Self:
        kind: Any = type(self)
        return kind(*given)  # type: ignore[no-any-return]

    def require_data(self) -> None:
        """NotImplementedError on the meta device, which holds no values."""
        if self.key.device.type == "meta":
            raise NotImplementedError("Not available for 'meta' device storage")

    def __getitem__(self, index: Any) -> Any:
        self.require_data()
        found = self._bytes()[index]
        return self._made(found.tolist()) if isinstance(index, slice) else found.item()

    def __setitem__(self, index: Any, value: Any) -> None:
        self.require_data()
        self._bytes()[index] = value
        self.version += 1

    def tolist(self) -> list[int]:
        """Every byte as an integer."""
        self.require_data()
        return list(self._bytes().tolist())

    def clone(self) -> Self:
        """A copy of the memory."""
        copy = self._bytes().clone()
        return self._made(copy._array, self.key.device)

    def __copy__(self) -> Self:
        return self.clone()

    def copy_(self, source: Any, non_blocking: bool = False) -> Self:
        """Copy another storage's bytes into this one."""
        source.untyped().require_copyable()
        self._bytes().copy_(source.untyped()._bytes())
        self.version += 1
        return self

    def require_copyable(self) -> None:
        if self.key.device.type == "meta":
            raise NotImplementedError("Cannot copy out of meta tensor; no data!")

    def fill_(self, value: int) -> Self:
        """Set every byte."""
        self._bytes().fill_(value)
        self.version += 1
        return self

    def resize_(self, size: int) -> Self:
        """Give the memory another size in bytes, keeping its beginning; every tensor on it moves with it."""
        backend, key = self.key.backend, self.key.device
        if size == self.nbytes():
            return self
        if not self.resizable():
            raise RuntimeError("Trying to resize storage that is not resizable: it is shared with a NumPy array or processes")
        if key.type == "meta":
            self.array = backend.empty((size,), np.dtype(np.uint8), key.index)
            return self
        kept = min(size, self.nbytes())
        made = backend.empty((size,), np.dtype(np.uint8), key.index)
        if kept:
            backend.write(RUNTIME["wrap"](made, key)[:kept]._array, self._bytes()[:kept]._array)
        self._move(made)
        self.version += 1
        return self

    def _move(self, made: Any) -> None:
        """Let this storage and every tensor on it lie in other memory."""
        tensors = [t for t in gc.get_referrers(self) if isinstance(t, RUNTIME["Tensor"])]  # slow, and rare
        arrays = [placed(t, made) for t in tensors]
        self.array = made
        for t, array in zip(tensors, arrays):
            t._array = array

    def resizable(self) -> bool:
        return not getattr(self, "lent", False) and (self.key.device.type != "cpu" or not self.is_shared())

    def byteswap(self, d: dtype) -> None:
        """Reverse the order of the bytes of each element, read as elements of a dtype."""
        width = d.itemsize // 2 if d.is_complex else d.itemsize
        whole = self._bytes()
        swapped = whole.view(-1, width).flip(1).reshape(-1) if width > 1 else whole
        self._bytes().copy_(swapped)

    def cpu(self) -> Self:
        """The same bytes on the CPU."""
        self.require_copyable()
        return self if self.key.device.type == "cpu" else self.to(device="cpu")

    def cuda(self, device: Any = None, non_blocking: bool = False) -> Self:
        """The same bytes on a CUDA device."""
        return self.to(device="cuda" if device is None else device)

    def to(self, *, device: Any, non_blocking: bool = False) -> Self:
        """The same bytes on a device."""
        copy = self._bytes().to(device)
        return self._made(copy._array, copy._key.device)

    def pin_memory(self, device: Any = "cuda") -> Self:
        """The same bytes in pinned memory. Refused without an accelerator, as in PyTorch."""
        if self.key.device.type != "cpu":
            raise TypeError(f"cannot pin '{self.type()}' only CPU memory can be pinned")
        copy = self._bytes().pin_memory()
        return self._made(copy._array, copy._key.device)

    def is_pinned(self, device: Any = "cuda") -> bool:
        return bool(self._bytes().is_pinned())

    def is_shared(self) -> bool:
        """Whether other processes can have this memory, too."""
        return span_of(self.key.backend.memory(self.array)[0]) is not None

    def share_memory_(self) -> Self:
        """Move the memory, with every tensor on it, to where processes share it."""
        if self.key.device.type != "cpu":
            raise RuntimeError("share_memory_: only available on CPU")
        if not self.is_shared():
            SERVICES.require_shared_memory()
            self._move(SERVICES.shared_copy(self._bytes()._array))
        return self

    @classmethod
    def _new_shared(cls, size: int, *, device: Any = "cpu") -> Any:
        """New memory of a number of bytes that processes can share."""
        SERVICES.require_shared_memory()
        kind: Any = cls
        return kind(SERVICES.on_span(SERVICES.Segment.of_size(max(size, 1)), 0, size), located("cpu"))

    @classmethod
    def from_file(cls, filename: Any, shared: bool = False, nbytes: int = 0) -> Any:
        """A file's first bytes: with `shared` writes reach the file, which is made or grows as needed."""
        kind: Any = cls
        return kind(SERVICES.mapped_file(filename, shared, nbytes), located("cpu"))

    @property
    def filename(self) -> str | None:
        """The file that this is, if it came `from_file` with shared=True."""
        span = span_of(self.key.backend.memory(self.array)[0])
        return None if span is None else span.segment.filename

    def untyped(self) -> Self:
        return self

    def type(self, wanted: Any = None) -> str:
        return "torch.storage.UntypedStorage"

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()

    def __iter__(self) -> Any:
        return iter(self.tolist())

    def __repr__(self) -> str:
        kind = f"{type(self).__name__}(device={self.key.device}) of size {self.nbytes()}"
        values = "" if self.key.device.type == "meta" else "".join(f" {value}\n" for value in self.tolist())
        return f"{values}[{'tenfold.storage.' + kind}]"

    __str__ = __repr__


def allocated(given: Any, key: Any) -> Any:
    """Memory for a number of bytes, or for their values."""
    if isinstance(given, (int, np.integer)):
        return key.backend.empty((int(given),), np.dtype(np.uint8), key.index)
    if not hasattr(given, "__len__") or hasattr(given, "_array"):
        raise TypeError(f"UntypedStorage(): expected a size or a sequence of bytes, got {type(given).__name__}")
    values = np.asarray(list(given)) if len(given) else np.empty(0)
    return key.backend.from_numpy(values.astype(np.uint8), key.index)


def placed(tensor: Any, made: Any) -> Any:
    """A tensor's array in new memory; where it does not fit any more, it stays where it was."""
    end = tensor.storage_offset() + 1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride()))
    whole = RUNTIME["wrap"](made, tensor._key.device)
    used = whole.numel() // tensor.itemsize * tensor.itemsize
    if 0 not in tensor.shape and end * tensor.itemsize > used:
        return tensor._array
    typed = (whole[:used] if used != whole.numel() else whole).view(tensor.dtype)
    return typed.as_strided(tensor.shape, tensor.stride(), 0 if 0 in tensor.shape else tensor.storage_offset())._array


class Span:
    """A part of a segment of memory that processes share, the owner of the arrays on it (NumPy asks for `__array_interface__`).

    The package tenfold-multiprocessing makes them; the class is here so that any tensor can be asked whether it is shared.
    """

    __slots__ = ("__array_interface__", "__weakref__", "offset", "segment", "size")

    def __init__(self, segment: Any, offset: int, size: int) -> None:
        self.segment, self.offset, self.size = segment, offset, size
        assert segment.address is not None, "mapped"
        place = (segment.address + offset, False)
        self.__array_interface__ = {"shape": (size,), "typestr": "|u1", "data": place, "version": 3}


def span_of(owner: Any) -> Span | None:
    """The part of a segment that an array's owner (`Backend.memory`) lies on, if it is shared memory."""
    base = getattr(owner, "base", None)
    return base if type(base) is Span else None
