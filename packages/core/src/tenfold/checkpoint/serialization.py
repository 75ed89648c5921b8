"""`tenfold.save` and `tenfold.load`: PyTorch's own checkpoint files, written and read without PyTorch.

A file is a zip archive with a pickle of the objects (`data.pkl`) and the bytes of each storage (`data/0`, ...). Loading
runs no code from the file unless `weights_only=False` is asked for.
"""

from __future__ import annotations

import io
import os
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tenfold.checkpoint.archive import Archive, open_archive, write_archive
from tenfold.checkpoint.pickles import (
    SAFE_GLOBALS,
    AnyUnpickler,
    SafeUnpickler,
    Stored,
    TensorPickler,
)
from tenfold.dispatch import devices
from tenfold.tensor.storage import Storage
from tenfold.tensor.tensor import host, wrap

MapLocation = Any  # str, device, dict of locations, or a function of (storage, location)


def save(
    obj: Any,
    f: Any,
    pickle_module: Any = pickle,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Write an object to a file that `tenfold.load` and `torch.load` read; tensors that share memory still do after loading.

    `f` is a path, which is replaced at once when the file is complete, or a file object. Raises: TypeError for another `f`,
    pickle.PicklingError for an object that cannot be pickled.

    >>> import io, tenfold
    >>> file = io.BytesIO()
    >>> tenfold.save({"w": tenfold.ones(2)}, file)
    >>> _ = file.seek(0)
    >>> tenfold.load(file)["w"]
    tensor([1., 1.])
    """
    if not _use_new_zipfile_serialization:
        raise RuntimeError("save: the format from before PyTorch 1.6 is not written; leave out _use_new_zipfile_serialization")
    if not isinstance(f, (str, os.PathLike)) and not hasattr(f, "write"):
        raise TypeError(f"expected f to be string, path, or a file-like object with a 'write' attribute, got {type(f).__name__}")
    text = io.BytesIO()
    pickler = TensorPickler(text, pickle_protocol)
    pickler.dump(obj)
    blobs = (memoryview(host(storage._bytes())) for storage in pickler.storages)
    write_archive(f, text.getvalue(), blobs)


def load(
    f: Any,
    map_location: MapLocation = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Read what `tenfold.save` or `torch.save` wrote.

    `map_location` says where tensors go: a device for all, a dict from saved to new locations, or a function of (storage,
    location) that returns a storage or None. `weights_only=False` also loads Python objects, which lets the file run any
    code: only for files that you trust. With `mmap` tensors lie in the file until they are used (writes do not go there).

    Raises: pickle.UnpicklingError for a file that asks for more than tensors and plain containers, or is no checkpoint;
    RuntimeError for one that is damaged, or in the format from before PyTorch 1.6.
    """
    if mmap and not isinstance(f, (str, os.PathLike)):
        raise ValueError("f must be a file path in order to use the mmap argument")
    with open_archive(f, bool(mmap)) as archive:
        loader = _Loader(archive, map_location)
        kind = AnyUnpickler if weights_only is False else SafeUnpickler
        unpickler = kind(io.BytesIO(archive.read("data.pkl")), loader.storage, archive.name, **pickle_load_args)
        return unpickler.load()


class _Loader:
    """Storages of one archive by key, each read once and put where it belongs."""

    def __init__(self, archive: Archive, map_location: MapLocation) -> None:
        self.archive, self.map_location = archive, map_location
        self.known: dict[str, Stored] = {}

    def storage(self, key: str, location: str, size_bytes: int) -> Stored:
        """The storage of a key; RuntimeError when the archive has less of it than the pickle says."""
        if key not in self.known:
            data = self.archive.array(f"data/{key}")
            if data.size < size_bytes:
                raise RuntimeError(
                    f"{self.archive.name}: storage {key} has {data.size} bytes, expected {size_bytes}; the file is damaged"
                )
            self.known[key] = Stored(self._placed(wrap(data, devices.CPU), location), self.archive.swapped)
        return self.known[key]

    def _placed(self, data: Any, location: str) -> Any:
        wanted = self.map_location
        if callable(wanted):
            given = data.untyped_storage()
            answer = wanted(given, location)
            if isinstance(answer, Storage):
                return answer._bytes() if answer is not given else data
            if answer is not None:
                raise RuntimeError(f"load: map_location returned {type(answer).__name__}, expected a storage or None")
            wanted = None
        if isinstance(wanted, dict):
            wanted = wanted.get(location, location)
        return self._moved(data, location if wanted is None else wanted, asked=wanted is not None)

    def _moved(self, data: Any, where: Any, asked: bool) -> Any:
        if str(where) == "cpu":
            return data
        try:
            return data.to(where)
        except RuntimeError as error:
            if asked:
                raise
            raise RuntimeError(
                f"{self.archive.name}: a tensor was saved on {where!r}, which is not available here ({error}); "
                f"load with map_location='cpu' to have it on the CPU"
            ) from error


# What else may be loaded


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Let `load` with weights_only=True make objects of these classes and call these functions (or (object, "path") pairs)."""
    for entry in safe_globals:
        value, name = entry if isinstance(entry, tuple) else (entry, f"{entry.__module__}.{entry.__qualname__}")
        SAFE_GLOBALS[name] = value


def get_safe_globals() -> list[Any]:
    """What `add_safe_globals` has added."""
    return list(SAFE_GLOBALS.values())


def clear_safe_globals() -> None:
    """Take back what `add_safe_globals` has added."""
    SAFE_GLOBALS.clear()


@contextmanager
def safe_globals(safe_globals: list[Any]) -> Iterator[None]:
    """`add_safe_globals` for the duration of a `with` block."""
    before = dict(SAFE_GLOBALS)
    add_safe_globals(safe_globals)
    try:
        yield
    finally:
        SAFE_GLOBALS.clear()
        SAFE_GLOBALS.update(before)
