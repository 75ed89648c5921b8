"""Pipes that part: each branch gives all items (fork), or those of its class (demux)."""

from __future__ import annotations

import copy as copies
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from tenfold.data.datapipes.columns import check_function
from tenfold.data.datapipes.datapipe import IterDataPipe, functional_datapipe
from tenfold.data.datapipes.passes import INVALID


class _Stem:
    """What the branches have in common: the one pass below, and what each has still to give."""

    def __init__(self, datapipe: Any, count: int, branches_of: Callable[[Any], list[int]], buffer_size: int) -> None:
        self.datapipe, self.branches_of, self.buffer_size = datapipe, branches_of, buffer_size
        self.waiting: list[deque[Any]] = [deque() for _ in range(count)]
        self.begun, self.exhausted = [False] * count, False
        self.source: Iterator[Any] | None = None
        self.number = 0  # of the pass

    def __getstate__(self) -> dict[str, Any]:
        count = len(self.waiting)  # a pass that has begun stays where it is
        return {**vars(self), "waiting": [deque() for _ in range(count)], "begun": [False] * count, "source": None}

    def begin(self, number: int) -> None:
        """A branch starts a pass: the first of them, or one that has had its pass, starts it for all."""
        if self.source is None or self.begun[number]:
            if self.source is not None and not (self.exhausted and not any(self.waiting)):
                warnings.warn(
                    "Some child DataPipes are not exhausted when __iter__ is called. We are resetting the buffer and each child "
                    "DataPipe will read from the start again.",
                    UserWarning,
                    stacklevel=4,
                )
            self.source, self.number = iter(self.datapipe), self.number + 1
            self.begun, self.exhausted = [False] * len(self.begun), False
            for queue in self.waiting:
                queue.clear()
        self.begun[number] = True

    def items(self, number: int, mine: int) -> Iterator[Any]:
        """One branch's items in the pass of this number, until another begins."""
        queue = self.waiting[number]
        self._require(mine)
        while True:
            while queue:
                yield queue.popleft()
                self._require(mine)
            assert self.source is not None, "begun"
            try:
                item = next(self.source)
            except StopIteration:
                self.exhausted = True
                return
            for branch in self.branches_of(item):
                self.waiting[branch].append(item)
            if 0 <= self.buffer_size < max(len(other) for other in self.waiting):
                raise BufferError(
                    f"buffer overflow: more than {self.buffer_size} items wait for another branch; raise buffer_size"
                )

    def _require(self, number: int) -> None:
        if number != self.number:
            raise RuntimeError(INVALID.format("a pipe that parts into several"))


class _Branch(IterDataPipe[Any]):
    """One of the pipes that another parts into."""

    _has_passes = False  # the stem has them

    def __init__(self, stem: _Stem, number: int, finish: Callable[[Any], Any], whole: bool) -> None:
        self.stem, self.number, self.finish, self.whole = stem, number, finish, whole
        self.main_datapipe = stem.datapipe

    def __iter__(self) -> Iterator[Any]:
        self.stem.begin(self.number)
        return map(self.finish, self.stem.items(self.number, self.stem.number))

    def __len__(self) -> int:
        if not self.whole:
            raise TypeError("a branch of demux has no length before it is read")
        return self._length_of(self.main_datapipe)


def _warn_of(buffer_size: int, name: str) -> None:
    if buffer_size < 0:
        message = f"Unlimited buffer size is set for `{name}`, please be aware of OOM (Out of Memory) risks"
        warnings.warn(message, UserWarning, stacklevel=3)


def _same(item: Any) -> Any:
    return item


def _every(count: int, item: Any) -> list[int]:
    return list(range(count))


def _classified(classifier_fn: Callable[[Any], int | None], count: int, drop_none: bool, item: Any) -> list[int]:
    number = classifier_fn(item)
    if number is None and drop_none:
        return []
    if number is None or not 0 <= number < count:
        raise ValueError(f"Output of the classification fn should be between 0 and {count - 1}. {number} is returned.")
    return [number]


@functional_datapipe("fork")
class Forker(IterDataPipe[Any]):
    """`num_instances` pipes with all items each; at most `buffer_size` wait for the slowest (-1: any number)."""

    def __new__(cls, datapipe: Any, num_instances: int, buffer_size: int = 1000, copy: str | None = None) -> Any:
        if num_instances < 1:
            raise ValueError(f"Expected `num_instances` larger than 0, but {num_instances} is found")
        ways: dict[str | None, Callable[[Any], Any]] = {None: _same, "shallow": copies.copy, "deep": copies.deepcopy}
        if copy not in ways:
            raise ValueError(f"Unknown copy method `{copy}`, choose from None, 'shallow', or 'deep'.")
        if num_instances == 1:
            return datapipe
        _warn_of(buffer_size, "fork")
        stem = _Stem(datapipe, num_instances, partial(_every, num_instances), buffer_size)
        return [_Branch(stem, number, ways[copy], whole=True) for number in range(num_instances)]


@functional_datapipe("demux")
class Demultiplexer(IterDataPipe[Any]):
    """`num_instances` pipes; an item goes to the one that `classifier_fn` numbers, None to none if `drop_none`."""

    def __new__(
        cls,
        datapipe: Any,
        num_instances: int,
        classifier_fn: Callable[[Any], int | None],
        drop_none: bool = False,
        buffer_size: int = 1000,
    ) -> Any:
        if num_instances < 1:
            raise ValueError(f"Expected `num_instances` larger than 0, but {num_instances} is found")
        check_function(classifier_fn)
        _warn_of(buffer_size, "demux")
        branch = partial(_classified, classifier_fn, num_instances, drop_none)
        stem = _Stem(datapipe, num_instances, branch, buffer_size)
        return [_Branch(stem, number, _same, whole=False) for number in range(num_instances)]
