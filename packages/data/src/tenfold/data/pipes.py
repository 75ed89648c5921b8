"""Data pipes: streams built from one another by map, filter, shuffle, batch and their kin.

A loader's workers share a pipe out among themselves: see `tenfold.data.sharing`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice, repeat
from typing import Any, TypeVar

import tenfold
from tenfold import Generator
from tenfold.data.ahead import Ahead
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

    def flat_map(self, function: Callable[[Any], Iterable[Any]]) -> FlatMap:
        """The items of what the function makes of each item, one after the other."""
        return FlatMap(self, function)

    def enumerate(self, start: int = 0) -> Enumerate:
        """Pairs of a running number and an item."""
        return Enumerate(self, start)

    def zip(self, *others: Iterable[Any]) -> Zip:
        """Tuples of one item of this pipe and one of each other, until the shortest ends."""
        return Zip(self, *others)

    def concat(self, *others: Iterable[Any]) -> Concat:
        """The items of this pipe, then those of the others."""
        return Concat(self, *others)

    def take(self, count: int) -> Take:
        """The first `count` items."""
        return Take(self, count)

    def repeat(self, count: int | None = None) -> Repeat:
        """The items `count` times over, for ever if None."""
        return Repeat(self, count)

    def cache(self) -> Cache:
        """The items, kept from the first whole pass on, so that what lies below is not run again."""
        return Cache(self)

    def prefetch(self, buffer_size: int = 2) -> Prefetch:
        """The items, made by a thread up to `buffer_size` ahead of use."""
        return Prefetch(self, buffer_size)

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

    branch = 0  # of the pipes that are put together above, so that shuffles in two of them differ

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
        shared = shared_seed(_depth(self) + 1000 * self.branch)
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


class FlatMap(Pipe[Any]):
    """The items of what a function makes of each item.

    >>> list(FromIterable(["to be", "or"]).flat_map(str.split))
    ['to', 'be', 'or']
    """

    def __init__(self, source: Iterable[Any], function: Callable[[Any], Iterable[Any]]) -> None:
        self.source = source
        self.function = function

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(map(self.function, self.source))


class Enumerate(Pipe[tuple[int, Any]]):
    """Pairs of a running number and an item."""

    def __init__(self, source: Iterable[Any], start: int = 0) -> None:
        self.source = source
        self.start = start

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        return enumerate(self.source, self.start)


class Zip(Pipe[tuple[Any, ...]]):
    """Tuples of one item of each source, until the shortest ends.

    >>> list(FromIterable("ab").zip(range(9)))
    [('a', 0), ('b', 1)]
    """

    def __init__(self, *sources: Iterable[Any]) -> None:
        self.sources = sources
        _mark_branches(sources)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return zip(*self.sources, strict=False)


class Concat(Pipe[Any]):
    """The items of one source after those of the other.

    >>> list(FromIterable("ab").concat("c"))
    ['a', 'b', 'c']
    """

    def __init__(self, *sources: Iterable[Any]) -> None:
        self.sources = sources
        _mark_branches(sources)

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(self.sources)


class Take(Pipe[Any]):
    """The first `count` items.

    Raises: ValueError when `count` is negative.
    """

    def __init__(self, source: Iterable[Any], count: int) -> None:
        if count < 0:
            raise ValueError(f"Take: count must not be negative, got {count}")
        self.source = source
        self.count = count

    def __iter__(self) -> Iterator[Any]:
        return islice(self.source, self.count)


class Repeat(Pipe[Any]):
    """The items `count` times over, each time from a new pass of the source; for ever if None.

    Raises: ValueError when `count` is negative.

    >>> list(FromIterable("ab").repeat(2))
    ['a', 'b', 'a', 'b']
    """

    def __init__(self, source: Iterable[Any], count: int | None = None) -> None:
        if count is not None and count < 0:
            raise ValueError(f"Repeat: count must not be negative, got {count}")
        self.source = source
        self.count = count

    def __iter__(self) -> Iterator[Any]:
        passes = repeat(None) if self.count is None else repeat(None, self.count)
        for _ in passes:
            empty = True
            for item in self.source:
                empty = False
                yield item
            if empty:  # it would be so for ever
                return


class Cache(Pipe[Any]):
    """The items, kept in memory from the first whole pass on; each worker process keeps its own."""

    def __init__(self, source: Iterable[Any]) -> None:
        self.source = source
        self._kept: list[Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        return self._first() if self._kept is None else iter(self._kept)

    def _first(self) -> Iterator[Any]:
        items = []
        for item in self.source:
            items.append(item)
            yield item
        self._kept = items


class Prefetch(Pipe[Any]):
    """The items, made by a thread up to `buffer_size` ahead of use; its exceptions are raised where the item would come.

    Raises: ValueError when `buffer_size` is below 1.
    """

    def __init__(self, source: Iterable[Any], buffer_size: int = 2) -> None:
        self.source = source
        self.buffer_size = _at_least_one(self, "buffer_size", buffer_size)

    def __iter__(self) -> Iterator[Any]:
        return Ahead(self.source, self.buffer_size)


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


def _mark_branches(sources: tuple[Iterable[Any], ...]) -> None:
    """Tell the shuffles below apart, which would draw the same order at the same depth."""
    for number, source in enumerate(sources, 1):
        for pipe in below(source):
            if isinstance(pipe, Shuffle):
                pipe.branch = pipe.branch * (len(sources) + 1) + number


def below(pipe: Any) -> Iterator[Any]:
    """A pipe and all that it is made from."""
    yield pipe
    for part in (getattr(pipe, "source", None), getattr(pipe, "paths", None), *getattr(pipe, "sources", ())):
        if part is not None:
            yield from below(part)


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
