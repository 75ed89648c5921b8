"""What goes wrong with a checkpoint: one exception, which names the file and the place in it."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager


class CheckpointError(pickle.UnpicklingError, RuntimeError):
    """A file that is damaged, hostile, or no checkpoint; `file` and `place` say where.

    PyTorch raises pickle.UnpicklingError for one half of these and RuntimeError for the other; this is both.
    """

    def __init__(self, message: str, file: str = "", place: str = "") -> None:
        super().__init__(": ".join(part for part in (file, place, message) if part))
        self.file, self.place = file, place


class EmptyFileError(CheckpointError, EOFError):
    """A file without a byte, for which PyTorch raises EOFError."""


@contextmanager
def located(file: str, place: str) -> Iterator[None]:
    """Turn whatever goes wrong inside into a CheckpointError that names the file and the place."""
    try:
        yield
    except (CheckpointError, MemoryError):
        raise
    except Exception as error:
        raise CheckpointError(
            f"corrupt or was cut short ({type(error).__name__}: {error}); use another copy", file, place
        ) from error
