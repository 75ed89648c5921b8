"""What code inside a worker process can ask about itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class WorkerInfo:
    """A worker's number, how many workers there are, its seed, and its copy of the dataset.

    `rng` and `worker_method` are PyTorch's, whose workers may be threads; here they are processes.
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any = None
    worker_method: str | None = "multiprocessing"


_worker_info: WorkerInfo | None = None  # PyTorch's name, which programs set in order to pass for a worker
_epoch = 0


def get_worker_info() -> WorkerInfo | None:
    """The `WorkerInfo` of this worker process; None in the main process.

    >>> get_worker_info() is None
    True
    """
    return _worker_info


def shared_seed(ordinal: int) -> int | None:
    """A seed that is the same in all workers of a loader, another one in each epoch and for each `ordinal`; None outside workers.

    What draws from it, such as the order of a stream, is then the same in all workers, so that shards of it do not overlap.
    """
    if _worker_info is None:
        return None
    base = _worker_info.seed - _worker_info.id
    words = np.random.SeedSequence([base & 0xFFFFFFFF, base >> 32, _epoch, ordinal]).generate_state(1, np.uint64)
    return int(words[0] >> np.uint64(1))


def numpy_seed(base_seed: int, worker_id: int) -> list[int]:
    """Four words to seed NumPy's global generator with in a worker, as PyTorch makes them of a loader's seed.

    >>> numpy_seed(0, 1) == numpy_seed(0, 1) != numpy_seed(0, 2)
    True
    """
    words = np.random.SeedSequence([worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]).generate_state(4)
    return [int(word) for word in words]


def set_epoch(epoch: int) -> None:
    """Note which epoch of its loader this worker serves."""
    global _epoch
    _epoch = epoch


def set_worker_info(info: WorkerInfo) -> None:
    """Make a `WorkerInfo` the one of this process."""
    global _worker_info
    _worker_info = info
