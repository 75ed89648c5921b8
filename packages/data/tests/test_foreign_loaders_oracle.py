"""What loaders of other libraries take from the inside of PyTorch's: passes of their own, fetchers, messages of workers."""

from __future__ import annotations

import importlib
import os
from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")
LIBRARIES = (tenfold, torch)


def inside(lib: Any, path: str) -> Any:
    return importlib.import_module(f"{lib.__name__}.utils.data.{path}")


def own_pass(lib: Any) -> Any:
    """A pass as torchdata writes it: base, fetcher and the base's way through the sampler."""
    loaders = inside(lib, "dataloader")

    class Pass(loaders._BaseDataLoaderIter):
        def __init__(self, loader: Any) -> None:
            super().__init__(loader)
            self.fetcher = self.made()

        def made(self) -> Any:
            given = (self._dataset_kind, self._dataset, self._auto_collation, self._collate_fn, self._drop_last)
            return loaders._DatasetKind.create_fetcher(*given)

        def _next_data(self) -> Any:
            return self.fetcher.fetch(self._next_index())

        def again(self, loader: Any) -> Pass:
            self._reset(loader)
            self.fetcher = self.made()
            return self

    return Pass


def stream(lib: Any) -> Any:
    class Stream(lib.utils.data.IterableDataset):
        def __iter__(self) -> Any:
            return iter(range(8))

    return Stream()


@pytest.mark.parametrize(
    "options", [{"shuffle": True, "batch_size": 3}, {"batch_size": None}, {"batch_size": 3, "drop_last": True}]
)
@pytest.mark.parametrize("streams", [False, True])
def test_passes_that_other_libraries_write(options: Any, streams: bool) -> None:
    if streams:
        options = {name: value for name, value in options.items() if name != "shuffle"}
    found = []
    for lib in LIBRARIES:
        lib.manual_seed(3)
        loader = lib.utils.data.DataLoader(stream(lib) if streams else range(8), **options)
        written = own_pass(lib)(loader)
        first = [lib.as_tensor(b).tolist() for b in written]
        counted, ended = written._num_yielded, getattr(written.fetcher, "ended", None)
        second = [lib.as_tensor(b).tolist() for b in written.again(loader)]
        drawn = (written._base_seed, lib.rand(1).item())
        assert written._index_sampler is loader._index_sampler
        assert (written._rank, written._world_size) == (0, 1)
        found.append([first, second, counted, ended, drawn, written._dataset_kind, written._num_workers, written._shared_seed])
    assert found[0] == found[1]


def test_a_pass_without_a_way_to_load_says_so() -> None:
    for lib in LIBRARIES:
        base = inside(lib, "dataloader")._BaseDataLoaderIter
        with pytest.raises(NotImplementedError):
            next(base(lib.utils.data.DataLoader(range(2))))


def test_samplers_of_streams_and_messages_of_workers_have_names() -> None:
    for lib in LIBRARIES:
        workers, loaders = inside(lib, "_utils.worker"), inside(lib, "dataloader")
        assert isinstance(lib.utils.data.DataLoader(stream(lib)).sampler, loaders._InfiniteConstantSampler)
        assert workers._IterableDatasetStopIteration(2).worker_id == 2
        assert workers._ResumeIteration(5).seed == 5
        assert workers._ResumeIteration().seed is None
        assert workers.ManagerWatchdog().is_alive()
        assert lib.utils.data._DatasetKind.Map == 0
        helpers = importlib.import_module(f"{lib.__name__}.utils.data._utils")
        assert helpers.HAS_NUMPY
        assert helpers.MP_STATUS_CHECK_INTERVAL == 5.0
        assert helpers.pin_memory.pin_memory([1, "a"], None) == [1, "a"]


def test_a_workers_share_of_a_graph_of_pipes() -> None:
    found = []
    for lib in LIBRARIES:
        pipes, workers = inside(lib, "datapipes.iter"), inside(lib, "_utils.worker")
        pipe = pipes.IterableWrapper(range(12)).sharding_filter()
        before, calls = workers._worker_info, []
        workers._worker_info = workers.WorkerInfo(id=1, num_workers=2, seed=0, dataset=pipe)
        try:
            inside(lib, "dataloader")._sharding_worker_init_fn(calls.append, 3, 2, 1)
        finally:
            workers._worker_info = before
        found.append([list(pipe), calls])
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", ["Iter", "Map"])
def test_wrapped_pipes_are_the_pipes(kind: str) -> None:
    for lib in LIBRARIES:
        pipes = inside(lib, f"datapipes.{kind.lower()}")
        pipe = pipes.IterableWrapper(range(3)) if kind == "Iter" else pipes.SequenceWrapper([0, 1, 2])
        wrapped = getattr(inside(lib, "datapipes.datapipe"), f"_{kind}DataPipeSerializationWrapper")(pipe)
        assert list(wrapped) == [0, 1, 2]
        assert len(wrapped) == 3
        assert isinstance(wrapped, getattr(lib.utils.data, f"{kind}DataPipe"))


def test_a_thread_that_pins_ends_when_it_is_told() -> None:
    import queue
    import threading

    given, taken, done = queue.Queue[Any](), queue.Queue[Any](), threading.Event()
    loop = inside(tenfold, "_utils.pin_memory")._pin_memory_loop
    thread = threading.Thread(target=loop, args=(given, taken, 0, done, "cpu"), daemon=True)
    thread.start()
    given.put((0, [os.getpid()]))
    assert taken.get(timeout=20) == (0, [os.getpid()])
    done.set()
    given.put((1, []))
    thread.join(20)
    assert not thread.is_alive()
