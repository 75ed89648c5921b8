"""What a `map_location` of a program's own calls: where a loaded storage goes, and which class a storage has."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold.checkpoint.options import PACKAGES


class SourceChangeWarning(Warning):
    """PyTorch's warning of a layer whose text has changed since it was saved; nothing gives it here."""


def default_restore_location(storage: Any, location: str) -> Any:
    """The storage at the place that its file names, as `load` without `map_location` puts it.

    >>> import tenfold
    >>> storage = tenfold.ones(3).untyped_storage()
    >>> default_restore_location(storage, "cpu") is storage
    True

    Raises:
        RuntimeError: the place is none, or there is no such device.
    """
    for _, _, deserializer in PACKAGES:
        answer = deserializer(storage, location)
        if answer is not None:
            return answer
    try:
        device = tenfold.device(location)
    except RuntimeError:
        raise RuntimeError(
            f"don't know how to restore data location of {type(storage).__name__} (tagged with {location}); expected a device "
            "such as 'cpu', or what tenfold.serialization.register_package was told of"
        ) from None
    if device.type == "cpu":
        return storage
    try:
        return storage.to(device=device)
    except RuntimeError as error:
        raise RuntimeError(
            f"Attempting to deserialize object on a {device.type.upper()} device, which is not available here ({error}); give "
            "map_location='cpu' to have it on the CPU"
        ) from error


def normalize_storage_type(storage_type: type) -> Any:
    """The class of storages of this name, by which files know it.

    >>> import tenfold
    >>> normalize_storage_type(tenfold.FloatStorage).__name__
    'FloatStorage'
    """
    return getattr(tenfold, storage_type.__name__)
