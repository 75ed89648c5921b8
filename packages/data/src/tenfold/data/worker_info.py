"""What code inside a worker process can ask about itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class WorkerInfo:
    """A worker's number, how many workers there are, its seed, and its copy of the dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


_current: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """The `WorkerInfo` of this worker process; None in the main process.

    >>> get_worker_info() is None
    True
    """
    return _current


def set_worker_info(info: WorkerInfo) -> None:
    """Make a `WorkerInfo` the one of this process."""
    global _current
    _current = info
