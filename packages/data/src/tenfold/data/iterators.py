"""One pass over a loader, in this process or through worker processes."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from tenfold.data.failure import Failure, capture
from tenfold.data.fetch import Fetch, asked_by_subclasses
from tenfold.data.pinning import pin
from tenfold.data.resume import Progress

if TYPE_CHECKING:
    from tenfold.data.pool import WorkerPool
    from tenfold.data.worker import Reply


class LoaderIterator(Iterator[Any]):
    """Base of both kinds: counts batches, pins them, and warns when a stream is longer than somebody was told."""

    order: Any = ()  # what gives the pass its indices

    # PyTorch's first argument is the loader, too: programs replace this method.
    def __init__(
        self, loader: Any, indices: Iterator[Any] | None = None, progress: Progress | None = None, length: int | None = None,
        pinned: bool = False,
    ) -> None:  # fmt: skip
        self._dataset = loader.dataset
        if indices is None or progress is None:  # a subclass of another library, which says no more
            vars(self).update(asked_by_subclasses(loader))
            indices, progress = iter(self.order), Progress({})
        self._indices = indices
        self._progress = progress
        self.told_length = length
        self._pinned = pinned

    def __next__(self) -> Any:
        try:
            batch = self._load()
        except StopIteration:
            self._progress.finished = True
            self._end()
            raise
        except Exception:
            # The batch is used up: going on, now or from a saved state, means going on with the next one.
            self._progress.batches += 1
            raise
        self._progress.batches += 1
        self._check_length()
        return pin(batch) if self._pinned else batch

    # PyTorch's names, by which loaders that go on from a saved place count and drop batches.

    @property
    def _num_yielded(self) -> int:
        return self._progress.batches

    @_num_yielded.setter
    def _num_yielded(self, count: int) -> None:
        self._progress.batches = count

    @property
    def _sampler_iter(self) -> Iterator[Any]:
        return self._indices

    @_sampler_iter.setter
    def _sampler_iter(self, indices: Iterator[Any]) -> None:
        self._indices = indices

    @property
    def _index_sampler(self) -> Any:
        return self.order

    @_index_sampler.setter
    def _index_sampler(self, order: Any) -> None:
        self.order = order

    def _next_index(self) -> Any:
        return next(self._indices)

    def _reset(self, loader: Any, first_iter: bool = False) -> None:
        """Begin another pass."""
        self._indices, self._progress = iter(self.order), Progress({})

    def _next_data(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no method _next_data, which loads a batch")

    def __len__(self) -> int:
        """The number of batches of a whole pass. Raises: TypeError for a stream."""
        return len(self.order)

    def discard(self, count: int) -> None:
        """Load batches and drop them: the way to a place in a stream."""
        for _ in islice(iter(self._load_or_none, None), count):
            self._progress.batches += 1

    def _load_or_none(self) -> Any:
        try:
            return (self._load(),)
        except StopIteration:
            return None

    def _load(self) -> Any:
        return self._next_data()

    def _end(self) -> None:
        """Release what the pass held."""

    def _check_length(self) -> None:
        given = self._progress.batches
        if self.told_length is not None and given > self.told_length:
            warnings.warn(
                f"Length of IterableDataset was reported to be {self.told_length} (by len(dataloader)), but {given} samples have "
                f"been fetched. For multiprocessing data-loading, this happens where __iter__ does not share the stream out by "
                f"get_worker_info(): each worker then gives all of it",
                stacklevel=3,
            )


class LocalIterator(LoaderIterator):
    """Loads each batch when it is asked for."""

    def __init__(
        self, loader: Any, fetch: Fetch, indices: Iterator[Any], progress: Progress, length: int | None, pinned: bool
    ) -> None:
        super().__init__(loader, indices, progress, length, pinned)
        self._fetch = fetch

    def _load(self) -> Any:
        return self._fetch(next(self._indices))


class WorkerIterator(LoaderIterator):
    """Keeps `prefetch` tasks per worker under way and gives batches in the order of the tasks (or of arrival)."""

    def __init__(
        self,
        loader: Any,
        pool: WorkerPool,
        indices: Iterator[Any],
        progress: Progress,
        length: int | None,
        pinned: bool,
        *,
        prefetch: int,
        timeout_s: float,
        in_order: bool,
        persistent: bool,
        epoch: int = 0,
    ) -> None:
        super().__init__(loader, indices, progress, length, pinned)
        self._pool = pool
        self._workers = pool.processes  # PyTorch's name, by which programs look at them, after the pass too
        self._close = weakref.finalize(self, pool.shutdown)
        self._prefetch = prefetch
        self._timeout_s = timeout_s
        self._in_order = in_order
        self._persistent = persistent
        self._epoch = epoch
        self._pipe_seed: int | None = None  # the pipes came to the workers with their seeds
        self._start()

    @property
    def pool(self) -> WorkerPool:
        """The worker processes."""
        return self._pool

    @property
    def epoch(self) -> int:
        """The number of this pass among those with the same workers."""
        return self._epoch

    def restart(self, indices: Iterator[Any], progress: Progress, length: int | None, pipe_seed: int | None) -> None:
        """Begin a new epoch with the same workers; what is still under way of the old one is dropped."""
        self._indices, self._progress, self.told_length, self._pipe_seed = indices, progress, length, pipe_seed
        self._epoch += 1
        self._start()

    def random_states(self, at_start: bool) -> list[dict[str, Any]]:
        """Each worker's random state after the last batch given out, or before the first; waits for batches under way."""
        from tenfold.data.worker import StateTask  # only with workers

        workers = range(self._pool.size)
        for worker in workers:
            before = next((number for number, owner in self._assigned.items() if owner == worker), self._sent)
            self._pool.send(worker, StateTask(self._epoch, None if at_start else before))
        self._states: dict[int, dict[str, Any]] = {}
        while len(self._states) < len(workers):
            self._collect()
        return [self._states[worker] for worker in workers]

    def _start(self) -> None:
        workers = self._pool.size
        self._active = [True] * workers
        # In an uninterrupted epoch batch i comes from worker i, round and round.
        self._next_worker = self._progress.batches % workers
        self._sent = 0
        self._assigned: dict[int, int] = {}  # task number -> worker, in order of sending
        self._arrived: dict[int, Any] = {}  # task number -> (batch,), a failure, or None at a stream's end
        for _ in range(max(self._prefetch, 1) * workers):
            self._send_to(self._turn())

    def _turn(self) -> int | None:
        """The worker whose turn it is: round and round over those whose stream has not ended."""
        workers = len(self._active)
        for step in range(workers):
            worker = (self._next_worker + step) % workers
            if self._active[worker]:
                self._next_worker = (worker + 1) % workers
                return worker
        return None

    def _send_to(self, worker: int | None) -> None:
        from tenfold.data.worker import Task  # only with workers

        if worker is None:
            return
        try:
            indices = next(self._indices)
        except StopIteration:
            return
        self._assigned[self._sent] = worker
        self._pool.send(worker, Task(self._epoch, self._sent, indices, self._pipe_seed))
        self._sent += 1

    def _load(self) -> Any:
        while self._assigned:
            number = next(iter(self._assigned if self._in_order else self._arrived), None)
            if number is None or number not in self._arrived:
                self._collect()
                continue
            content, worker = self._arrived.pop(number), self._assigned.pop(number)
            if self._in_order:
                self._send_to(self._turn())
            elif self._active[worker]:
                self._send_to(worker)
            if isinstance(content, Failure):
                raise content.exception()
            if content is not None:
                return content[0]
        raise StopIteration

    def _collect(self) -> None:
        from tenfold.data.worker import STATE_NUMBER  # only with workers

        replies = self._pool.receive(self._timeout_s or None)
        if not replies:
            raise RuntimeError(f"DataLoader timed out after {self._timeout_s} seconds")
        for worker, reply in replies:
            content = _opened(reply)
            if reply.number == STATE_NUMBER:
                self._states[worker] = content[0]
            elif reply.epoch == self._epoch:
                self._arrived[reply.number] = content
                self._active[worker] &= content is not None

    def _end(self) -> None:
        if not self._persistent:
            self._close()

    def _shutdown_workers(self) -> None:
        """End the workers at once, kept ones too: PyTorch's name, by which notebooks let go of a loader."""
        self._close()


def _opened(reply: Reply) -> Any:
    """The batch (in a tuple), failure or None in a reply; opened at once, as its block lives until then."""
    from tenfold.data.transport import Packet, unpack  # only with workers

    if not isinstance(reply.content, Packet):
        return reply.content
    try:
        return (unpack(reply.content),)
    except Exception as error:  # noqa: BLE001 - raised again when the batch's turn comes
        return capture(error, "while taking a batch from a DataLoader worker process")
