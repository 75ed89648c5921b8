"""Data pipes: streams built from one another by map, filter, shuffle, batch and shard."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

import tenfold
from tenfold import Generator
from tenfold.data.dataset import IterableDataset
from tenfold.data.sampler import draw_seed, seeded
from tenfold.data.worker_info import get_worker_info, shared_seed

T_co = TypeVar("T_co", covariant=True)


class Pipe(IterableDataset[T_co]):
    """Stream with methods that put another pipe behind it; a pipe can be iterated again and given to a loader.

    >>> list(FromIterable(range(6)).filter(lambda x: x % 2).map(lambda x: x * 10).batch(2))
    [[10, 30], [50]]
    """

    def map(self, function: Callable[[Any], Any]) -> Map:
        """Each item replaced by the function's result."""
        return Map(self, function)

    def filter(self, keep: Callable[[Any], bool]) -> Filter:
        """The items for which the function is true."""
        return Filter(self, keep)

    def shuffle(self, buffer_size: int = 1000, generator: Generator | None = None) -> Shuffle:
        """The items in random order, drawn from a buffer."""
        return Shuffle(self, buffer_size, generator)

    def batch(self, batch_size: int, drop_last: bool = False) -> Batch:
        """Lists of `batch_size` items."""
        return Batch(self, batch_size, drop_last)

    def shard(self, count: int | None = None, index: int | None = None) -> Shard:
        """Every `count`-th item, starting at `index`; by default the share of this worker process."""
        return Shard(self, count, index)


class FromIterable(Pipe[Any]):
    """The items of anything that can be iterated more than once."""

    def __init__(self, source: Iterable[Any]) -> None:
        self.source = source

    def __iter__(self) -> Iterator[Any]:
        return iter(self.source)


class Map(Pipe[Any]):
    """The results of a function of each item."""

    def __init__(self, source: Iterable[Any], function: Callable[[Any], Any]) -> None:
        self.source = source
        self.function = function

    def __iter__(self) -> Iterator[Any]:
        return map(self.function, self.source)


class Filter(Pipe[Any]):
    """The items for which a function is true."""

    def __init__(self, source: Iterable[Any], keep: Callable[[Any], bool]) -> None:
        self.source = source
        self.keep = keep

    def __iter__(self) -> Iterator[Any]:
        return filter(self.keep, self.source)


class Shuffle(Pipe[Any]):
    """Each item is drawn at random from the next `buffer_size` ones; a buffer as long as the stream shuffles it fully.

    Without a generator each pass draws a seed from the default one, and in a loader's workers one that they share: a
    `shard` behind it gives each item to one worker.

    Raises: ValueError when `buffer_size` is below 1.

    >>> sorted(FromIterable(range(5)).shuffle(buffer_size=3))
    [0, 1, 2, 3, 4]
    """

    def __init__(self, source: Iterable[Any], buffer_size: int = 1000, generator: Generator | None = None) -> None:
        self.source = source
        self.buffer_size = _at_least_one(self, "buffer_size", buffer_size)
        self.generator = generator

    def __iter__(self) -> Iterator[Any]:
        generator = seeded(self._seed()) if self.generator is None else self.generator
        items = iter(self.source)
        buffer = list(islice(items, self.buffer_size))
        for item in items:
            position = int(tenfold.randint(len(buffer), (1,), generator=generator).item())
            yield buffer[position]
            buffer[position] = item
        for position in tenfold.randperm(len(buffer), generator=generator).tolist():
            yield buffer[position]

    def _seed(self) -> int:
        shared = shared_seed(_depth(self))
        return draw_seed() if shared is None else shared


class Batch(Pipe[list[Any]]):
    """Lists of `batch_size` items; a short last list is kept unless `drop_last`.

    Raises: ValueError when `batch_size` is below 1.
    """

    def __init__(self, source: Iterable[Any], batch_size: int, drop_last: bool = False) -> None:
        self.source = source
        self.batch_size = _at_least_one(self, "batch_size", batch_size)
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[Any]]:
        items = iter(self.source)
        while batch := list(islice(items, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch


class Shard(Pipe[Any]):
    """Every `count`-th item, starting at `index`.

    Without numbers it is the share of the worker process that iterates: all items in the main process, and in a loader's
    workers each item once. Put it before costly pipes.

    Raises: ValueError when one number is given without the other, or they do not satisfy 0 <= index < count.

    >>> list(FromIterable("abcde").shard(count=2, index=1))
    ['b', 'd']
    """

    def __init__(self, source: Iterable[Any], count: int | None = None, index: int | None = None) -> None:
        if (count is None) != (index is None):
            raise ValueError(f"Shard: got count={count}, index={index}; give both or neither")
        if count is not None and index is not None and not 0 <= index < count:
            raise ValueError(f"Shard: got count={count}, index={index}; they must satisfy 0 <= index < count")
        self.source = source
        self.count = count
        self.index = index

    def __iter__(self) -> Iterator[Any]:
        info = get_worker_info()
        if self.count is not None:
            return islice(self.source, self.index, None, self.count)
        if info is not None:
            return islice(self.source, info.id, None, info.num_workers)
        return iter(self.source)


def _depth(pipe: Any) -> int:
    """How many pipes lie below one, so that two shuffles of a chain differ."""
    depth = 0
    while (pipe := getattr(pipe, "source", None)) is not None:
        depth += 1
    return depth


def _at_least_one(owner: object, name: str, value: int) -> int:
    if value < 1:
        raise ValueError(f"{type(owner).__name__}: {name} must be at least 1, got {value}")
    return value
