"""The pickles of checkpoints: tensors under the names that PyTorch gives them, storages by reference.

`SafeUnpickler` makes tensors and plain containers and nothing else: a pickle is a program, and it runs only calls from
a short list. Source: https://docs.python.org/3/library/pickle.html#restricting-globals.
"""

from __future__ import annotations

import collections
import importlib
import pickle
from collections.abc import Callable
from typing import Any

from tenfold.dispatch.devices import device
from tenfold.ops.creation.factories import empty
from tenfold.tensor.storage import Storage
from tenfold.tensor.tensor import Tensor, is_plain
from tenfold.types import dtypes
from tenfold.types.size import Size

# Python's own classes in Python, which typeshed does not describe: the pickler in C insists on importing every name that it
# writes, and the unpickler in C cannot refuse a call.
_Pickler: Any = pickle._Pickler
_Unpickler: Any = pickle._Unpickler

# PyTorch's names of typed storages; other dtypes are saved with an untyped storage and the dtype beside it.
_STORAGES = {
    "float64": "DoubleStorage", "float32": "FloatStorage", "float16": "HalfStorage", "bfloat16": "BFloat16Storage",
    "int64": "LongStorage", "int32": "IntStorage", "int16": "ShortStorage", "int8": "CharStorage", "uint8": "ByteStorage",
    "bool": "BoolStorage", "complex64": "ComplexFloatStorage", "complex128": "ComplexDoubleStorage",
}  # fmt: skip
_DTYPES = {name: dtypes.BY_NAME[dtype] for dtype, name in _STORAGES.items()}
_UNTYPED = "UntypedStorage"
# What users allow to be loaded besides: by "module.name".
SAFE_GLOBALS: dict[str, Any] = {}


class Global:
    """A function or class that is written by its name only."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def __call__(self) -> None:
        """Pickle asks that what it writes as a function can be called."""


_REBUILD = Global("torch._utils", "_rebuild_tensor_v2")
_REBUILD_DTYPE = Global("torch._utils", "_rebuild_tensor_v3")
_REBUILD_META = Global("torch._utils", "_rebuild_meta_tensor_no_storage")
_REBUILD_PARAMETER = Global("torch._utils", "_rebuild_parameter")
_REBUILD_SUBCLASS = Global("torch._tensor", "_rebuild_from_type_v2")
_OWN: dict[Any, Global] = {device: Global("torch", "device"), Size: Global("torch", "Size")}
_TYPED = {name: Global("torch", name) for name in _DTYPES} | {_UNTYPED: Global("torch.storage", _UNTYPED)}
_BY_DTYPE = {dtype: Global("torch", dtype.name) for dtype in dtypes.ALL}


class _Reference:
    """A storage in a pickle, with the dtype under which it is written."""

    def __init__(self, storage: Storage, typed: str, itemsize: int) -> None:
        self.storage, self.typed, self.itemsize = storage, typed, itemsize


class TensorPickler(_Pickler):  # type: ignore[misc] # see above
    """Pickles tensors as PyTorch does; `storages` are the memory that they share, in the order of their keys."""

    def __init__(self, file: Any, protocol: int) -> None:
        super().__init__(file, protocol)
        self.storages: list[Storage] = []
        self.keys: dict[Any, str] = {}
        self.typed: dict[Any, str] = {}

    def save(self, obj: Any, save_persistent_id: bool = True) -> None:
        """One object; names are written as they are."""
        obj = _BY_DTYPE[obj] if isinstance(obj, dtypes.dtype) else obj  # a dtype is a name, not a call
        if type(obj) is not Global:
            super().save(obj, save_persistent_id)
        elif id(obj) in self.memo:
            self.write(self.get(self.memo[id(obj)][0]))
        else:
            self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())
            self.memoize(obj)

    def persistent_id(self, obj: Any) -> Any:
        """The reference to a storage."""
        if isinstance(obj, Storage):
            obj = _Reference(obj, _UNTYPED, 1)
        if type(obj) is not _Reference:
            return None
        storage = obj.storage
        size = storage.nbytes()
        key = (storage.device, storage.data_ptr(), size) if size else id(storage)
        if self.typed.setdefault(key, obj.typed) != obj.typed:
            raise RuntimeError(
                "save: cannot save multiple tensors or storages that view the same data as different types; clone one of them"
            )
        if key not in self.keys:
            self.keys[key] = str(len(self.storages))
            self.storages.append(storage)
        return "storage", _TYPED[obj.typed], self.keys[key], str(storage.device), size // obj.itemsize

    def reducer_override(self, obj: Any) -> Any:
        """How tensors, devices and sizes are written; the rest as usual."""
        if isinstance(obj, device):
            return _OWN[device], (obj.type,) if obj.index is None else (obj.type, obj.index)
        if type(obj) is Size:
            return _OWN[Size], (tuple(obj),)
        return _tensor(obj) if isinstance(obj, Tensor) else NotImplemented


def _tensor(obj: Any) -> tuple[Any, ...]:
    """The call that makes a tensor again."""
    plain = obj.detach() if is_plain(type(obj)) else Tensor._make_subclass(Tensor, obj)
    call = _plain_tensor(plain, obj.requires_grad)
    if type(obj) is Tensor:
        return call
    if _is_parameter(obj):
        return _REBUILD_PARAMETER, (_plain_data(plain), obj.requires_grad, collections.OrderedDict())
    return _REBUILD_SUBCLASS, (call[0], type(obj), call[1], dict(obj.__dict__))


def _is_parameter(obj: Any) -> bool:
    return type(obj).__name__ == "Parameter" and type(obj).__module__.startswith("tenfold.nn")


def _plain_data(plain: Any) -> Any:
    return plain if type(plain) is Tensor else Tensor._make_subclass(Tensor, plain)


def _plain_tensor(plain: Any, requires_grad: bool) -> tuple[Any, ...]:
    hooks: Any = collections.OrderedDict()
    if plain.is_meta:
        return _REBUILD_META, (plain.dtype, tuple(plain.shape), plain.stride(), requires_grad)
    if min(plain.stride(), default=0) < 0:
        plain = plain.contiguous()
    typed = _STORAGES.get(plain.dtype.name, _UNTYPED)
    itemsize = plain.itemsize if typed != _UNTYPED else 1
    reference = _Reference(plain.untyped_storage(), typed, itemsize)
    given = (reference, plain.storage_offset(), tuple(plain.shape), plain.stride(), requires_grad, hooks)
    return (_REBUILD, given) if typed != _UNTYPED else (_REBUILD_DTYPE, (*given, plain.dtype))


# Reading


class Stored:
    """A storage as bytes on its device, viewed by the tensors that are rebuilt on it."""

    def __init__(self, data: Any, swapped: bool) -> None:
        self.data, self.swapped = data, swapped
        self.dtype: Any = None

    def tensor(self, dtype: Any, offset: int, size: Any, stride: Any) -> Any:
        """A tensor on this memory."""
        if self.swapped and self.dtype is None and dtype.itemsize > 1:  # saved on a machine of the other byte order
            part = dtype.itemsize // (2 if dtype.is_complex else 1)
            self.data.copy_(self.data.reshape(-1, part).flip(1).reshape(-1))
        self.dtype = dtype
        whole = self.data[: self.data.numel() // dtype.itemsize * dtype.itemsize]
        if not whole.numel():
            return empty(tuple(size), dtype=dtype, device=self.data.device)
        return whole.view(dtype).as_strided(tuple(size), tuple(stride), offset).detach()


def _rebuild(
    storage: Any, offset: int, size: Any, stride: Any, requires_grad: bool = False, hooks: Any = None, metadata: Any = None
) -> Any:
    stored, dtype = storage
    return _with_grad(stored.tensor(dtype, offset, size, stride), requires_grad)


def _rebuild_dtype(
    storage: Any, offset: int, size: Any, stride: Any, requires_grad: bool, hooks: Any, dtype: Any, metadata: Any = None
) -> Any:
    return _with_grad(storage[0].tensor(dtype, offset, size, stride), requires_grad)


def _rebuild_meta(dtype: Any, size: Any, stride: Any, requires_grad: bool) -> Any:
    from tenfold.ops.creation.factories import empty_strided

    return _with_grad(empty_strided(tuple(size), tuple(stride), dtype=dtype, device="meta"), requires_grad)


def _with_grad(tensor: Any, requires_grad: bool) -> Any:
    return tensor.requires_grad_(True) if requires_grad else tensor


def _rebuild_parameter(data: Any, requires_grad: bool, hooks: Any, state: Any = None) -> Any:
    try:
        parameter = importlib.import_module("tenfold.nn").Parameter
    except ModuleNotFoundError:  # core alone: a leaf tensor is as much of it as there is
        return data.detach().requires_grad_(requires_grad)
    made = parameter(data, requires_grad)
    made.__dict__.update(state or {})
    return made


def _rebuild_subclass(function: Any, cls: Any, args: Any, state: Any) -> Any:
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise pickle.UnpicklingError(f"a tensor of class {cls!r}, which is no tensor class")
    made = function(*args)
    made = made if cls is Tensor else made.as_subclass(cls)
    if state:
        made.__dict__.update(state)
    return made


def _bytes(text: Any, encoding: Any) -> bytes:
    """How protocol 2 writes bytes."""
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise pickle.UnpicklingError(f"_codecs.encode with encoding {encoding!r}; only latin1 is loaded")
    return text.encode("latin1")


def _table() -> dict[str, Any]:
    """Everything that a checkpoint may name without the user's word."""
    found: dict[str, Any] = {
        "torch._utils._rebuild_tensor": _rebuild, "torch._utils._rebuild_tensor_v2": _rebuild,
        "torch._utils._rebuild_tensor_v3": _rebuild_dtype, "torch._utils._rebuild_meta_tensor_no_storage": _rebuild_meta,
        "torch._utils._rebuild_parameter": _rebuild_parameter, "torch._tensor._rebuild_from_type_v2": _rebuild_subclass,
        "torch._utils._rebuild_parameter_with_state": _rebuild_parameter, "torch.device": device, "torch.Size": Size,
        "torch.Tensor": Tensor, "collections.OrderedDict": collections.OrderedDict, "collections.Counter": collections.Counter,
        "_codecs.encode": _bytes,
    }  # fmt: skip
    for builtin in (set, frozenset, complex, bytearray, slice, range):
        found[f"builtins.{builtin.__name__}"] = found[f"__builtin__.{builtin.__name__}"] = builtin
    found["__builtin__.xrange"] = range
    found.update({f"torch.{dtype.name}": dtype for dtype in dtypes.ALL})
    for name, dtype in _DTYPES.items():
        found[f"torch.{name}"] = found[f"torch.storage.{name}"] = dtype
    found["torch.UntypedStorage"] = found["torch.storage.UntypedStorage"] = dtypes.uint8
    return found


_TABLE = _table()
_CALLABLE = frozenset(id(value) for value in _TABLE.values() if callable(value))
_STATEFUL = (collections.OrderedDict, Tensor)


def _persistent(name: str, storage: Callable[..., Stored], saved: Any) -> Any:
    """The storage that a reference means, with its dtype."""
    if not isinstance(saved, tuple) or len(saved) < 5 or saved[0] != "storage" or not isinstance(saved[1], dtypes.dtype):
        raise pickle.UnpicklingError(f"{name}: a reference to {saved!r}, expected ('storage', type, key, location, size)")
    _, dtype, key, location, numel = saved[:5]
    return storage(str(key), str(location), int(numel) * dtype.itemsize), dtype


class SafeUnpickler(_Unpickler):  # type: ignore[misc] # see above
    """Reads tensors, plain containers and what the user allowed; every call and every state is checked first."""

    def __init__(self, file: Any, storage: Callable[..., Stored], name: str, **options: Any) -> None:
        super().__init__(file, **options)
        self.storage, self.name = storage, name

    def load(self) -> Any:
        """The object; pickle.UnpicklingError when it is not made of tensors and plain containers."""
        try:
            return super().load()
        except (pickle.UnpicklingError, RuntimeError, OSError, MemoryError):
            raise
        except Exception as error:
            raise pickle.UnpicklingError(f"{self.name}: data.pkl is damaged: {type(error).__name__}: {error}") from error

    def find_class(self, module: str, name: str) -> Any:
        """What a name means; refuses all that is not on the list."""
        full = f"{module}.{name}"
        if full in SAFE_GLOBALS:
            return SAFE_GLOBALS[full]
        if full in _TABLE:
            return _TABLE[full]
        if full == "torch.nn.parameter.Parameter":
            return importlib.import_module("tenfold.nn").Parameter
        raise pickle.UnpicklingError(
            f"{self.name}: Weights only load failed: the file asks for {full}, which is not on the list of what is loaded "
            f"without running code. If you trust where it came from, allow it with "
            f"`tenfold.serialization.add_safe_globals([{name}])`, or load with weights_only=False, which can run any code."
        )

    def persistent_load(self, saved: Any) -> Any:
        """A storage."""
        return _persistent(self.name, self.storage, saved)

    def _refuse(self, what: str, target: Any) -> None:
        raise pickle.UnpicklingError(f"{self.name}: Weights only load failed: the file {what} {target!r}, which is not allowed")

    def _check_call(self, target: Any) -> None:
        if id(target) not in _CALLABLE and not any(target is safe for safe in SAFE_GLOBALS.values()):
            self._refuse("calls", target)

    def load_reduce(self) -> None:
        """Call a function."""
        self._check_call(self.stack[-2])
        super().load_reduce()

    def load_newobj(self) -> None:
        """Make an object of a class."""
        self._check_call(self.stack[-2])
        super().load_newobj()

    def load_newobj_ex(self) -> None:
        """Make an object of a class with keyword arguments."""
        self._check_call(self.stack[-3])
        super().load_newobj_ex()

    def _instantiate(self, klass: Any, args: Any) -> None:
        self._check_call(klass)
        super()._instantiate(klass, args)

    def load_build(self) -> None:
        """Set an object's attributes."""
        target = self.stack[-2]
        allowed = tuple(value for value in SAFE_GLOBALS.values() if isinstance(value, type))
        if not isinstance(target, (*_STATEFUL, *allowed)) or isinstance(target, type):
            self._refuse("sets the state of", target)
        if isinstance(target, _STATEFUL) and not isinstance(target, allowed):
            state = self.stack.pop()
            if not isinstance(state, dict):
                self._refuse("sets a state that is no dict of", target)
            target.__dict__.update(state)
            return
        super().load_build()

    dispatch = {  # noqa: RUF012 - the base class reads it so
        **_Unpickler.dispatch,
        pickle.REDUCE[0]: load_reduce, pickle.NEWOBJ[0]: load_newobj, pickle.NEWOBJ_EX[0]: load_newobj_ex,
        pickle.BUILD[0]: load_build,
    }  # fmt: skip


class AnyUnpickler(pickle.Unpickler):
    """Python's own unpickler, for files that the user trusts: it runs what the file says."""

    def __init__(self, file: Any, storage: Callable[..., Stored], name: str, **options: Any) -> None:
        super().__init__(file, **options)
        self.storage, self.name = storage, name

    def persistent_load(self, saved: Any) -> Any:
        """A storage."""
        return _persistent(self.name, self.storage, saved)

    def find_class(self, module: str, name: str) -> Any:
        """What a name means; PyTorch's names are Tenfold's own."""
        known = _TABLE.get(f"{module}.{name}")
        if known is not None and module.split(".")[0] == "torch":
            return known
        if module.split(".")[0] != "torch":
            return super().find_class(module, name)
        return _ours(self.name, module, name)


def _ours(file: str, module: str, name: str) -> Any:
    """Tenfold's object of a PyTorch name: at the same place, or as a public name above it."""
    parts = module.split(".")[1:]
    for depth in range(len(parts), -1, -1):
        try:
            found: Any = importlib.import_module(".".join(["tenfold", *parts[:depth]]))
            for part in name.split("."):
                found = getattr(found, part)
        except (ImportError, AttributeError):
            continue
        return found
    raise pickle.UnpicklingError(f"{file}: the file asks for {module}.{name}, and Tenfold has no such name")
