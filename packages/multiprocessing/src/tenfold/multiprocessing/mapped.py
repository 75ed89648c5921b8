"""Tensors on the bytes of files."""

from __future__ import annotations

from typing import Any

from tenfold.tensor.storage import UntypedStorage
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import get_default_dtype


def from_file(
    filename: Any, shared: bool | None = None, size: int = 0, *, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A 1-d CPU tensor of `size` elements on a file's bytes; with `shared` writes reach the file, which is made or grows.

    Raises: RuntimeError for a file that cannot be opened, or is too small where it is not shared.

    >>> import tempfile, tenfold
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = tenfold.from_file(file.name, True, 3).fill_(2)
    ...     tenfold.from_file(file.name, size=3)
    tensor([2., 2., 2.])
    """
    if pin_memory:
        raise RuntimeError("from_file: tensors constructed from a file cannot be pinned")
    kind = dtype or get_default_dtype()
    storage = UntypedStorage.from_file(filename, bool(shared), size * kind.itemsize)
    made: Tensor = storage.view(kind)
    made._storage, made._base = storage, None
    return made
