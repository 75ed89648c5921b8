"""Passes over loaders of other libraries: PyTorch's private iterators, called with whatever has a `DataLoader`'s attributes."""

from __future__ import annotations

from abc import ABCMeta
from types import ModuleType
from typing import Any

from tenfold.data.iterators import LocalIterator, WorkerIterator
from tenfold.data.loader import DataLoader


class _OfLoader(ABCMeta):
    """A class that is called with a loader and answers with a pass over it; its instances are those of its base."""

    def __call__(cls, loader: Any) -> Any:
        return iter(loader if isinstance(loader, DataLoader) else _as_loader(loader))

    def __instancecheck__(cls, instance: Any) -> bool:
        return any(isinstance(instance, base) for base in cls.__bases__)


class LocalPass(LocalIterator, metaclass=_OfLoader):
    """`_SingleProcessDataLoaderIter(loader)`."""


class WorkerPass(WorkerIterator, metaclass=_OfLoader):
    """`_MultiProcessingDataLoaderIter(loader)`."""


def _as_loader(loader: Any) -> DataLoader[Any]:
    """A DataLoader that does what an object with its attributes says."""
    workers = loader.num_workers
    context = loader.multiprocessing_context if workers else None
    options: dict[str, Any] = {"batch_size": None}
    if loader._auto_collation:
        options = {"batch_sampler": loader._index_sampler}
    return DataLoader(
        loader.dataset,
        **options,
        num_workers=workers,
        collate_fn=loader.collate_fn,
        pin_memory=loader.pin_memory,
        timeout=loader.timeout,
        worker_init_fn=loader.worker_init_fn,
        multiprocessing_context=None if isinstance(context, ModuleType) else context,
        generator=loader.generator,
        prefetch_factor=loader.prefetch_factor if workers else None,
        persistent_workers=bool(workers and loader.persistent_workers),
    )
