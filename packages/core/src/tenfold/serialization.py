"""Checkpoints as PyTorch's `.pt` and `.pth` files, in both directions: a zip archive of a pickle and of raw memory.

`NAME/data.pkl` holds the objects, where a tensor refers to its memory by a key; `NAME/data/KEY` holds that memory.
Files name PyTorch's classes, so that each library reads the other's. `tenfold.safetensors` is the format without a pickle.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import pickle
import zipfile
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import IO, Any, NamedTuple

import numpy as np

from tenfold import devices, dtypes
from tenfold.ops.creation import place
from tenfold.safetensors import write_atomically
from tenfold.size import Size
from tenfold.storage import Storage
from tenfold.tensor import Tensor

File = str | os.PathLike[str] | IO[bytes]

# PyTorch's storage classes, by dtype; memory of other types is written as bytes (UntypedStorage).
STORAGES = {
    "float32": "FloatStorage", "float64": "DoubleStorage", "float16": "HalfStorage", "bfloat16": "BFloat16Storage",
    "uint8": "ByteStorage", "int8": "CharStorage", "int16": "ShortStorage", "int32": "IntStorage", "int64": "LongStorage",
    "bool": "BoolStorage", "complex64": "ComplexFloatStorage", "complex128": "ComplexDoubleStorage",
}  # fmt: skip
_STORAGE_DTYPES = {name: dtypes.BY_NAME[dtype] for dtype, name in STORAGES.items()}
# Functions of Tenfold that do what a function of PyTorch's does, named as there in files.
_PARAMETER = "tenfold.nn.parameter", "_rebuild_parameter"
_safe: dict[tuple[str, str], Any] = {}


class _Global(NamedTuple):
    """A class or function of PyTorch's, of which only the name is needed."""

    module: str
    name: str

    def __call__(self) -> None:
        """Never called: pickle wants callables where an object is to be rebuilt."""


class _Memory(NamedTuple):
    """What a tensor refers to in the pickle: a storage, and the dtype its elements count in (None: bytes)."""

    storage: Storage
    dtype: Any


class _Pickler(pickle._Pickler):  # the one in Python: only it can write names of classes that are not importable here
    def __init__(self, file: IO[bytes], protocol: int) -> None:
        super().__init__(file, protocol)
        self.keys: dict[int, tuple[str, _Memory]] = {}

    def persistent_id(self, obj: Any) -> Any:
        if not isinstance(obj, _Memory):
            return None
        key, first = self.keys.setdefault(id(obj.storage), (str(len(self.keys)), obj))
        if first.dtype is not obj.dtype:
            raise RuntimeError("save: cannot save multiple tensors that view the same data as different types; clone one of them")
        itemsize = 1 if obj.dtype is None else obj.dtype.itemsize
        kind = _Global("torch.storage", "UntypedStorage") if obj.dtype is None else _Global("torch", STORAGES[obj.dtype.name])
        return "storage", kind, key, str(obj.storage.device), obj.storage.nbytes() // itemsize

    def reducer_override(self, obj: Any) -> Any:
        if type(obj) is Tensor:
            return _reduced(obj)
        if type(obj) is Size:
            return _Global("torch", "Size"), (tuple(obj),)
        if type(obj) is devices.device:
            return _Global("torch", "device"), (obj.type,) if obj.index is None else (obj.type, obj.index)
        return NotImplemented

    def save_name(self, obj: _Global) -> None:
        self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())  # type: ignore[attr-defined]
        self.memoize(obj)  # type: ignore[attr-defined]

    def save_function(self, obj: Any) -> None:
        if (obj.__module__, obj.__qualname__) == _PARAMETER:
            self.save_name(_Global("torch._utils", "_rebuild_parameter"))
        else:
            self.save_global(obj)  # type: ignore[attr-defined]

    def save_dtype(self, obj: Any) -> None:
        self.save_name(_Global("torch", obj.name))

    dispatch = {**pickle._Pickler.dispatch, _Global: save_name, FunctionType: save_function, dtypes.dtype: save_dtype}  # type: ignore[dict-item]


def _reduced(t: Tensor) -> Any:
    """How PyTorch rebuilds a tensor: from its memory, where in it the tensor begins, sizes and strides."""
    if t.untyped_storage().nbytes() % t.itemsize or min(t.stride(), default=0) < 0:
        t = t.detach().clone().requires_grad_(t.requires_grad)
    typed = t.dtype.name in STORAGES
    memory = _Memory(t.untyped_storage(), t.dtype if typed else None)
    rest: tuple[Any, ...] = (memory, t.storage_offset(), tuple(t.shape), t.stride(), t.requires_grad, OrderedDict())
    if typed:
        return _Global("torch._utils", "_rebuild_tensor_v2"), rest
    return _Global("torch._utils", "_rebuild_tensor_v3"), (*rest, t.dtype, None)


def save(obj: Any, f: File, pickle_module: Any = None, pickle_protocol: int = 2, **_: Any) -> None:
    """Write an object with tensors anywhere in it as a file that PyTorch reads; a path is replaced at once.

    Tensors that share memory share it again when loaded. Raises RuntimeError for one memory under two dtypes.

    >>> import io, tenfold
    >>> file = io.BytesIO()
    >>> tenfold.save({"w": tenfold.ones(2)}, file)
    >>> _ = file.seek(0)
    >>> tenfold.load(file)
    {'w': tensor([1., 1.])}
    """
    path = None if hasattr(f, "write") else Path(f)
    pickled, whole = io.BytesIO(), io.BytesIO()
    pickler = _Pickler(pickled, pickle_protocol)
    pickler.dump(obj)
    folder = "archive" if path is None else path.stem or "archive"
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(f"{folder}/data.pkl", pickled.getvalue())
        archive.writestr(f"{folder}/byteorder", "little")
        for key, memory in pickler.keys.values():
            archive.writestr(f"{folder}/data/{key}", memory.storage.cpu()._bytes().numpy().tobytes())
        archive.writestr(f"{folder}/version", "3\n")
    if path is None:
        f.write(whole.getvalue())  # type: ignore[union-attr]
    else:
        write_atomically(path, whole.getvalue())


class _Loader(pickle.Unpickler):
    """Reads the pickle of an archive; PyTorch's names mean Tenfold's classes."""

    def __init__(self, archive: zipfile.ZipFile, map_location: Any, weights_only: bool) -> None:
        names = [name for name in archive.namelist() if name == "data.pkl" or name.endswith("/data.pkl")]
        if not names:
            raise RuntimeError("load: the zip archive has no data.pkl; accepted are files of tenfold.save and torch.save")
        self.archive, self.folder = archive, names[0].removesuffix("data.pkl")
        self.map_location, self.weights_only = map_location, weights_only
        self.memories: dict[str, Tensor] = {}
        super().__init__(io.BytesIO(archive.read(names[0])))

    def find_class(self, module: str, name: str) -> Any:
        known = _known(module, name)
        if known is not None:
            return known
        if self.weights_only:
            raise pickle.UnpicklingError(
                f"load: weights_only=True refuses {module}.{name}, which is no tensor, number, string or container of these. "
                f"Allow it with tenfold.serialization.add_safe_globals([{name}]), or, for a file whose source you trust "
                f"to run code here, pass weights_only=False"
            )
        if module.split(".")[0] == "torch":
            return getattr(importlib.import_module("tenfold" + module.removeprefix("torch")), name)
        return super().find_class(module, name)

    def persistent_load(self, pid: Any) -> Tensor:
        _, kind, key, location, _ = pid
        if key not in self.memories:
            array = np.frombuffer(bytearray(self.archive.read(f"{self.folder}data/{key}")), kind.numpy)
            self.memories[key] = place(array, self.device(array, location))
        return self.memories[key]

    def device(self, array: Any, location: str) -> Any:
        """Where memory that was on `location` goes."""
        given = self.map_location
        if isinstance(given, dict):
            return given.get(location, location)
        if callable(given):
            found = given(Storage(array, devices.CPU), location)
            return location if found is None else found.device
        return location if given is None else given


def _known(module: str, name: str) -> Any:
    """What a name in a file means that is harmless to build; None for all others."""
    if (module, name) in _safe:
        return _safe[module, name]
    if module == "torch":
        found = _STORAGE_DTYPES.get(name) or dtypes.BY_NAME.get(name)
        return found or {"Size": Size, "device": devices.device}.get(name)
    if module == "torch._utils" and name.startswith("_rebuild_parameter"):
        return _parameter
    return _HARMLESS.get((module, name))


def _tensor(memory: Tensor, offset: int, size: Any, stride: Any, requires_grad: bool, hooks: Any = None, *more: Any) -> Tensor:
    """A tensor in loaded memory; `more` begins with its dtype where the memory is bytes."""
    flat = memory.view(more[0]) if more and isinstance(more[0], dtypes.dtype) else memory
    return flat.as_strided(size, stride, offset).detach().requires_grad_(requires_grad)


def _parameter(data: Tensor, requires_grad: bool, *_: Any) -> Any:
    return importlib.import_module("tenfold.nn.parameter").Parameter(data, requires_grad)


_HARMLESS: dict[tuple[str, str], Any] = {
    ("torch._utils", "_rebuild_tensor_v2"): _tensor,
    ("torch._utils", "_rebuild_tensor_v3"): _tensor,
    ("torch.storage", "UntypedStorage"): dtypes.BY_NAME["uint8"],
    ("collections", "OrderedDict"): OrderedDict,
    ("collections", "Counter"): Counter,
    ("_codecs", "encode"): str.encode,  # how protocol 2 writes bytes
    **{(module, name.__name__): name for module in ("builtins", "__builtin__") for name in (set, frozenset, bytearray, complex)},
}


def load(f: File, map_location: Any = None, pickle_module: Any = None, *, weights_only: bool = True, **_: Any) -> Any:
    """Read what `tenfold.save` or `torch.save` wrote (the zip format, PyTorch 1.6 and later).

    `map_location` is the device for all tensors, a dict from saved to wanted devices, or a function of (storage, location).
    With `weights_only` the file can hold only tensors, numbers, strings and containers of these, and runs no code.

    Raises: RuntimeError for a file that is no such archive; pickle.UnpicklingError for other objects under `weights_only`.
    """
    try:
        archive = zipfile.ZipFile(f)
    except zipfile.BadZipFile as error:
        raise RuntimeError(
            f"load: {f} is no zip archive ({error}); accepted are files of tenfold.save and torch.save. It may be cut short, or "
            f"of PyTorch before 1.6: load such a file there and save it again"
        ) from None
    with archive:
        return _Loader(archive, map_location, weights_only).load()


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Allow these classes and functions in files that are loaded with `weights_only`."""
    _safe.update({(one.__module__, one.__qualname__): one for one in safe_globals})


def get_safe_globals() -> list[Callable[..., Any]]:
    """What `add_safe_globals` allowed."""
    return list(_safe.values())


def clear_safe_globals() -> None:
    """Forget what `add_safe_globals` allowed."""
    _safe.clear()


@contextlib.contextmanager
def safe_globals(allowed: list[Any]) -> Iterator[None]:
    """Allow these classes and functions inside a `with` block."""
    before = dict(_safe)
    add_safe_globals(allowed)
    try:
        yield
    finally:
        _safe.clear()
        _safe.update(before)
