"""Fetching: from indices to a collated batch, for indexed datasets and for streams; used in every process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from .dataset import IterableDataset

Fetch = Callable[[Any], Any]


def make_fetch(dataset: Any, batched: bool, collate_fn: Callable[[Any], Any], drop_last: bool) -> Fetch:
    """The function from what a sampler yields to a batch; for a stream it raises StopIteration at the end."""
    if isinstance(dataset, IterableDataset):
        return _stream_fetch(iter(dataset), batched, collate_fn, drop_last)
    if not batched:
        return lambda index: collate_fn(dataset[index])
    fetch_many = getattr(dataset, "__getitems__", None)
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
