"""Storage: the memory that a tensor and its views share, with the version counter that in-place writes advance.

A tensor gets its Storage object when someone asks for one (a view, an in-place write, `untyped_storage()`); a result
that nobody aliases has none and counts as version 0.
"""

from __future__ import annotations

import gc
from typing import Any

from tenfold.dispatch.runtime import RUNTIME


class Storage:
    """Bytes on a device (PyTorch's `UntypedStorage`), shared by every tensor that views them."""

    __slots__ = ("__weakref__", "array", "key", "version")

    def __init__(self, array: Any, key: Any) -> None:
        self.array = array  # any array on the memory: keeps it alive
        self.key = key
        self.version = 0

    def sharers(self) -> list[Any]:
        """The live tensors on this memory. Slow: only an in-place write that is recorded asks, if there are others."""
        return [t for t in gc.get_referrers(self) if isinstance(t, RUNTIME["Tensor"])]

    @property
    def device(self) -> Any:
        return self.key.device

    def nbytes(self) -> int:
        """Size of the memory in bytes."""
        return int(self.key.backend.memory(self.array)[1])

    size = __len__ = nbytes

    def data_ptr(self) -> int:
        """Address of the first byte."""
        backend = self.key.backend
        return int(backend.data_ptr(self.array) - backend.memory(self.array)[2])

    def _bytes(self) -> Any:
        """A 1-D uint8 tensor over the whole memory."""
        return RUNTIME["wrap"](self.key.backend.memory_bytes(self.array), self.key.device)

    def __getitem__(self, index: Any) -> Any:
        value = self._bytes()[index]
        return value.tolist()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._bytes()[index] = value
        self.version += 1

    def tolist(self) -> list[int]:
        """Every byte as an integer."""
        return list(self._bytes().tolist())

    def clone(self) -> Storage:
        """A copy of the memory."""
        copy = self._bytes().clone()
        return Storage(copy._array, self.key)

    def copy_(self, source: Storage) -> Storage:
        """Copy another storage's bytes into this one."""
        self._bytes().copy_(source._bytes())
        self.version += 1
        return self

    def fill_(self, value: int) -> Storage:
        """Set every byte."""
        self._bytes().fill_(value)
        self.version += 1
        return self

    def cpu(self) -> Storage:
        """The same bytes on the CPU."""
        if self.key.device.type == "cpu":
            return self
        copy = self._bytes().cpu()
        return Storage(copy._array, copy._key)

    def untyped(self) -> Storage:
        return self

    def __repr__(self) -> str:
        return f"tenfold.storage.Storage(device={self.key.device}, size={self.nbytes()})"
