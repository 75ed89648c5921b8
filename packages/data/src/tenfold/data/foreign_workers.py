"""What workers of other libraries' loaders take from PyTorch's: messages, wrapped pipes, a pinning thread."""

from __future__ import annotations

import multiprocessing
import queue
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tenfold.data import graph_settings, pinning, worker_info
from tenfold.data.datapipes.datapipe import IterDataPipe, MapDataPipe

INTERVAL_S = 5.0  # after which who waits looks whether the other side lives


@dataclass(frozen=True)
class StreamEnd:
    """`_IterableDatasetStopIteration`: a worker's dataset has ended."""

    worker_id: int


@dataclass(frozen=True)
class Resume:
    """`_ResumeIteration`: a worker that stays shall begin the next pass."""

    seed: int | None = None


class ManagerWatchdog:
    """Whether the process that started this one lives.

    >>> ManagerWatchdog().is_alive()
    True
    """

    def __init__(self) -> None:
        self._parent = multiprocessing.parent_process()

    def is_alive(self) -> bool:
        """Whether it does; True in a process that `multiprocessing` did not start."""
        return self._parent is None or self._parent.is_alive()


class WrappedStream(IterDataPipe[Any]):
    """`_IterDataPipeSerializationWrapper`: a pipe as it is, for pickling; each process copies it as any object."""

    def __init__(self, datapipe: Any) -> None:
        self._datapipe = datapipe

    def __iter__(self) -> Iterator[Any]:
        yield from self._datapipe

    def __len__(self) -> int:
        return len(self._datapipe)


class WrappedMap(MapDataPipe[Any]):
    """`_MapDataPipeSerializationWrapper`: the same for a pipe with indices."""

    def __init__(self, datapipe: Any) -> None:
        self._datapipe = datapipe

    def __getitem__(self, index: Any) -> Any:
        return self._datapipe[index]

    def __len__(self) -> int:
        return len(self._datapipe)


def pin_memory(data: Any, device: Any = None) -> Any:
    """A page-locked copy of a batch, for whatever device."""
    return pinning.pin(data)


def pinning_loop(in_queue: Any, out_queue: Any, device_id: Any, done_event: Any, device: Any) -> None:
    """`_pin_memory_loop`: a thread that copies batches from one queue to another, until it is told to end."""
    while not done_event.is_set():
        try:
            index, data = in_queue.get(timeout=INTERVAL_S)
        except queue.Empty:
            continue
        out_queue.put((index, pin_memory(data)))


def share_in_worker(worker_init_fn: Any, world_size: int, rank_id: int, worker_id: int) -> None:
    """`_sharding_worker_init_fn`: a worker's pipes give its share of all processes' workers, then its own function is called."""
    info = worker_info.get_worker_info()
    assert info is not None
    graph_settings.apply_sharding(info.dataset, info.num_workers * world_size, worker_id * world_size + rank_id)
    if worker_init_fn is not None:
        worker_init_fn(worker_id)


def no_signals(*arguments: Any) -> None:
    """Nothing: PyTorch's workers are watched by signal handlers in C++, these by their queues."""
