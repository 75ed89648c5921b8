"""`DataLoader`: batches of a dataset, in an order, loaded here or by worker processes."""

from __future__ import annotations

import os
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from tenfold import Generator
from tenfold.data.arguments import check_iterable_options, check_sampling_options, check_worker_options, mp_context
from tenfold.data.collation import default_collate, default_convert
from tenfold.data.datapipes.datapipe import IterDataPipe, apply_random_seed, apply_shuffle_settings, new_seed
from tenfold.data.fetch import is_stream, make_fetch
from tenfold.data.iterators import LoaderIterator, LocalIterator, WorkerIterator
from tenfold.data.pinning import can_pin
from tenfold.data.progress import shown
from tenfold.data.resume import Progress, default_rng_kept, restore, snapshot
from tenfold.data.sampler import BatchSampler, EndlessSampler, RandomSampler, SequentialSampler, draw_seed, seeded

if TYPE_CHECKING:
    from tenfold.data.pool import WorkerPool

T_co = TypeVar("T_co", covariant=True)

_FIXED = frozenset({"batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"})


class DataLoader(Generic[T_co]):
    """Iterable over the batches of a dataset.

    With `num_workers` above 0, processes load `prefetch_factor` (2) batches each ahead of use and hand them over in shared
    memory. Worker i is seeded with `base_seed + i`, where `base_seed` is drawn from `generator` when the workers start.

    `state_dict()` and `load_state_dict()` go on in the middle of an epoch, in the same order. Beyond PyTorch's API.
    Mid-epoch the default generator is left alone: save and set it with the rest of the training. The workers' random
    states are kept while the iterator lives; after it is gone, and with `in_order=False`, they start again from their seeds.

    `progress=True`, or a title, shows each pass as a bar of tqdm, an extra. Beyond PyTorch's API, too.

    Raises: ValueError for arguments that contradict one another; RuntimeError while iterating when a worker died or took
    longer than `timeout` seconds; an exception of a worker is raised again with its type and the worker's traceback.
    Differs from PyTorch: a batch is pinned when it is given, not ahead of that.

    >>> [batch.tolist() for batch in DataLoader(range(5), batch_size=2)]
    [[0, 1], [2, 3], [4]]
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Any] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
        progress: bool | str = False,
    ) -> None:
        check_worker_options(num_workers, timeout, prefetch_factor, persistent_workers)
        if isinstance(dataset, IterDataPipe):
            dataset, shuffle = apply_shuffle_settings(dataset, shuffle), None
        if is_stream(dataset):
            check_iterable_options(shuffle, sampler, batch_sampler)
        check_sampling_options(batch_size, shuffle, sampler, batch_sampler, drop_last)
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.generator = generator
        self.in_order = in_order
        self.progress = progress
        self.persistent_workers = persistent_workers
        self.sampler = self._make_sampler(dataset, shuffle) if sampler is None else sampler
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        elif batch_size is not None:
            batch_sampler = BatchSampler(self.sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.batch_sampler = batch_sampler
        self.collate_fn = collate_fn or (default_convert if batch_sampler is None else default_collate)
        self._iterator: WorkerIterator | None = None
        self._base_seed: int | None = None
        self._passes = 0  # of the workers before this one, when an epoch is resumed
        self._progress: Progress | None = None
        self._resume: dict[str, Any] | None = None
        self._worker_start: list[dict[str, Any]] | None = None
        self._running: Callable[[], LoaderIterator | None] = _no_pass
        self._told_length: int | None = None  # what somebody who asked for the length of a stream was told
        self.check_worker_number_rationality()
        self._ready = True

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _FIXED and "_ready" in self.__dict__:
            raise ValueError(
                f"DataLoader: {name} attribute should not be set after DataLoader is initialized; build a new loader"
            )
        super().__setattr__(name, value)

    @property
    def multiprocessing_context(self) -> Any:
        """The context that starts workers; set it by a context, a start method's name, or None for the default."""
        return self._multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, value: Any) -> None:
        self._multiprocessing_context = mp_context(value, self.num_workers)

    def __getstate__(self) -> dict[str, Any]:
        """For copies and other processes, which have no pass under way."""
        return {**self.__dict__, "_iterator": None, "_running": _no_pass}

    def __iter__(self) -> Iterator[Any]:
        batches = self._start()
        return iter(shown(batches, self._batches_left(), self.progress)) if self.progress else batches

    def _start(self) -> LoaderIterator:
        state, self._resume = self._resume, None
        if state is None:
            self._passes = 0
            return self._open()
        with default_rng_kept(state["started"]):
            restore(state, self.sampler, self._generators())
            self._close_workers()
            self._worker_start = state["workers"]
            self._passes = state.get("passes", 0)
            return self._open(state["batches"], state["base_seed"], state.get("pipe_seed"))

    def __len__(self) -> int:
        """The number of batches.

        Raises: TypeError when the dataset or sampler has no length.
        """
        if not self._streams:
            return len(self._index_sampler)  # type: ignore[arg-type]
        batches = len(self.dataset)
        if self.batch_size is not None:
            batches = batches // self.batch_size if self.drop_last else -(-batches // self.batch_size)
        self._told_length = batches
        return batches

    def state_dict(self) -> dict[str, Any]:
        """Where the latest pass over this loader stands: the batches given to the caller count, prefetched ones do not."""
        if self._resume is not None:
            return dict(self._resume)
        if self._progress is not None and not self._progress.finished:
            if not self.num_workers and not self._progress.batches:  # no order has been drawn: it will be, from what is now
                now = snapshot(self.sampler, self._generators(), self._base_seed, self._passes)
                return {**now, "pipe_seed": self._progress.start["pipe_seed"]}
            return {**self._progress.state(), "workers": self._worker_states()}
        # Workers that stay keep their seed; all others get a new one when the next epoch starts.
        living = self._living()
        seed, passes = (None, 0) if living is None else (self._base_seed, living.epoch + 1)
        return snapshot(self.sampler, self._generators(), seed, passes)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Let the next pass go on from a state of a loader that was built alike.

        An indexed dataset's batches before that point are not loaded; a stream is read again up to there.

        Raises: ValueError when keys are missing.
        """
        wanted = {"batches", "started", "base_seed", "epoch", "default_rng", "generators", "workers"}
        if missing := wanted - state_dict.keys():
            raise ValueError(f"DataLoader.load_state_dict: the state lacks {sorted(missing)}; give what state_dict() returned")
        self._resume = dict(state_dict)

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _streams(self) -> bool:
        return is_stream(self.dataset)

    @property
    def _index_sampler(self) -> Iterable[Any]:
        return self.batch_sampler if self._auto_collation else self.sampler  # type: ignore[return-value]

    def _make_sampler(self, dataset: Any, shuffle: bool | None) -> Iterable[Any]:
        if is_stream(dataset):
            return EndlessSampler()
        return RandomSampler(dataset, generator=self.generator) if shuffle else SequentialSampler(dataset)

    def _generators(self) -> dict[str, Generator]:
        """The generators, other than the default one, from which an epoch's order is drawn."""
        owners = {
            "loader": self,
            "sampler": self.sampler,
            "batch_sampler": self.batch_sampler,
            "inner_sampler": getattr(self.batch_sampler, "sampler", None),
        }
        found = {name: getattr(owner, "generator", None) for name, owner in owners.items()}
        return {name: generator for name, generator in found.items() if isinstance(generator, Generator)}

    def _open(self, skip: int | None = None, base_seed: int | None = None, pipe_seed: int | None = None) -> LoaderIterator:
        persistent = self._living()
        if isinstance(self.dataset, IterDataPipe):  # its pipes draw alike in all workers
            pipe_seed = new_seed(self.generator) if pipe_seed is None else pipe_seed
            apply_random_seed(self.dataset, seeded(pipe_seed))
        if persistent is None:
            self._base_seed = draw_seed(self.generator) if base_seed is None else base_seed
            if isinstance(self.dataset, IterDataPipe) and self.num_workers and base_seed is None:
                new_seed(self.generator)  # PyTorch draws again when it hands out the first tasks
        passes = self._passes if persistent is None else persistent.epoch + 1
        start = snapshot(self.sampler, self._generators(), self._base_seed, passes)
        self._progress = Progress({**start, "pipe_seed": pipe_seed})
        indices = self._indices(skip)
        self._progress.batches = 0 if self._streams else skip or 0
        if persistent is not None:
            persistent.restart(indices, self._progress, self._told_length, pipe_seed)
            return persistent
        iterator = self._new_iterator(indices, self._progress)
        iterator.order = self._index_sampler
        self._running = weakref.ref(iterator)
        if self._streams:
            iterator.discard(skip or 0)
        return iterator

    def _indices(self, skip: int | None) -> Iterator[Any]:
        """The sampler's output, for a resumed epoch from some point on."""
        indices = iter(self._index_sampler)
        if skip is None or self._streams:
            return indices
        rest = islice(indices, skip, None)
        # Samplers draw when asked for the first element: ask now, while the epoch's random state holds.
        return chain(list(islice(rest, 1)), rest)

    def _new_iterator(self, indices: Iterator[Any], progress: Progress) -> LoaderIterator:
        length, pinned = self._told_length, self._pins()
        batched = self._auto_collation  # which subclasses override
        if not self.num_workers:
            fetch = make_fetch(self.dataset, batched, self.collate_fn, self.drop_last)
            return LocalIterator(self, fetch, indices, progress, length, pinned)
        iterator = WorkerIterator(
            self,
            self._new_pool(batched),
            indices,
            progress,
            length,
            pinned,
            prefetch=self.prefetch_factor or 0,
            timeout_s=self.timeout,
            in_order=self.in_order,
            persistent=self.persistent_workers,
            epoch=self._passes,
        )
        self._iterator = iterator if self.persistent_workers else None
        return iterator

    def _new_pool(self, batched: bool) -> WorkerPool:
        import multiprocessing  # only with workers

        from tenfold.data.pool import WorkerPool  # only with workers
        from tenfold.data.worker import Job  # only with workers

        job = Job(
            dataset=self.dataset,
            batched=batched,
            collate_fn=self.collate_fn,
            drop_last=self.drop_last,
            base_seed=self._base_seed or 0,
            worker_id=0,
            num_workers=self.num_workers,
            init_fn=self.worker_init_fn,
            prefetch=self.prefetch_factor or 0,
            random_states=self._worker_start,
        )
        self._worker_start = None
        return WorkerPool(job, self.multiprocessing_context or multiprocessing.get_context())

    def _worker_states(self) -> list[dict[str, Any]] | None:
        """The workers' random states; a stream's are those at its start, for it is read again from there."""
        running = self._running()
        if not self.in_order or not isinstance(running, WorkerIterator) or not running.pool.alive:
            return None
        return running.random_states(at_start=self._streams)

    def _living(self) -> WorkerIterator | None:
        """The iterator of persistent workers, if these run."""
        return self._iterator if self._iterator is not None and self._iterator.pool.alive else None

    def _close_workers(self) -> None:
        if self._iterator is not None:
            self._iterator.pool.shutdown()
            self._iterator = None

    def _batches_left(self) -> int | None:
        """The number of batches of the pass that has just been opened, if it is known."""
        try:
            return len(self) - (0 if self._progress is None else self._progress.batches)
        except TypeError:
            return None

    def _pins(self) -> bool:
        if self.pin_memory and not can_pin():
            warnings.warn(
                "DataLoader: pin_memory=True, but no device was found that uses pinned memory; batches are not pinned",
                stacklevel=4,
            )
            return False
        return self.pin_memory

    def check_worker_number_rationality(self) -> None:
        """Warn of more worker processes than cores."""
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        if cores is not None and self.num_workers > cores:
            warnings.warn(
                f"DataLoader: {self.num_workers} worker processes on {cores} processor cores; more workers than cores, "
                f"or excessive worker creation might get DataLoader running slow or even freeze",
                stacklevel=3,
            )


def _no_pass() -> None:
    """What is asked for the running pass before there is one."""
