"""The worker process: takes tasks, loads batches, sends them back."""

from __future__ import annotations

import gc
import os
import queue
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import Connection
from typing import Any

import tenfold
from tenfold.data.collation import default_collate
from tenfold.data.datapipes.datapipe import apply_random_seed
from tenfold.data.dataset import TensorDataset
from tenfold.data.failure import Failure, capture
from tenfold.data.fetch import Fetch, make_fetch
from tenfold.data.randomness import get_random_state, portable, seed_worker, set_random_state
from tenfold.data.readiness import Readiness
from tenfold.data.sampler import seeded
from tenfold.data.sharing import shared_out
from tenfold.data.transport import Packet, pack, pack_small
from tenfold.data.worker_info import WorkerInfo, set_epoch, set_worker_info
from tenfold.multiprocessing import transit

# How often a worker looks whether its parent still lives, where a closed pipe does not tell.
_PARENT_CHECK_S = 2.0


@dataclass(frozen=True)
class Job:
    """All that a worker needs to know."""

    dataset: Any
    batched: bool
    collate_fn: Callable[[Any], Any]
    drop_last: bool
    base_seed: int
    worker_id: int
    num_workers: int
    init_fn: Callable[[int], None] | None
    prefetch: int
    random_states: list[dict[str, Any]] | None  # of all workers, when an epoch is resumed


@dataclass(frozen=True)
class Task:
    """One batch to load; a new epoch starts an iterable dataset anew, with a new seed for PyTorch's pipes."""

    epoch: int
    number: int
    indices: Any
    pipe_seed: int | None = None


STATE_NUMBER = -1


@dataclass(frozen=True)
class StateTask:
    """Ask for the worker's random state before the first task of this epoch numbered `before` or higher, or before all."""

    epoch: int
    before: int | None
    number: int = STATE_NUMBER


@dataclass(frozen=True)
class Reply:
    """A task's outcome; `content` None means that an iterable dataset is at its end."""

    epoch: int
    number: int
    content: Packet | Failure | None


@cache
def warm_up() -> None:
    """Make a small batch before processes are forked: what it loads and compiles, each of them would, in each epoch anew."""
    samples = TensorDataset(tenfold.zeros(2, 2), tenfold.zeros(2, dtype=tenfold.int64))
    pack_small([samples.__getbatch__([1, 0]), default_collate([samples[0], samples[1]]), get_random_state()])


def run_worker(job: Job, tasks: Connection, replies: Connection, inherited: list[Connection]) -> None:
    """Serve tasks until None comes, their pipe closes or the parent process is gone.

    `inherited` are the parent's ends that a fork copied: while a copy is open, the closing of a pipe goes unnoticed.
    """
    gc.freeze()  # what was inherited stays the parent's: a collection would write to, and so copy, every page of it
    for connection in inherited:
        connection.close()
    inbox: queue.SimpleQueue[Task | StateTask | None] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(tasks, inbox, os.getppid()), daemon=True).start()
    try:
        serve = _Server(job)
        while (task := inbox.get()) is not None:
            replies.send(serve(task))
    except (KeyboardInterrupt, BrokenPipeError):
        # Ctrl-C reaches the parent too, which reports it; a broken pipe means that the parent is gone.
        pass
    finally:
        transit.drop_what_waits()


def _receive(tasks: Connection, inbox: queue.SimpleQueue[Task | StateTask | None], parent: int) -> None:
    """Empty the pipe all the time, so that the parent never blocks on sending while this worker blocks on replying."""
    readiness = Readiness()
    try:
        while os.getppid() == parent:
            if readiness.wait([tasks], _PARENT_CHECK_S):
                task: Task | StateTask | None = tasks.recv()
                if task is None:
                    break
                inbox.put(task)
    except (EOFError, OSError):
        pass
    inbox.put(None)


class _Server:
    """Turns tasks into replies; every exception becomes a failure in the reply."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._where = f"in DataLoader worker process {job.worker_id}"
        self._epoch = -1
        self._fetch: Fetch | None = None
        self._dataset: Any = None
        # The main process may not yet have given out the last `prefetch` batches: remember how each began.
        self._states: deque[tuple[tuple[int, int], dict[str, Any]]] = deque(maxlen=max(job.prefetch, 1) + 1)
        self._broken = self._guarded(self._set_up)
        self._first_state = get_random_state()  # of the pass

    def _set_up(self) -> None:
        job = self._job
        tenfold.set_num_threads(1)
        seed = seed_worker(job.base_seed, job.worker_id)
        set_worker_info(WorkerInfo(job.worker_id, job.num_workers, seed, job.dataset))
        if job.init_fn is not None:
            job.init_fn(job.worker_id)
        if job.random_states is not None:
            set_random_state(job.random_states[job.worker_id])
        self._dataset = shared_out(job.dataset)

    def __call__(self, task: Task | StateTask) -> Reply:
        if isinstance(task, StateTask):
            return Reply(task.epoch, task.number, pack_small(portable(self._state_at(task))))
        state = get_random_state()
        self._states.append(((task.epoch, task.number), state))
        if task.epoch != self._epoch:
            self._first_state = state
        content = self._broken or self._guarded(lambda: self._load(task))
        return Reply(task.epoch, task.number, content)

    def _state_at(self, task: StateTask) -> dict[str, Any]:
        if task.before is None:
            return self._first_state
        key = (task.epoch, task.before)
        return next((state for begun, state in self._states if begun >= key), None) or get_random_state()

    def _guarded(self, action: Callable[[], Packet | None]) -> Packet | Failure | None:
        try:
            return action()
        except Exception as error:  # noqa: BLE001 - raised again in the main process
            return capture(error, self._where)

    def _load(self, task: Task) -> Packet | None:
        if task.epoch != self._epoch:
            job = self._job
            self._fetch = None
            self._epoch = task.epoch
            set_epoch(task.epoch)
            if task.pipe_seed is not None:
                apply_random_seed(self._dataset, seeded(task.pipe_seed))
            self._fetch = make_fetch(self._dataset, job.batched, job.collate_fn, job.drop_last)
        if self._fetch is None:
            return None
        try:
            batch = self._fetch(task.indices)
        except StopIteration:
            self._fetch = None
            return None
        return pack(batch)
