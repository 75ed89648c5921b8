"""`tenfold.save` and `tenfold.load`: PyTorch's own checkpoint files, written and read without PyTorch.

A file is a zip archive with a pickle of the objects (`data.pkl`) and the bytes of each storage (`data/0`, ...). Loading
runs no code from the file unless `weights_only=False` is asked for.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import sys
from typing import Any

import numpy as np

from tenfold.checkpoint import legacy
from tenfold.checkpoint.archive import ALIGNMENT, Archive, mapped, writing
from tenfold.checkpoint.errors import CheckpointError, EmptyFileError, located
from tenfold.checkpoint.files import Counted, FileLike, Window, name_of, opened, replaced
from tenfold.checkpoint.names import StorageType
from tenfold.checkpoint.options import PACKAGES, is_swapped, skipping
from tenfold.checkpoint.pickler import pickler_of
from tenfold.checkpoint.rebuilding import SWAPPED, swap_bytes
from tenfold.checkpoint.typed_storage import TypedStorage
from tenfold.checkpoint.unpickler import SafeUnpickler, globals_of, is_allowed, unpickler_of
from tenfold.dispatch import devices
from tenfold.settings.environment import FORCE_NO_WEIGHTS_ONLY, FORCE_WEIGHTS_ONLY
from tenfold.tensor.storage import Storage
from tenfold.tensor.tensor import host, wrap

DEFAULT_PROTOCOL = 2
MapLocation = Any  # str, device, dict of locations, or a function of (storage, location)


def save(
    obj: Any,
    f: FileLike,
    pickle_module: Any = pickle,
    pickle_protocol: int = DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Write an object to a file that `tenfold.load` and `torch.load` read; tensors that share memory still do after loading.

    `f` is a path, which is replaced at once when the file is complete, or an object with `write`. With
    `_use_new_zipfile_serialization=False` the file is one that PyTorch before 1.6 reads. Raises: AttributeError for
    another `f`, RuntimeError when the path's folder does not exist, pickle.PicklingError for what cannot be pickled.

    >>> import io, tenfold
    >>> file = io.BytesIO()
    >>> tenfold.save({"w": tenfold.ones(2)}, file)
    >>> _ = file.seek(0)
    >>> tenfold.load(file)["w"]
    tensor([1., 1.])
    """
    if not isinstance(f, (str, os.PathLike)) and not hasattr(f, "write"):
        raise AttributeError(
            f"expected 'f' to be string, path, or a file-like object with a 'write' attribute, got {type(f).__name__}"
        )
    text = io.BytesIO()
    pickler = pickler_of(pickle_module)(text, pickle_protocol, legacy=not _use_new_zipfile_serialization)
    pickler.dump(obj)
    if _use_new_zipfile_serialization:
        _write_archive(f, text.getvalue(), pickler.storages, _disable_byteorder_record)
    elif isinstance(f, (str, os.PathLike)):
        with replaced(f) as file:
            legacy.write(file, text.getvalue(), pickler.storages, pickle_protocol)
    else:
        legacy.write(Counted(f), text.getvalue(), pickler.storages, pickle_protocol)


def _write_archive(f: FileLike, pickled: bytes, storages: list[tuple[Storage, int]], without_order: bool) -> None:
    digest = hashlib.sha1(pickled, usedforsecurity=False)
    with writing(f) as archive:
        archive.write_record("data.pkl", pickled)
        archive.write_record(".format_version", b"1")
        archive.write_record(".storage_alignment", str(ALIGNMENT))
        if not without_order:
            archive.write_record("byteorder", sys.byteorder)
        for i, (storage, _) in enumerate(storages):
            if skipping():
                archive.write_record_metadata(f"data/{i}", storage.nbytes())
            else:
                archive.write_record(f"data/{i}", host(storage._bytes()))
        archive.write_record("version", b"3\n")
        archive.write_record(".data/serialization_id", f"{int.from_bytes(digest.digest(), 'big') % 10**40:040d}")


def load(
    f: FileLike,
    map_location: MapLocation = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Read what `tenfold.save` or `torch.save` wrote, in PyTorch's present format or the one before 1.6.

    `map_location` says where tensors go: a device for all, a dict from saved to new locations, or a function of (storage,
    location) that returns a storage or None. `weights_only=False` also loads Python objects, which lets the file run any
    code: only for files that you trust. With `mmap` tensors lie in the file until they are used (writes do not go there,
    unless `tenfold.serialization.set_default_mmap_options` says so).

    Raises: CheckpointError, which is both pickle.UnpicklingError and RuntimeError and names the file and the place, for a
    file that is damaged, asks for more than tensors and plain containers, or is no checkpoint.
    """
    weights_only = _forced(weights_only)
    if pickle_module is not None and weights_only:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    trusted = weights_only is False or (weights_only is None and pickle_module is not None)
    if mmap and not isinstance(f, (str, os.PathLike)):
        raise ValueError("f must be a file path in order to use the mmap argument")
    kind = unpickler_of(pickle_module or pickle) if trusted else SafeUnpickler
    with opened(f) as window:
        loader = _Loader(window, f, map_location, bool(mmap))
        return loader.load(kind, trusted, pickle_load_args)


class _Loader:
    """One loading: storages by key, each read once and put where it belongs."""

    def __init__(self, window: Window, f: FileLike, map_location: MapLocation, mmap: bool) -> None:
        self.window, self.path, self.name, self.map_location, self.mmap = window, f, name_of(f), map_location, mmap
        self.known: dict[str, tuple[StorageType, Storage]] = {}
        self.raised: Exception | None = None  # by a function that the user gave
        self.archive: Any = None

    def load(self, kind: Any, trusted: bool, options: dict[str, Any]) -> Any:
        """The object; what goes wrong names the file, except what the user's own functions raise."""
        try:
            return self._load(kind, options)
        except (CheckpointError, MemoryError):
            raise
        except Exception as error:
            damage = not trusted or isinstance(error, (pickle.UnpicklingError, EOFError))
            if error is self.raised or not damage:  # code that the user trusts may raise what it likes
                raise
            raise CheckpointError(f"corrupt ({type(error).__name__}: {error})", self.name, "data.pkl") from error

    def _load(self, kind: Any, options: dict[str, Any]) -> Any:
        head = self.window.read(4)
        self.window.seek(0)
        if not head:
            raise EmptyFileError("the file is empty", self.name)
        if head == b"PK\3\4":
            return self._from_archive(kind, options)
        if self.mmap:
            raise RuntimeError(
                f"mmap can only be used with files saved with `tenfold.save({self.name}, _use_new_zipfile_serialization=True)`"
            )
        if head[:1] != b"\x80":
            raise CheckpointError(f"not a checkpoint: it starts with {head!r}, and a zip archive with b'PK'", self.name)
        made = legacy.LegacyReader(self.window, self.name, self._placed).load(kind, **options)
        self.window.leave()
        return made

    def _from_archive(self, kind: Any, options: dict[str, Any]) -> Any:
        self.archive = archive = Archive(self.window, self.name, mapped(self.path) if self.mmap else None)
        if not archive.has_record("data.pkl"):
            raise CheckpointError("a zip archive without data.pkl, so no checkpoint; pass a file that save() wrote", self.name)
        if archive.has_record("constants.pkl"):
            raise CheckpointError("a TorchScript program, not a checkpoint; save the module's state_dict() instead", self.name)
        self.swapped = is_swapped(archive.get_record("byteorder") if archive.has_record("byteorder") else None)
        return kind(io.BytesIO(archive.get_record("data.pkl")), self.storage, self.name, **options).load()

    def storage(self, kind: StorageType, key: str, location: str, count: int) -> Storage:
        """The storage of a key; CheckpointError when the archive has less of it than the pickle says."""
        size = count * kind.dtype.itemsize
        have = self.archive.size(f"data/{key}")
        if have < size:
            raise CheckpointError(f"{have} bytes, expected {size}; the file is damaged", self.name, f"storage {key}")
        if key not in self.known:
            self.known[key] = kind, self._read(kind, key, location, size)
        if self.known[key][0] is not kind:
            if not size:  # nothing lies there that could be read in two ways
                return self._read(kind, key, location, 0)
            raise CheckpointError("two references of different classes", self.name, f"storage {key}")
        return self.known[key][1]

    def _read(self, kind: StorageType, key: str, location: str, size: int) -> Storage:
        data = np.zeros(size, np.uint8) if skipping() else self.archive.array(f"data/{key}")[:size]
        if self.swapped and kind.typed:
            swap_bytes(wrap(data, devices.located(devices.CPU)), kind.dtype)
        placed = self._placed(wrap(data.view(kind.dtype.numpy), devices.located(devices.CPU)), location)
        if self.swapped and not kind.typed:
            SWAPPED.add(placed)
        return placed

    def _placed(self, data: Any, location: str) -> Storage:
        """A storage where `map_location`, a registered package or the file says."""
        wanted = self.map_location
        given: Storage = data.untyped_storage()
        if callable(wanted):
            answer = self._asked(wanted, given, location)
            if isinstance(answer, (Storage, TypedStorage)):
                return _untyped(answer)
            if answer is not None:
                raise RuntimeError(f"load: map_location returned {type(answer).__name__}, expected a storage or None")
            wanted = None
        if isinstance(wanted, dict):
            wanted = wanted.get(location, location)
        for _, _, deserializer in PACKAGES:
            answer = self._asked(deserializer, given, location if wanted is None else str(wanted))
            if answer is not None:
                return _untyped(answer)
        return self._moved(data, location if wanted is None else wanted, asked=wanted is not None)

    def _asked(self, function: Any, given: Storage, location: str) -> Any:
        try:
            return function(given, location)
        except Exception as error:
            self.raised = error
            raise

    def _moved(self, data: Any, where: Any, asked: bool) -> Storage:
        if str(where) == "cpu":
            return data.untyped_storage()  # type: ignore[no-any-return]
        try:
            return data.to(where).untyped_storage()  # type: ignore[no-any-return]
        except RuntimeError as error:
            kind = str(where).partition(":")[0]
            kind = kind.upper() if kind == "cuda" else kind
            advice = "give another map_location" if asked else "load with map_location='cpu'"
            raise CheckpointError(
                f"Attempting to deserialize object on a {kind} device, which is not available here ({error}); {advice} to have "
                f"it on the CPU",
                self.name,
            ) from error


def _untyped(storage: Storage | TypedStorage) -> Storage:
    return storage._untyped_storage if isinstance(storage, TypedStorage) else storage


def _forced(weights_only: bool | None) -> bool | None:
    """What the environment makes of the argument, as in PyTorch."""
    force, allow = (one.read().lower() in ("1", "y", "yes", "true") for one in (FORCE_WEIGHTS_ONLY, FORCE_NO_WEIGHTS_ONLY))
    if force and allow:
        raise RuntimeError(
            f"Only one of `{FORCE_WEIGHTS_ONLY.name}` or `{FORCE_NO_WEIGHTS_ONLY.name}` should be set, but both were set."
        )
    return True if force else False if allow and weights_only is None else weights_only


def get_unsafe_globals_in_checkpoint(f: FileLike) -> list[str]:
    """The names in a checkpoint that `load` with weights_only=True refuses, found without running it."""
    with opened(f) as window:
        archive = Archive(window, name_of(f))
        pickled = archive.get_record("data.pkl")
        with located(archive.name, "data.pkl"):
            return [name for name in globals_of(pickled) if not is_allowed(name)]
