"""Fetching: from indices to a collated batch, for indexed datasets and for streams; used in every process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from tenfold.data.collation import default_collate
from tenfold.data.datapipes.datapipe import IterDataPipe
from tenfold.data.dataset import IterableDataset, batch_of
from tenfold.data.sampler import draw_seed

Fetch = Callable[[Any], Any]


class DatasetKind:
    """PyTorch's `_DatasetKind`: what a loader that is no `DataLoader` says of its dataset in `_dataset_kind`."""

    Map, Iterable = 0, 1


def is_stream(dataset: Any) -> bool:
    """Whether samples come one after the other, without indices."""
    return isinstance(dataset, IterableDataset) or getattr(dataset, "_dataset_kind", None) is DatasetKind.Iterable


def asked_by_subclasses(loader: Any) -> dict[str, Any]:
    """PyTorch's attributes of a pass over a loader, for passes that other libraries write; the seed is drawn."""
    return {
        "_shared_seed": draw_seed(loader.generator) if isinstance(loader.dataset, IterDataPipe) else None,
        **{f"_{name}": getattr(loader, name) for name in "num_workers pin_memory timeout collate_fn drop_last".split()},
        "_dataset_kind": DatasetKind.Iterable if is_stream(loader.dataset) else DatasetKind.Map,
        "_auto_collation": loader._auto_collation,
        "order": loader._index_sampler,
        "_base_seed": draw_seed(loader.generator),
        "_persistent_workers": loader.persistent_workers,
        "_pin_memory_device": loader.pin_memory_device,
        "_IterableDataset_len_called": None,
        "_world_size": 1,  # processes of a group, of which there are none here
        "_rank": 0,
    }


def make_fetch(dataset: Any, batched: bool, collate_fn: Callable[[Any], Any], drop_last: bool) -> Fetch:
    """The function from what a sampler yields to a batch; for a stream it raises StopIteration at the end."""
    if is_stream(dataset):
        return _stream_fetch(iter(dataset), batched, collate_fn, drop_last)
    load = _batch_loader(dataset, batched, collate_fn)

    def fetch(indices: Any) -> Any:
        try:
            return load(indices)
        except StopIteration as error:
            # Let through, it would look like the end of the epoch.
            raise RuntimeError("DataLoader: the dataset or collate_fn raised StopIteration") from error

    return fetch


def _batch_loader(dataset: Any, batched: bool, collate_fn: Callable[[Any], Any]) -> Fetch:
    if not batched:
        return lambda index: collate_fn(dataset[index])
    if collate_fn is default_collate and hasattr(dataset, "__getbatch__"):
        return lambda indices: batch_of(dataset, indices)
    fetch_many: Fetch | None = getattr(dataset, "__getitems__", None)
    if fetch_many is not None:
        return lambda indices: collate_fn(fetch_many(indices))
    return lambda indices: collate_fn([dataset[index] for index in indices])


def _stream_fetch(stream: Iterator[Any], batched: bool, collate_fn: Callable[[Any], Any], drop_last: bool) -> Fetch:
    def one(_: Any) -> Any:
        return collate_fn(next(stream))

    def many(slots: list[None]) -> Any:
        samples = list(islice(stream, len(slots)))
        if not samples or (drop_last and len(samples) < len(slots)):
            raise StopIteration
        return collate_fn(samples)

    return many if batched else one
