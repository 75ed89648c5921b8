"""What the calls in a checkpoint's pickle do: make tensors on storages, after their sizes were compared with the memory.

A file says size, strides and offset of each tensor; nothing is made that reaches outside the storage's bytes.
"""

from __future__ import annotations

import collections
import importlib
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from tenfold.checkpoint.names import STORAGE_TYPES
from tenfold.checkpoint.nested_tensors import rebuild_jagged, rebuild_strided
from tenfold.checkpoint.typed_storage import TypedStorage
from tenfold.dispatch.devices import device
from tenfold.ops.creation.factories import empty_strided
from tenfold.tensor.copying import on_memory, restore, set_state
from tenfold.tensor.storage import Storage
from tenfold.tensor.tensor import Tensor
from tenfold.types import dtypes, memory_format as formats
from tenfold.types.size import Size

MAX_DIM = 64
# Storages of a file from a machine of the other byte order whose dtype only their first tensor says.
SWAPPED: weakref.WeakSet[Storage] = weakref.WeakSet()


def swap_bytes(data: Any, dtype: Any) -> None:
    """Turn the bytes of every element round, in place; `data` is a uint8 tensor."""
    part = dtype.itemsize // (2 if dtype.is_complex else 1)
    whole = data[: data.numel() // part * part]
    if part > 1:
        whole.copy_(whole.reshape(-1, part).flip(1).reshape(-1))


def on_storage(storage: Storage, dtype: Any, offset: Any, size: Any, stride: Any) -> Any:
    """A tensor in a storage's memory; ValueError when it would reach outside."""
    offset, size, stride = _checked(storage, dtype, offset, size, stride)
    if 0 in size:
        return empty_strided(size, stride, dtype=dtype, device=storage.device)
    made = on_memory(storage, dtype, size, stride, offset)
    if made.dtype is not dtype or tuple(made.shape) != size:
        raise ValueError(f"device {storage.device} cannot read its memory as {dtype.name}; load with map_location='cpu'")
    return made


def _checked(storage: Storage, dtype: Any, offset: Any, size: Any, stride: Any) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    if not isinstance(dtype, dtypes.dtype):
        raise TypeError(f"a tensor of dtype {dtype!r}")
    (offset,) = _integers("offset", (offset,))
    size, stride = _integers("size", size), _integers("stride", stride)
    if len(size) != len(stride) or len(size) > MAX_DIM:
        raise ValueError(f"a tensor of size {size} and stride {stride}")
    have = storage.nbytes() // dtype.itemsize
    need = offset + 1 + sum((n - 1) * step for n, step in zip(size, stride)) if 0 not in size else 0
    if need > have:
        raise ValueError(
            f"a tensor of size {size}, stride {stride} and offset {offset} in a storage of {have} {dtype.name} elements"
        )
    return offset, size, stride


def _integers(what: str, values: Any) -> tuple[int, ...]:
    if not isinstance(values, (tuple, list)) or not all(type(n) is int and 0 <= n < 1 << 63 for n in values):
        raise ValueError(f"{what} {values!r}: expected integers that are not negative")
    return tuple(values)


def typed(storage: Any) -> tuple[Storage, dtypes.dtype]:
    """A storage of a pickle, and the dtype under which it was saved."""
    if isinstance(storage, Storage):
        return storage, dtypes.uint8
    if not isinstance(storage, TypedStorage):
        raise TypeError(f"a tensor on {type(storage).__name__}, expected a storage")
    return storage._untyped_storage, storage._dtype


def rebuild_tensor(
    storage: Any, offset: Any, size: Any, stride: Any, requires_grad: Any = False, hooks: Any = None, metadata: Any = None
) -> Any:
    """A tensor of the dtype that its storage has."""
    return _finished(on_storage(*typed(storage), offset, size, stride), requires_grad, metadata)


def rebuild_of_dtype(
    storage: Any, offset: Any, size: Any, stride: Any, requires_grad: Any, hooks: Any, dtype: Any, metadata: Any = None
) -> Any:
    """A tensor of a dtype that has no storage class of its own."""
    untyped, _ = typed(storage)
    if untyped in SWAPPED:
        swap_bytes(untyped._bytes(), dtype)
        SWAPPED.discard(untyped)
    return _finished(on_storage(untyped, dtype, offset, size, stride), requires_grad, metadata)


def _finished(tensor: Any, requires_grad: Any, metadata: Any = None) -> Any:
    """The bits that PyTorch keeps lazily, carried out, and the gradient flag."""
    if metadata:
        if not isinstance(metadata, dict) or not all(metadata[name] is True and name in ("conj", "neg") for name in metadata):
            raise ValueError(f"tensor metadata {metadata!r}, expected 'conj' and 'neg'")
        tensor = tensor.conj() if "conj" in metadata else tensor
        tensor = tensor.neg() if "neg" in metadata else tensor
    return tensor.requires_grad_(True) if requires_grad else tensor


def rebuild_meta(dtype: Any, size: Any, stride: Any, requires_grad: Any) -> Any:
    """A tensor without memory."""
    if not isinstance(dtype, dtypes.dtype):
        raise TypeError(f"a tensor of dtype {dtype!r}")
    made = empty_strided(_integers("size", size), _integers("stride", stride), dtype=dtype, device="meta")
    return _finished(made, requires_grad)


def rebuild_parameter(data: Any, requires_grad: Any, hooks: Any, state: Any = None) -> Any:
    """A Parameter, or where tenfold.nn is not installed the leaf tensor that is as much of it as there is."""
    if not isinstance(data, Tensor):
        raise TypeError(f"a parameter on {type(data).__name__}, expected a tensor")
    try:
        parameter = importlib.import_module("tenfold.nn").Parameter
    except ModuleNotFoundError:
        return data.detach().requires_grad_(bool(requires_grad))
    made = parameter(data, bool(requires_grad))
    set_state(made, state)
    return made


def rebuild_sparse(layout: Any, parts: Any) -> Any:
    """A sparse tensor, by the package that has the layout; its places are compared with its size."""
    front: Any = importlib.import_module("tenfold")
    if not isinstance(layout, formats.layout) or not isinstance(parts, (tuple, list)) or len(parts) < 3:
        raise ValueError(f"a sparse tensor of layout {layout!r} made of {parts!r}")
    if layout.name == "sparse_coo":
        places, values, size, *summed = parts
        is_summed = bool(summed and summed[0])
        given: tuple[Any, ...] = (places, values, tuple(size))
        options: dict[str, Any] = {"is_coalesced": is_summed}
        make = front.sparse_coo_tensor
    else:
        starts, places, values, size = parts
        given, options = (starts, places, values, tuple(size)), {"layout": layout}
        make = front.sparse_compressed_tensor
    unread = _UNREAD.get()
    if unread is None:
        return make(*given, check_invariants=True, **options)
    unread.append(lambda: make(*given, check_invariants=True, **options))
    return make(*given, check_invariants=False, **options)


# Where a file has its storages behind its objects, what is to be checked once they are read; None elsewhere.
_UNREAD: ContextVar[list[Callable[[], Any]] | None] = ContextVar("_UNREAD", default=None)


@contextmanager
def unread_storages() -> Iterator[list[Callable[[], Any]]]:
    """Sparse tensors that are made inside are checked by what this lists, when their places are there."""
    checks: list[Callable[[], Any]] = []
    token = _UNREAD.set(checks)
    try:
        yield checks
    finally:
        _UNREAD.reset(token)


def rebuild_subclass(function: Any, cls: Any, given: Any, state: Any) -> Any:
    """A tensor of a subclass, or one with attributes."""
    if function is rebuild_jagged:  # its class is of a package that need not be installed, and its state is its parts again
        return rebuild_jagged(*given)
    if id(function) not in REBUILDERS:
        raise TypeError(f"a tensor made by {function!r}")
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError(f"a tensor of class {cls!r}, which is no tensor class")
    made = function(*given)
    made = made if cls is type(made) else made.as_subclass(cls)
    restore(made, state)
    return made


def layout_of(name: Any) -> Any:
    found = getattr(formats, str(name).removeprefix("torch."), None)
    if not isinstance(found, formats.layout):
        raise ValueError(f"layout {name!r}, which Tenfold does not have")
    return found


def _bytes(text: Any, encoding: Any) -> bytes:
    """How protocol 2 writes bytes."""
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise ValueError(f"_codecs.encode with encoding {encoding!r}; only latin1 is loaded")
    return text.encode("latin1")


def _listed(make: Any, *also: type) -> Any:
    """A container made of what is there already: a range or a number would be made into elements without end."""

    def container(*given: Any) -> Any:
        if len(given) > 1 or not all(isinstance(values, (list, tuple, *also)) for values in given):
            raise TypeError(f"{make.__name__} of {', '.join(type(v).__name__ for v in given)}, expected a list")
        return make(*(checked_keys(values) for values in given))

    return container


def _bytearray(*given: Any) -> bytearray:
    if not given or isinstance(given[0], bytes):
        return bytearray(*given)
    return bytearray(_bytes(*given))


_MANY = 10_000


def checked_keys(values: Any) -> Any:
    """The values, if what they nest can be hashed in reasonable time: a tuple that holds another twice, and so on, cannot."""
    for value in values:
        left, waiting = _MANY, [value]
        while waiting:
            left -= 1
            if left < 0:
                raise ValueError(f"a key or an element of a set that nests more than {_MANY} values")
            last = waiting.pop()
            if isinstance(last, (tuple, frozenset)):
                waiting.extend(last)
    return values


def _table() -> dict[str, Any]:
    """Everything that a checkpoint may name without the user's word."""
    found: dict[str, Any] = {
        "torch._utils._rebuild_tensor": rebuild_tensor, "torch._utils._rebuild_tensor_v2": rebuild_tensor,
        "torch._utils._rebuild_tensor_v3": rebuild_of_dtype, "torch._utils._rebuild_meta_tensor_no_storage": rebuild_meta,
        "torch._utils._rebuild_parameter": rebuild_parameter, "torch._utils._rebuild_sparse_tensor": rebuild_sparse,
        "torch._utils._rebuild_nested_tensor": rebuild_strided,
        "torch.nested._internal.nested_tensor._rebuild_njt": rebuild_jagged,
        "torch.nested._internal.nested_tensor.NestedTensor": "NestedTensor",
        "torch._tensor._rebuild_from_type_v2": rebuild_subclass,
        "torch._utils._rebuild_parameter_with_state": rebuild_parameter, "torch.device": device, "torch.Size": _listed(Size),
        "torch.Tensor": Tensor, "torch.serialization._get_layout": layout_of, "_codecs.encode": _bytes,
        "collections.OrderedDict": _ORDERED, "collections.Counter": _listed(collections.Counter, dict),
        "builtins.set": _listed(set), "builtins.frozenset": _listed(frozenset), "builtins.bytearray": _bytearray,
        "builtins.complex": complex, "builtins.slice": slice, "builtins.range": range,
    }  # fmt: skip
    found.update({f"torch.{dtype.name}": dtype for dtype in dtypes.ALL})
    found.update({f"torch.{name}": value for name, value in vars(formats).items() if isinstance(value, formats.layout)})
    for name, storage in STORAGE_TYPES.items():
        found[f"torch.{name}"] = found[f"torch.storage.{name}"] = storage
    return found


_ORDERED = collections.OrderedDict
TABLE = _table()
CALLABLE = frozenset(id(value) for value in TABLE.values() if callable(value))
REBUILDERS = frozenset(id(f) for f in (rebuild_tensor, rebuild_of_dtype, rebuild_meta, rebuild_parameter))
