"""Data pipes with indices."""

from __future__ import annotations

import copy
import random
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Any

from tenfold.data.datapipes.columns import check_function
from tenfold.data.datapipes.datapipe import DataChunk, IterDataPipe, MapDataPipe, functional_datapipe, new_seed

__all__ = ["Batcher", "Concater", "Mapper", "SequenceWrapper", "Shuffler", "Zipper"]


class SequenceWrapper(MapDataPipe[Any]):
    """The items of a sequence or mapping, of a deep copy of it where it can be copied."""

    def __init__(self, sequence: Any, deepcopy: bool = True) -> None:
        self.sequence = copy.deepcopy(sequence) if deepcopy else sequence

    def __getitem__(self, index: Any) -> Any:
        return self.sequence[index]

    def __len__(self) -> int:
        return len(self.sequence)


def _same(item: Any) -> Any:
    return item


@functional_datapipe("map")
class Mapper(MapDataPipe[Any]):
    """The function's result of each item."""

    def __init__(self, datapipe: Any, fn: Callable[[Any], Any] = _same) -> None:
        check_function(fn)
        self.datapipe, self.fn = datapipe, fn

    def __getitem__(self, index: Any) -> Any:
        return self.fn(self.datapipe[index])

    def __len__(self) -> int:
        return len(self.datapipe)


@functional_datapipe("batch")
class Batcher(MapDataPipe[Any]):
    """Lists of `batch_size` items."""

    def __init__(self, datapipe: Any, batch_size: int, drop_last: bool = False, wrapper_class: Any = DataChunk) -> None:
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        self.datapipe, self.batch_size, self.drop_last, self.wrapper_class = datapipe, batch_size, drop_last, wrapper_class

    def __getitem__(self, index: int) -> Any:
        if not 0 <= index < len(self):
            raise IndexError(f"Index {index} is out of bound.")
        start = index * self.batch_size
        stop = min(start + self.batch_size, len(self.datapipe))
        return self.wrapper_class([self.datapipe[place] for place in range(start, stop)])

    def __len__(self) -> int:
        whole, rest = divmod(len(self.datapipe), self.batch_size)
        return whole + (rest > 0 and not self.drop_last)


@functional_datapipe("concat")
class Concater(MapDataPipe[Any]):
    """The items of one pipe after those of the other."""

    def __init__(self, *datapipes: Any) -> None:
        self.datapipes = _pipes(datapipes)

    def __getitem__(self, index: int) -> Any:
        ends = list(accumulate(len(pipe) for pipe in self.datapipes))
        number = bisect_right(ends, index)
        if number == len(ends):
            raise IndexError(f"Index {index} is out of range.")
        return self.datapipes[number][index - (ends[number - 1] if number else 0)]

    def __len__(self) -> int:
        return sum(len(pipe) for pipe in self.datapipes)


@functional_datapipe("zip")
class Zipper(MapDataPipe[Any]):
    """Tuples of an item of each pipe."""

    def __init__(self, *datapipes: Any) -> None:
        self.datapipes = _pipes(datapipes)

    def __getitem__(self, index: Any) -> Any:
        return tuple(pipe[index] for pipe in self.datapipes)

    def __len__(self) -> int:
        return min(len(pipe) for pipe in self.datapipes)


def _pipes(pipes: tuple[Any, ...]) -> tuple[Any, ...]:
    if not pipes:
        raise ValueError("Expected at least one DataPipe, but got nothing")
    if not all(isinstance(pipe, MapDataPipe) for pipe in pipes):
        raise TypeError("Expected all inputs to be `MapDataPipe`")
    return pipes


class Shuffler(IterDataPipe[Any]):
    """A stream of the items in random order; PyTorch's order under the same seed."""

    def __init__(self, datapipe: Any, *, indices: list[Any] | None = None) -> None:
        self.datapipe = datapipe
        self.indices = list(range(len(datapipe))) if indices is None else indices
        self._enabled = True
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
        order = list(self.indices)
        if self._enabled:
            seed, self._seed = self._seed, None
            generator = random.Random(new_seed() if seed is None else seed)
            order = generator.sample(order, len(order))[::-1]  # PyTorch takes them from the end
        return (self.datapipe[index] for index in order)

    def __len__(self) -> int:
        return len(self.datapipe)


MapDataPipe.register_datapipe_as_function("shuffle", Shuffler)
