"""Streams of data pipes: made of anything iterable, changed item by item, batched, shuffled, shared out, read from files."""

from __future__ import annotations

import copy
import random
import warnings
from collections.abc import Callable, Iterable, Iterator, Sized
from itertools import chain, islice
from typing import Any

from tenfold.data.collation import default_collate
from tenfold.data.datapipes.branches import Demultiplexer, Forker
from tenfold.data.datapipes.columns import changed, check_columns, check_function, picked
from tenfold.data.datapipes.datapipe import DataChunk, IterDataPipe, functional_datapipe, new_seed
from tenfold.data.datapipes.files import FileLister, FileOpener, StreamReader
from tenfold.data.datapipes.iter.routeddecoder import RoutedDecoder
from tenfold.data.datapipes.iter.sharding import ShardingFilter
from tenfold.data.sampler import SequentialSampler
from tenfold.data.worker_info import shared_seed

__all__ = [
    "Batcher",
    "Collator",
    "Concater",
    "Demultiplexer",
    "FileLister",
    "FileOpener",
    "Filter",
    "Forker",
    "Grouper",
    "IterableWrapper",
    "Mapper",
    "Multiplexer",
    "RoutedDecoder",
    "Sampler",
    "ShardingFilter",
    "Shuffler",
    "StreamReader",
    "UnBatcher",
    "Zipper",
]


class IterableWrapper(IterDataPipe[Any]):
    """The items of anything iterable, of a deep copy of it at each pass where it can be copied.

    >>> list(IterableWrapper(range(3)))
    [0, 1, 2]
    """

    def __init__(self, iterable: Iterable[Any], deepcopy: bool = True) -> None:
        self.iterable, self.deepcopy = iterable, deepcopy

    def __iter__(self) -> Iterator[Any]:
        source = self.iterable
        if self.deepcopy:
            try:
                source = copy.deepcopy(source)
            except TypeError:
                warnings.warn(
                    "The input iterable can not be deepcopied, please be aware of in-place modification would affect "
                    "source data.",
                    stacklevel=2,
                )
        yield from source

    def __len__(self) -> int:
        return len(self.iterable)  # type: ignore[arg-type]


@functional_datapipe("map")
class Mapper(IterDataPipe[Any]):
    """Each item replaced by the function's result; with `input_col` of those columns of it, put into `output_col`."""

    def __init__(self, datapipe: Any, fn: Callable[..., Any], input_col: Any = None, output_col: Any = None) -> None:
        check_function(fn)
        if input_col is None and output_col is not None:
            raise ValueError("Mapper: `output_col` must be None when `input_col` is None.")
        if isinstance(output_col, (list, tuple)):
            if len(output_col) > 1:
                raise ValueError("Mapper: `output_col` must be a single-element list or tuple")
            output_col = output_col[0]
        check_columns(fn, input_col)
        self.datapipe, self.fn, self.input_col, self.output_col = datapipe, fn, input_col, output_col

    def __iter__(self) -> Iterator[Any]:
        for item in self.datapipe:
            if self.input_col is None:
                yield self.fn(item)
            else:
                yield changed(item, self.fn(*picked(item, self.input_col)), self.input_col, self.output_col)

    def __len__(self) -> int:
        return self._length_of(self.datapipe)


@functional_datapipe("collate")
class Collator(Mapper):
    """Each batch collated."""

    def __init__(self, datapipe: Any, conversion: Any = default_collate, collate_fn: Any = None) -> None:
        chosen = conversion if collate_fn is None else collate_fn
        if not callable(chosen):
            raise TypeError(f"Collator: a function makes a batch of samples, got {type(chosen).__name__}")
        super().__init__(datapipe, fn=chosen)


@functional_datapipe("filter")
class Filter(IterDataPipe[Any]):
    """The items for which the function, of the columns `input_col` if they are given, is true."""

    def __init__(self, datapipe: Any, filter_fn: Callable[..., bool], input_col: Any = None) -> None:
        check_function(filter_fn)
        check_columns(filter_fn, input_col)
        self.datapipe, self.filter_fn, self.input_col = datapipe, filter_fn, input_col

    def __iter__(self) -> Iterator[Any]:
        for item in self.datapipe:
            kept = self.filter_fn(item) if self.input_col is None else self.filter_fn(*picked(item, self.input_col))
            if not isinstance(kept, bool):
                raise ValueError(f"Boolean output is required for `filter_fn` of FilterIterDataPipe, got {type(kept)}")
            if kept:
                yield item


@functional_datapipe("batch")
class Batcher(IterDataPipe[Any]):
    """Lists of `batch_size` items."""

    def __init__(self, datapipe: Any, batch_size: int, drop_last: bool = False, wrapper_class: Any = DataChunk) -> None:
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        self.datapipe, self.batch_size, self.drop_last, self.wrapper_class = datapipe, batch_size, drop_last, wrapper_class

    def __iter__(self) -> Iterator[Any]:
        items = iter(self.datapipe)
        while batch := list(islice(items, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield self.wrapper_class(batch)

    def __len__(self) -> int:
        whole, rest = divmod(self._length_of(self.datapipe), self.batch_size)
        return whole + (rest > 0 and not self.drop_last)


@functional_datapipe("unbatch")
class UnBatcher(IterDataPipe[Any]):
    """The items of batches, `unbatch_level` batches deep; -1 is all the way down."""

    def __init__(self, datapipe: Any, unbatch_level: int = 1) -> None:
        self.datapipe, self.unbatch_level = datapipe, unbatch_level

    def __iter__(self) -> Iterator[Any]:
        for item in self.datapipe:
            yield from _opened(item, self.unbatch_level)


def _opened(item: Any, level: int) -> Iterator[Any]:
    if level < -1:
        raise ValueError("unbatch_level must be -1 or >= 0")
    if level == 0 or (level == -1 and not isinstance(item, (list, DataChunk))):
        yield item
        return
    if not isinstance(item, (list, DataChunk)):
        raise IndexError(f"unbatch_level {level} exceeds the depth of the DataPipe")
    for part in item:
        yield from _opened(part, -1 if level == -1 else level - 1)


@functional_datapipe("shuffle")
class Shuffler(IterDataPipe[Any]):
    """The items in random order, drawn from a buffer; PyTorch's order under the same seed."""

    def __init__(self, datapipe: Any, *, buffer_size: int = 10000, unbatch_level: int = 0) -> None:
        if buffer_size <= 0:
            raise AssertionError("buffer_size should be larger than 0")
        self.datapipe = datapipe if unbatch_level == 0 else datapipe.unbatch(unbatch_level=unbatch_level)
        self.buffer_size, self._enabled = buffer_size, True
        self._seed: int | None = None

    def set_shuffle(self, shuffle: bool = True) -> Shuffler:
        """Whether items are shuffled."""
        self._enabled = shuffle
        return self

    def set_seed(self, seed: int) -> Shuffler:
        """The seed of the next pass."""
        self._seed = seed
        return self

    def __iter__(self) -> Iterator[Any]:
        if not self._enabled:
            return iter(self.datapipe)
        seed, self._seed = self._seed, None
        if seed is None:
            common = shared_seed(0)  # shares of one order do not overlap
            seed = new_seed() if common is None else common
        return self._drawn(random.Random(seed))

    def _drawn(self, rng: random.Random) -> Iterator[Any]:
        buffer: list[Any] = []
        for item in self.datapipe:
            if len(buffer) < self.buffer_size:
                buffer.append(item)
                continue
            place = rng.randint(0, len(buffer) - 1)
            given, buffer[place] = buffer[place], item
            yield given
        while buffer:
            yield buffer.pop(rng.randint(0, len(buffer) - 1))

    def __len__(self) -> int:
        return self._length_of(self.datapipe)


@functional_datapipe("concat")
class Concater(IterDataPipe[Any]):
    """The items of one pipe after those of the other."""

    def __init__(self, *datapipes: Any) -> None:
        self.datapipes = _pipes("DataPipe", datapipes)

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(self.datapipes)

    def __len__(self) -> int:
        return sum(self._length_of(pipe) for pipe in self.datapipes)


@functional_datapipe("zip")
class Zipper(IterDataPipe[Any]):
    """Tuples of an item of each pipe, until the shortest ends."""

    def __init__(self, *datapipes: Any) -> None:
        if not all(isinstance(pipe, IterDataPipe) for pipe in datapipes):
            raise TypeError("All inputs are required to be `IterDataPipe` for `ZipIterDataPipe`.")
        self.datapipes = datapipes

    def __iter__(self) -> Iterator[Any]:
        return zip(*self.datapipes, strict=False)

    def __len__(self) -> int:
        return min(self._length_of(pipe) for pipe in self.datapipes)


@functional_datapipe("mux")
class Multiplexer(IterDataPipe[Any]):
    """An item of each pipe in turn, until the shortest ends."""

    def __init__(self, *datapipes: Any) -> None:
        self.datapipes = datapipes

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(zip(*self.datapipes, strict=False))

    def __len__(self) -> int:
        return len(self.datapipes) * min(self._length_of(pipe) for pipe in self.datapipes)


def _pipes(name: str, pipes: tuple[Any, ...]) -> tuple[Any, ...]:
    if not pipes:
        raise ValueError(f"Expected at least one {name}, but got nothing")
    if not all(isinstance(pipe, IterDataPipe) for pipe in pipes):
        raise TypeError("Expected all inputs to be `IterDataPipe`")
    return pipes


class Sampler(IterDataPipe[Any]):
    """What a sampler draws of the pipe."""

    def __init__(
        self, datapipe: Any, sampler: Any = SequentialSampler, sampler_args: Any = None, sampler_kwargs: Any = None
    ) -> None:
        if not isinstance(datapipe, Sized):
            raise AssertionError("Sampler class requires input datapipe implemented `__len__`")
        self.datapipe = datapipe
        self.sampler = sampler(*(sampler_args or ()), data_source=datapipe, **(sampler_kwargs or {}))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.sampler)

    def __len__(self) -> int:
        return len(self.sampler)


@functional_datapipe("groupby")
class Grouper(IterDataPipe[Any]):
    """Lists of the items with the same key, of `group_size` items each; the largest goes when `buffer_size` items wait."""

    def __init__(
        self,
        datapipe: Any,
        group_key_fn: Callable[[Any], Any],
        *,
        keep_key: bool = False,
        buffer_size: int = 10000,
        group_size: int | None = None,
        guaranteed_group_size: int | None = None,
        drop_remaining: bool = False,
    ) -> None:
        check_function(group_key_fn)
        least = group_size if guaranteed_group_size is None else guaranteed_group_size
        if group_size is not None and not 0 < group_size <= buffer_size:
            raise ValueError("group_size must be > 0 and <= buffer_size")
        if guaranteed_group_size is not None and not (group_size is not None and 0 < guaranteed_group_size <= group_size):
            raise ValueError("guaranteed_group_size must be > 0 and <= group_size")
        self.datapipe, self.group_key_fn, self.keep_key = datapipe, group_key_fn, keep_key
        self.max_buffer_size, self.group_size, self.drop_remaining = buffer_size, group_size, drop_remaining
        self.guaranteed_group_size = least

    def __iter__(self) -> Iterator[Any]:
        groups: dict[Any, list[Any]] = {}
        waiting = 0
        for item in self.datapipe:
            key = self.group_key_fn(item)
            groups.setdefault(key, []).append(item)
            waiting += 1
            if self.group_size is not None and len(groups[key]) == self.group_size:
                waiting -= self.group_size
                yield self._given(key, groups.pop(key))
            if waiting == self.max_buffer_size:
                largest = max(groups, key=lambda each: len(groups[each]))
                removed = groups.pop(largest)
                waiting -= len(removed)
                yield from self._short(largest, removed)
        for key, items in groups.items():
            yield self._given(key, items)

    def _short(self, key: Any, items: list[Any]) -> Iterator[Any]:
        """A group that leaves before it is whole."""
        if self.guaranteed_group_size is not None and len(items) < self.guaranteed_group_size:
            if not self.drop_remaining:
                raise RuntimeError(f"Failed to group items: the buffer is full, and the group of {key} has {len(items)} items")
            return
        yield self._given(key, items)

    def _given(self, key: Any, items: list[Any]) -> Any:
        return (key, DataChunk(items)) if self.keep_key else DataChunk(items)
