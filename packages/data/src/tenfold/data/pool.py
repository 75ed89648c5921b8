"""The main process's side of worker processes: start them, hand out tasks, notice their death, end them.

Every worker has a pipe for tasks and one for replies of its own, so that a worker killed at any instant can neither
hold a lock that others need nor garble their messages.
"""

from __future__ import annotations

import os
import pickle
import signal
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from typing import Any

from tenfold.data.readiness import Readiness
from tenfold.data.transport import Packet, arrived
from tenfold.data.worker import Job, Reply, StateTask, Task, run_worker, warm_up
from tenfold.multiprocessing.transit import SenderGone

# How long workers may take to end by themselves, and then after SIGTERM, before they are killed.
_GRACE_S = 5.0
_TERMINATE_S = 1.0
_ENDED = "DataLoader: the workers of this iterator have ended; start a new one with iter(loader)"


@dataclass
class _Worker:
    process: BaseProcess
    tasks: Connection
    replies: Connection
    pending: set[tuple[int, int]]  # (epoch, task number)


class WorkerPool:
    """Worker processes of one loader.

    Raises: RuntimeError when a worker cannot be started or has died, naming it.
    """

    def __init__(self, job: Job, context: BaseContext) -> None:
        self._owner = os.getpid()
        self._readiness = Readiness()
        self._workers: list[_Worker] = []
        if context.get_start_method() == "fork":
            warm_up()
        try:
            for worker_id in range(job.num_workers):
                ends = [end for worker in self._workers for end in (worker.tasks, worker.replies)]
                self._workers.append(_start(replace(job, worker_id=worker_id), context, ends))
        except BaseException:
            self.shutdown()
            raise

    @property
    def alive(self) -> bool:
        """Whether the pool has not been shut down."""
        return bool(self._workers)

    @property
    def size(self) -> int:
        """The number of workers."""
        return len(self._workers)

    @property
    def processes(self) -> list[BaseProcess]:
        """The worker processes."""
        return [worker.process for worker in self._workers]

    @property
    def pids(self) -> list[int | None]:
        """The process ids of the workers."""
        return [worker.process.pid for worker in self._workers]

    def send(self, worker_id: int, task: Task | StateTask) -> None:
        """Give a worker a task."""
        if not self._workers:
            raise RuntimeError(_ENDED)
        worker = self._workers[worker_id]
        worker.pending.add((task.epoch, task.number))
        try:
            worker.tasks.send(task)
        except OSError as error:
            raise self._death(worker) from error

    def receive(self, timeout_s: float | None) -> list[tuple[int, Reply]]:
        """Wait for replies; (worker id, reply) pairs, none when the time is up.

        Raises: RuntimeError when a worker that owes a reply is dead.
        """
        if not self._workers:
            raise RuntimeError(_ENDED)
        owing = {worker.replies: number for number, worker in enumerate(self._workers) if worker.pending}
        ready = self._readiness.wait(list(owing), timeout_s)
        return [(owing[source], self._read(self._workers[owing[source]])) for source in ready]

    def _read(self, worker: _Worker) -> Reply:
        try:
            reply: Reply = worker.replies.recv()
        except (EOFError, OSError) as error:
            raise self._death(worker) from error
        if isinstance(reply.content, Packet):
            try:
                reply = replace(reply, content=arrived(reply.content))
            except SenderGone as error:
                raise self._death(worker) from error
        worker.pending.remove((reply.epoch, reply.number))
        return reply

    def _death(self, worker: _Worker) -> RuntimeError:
        worker.process.join(_TERMINATE_S)
        pid = worker.process.pid
        self.shutdown()
        return RuntimeError(f"DataLoader worker (pid {pid}) {_cause(worker.process.exitcode)}")

    def shutdown(self) -> None:
        """End all workers; harmless when repeated or in a forked child."""
        if os.getpid() != self._owner:
            return
        workers, self._workers = self._workers, []
        for worker in workers:
            # Closing alone may go unnoticed: processes forked by others meanwhile hold copies of the pipe.
            with suppress(OSError):
                worker.tasks.send(None)
            worker.tasks.close()
        _await_end(workers, _GRACE_S)
        for stop in (BaseProcess.terminate, BaseProcess.kill):
            _stop_all(workers, stop)
        for worker in workers:
            worker.process.join()
            _drain(worker)
            worker.replies.close()


def _start(job: Job, context: BaseContext, ends: list[Connection]) -> _Worker:
    task_source, task_sink = context.Pipe(duplex=False)
    reply_source, reply_sink = context.Pipe(duplex=False)
    inherited = [*ends, task_sink, reply_source] if context.get_start_method() == "fork" else []
    arguments = (job, task_source, reply_sink, inherited)
    process = context.Process(target=run_worker, args=arguments, daemon=True)  # type: ignore[attr-defined]
    try:
        process.start()
    except BaseException as error:
        task_sink.close()
        reply_source.close()
        if isinstance(error, (pickle.PicklingError, AttributeError, TypeError)):
            raise _unpicklable(job, context, error) from error
        raise
    finally:
        task_source.close()
        reply_sink.close()
    return _Worker(process, task_sink, reply_source, set())


def _unpicklable(job: Job, context: BaseContext, error: Exception) -> RuntimeError:
    return RuntimeError(
        f"DataLoader worker {job.worker_id} of process {os.getpid()} could not be started by {context.get_start_method()!r}: "
        f"{type(error).__name__}: {error}. Its dataset, collate_fn and worker_init_fn must be picklable: define them at the "
        f"top level of a module, or use multiprocessing_context='fork'"
    )


def _cause(exit_code: int | None) -> str:
    if exit_code is None:
        return "closed its pipe unexpectedly"
    if exit_code >= 0:
        return f"exited unexpectedly with exit code {exit_code}; see its own message above, if it left one"
    name = signal.Signals(-exit_code).name
    hint = ""
    if name == "SIGBUS":
        hint = "; shared memory may be full: make /dev/shm larger or load smaller batches"
    if name == "SIGKILL":
        hint = "; the system may have been out of memory"
    return f"is killed by signal: {name}{hint}"


def _drain(worker: _Worker) -> None:
    """Drop replies that have arrived; a worker that blocks on sending can then go on."""
    # Any exception: an interrupt in the middle of a message leaves the rest of it unreadable.
    with suppress(Exception):
        while worker.replies.poll():
            worker.replies.recv()


def _await_end(workers: Iterable[_Worker], seconds: float) -> list[_Worker]:
    """Wait for workers to end, dropping their replies meanwhile; those that still run."""
    deadline = time.monotonic() + seconds
    alive = [worker for worker in workers if worker.process.is_alive()]
    while alive and (left := deadline - time.monotonic()) > 0:
        wait([worker.process.sentinel for worker in alive], min(left, 0.05))
        for worker in alive:
            _drain(worker)
        alive = [worker for worker in alive if worker.process.is_alive()]
    return alive


def _stop_all(workers: list[_Worker], stop: Callable[[Any], None]) -> None:
    alive = [worker for worker in workers if worker.process.is_alive()]
    for worker in alive:
        stop(worker.process)
    _await_end(alive, _TERMINATE_S)
