"""Pickles of checkpoints, written: tensors under the names that PyTorch gives them, storages by reference."""

from __future__ import annotations

import collections
import io
import pickle
from types import FunctionType
from typing import Any

from tenfold.checkpoint import nested_tensors
from tenfold.checkpoint.names import DTYPE_GLOBALS, FORMAT_GLOBALS, STORAGE_GLOBALS, STORAGES, UNTYPED, Global
from tenfold.checkpoint.options import location_tag
from tenfold.checkpoint.torch_names import torch_global, writes_torch_names
from tenfold.checkpoint.typed_storage import TypedStorage
from tenfold.dispatch.devices import device
from tenfold.tensor.copying import state_of
from tenfold.tensor.storage import Storage
from tenfold.tensor.tensor import Tensor, is_plain
from tenfold.types import dtypes
from tenfold.types.memory_format import layout, memory_format
from tenfold.types.size import Size

_REBUILD = Global("torch._utils", "_rebuild_tensor_v2")
_REBUILD_DTYPE = Global("torch._utils", "_rebuild_tensor_v3")
_REBUILD_META = Global("torch._utils", "_rebuild_meta_tensor_no_storage")
_REBUILD_PARAMETER = Global("torch._utils", "_rebuild_parameter")
_REBUILD_PARAMETER_WITH_STATE = Global("torch._utils", "_rebuild_parameter_with_state")
_REBUILD_SUBCLASS = Global("torch._tensor", "_rebuild_from_type_v2")
_REBUILD_SPARSE = Global("torch._utils", "_rebuild_sparse_tensor")
_TENSOR = Global("torch", "Tensor")
_DEVICE, _SIZE = Global("torch", "device"), Global("torch", "Size")
_LAYOUT = Global("torch.serialization", "_get_layout")


_BUILT_IN = frozenset((type(None), bool, int, float, str, bytes, tuple, list, dict))


class _Reference:
    """A storage in a pickle, with the dtype under which it is written."""

    def __init__(self, storage: Storage, typed: str, itemsize: int) -> None:
        self.storage, self.typed, self.itemsize = storage, typed, itemsize


class _TensorPickler:
    """Writes tensors as PyTorch does; `storages` are the memory that they share, in the order of their keys.

    Over a pickler in Python: the one in C insists on importing every name that it writes.
    """

    built_in: frozenset[type] = frozenset()  # what needs no question

    def __init__(self, file: Any, protocol: int, legacy: bool = False) -> None:
        super().__init__(file, protocol)  # type: ignore[call-arg]
        self.storages: list[tuple[Storage, int]] = []  # and the bytes of their elements
        self.keys: dict[Any, str] = {}
        self.typed: dict[Any, str] = {}
        self.view_metadata: tuple[Any, ...] = (None,) if legacy else ()
        self.torch_names = writes_torch_names()
        self.names: dict[Any, Global] = {}

    def renamed(self, obj: Any) -> Any:
        """PyTorch's name in place of a class or function of Tenfold's."""
        if obj not in self.names and str(obj.__module__).partition(".")[0] == "tenfold":
            found = torch_global(obj)
            if found is not None:
                self.names[obj] = found
        return self.names.get(obj, obj)

    def save(self, obj: Any, save_persistent_id: bool = True) -> None:
        """One object; names are written as they are."""
        if type(obj) in self.built_in and id(obj) not in self.memo:  # type: ignore[attr-defined] # neither renamed nor reduced
            self.framer.commit_frame()  # type: ignore[attr-defined]
            self.dispatch[type(obj)](self, obj)  # type: ignore[attr-defined]
            return
        obj = DTYPE_GLOBALS[obj] if isinstance(obj, dtypes.dtype) else obj  # a dtype is a name, not a call
        obj = FORMAT_GLOBALS[obj.name] if isinstance(obj, memory_format) else obj
        obj = self.renamed(obj) if self.torch_names and isinstance(obj, (type, FunctionType)) else obj
        if type(obj) is not Global:
            super().save(obj, save_persistent_id)  # type: ignore[misc]
        elif id(obj) in self.memo:  # type: ignore[attr-defined]
            self.write(self.get(self.memo[id(obj)][0]))  # type: ignore[attr-defined]
        else:
            self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())  # type: ignore[attr-defined]
            self.memoize(obj)  # type: ignore[attr-defined]

    def persistent_id(self, obj: Any) -> Any:
        """The reference to a storage."""
        reference = _reference(obj)
        if reference is None:
            return None
        storage, itemsize = reference.storage, reference.itemsize
        size = storage.nbytes()
        key = (storage.device, storage.data_ptr(), size) if size else id(storage)
        if size and self.typed.setdefault(key, reference.typed) != reference.typed:
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same data as different types; clone one of them"
            )
        if key not in self.keys:
            self.keys[key] = str(len(self.storages))
            self.storages.append((storage, itemsize))
        place = location_tag(storage)
        return "storage", STORAGE_GLOBALS[reference.typed], self.keys[key], place, size // itemsize, *self.view_metadata

    def reducer_override(self, obj: Any) -> Any:
        """How tensors, devices and sizes are written; the rest as usual."""
        if isinstance(obj, device):
            return _DEVICE, (obj.type,) if obj.index is None else (obj.type, obj.index)
        if isinstance(obj, layout):
            return _LAYOUT, (f"torch.{obj.name}",)
        if type(obj) is Size:
            return _SIZE, (tuple(obj),)
        if isinstance(obj, Tensor):
            return _tensor(obj)
        if self.torch_names and hasattr(type(obj), "_torch_state"):
            return _with_torch_state(obj, self.proto)  # type: ignore[attr-defined]
        return NotImplemented


def _with_torch_state(obj: Any, protocol: int) -> Any:
    """How an object is written, with the attributes that PyTorch's class has besides."""
    reduced = obj.__reduce_ex__(protocol)
    further = obj._torch_state()
    if not further or len(reduced) < 3 or not isinstance(reduced[2], dict):
        return reduced
    return (*reduced[:2], {**reduced[2], **further}, *reduced[3:])


def pickler_of(module: Any) -> Any:
    """The tensors' pickler over the one that a module in the manner of `pickle` has."""
    base: Any = getattr(module, "_Pickler", None) or getattr(module, "Pickler", None)
    if not (isinstance(base, type) and issubclass(base, (pickle._Pickler, pickle.Pickler))):
        raise TypeError(f"save: pickle_module {module!r} has no class Pickler made of pickle's; pass pickle, dill or cloudpickle")
    if issubclass(base, pickle._Pickler):
        known = _BUILT_IN if base is pickle._Pickler else frozenset()  # another pickler may have its own way with them
        return type("TensorPickler", (_TensorPickler, base), {"built_in": known})
    return type("TensorPickler", (_Asking, pickle._Pickler), {"asked": base})


class _Asking(_TensorPickler):
    """Asks a pickler made of the compiled one, which cannot write names as tensors need them, how it reduces an object."""

    asked: Any

    def __init__(self, file: Any, protocol: int, legacy: bool = False) -> None:
        super().__init__(file, protocol, legacy)
        self._other = self.asked(io.BytesIO(), protocol)
        if hasattr(self._other, "dispatch_table"):
            self.dispatch_table = self._other.dispatch_table

    def reducer_override(self, obj: Any) -> Any:
        """How tensors are written, else what the other pickler says."""
        found = super().reducer_override(obj)
        override = getattr(self._other, "reducer_override", None)
        return override(obj) if found is NotImplemented and override is not None else found


def _reference(obj: Any) -> _Reference | None:
    if type(obj) is _Reference:
        return obj
    if isinstance(obj, Storage):
        return _Reference(obj, UNTYPED, 1)
    return _Reference(obj._untyped_storage, *_kind(obj._dtype)) if isinstance(obj, TypedStorage) else None


def _kind(dtype: Any) -> tuple[str, int]:
    """The class of storage that a dtype is written with, and the bytes of its elements."""
    typed = STORAGES.get(dtype.name, UNTYPED)
    return typed, dtype.itemsize if typed != UNTYPED else 1


def _tensor(obj: Any) -> Any:
    """The call that makes a tensor again."""
    state = state_of(obj)
    if _is_parameter(obj):
        given: tuple[Any, ...] = _data_of(obj), obj.requires_grad, collections.OrderedDict()
        return (_REBUILD_PARAMETER_WITH_STATE, (*given, state)) if state else (_REBUILD_PARAMETER, given)
    if obj.layout.name in _SPARSE:
        return _REBUILD_SPARSE, (obj.layout, _sparse_parts(obj))
    if obj.is_nested:
        return nested_tensors.reduced(obj)
    own: Any = type(obj).__reduce_ex__
    if own is not Tensor.__reduce_ex__:
        return NotImplemented  # the class has its own way
    plain = obj.detach() if is_plain(type(obj)) else Tensor._make_subclass(Tensor, obj)
    function, place = _plain_tensor(plain, obj.requires_grad)
    if type(obj) is Tensor and not state:
        return function, place
    return _REBUILD_SUBCLASS, (function, _TENSOR if type(obj) is Tensor else type(obj), place, state)


_SPARSE = ("sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc")


def _sparse_parts(obj: Any) -> tuple[Any, ...]:
    """A sparse tensor's numbers and where they stand, plain tensors."""
    data = obj.detach()
    if data.layout.name == "sparse_coo":
        return data._indices(), data._values(), data.size(), data.is_coalesced()
    if data.layout.name in ("sparse_csr", "sparse_bsr"):
        return data.crow_indices(), data.col_indices(), data.values(), data.size()
    return data.ccol_indices(), data.row_indices(), data.values(), data.size()


def _is_parameter(obj: Any) -> bool:
    return type(obj).__name__ == "Parameter" and type(obj).__module__ in ("tenfold.nn.parameter", "torch.nn.parameter")


def _data_of(obj: Any) -> Any:
    """The same memory as a plain tensor without attributes."""
    return Tensor._make_subclass(Tensor, obj.detach())


def _plain_tensor(plain: Any, requires_grad: bool) -> tuple[Any, tuple[Any, ...]]:
    if plain.is_meta:
        return _REBUILD_META, (plain.dtype, tuple(plain.shape), plain.stride(), requires_grad)
    if min(plain.stride(), default=0) < 0:
        plain = plain.contiguous()
    typed, itemsize = _kind(plain.dtype)
    reference = _Reference(plain.untyped_storage(), typed, itemsize)
    given: tuple[Any, ...] = (
        reference,
        plain.storage_offset(),
        tuple(plain.shape),
        plain.stride(),
        requires_grad,
        collections.OrderedDict(),
    )
    bits = {name: True for name in ("conj", "neg") if getattr(plain, f"is_{name}")()}
    metadata = (bits,) if bits else ()
    if typed != UNTYPED:
        return _REBUILD, (*given, *metadata)
    return _REBUILD_DTYPE, (*given, plain.dtype, *metadata)
