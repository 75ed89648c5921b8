"""PyTorch's fetchers, by which loaders of other libraries read a dataset: objects where `fetch` has functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold.data.fetch import DatasetKind, make_fetch

Collate = Callable[[Any], Any]


class BaseFetcher:
    """Reads a dataset: `fetch(indices)` is a batch, or a sample where the loader makes no batches."""

    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Collate, drop_last: bool) -> None:
        self.dataset, self.auto_collation, self.collate_fn, self.drop_last = dataset, auto_collation, collate_fn, drop_last

    def fetch(self, possibly_batched_index: Any) -> Any:
        """What lies at an index, or a batch of what lies at several."""
        raise NotImplementedError(f"{type(self).__name__} has no method fetch")


class MapFetcher(BaseFetcher):
    """Reads a dataset by indices.

    >>> MapFetcher("abc", True, list, False).fetch([2, 0])
    ['c', 'a']
    """

    def fetch(self, possibly_batched_index: Any) -> Any:
        return make_fetch(self.dataset, self.auto_collation, self.collate_fn, self.drop_last)(possibly_batched_index)


class StreamFetcher(BaseFetcher):
    """Reads a dataset's iterator, which is `dataset_iter`; `ended` says that it gave fewer than it was asked for.

    >>> fetcher = StreamFetcher("abc", True, list, False)
    >>> fetcher.fetch([0, 1]), fetcher.fetch([0, 1]), fetcher.ended
    (['a', 'b'], ['c'], True)
    """

    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Collate, drop_last: bool) -> None:
        super().__init__(dataset, auto_collation, collate_fn, drop_last)
        self.dataset_iter, self.ended = iter(dataset), False

    def fetch(self, possibly_batched_index: Any) -> Any:
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.dataset_iter))
        samples: list[Any] = []
        for _ in possibly_batched_index:
            try:
                samples.append(next(self.dataset_iter))
            except StopIteration:
                self.ended = True
                break
        if not samples or (self.drop_last and len(samples) < len(possibly_batched_index)):
            raise StopIteration
        return self.collate_fn(samples)


class KindWithFetchers(DatasetKind):
    """`_DatasetKind` with the function that makes fetchers."""

    @staticmethod
    def create_fetcher(kind: int, dataset: Any, auto_collation: bool, collate_fn: Collate, drop_last: bool) -> BaseFetcher:
        """The fetcher for a dataset of a kind."""
        made = MapFetcher if kind == DatasetKind.Map else StreamFetcher
        return made(dataset, auto_collation, collate_fn, drop_last)
