"""Pickles of checkpoints, read: `SafeUnpickler` makes tensors and plain containers and nothing else.

A pickle is a program, and this one runs only calls from a short list.
Source: https://docs.python.org/3/library/pickle.html#restricting-globals.
"""

from __future__ import annotations

import _compat_pickle
import collections
import importlib
import pickle
import pickletools
from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold.checkpoint.errors import CheckpointError
from tenfold.checkpoint.names import StorageType
from tenfold.checkpoint.options import SAFE
from tenfold.checkpoint.rebuilding import CALLABLE, TABLE, checked_keys, on_storage, typed
from tenfold.checkpoint.typed_storage import TypedStorage
from tenfold.tensor.storage import Storage
from tenfold.tensor.tensor import Tensor
from tenfold.types.size import Size

# Python's own class in Python, which typeshed does not describe: the one in C cannot refuse a call.
_Unpickler: Any = pickle._Unpickler
GetStorage = Callable[[StorageType, str, str, int], Storage]  # of a class, a key, a location, so many elements
_STATEFUL = (collections.OrderedDict, Tensor)
_PARAMETER = "torch.nn.parameter.Parameter"
# Classes of Tenfold's other packages that a file may make one of: their constructors check what they are given.
OWN = frozenset({"tenfold.text.vocab.Vocab"})


class _References:
    """Storages are references in a pickle; `storage` finds them."""

    storage: GetStorage
    name: str
    typed: dict[Any, TypedStorage]

    def persistent_load(self, saved: Any) -> Any:
        """The storage that a reference means, with its dtype, or the class of a module that an old file has with its source."""
        if isinstance(saved, tuple):  # with encoding="bytes" the text of Python 2's files is bytes
            saved = tuple(part.decode("ascii") if isinstance(part, bytes) else part for part in saved)
        if isinstance(saved, tuple) and len(saved) == 4 and saved[0] == "module":
            return saved[1]
        if not isinstance(saved, tuple) or len(saved) not in (5, 6) or saved[0] != "storage":
            raise CheckpointError(f"a reference to {saved!r}, expected ('storage', type, key, location, size)", self.name)
        _, kind, key, location, count = saved[:5]
        if not isinstance(kind, StorageType) or type(count) is not int or count < 0:
            raise CheckpointError(f"a storage of type {kind!r} with {count!r} elements", self.name, f"storage {key!r}")
        storage = self.storage(kind, str(key), str(location), count)
        storage = _part(storage, kind, saved[5]) if saved[5:] and saved[5] is not None else storage
        if not kind.typed:
            return storage
        key = id(storage), kind
        if key not in self.typed:  # the same object for every mention
            self.typed[key] = TypedStorage(wrap_storage=storage, dtype=kind.dtype, _internal=True)
        return self.typed[key]


def _part(storage: Storage, kind: StorageType, view: Any) -> Storage:
    """A part of a storage, which files from before PyTorch 0.4 have as a storage of its own: (key, offset, size)."""
    _, offset, count = view
    part = on_storage(storage, kind.dtype, offset, (count,), (1,))
    if not count or part.device.type != "cpu":
        return part.clone().untyped_storage()  # type: ignore[no-any-return]
    alone = np.frombuffer(memoryview(part.numpy().view(np.uint8)), kind.dtype.numpy)  # its owner is no array: a storage's start
    return Storage(alone, storage.key)


class SafeUnpickler(_References, _Unpickler):  # type: ignore[misc] # see above
    """Reads tensors, plain containers and what the user allowed; every call and every state is checked first."""

    def __init__(self, file: Any, storage: GetStorage, name: str, **options: Any) -> None:
        super().__init__(file, **options)
        self.storage, self.name, self.typed = storage, name, {}

    def find_class(self, module: str, name: str) -> Any:
        """What a name means; refuses all that is not on the list."""
        if self.proto < 3:
            module, name = _compat_pickle.NAME_MAPPING.get((module, name), (module, name))
            module = _compat_pickle.IMPORT_MAPPING.get(module, module)
        full = f"{module}.{name}"
        if full in SAFE:
            return SAFE[full][1]
        if full in TABLE:
            return TABLE[full]
        if full == _PARAMETER:
            return importlib.import_module("tenfold.nn").Parameter
        if full in OWN:
            return getattr(importlib.import_module(module), name)
        raise self._refusal(
            f"Unsupported global: GLOBAL {full} was not an allowed global by default. If you trust where the file came from, "
            f"use `tenfold.serialization.add_safe_globals([{name}])` to allowlist it (or the context manager "
            f"`tenfold.serialization.safe_globals([{name}])`), or load with weights_only=False, which can run any code"
        )

    def _refusal(self, why: str) -> CheckpointError:
        return CheckpointError(f"Weights only load failed. {why}", self.name)

    def _check_call(self, target: Any, given: Any) -> None:
        if any(target is value for _, value in SAFE.values()):
            return
        if _is_own(target):
            if any(isinstance(value, range) for value in given):
                raise self._refusal(f"The file makes a {target.__name__} of a range, which may be without end")
            return
        if id(target) not in CALLABLE:
            raise self._refusal(f"The file calls {target!r}, which is not allowed")
        if target is Tensor and given:
            raise self._refusal("The file makes a tensor of uninitialised memory")
        if target is collections.OrderedDict and given:
            if len(given) > 1 or not isinstance(given[0], (list, tuple, dict)):
                raise self._refusal(f"The file makes an OrderedDict of {given!r}")
            checked_keys(given[0] if isinstance(given[0], dict) else [key for key, _ in given[0]])

    def load_reduce(self) -> None:
        """Call a function."""
        if not isinstance(self.stack[-1], tuple):
            raise self._refusal(f"The file calls a function with {type(self.stack[-1]).__name__}")
        self._check_call(self.stack[-2], self.stack[-1])
        super().load_reduce()

    def load_newobj(self) -> None:
        """Make an object of a class."""
        self._check_call(self.stack[-2], self.stack[-1])
        super().load_newobj()

    def load_newobj_ex(self) -> None:
        """Make an object of a class with keyword arguments."""
        self._check_call(self.stack[-3], self.stack[-2] or self.stack[-1])
        super().load_newobj_ex()

    def _instantiate(self, klass: Any, args: Any) -> None:
        self._check_call(klass, args)
        super()._instantiate(klass, args)

    def load_build(self) -> None:
        """Set an object's attributes."""
        target = self.stack[-2]
        allowed = tuple(value for _, value in SAFE.values() if isinstance(value, type))
        if isinstance(target, type) or not isinstance(target, (*_STATEFUL, *allowed)):
            raise self._refusal(f"The file sets the state of {target!r}, which is not allowed")
        if isinstance(target, allowed) or not isinstance(target, _STATEFUL):
            super().load_build()
            return
        state = self.stack.pop()
        if type(target) is Tensor and isinstance(state, tuple) and len(state) == 4:  # a tensor from before PyTorch 0.2
            storage, dtype = typed(state[0])
            target.data = on_storage(storage, dtype, *state[1:])
        elif isinstance(state, dict) and all(type(key) is str for key in state):
            target.__dict__.update(state)
        else:
            raise self._refusal(f"The file sets a state that is no dict of {type(target).__name__}")

    def load_setitem(self) -> None:
        """One entry of a dict."""
        self._check_container(self.stack[-3], dict)
        checked_keys(self.stack[-2:-1])
        super().load_setitem()

    def load_setitems(self) -> None:
        """Entries of a dict."""
        self._check_container(self.metastack[-1][-1], dict)
        checked_keys(self.stack[::2])
        super().load_setitems()

    def load_dict(self) -> None:
        """A dict of what lies above the mark."""
        checked_keys(self.stack[::2])
        super().load_dict()

    def load_additems(self) -> None:
        """Elements of a set."""
        self._check_container(self.metastack[-1][-1], set)
        checked_keys(self.stack)
        super().load_additems()

    def load_frozenset(self) -> None:
        """A frozen set of what lies above the mark."""
        checked_keys(self.stack)
        super().load_frozenset()

    def load_append(self) -> None:
        """One element of a list."""
        self._check_container(self.stack[-2], list)
        super().load_append()

    def load_appends(self) -> None:
        """Elements of a list."""
        self._check_container(self.metastack[-1][-1], list)
        super().load_appends()

    def load_bytearray8(self) -> None:
        """A bytearray, after its bytes were read: its length is only what the file says."""
        size = int.from_bytes(self.read(8), "little")
        data = self.read(size)
        if len(data) < size:
            raise EOFError(f"{len(data)} of {size} bytes")
        self.append(bytearray(data))

    def _check_container(self, target: Any, kind: type) -> None:
        """Entries go into plain containers, not into a tensor or whatever else has a method of that name."""
        allowed = tuple(value for _, value in SAFE.values() if isinstance(value, type))
        if not isinstance(target, (kind, *allowed)):
            raise self._refusal(f"The file puts elements into {type(target).__name__}, expected a {kind.__name__}")

    dispatch = {  # noqa: RUF012 - the base class reads it so
        **_Unpickler.dispatch,
        pickle.REDUCE[0]: load_reduce, pickle.NEWOBJ[0]: load_newobj, pickle.NEWOBJ_EX[0]: load_newobj_ex,
        pickle.BUILD[0]: load_build, pickle.SETITEM[0]: load_setitem, pickle.SETITEMS[0]: load_setitems,
        pickle.DICT[0]: load_dict, pickle.ADDITEMS[0]: load_additems, pickle.FROZENSET[0]: load_frozenset,
        pickle.APPEND[0]: load_append,
        pickle.APPENDS[0]: load_appends, pickle.BYTEARRAY8[0]: load_bytearray8,
    }  # fmt: skip


def _is_own(target: Any) -> bool:
    return isinstance(target, type) and f"{target.__module__}.{target.__qualname__}" in OWN


class _AnyUnpickler(_References):
    """For files that the user trusts, over the unpickler of a module like `pickle`: it runs what the file says."""

    def __init__(self, file: Any, storage: GetStorage, name: str, **options: Any) -> None:
        super().__init__(file, **options)  # type: ignore[call-arg]
        self.storage, self.name, self.typed = storage, name, {}

    def find_class(self, module: str, name: str) -> Any:
        """What a name means; PyTorch's names are Tenfold's own."""
        if module.split(".")[0] != "torch":
            return super().find_class(module, name)  # type: ignore[misc]
        full = f"{module}.{name}"
        return Size if full == "torch.Size" else TABLE[full] if full in TABLE else _ours(self.name, module, name)


def unpickler_of(module: Any) -> Any:
    """The unpickler of trusted files over that of a module in the manner of `pickle`."""
    return type("AnyUnpickler", (_AnyUnpickler, module.Unpickler), {})


# What PyTorch's compiled functions and methods are written as attributes of.
_OWNERS = ("TensorBase", "_TensorBase", "_VariableFunctions", "_VariableFunctionsClass")


def _ours(file: str, module: str, name: str) -> Any:
    """Tenfold's object of a PyTorch name: at the same place, or as a public name above it."""
    if module == "torch._C" and name in _OWNERS:
        return Tensor if "Tensor" in name else importlib.import_module("tenfold")
    parts = module.split(".")[1:]
    for depth in range(len(parts), -1, -1):
        try:
            found: Any = importlib.import_module(".".join(["tenfold", *parts[:depth]]))
            for part in name.split("."):
                found = getattr(found, part)
        except (ImportError, AttributeError):
            continue
        return found
    raise CheckpointError(f"the file asks for {module}.{name}, and Tenfold has no such name", file)


def globals_of(pickled: bytes) -> list[str]:
    """The names that a pickle asks for, in order, without running it."""
    found, texts, memo = dict[str, None](), list[Any](), dict[Any, Any]()
    last: Any = None
    for opcode, value, _ in pickletools.genops(pickled):
        if opcode.name in ("GLOBAL", "INST"):
            found[str(value).replace(" ", ".", 1)] = None
        elif opcode.name == "STACK_GLOBAL":
            found[".".join(str(text) for text in texts[-2:])] = None
        elif opcode.name in ("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"):
            memo[len(memo) if opcode.name == "MEMOIZE" else value] = last
            continue
        last = memo.get(value) if opcode.name in ("GET", "BINGET", "LONG_BINGET") else value
        if isinstance(last, str):
            texts.append(last)
    return list(found)


def is_allowed(name: str) -> bool:
    """Whether `load` with weights_only=True accepts a name."""
    module, _, rest = name.partition(".")
    name = f"{_compat_pickle.IMPORT_MAPPING.get(module, module)}.{rest}"
    return name in SAFE or name in TABLE or name in OWN or name == _PARAMETER
