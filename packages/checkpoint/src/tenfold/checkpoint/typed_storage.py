"""Typed storages: memory as elements of one dtype, PyTorch's deprecated `TypedStorage`."""

from __future__ import annotations

import copy
import warnings
from typing import Any, Self

import numpy as np

from tenfold.dispatch.devices import located
from tenfold.dispatch.services import SERVICES
from tenfold.tensor.storage import UntypedStorage
from tenfold.types import dtypes
from tenfold.types.dtypes import TITLES, dtype, get_default_dtype

_CASTS = {
    "double": "float64", "float": "float32", "half": "float16", "bfloat16": "bfloat16", "long": "int64", "int": "int32",
    "short": "int16", "char": "int8", "byte": "uint8", "bool": "bool", "complex_double": "complex128",
    "complex_float": "complex64",
}  # fmt: skip
_told = {"once": False, "always": False}


def warn_deprecated(depth: int = 3) -> None:
    """Say once that typed storages are deprecated (at every use where a test asked for that)."""
    if not _told["once"] or _told["always"]:
        _told["once"] = True
        warnings.warn(
            "TypedStorage is deprecated: a storage is bytes. Use tensor.untyped_storage() instead of tensor.storage()",
            UserWarning,
            stacklevel=depth,
        )


def reset_warning() -> None:
    """Let the next use of a typed storage warn again."""
    _told["once"] = False


def always_warn() -> bool:
    return _told["always"]


def set_always_warn(value: bool) -> None:
    _told["always"] = value


class TypedStorage:
    """Memory as elements of one dtype.

    >>> import tenfold
    >>> tenfold.tensor([1.5, 2.5])._typed_storage()._size()
    2
    """

    _untyped_storage: UntypedStorage
    _dtype: Any

    def __init__(
        self, *args: Any, device: Any = None, dtype: Any = None, wrap_storage: Any = None, _internal: bool = False
    ) -> None:
        if not _internal:
            warn_deprecated()
        if wrap_storage is not None:
            check_wrapped(wrap_storage, args, device, dtype, "TypedStorage")
            self._untyped_storage, self._dtype = wrap_storage, dtype
            return
        self._dtype = get_default_dtype() if dtype is None else dtype
        self._untyped_storage = _memory_for(args, self._dtype, device)

    # What it is

    @property
    def dtype(self) -> Any:
        warn_deprecated()
        return self._dtype

    @property
    def device(self) -> Any:
        return self._untyped_storage.device

    @property
    def is_cuda(self) -> bool:
        warn_deprecated()
        return self._untyped_storage.is_cuda

    def untyped(self) -> UntypedStorage:
        """The bytes."""
        warn_deprecated()
        return self._untyped_storage

    def _size(self) -> int:
        return self._untyped_storage.nbytes() // int(self._dtype.itemsize)

    def __len__(self) -> int:
        warn_deprecated()
        return self._size()

    def size(self) -> int:
        warn_deprecated()
        return self._size()

    def _nbytes(self) -> int:
        return self._untyped_storage.nbytes()

    def nbytes(self) -> int:
        warn_deprecated()
        return self._nbytes()

    def _element_size(self) -> int:
        return int(self._dtype.itemsize)

    def element_size(self) -> int:
        warn_deprecated()
        return self._element_size()

    def _data_ptr(self) -> int:
        return self._untyped_storage.data_ptr()

    def data_ptr(self) -> int:
        warn_deprecated()
        return self._data_ptr()

    @property
    def _cdata(self) -> int:
        return id(self._untyped_storage)

    def get_device(self) -> int:
        index = self._untyped_storage.device.index
        return -1 if index is None else int(index)

    def _pickle_storage_type(self) -> str:
        return TITLES[self._dtype.name] + "Storage"

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """Its type's name, such as "torch.FloatStorage"; with a dtype, the elements converted."""
        warn_deprecated()
        if dtype is None:
            place = "" if self.device.type == "cpu" else f"{self.device.type}."
            return f"torch.{place}{self._pickle_storage_type()}"
        wanted = getattr(dtype, "_dtype", dtype)
        return self if wanted is self._dtype else self._to(wanted)

    # Its elements

    def _tensor(self) -> Any:
        return self._untyped_storage.view(self._dtype)

    def __getitem__(self, index: Any) -> Any:
        warn_deprecated()
        self._untyped_storage.require_data()
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        if not isinstance(index, int):
            raise RuntimeError(f"can't index a {type(self).__name__} with {type(index).__name__}")
        if not -self._size() <= index < self._size():
            raise IndexError(f"index {index} out of range for storage of size {self._size()}")
        return self._tensor()[index].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        warn_deprecated()
        self._setitem(index, value)

    def _setitem(self, index: Any, value: Any) -> None:
        if not isinstance(index, (int, slice)):
            raise RuntimeError(f"can't index a {type(self).__name__} with {type(index).__name__}")
        if isinstance(value, (TypedStorage, UntypedStorage)):
            raise RuntimeError(f"cannot set item with value type {type(value).__name__}")
        self._untyped_storage.require_data()
        self._tensor()[index] = value

    def __iter__(self) -> Any:
        warn_deprecated()
        return iter(self._tensor().tolist())

    def tolist(self) -> list[Any]:
        """The elements as Python numbers."""
        warn_deprecated()
        self._untyped_storage.require_data()
        return list(self._tensor().tolist())

    def fill_(self, value: Any) -> Self:
        """Set every element."""
        warn_deprecated()
        self._setitem(slice(0, self._size()), value)
        return self

    def copy_(self, source: Any, non_blocking: bool = False) -> Self:
        """Copy another storage's elements, converted."""
        warn_deprecated()
        if isinstance(source, UntypedStorage):
            self._untyped_storage.copy_(source)
            return self
        source._untyped_storage.require_copyable()
        self._tensor().copy_(source._tensor())
        return self

    def clone(self) -> Any:
        warn_deprecated()
        return self._wrapped(self._untyped_storage.clone())

    def __copy__(self) -> Any:
        return self.clone()

    def __reduce__(self) -> Any:
        return _rebuild, (self._untyped_storage, self._dtype)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        warn_deprecated()
        return self._deepcopy(memo)

    def _deepcopy(self, memo: dict[int, Any]) -> Any:
        return self._wrapped(copy.deepcopy(self._untyped_storage, memo))

    def _wrapped(self, storage: UntypedStorage) -> Any:
        return TypedStorage(wrap_storage=storage, dtype=self._dtype, _internal=True)

    def _to(self, wanted: Any) -> Any:
        made = self._tensor().to(wanted)
        return TypedStorage(wrap_storage=made.untyped_storage(), dtype=wanted, _internal=True)

    # Its memory

    def cpu(self) -> Any:
        """The same elements on the CPU."""
        warn_deprecated()
        return self._wrapped(self._untyped_storage.cpu())

    def cuda(self, device: Any = None, non_blocking: bool = False) -> Any:
        """The same elements on a CUDA device."""
        warn_deprecated()
        return self._wrapped(self._untyped_storage.cuda(device))

    def _resize_(self, size: int) -> None:
        self._untyped_storage.resize_(size * self._element_size())

    def resize_(self, size: int) -> None:
        """Give it room for another number of elements."""
        warn_deprecated()
        self._resize_(size)

    def resizable(self) -> bool:
        warn_deprecated()
        return self._untyped_storage.resizable()

    def pin_memory(self, device: Any = "cuda") -> Any:
        warn_deprecated()
        return self._wrapped(self._untyped_storage.pin_memory(device))

    def is_pinned(self, device: Any = "cuda") -> bool:
        warn_deprecated()
        return False

    def _is_shared(self) -> bool:
        return self._untyped_storage.is_shared()

    def is_shared(self) -> bool:
        warn_deprecated()
        return self._is_shared()

    def _share_memory_(self) -> Self:
        self._untyped_storage.share_memory_()
        return self

    def share_memory_(self) -> Self:
        warn_deprecated()
        return self._share_memory_()

    def __sizeof__(self) -> int:
        warn_deprecated()
        return object.__sizeof__(self) + self._nbytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypedStorage) and other._dtype is self._dtype and other._cdata == self._cdata

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        warn_deprecated()
        kind = f"{type(self).__name__}(dtype={self._dtype}, device={self.device}) of size {self._size()}"
        values = "" if self.device.type == "meta" else "".join(f" {value}\n" for value in self._tensor().tolist())
        return f"{values}[tenfold.storage.{kind}]"

    __str__ = __repr__

    @classmethod
    def from_buffer(
        cls, buffer: Any, byte_order: str | None = None, *, dtype: Any = None, count: int = -1, offset: int = 0
    ) -> Any:
        """A storage with a copy of a buffer's elements; `byte_order` is "native", "little" or "big"."""
        wanted = cls._dtype if dtype is None else dtype
        order: Any = {"native": "=", "little": "<", "big": ">"}[byte_order or "native"]
        kind = np.dtype(np.uint8) if wanted.category == 0 else wanted.numpy
        count = count if count >= 0 else (memoryview(buffer).nbytes - offset) // kind.itemsize
        elements = np.frombuffer(buffer, kind.newbyteorder(order), count, offset).astype(kind)
        if wanted.category == 0:
            elements = elements != 0
        return TypedStorage(wrap_storage=UntypedStorage(elements.copy(), located("cpu")), dtype=wanted, _internal=True)

    @classmethod
    def from_file(cls, filename: Any, shared: bool = False, size: int = 0) -> Any:
        """A storage on a file's bytes: with `shared` writes reach the file, which is made or grows as needed."""
        memory = UntypedStorage.from_file(filename, shared, size * cls._dtype.itemsize)
        return TypedStorage(wrap_storage=memory, dtype=cls._dtype, _internal=True)

    @classmethod
    def _new_shared(cls, size: int) -> Any:
        """New memory for a number of elements that processes can share."""
        kind = getattr(cls, "_dtype", get_default_dtype())
        return TypedStorage(wrap_storage=UntypedStorage._new_shared(size * kind.itemsize), dtype=kind, _internal=True)

    @property
    def filename(self) -> str | None:
        return self._untyped_storage.filename


def _caster(name: str, target: str) -> Any:
    def cast(self: TypedStorage) -> Any:
        warn_deprecated()
        return self._to(dtypes.BY_NAME[target])

    cast.__name__, cast.__doc__ = name, f"The elements converted to {target}."
    return cast


for _name, _target in _CASTS.items():
    setattr(TypedStorage, _name, _caster(_name, _target))


def _rebuild(untyped: UntypedStorage, kind: dtype) -> TypedStorage:
    """The inverse of pickling."""
    return TypedStorage(wrap_storage=untyped, dtype=kind, _internal=True)


def check_wrapped(storage: Any, args: Any, device: Any, kind: Any, name: str) -> None:
    """What a call with `wrap_storage=` may be given beside it."""
    if args:
        raise RuntimeError(f"{name}(): No positional arguments should be given when using 'wrap_storage'")
    if kind is None:
        raise RuntimeError(f"{name}(): Argument 'dtype' must be specified when using 'wrap_storage'")
    if not isinstance(kind, dtype):
        raise TypeError(f"{name}(): Argument 'dtype' must be torch.dtype, not {type(kind).__name__}")
    if device is not None:
        raise RuntimeError(f"{name}(): Argument 'device' should not be specified when 'wrap_storage' is given")
    if not isinstance(storage, UntypedStorage):
        raise TypeError(f"{name}(): Argument 'wrap_storage' must be UntypedStorage, but got {type(storage).__name__}")


def _memory_for(args: Any, kind: dtype, device: Any) -> UntypedStorage:
    """New memory for a number of elements, or for a sequence of them."""
    if len(args) > 1:
        raise RuntimeError("TypedStorage(): Too many positional arguments: expected a size or a sequence")
    try:
        key = located(device)
    except Exception as error:
        raise RuntimeError(f"Storage device not recognized: {device}") from error
    if not args or isinstance(args[0], (int, np.integer)):
        return UntypedStorage(int(args[0] if args else 0) * kind.itemsize, device=key)
    values = args[0]
    if isinstance(values, str):
        raise TypeError("TypedStorage(): invalid data type 'str'")
    if hasattr(values, "_array") or not hasattr(values, "__len__"):
        raise TypeError(f"TypedStorage(): Argument type not recognized: {type(values).__name__}; expected a size or a sequence")
    made = SERVICES.to_array(list(values), kind, True)
    return UntypedStorage(key.backend.from_numpy(made, key.index), key)
