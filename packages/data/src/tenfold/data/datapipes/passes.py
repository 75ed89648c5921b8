"""Passes over a stream: a pipe has one at a time, and an iterator of an earlier one says so instead of sharing items."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

INVALID = (
    "This iterator has been invalidated because another iterator has been created from the same IterDataPipe: {}\n"
    "Read the pipe to its end before the next pass, or read it twice at a time by `.fork(num_instances=2)`."
)


class Pass:
    """A pipe's iterator: it counts what it gives, and is good until the pipe begins another pass."""

    __slots__ = ("_number", "_pipe", "_source")

    def __init__(self, pipe: Any, number: int, source: Any) -> None:
        self._pipe, self._number, self._source = pipe, number, source

    def __iter__(self) -> Pass:
        return self

    def __getattr__(self, name: str) -> Any:
        if name == "_source" or name.startswith("__"):  # as copying asks for, before there is a source
            raise AttributeError(name)
        return getattr(self._source, name)  # of a pipe that is its own iterator

    def __next__(self) -> Any:
        if self._pipe._pass_number != self._number:
            raise RuntimeError(INVALID.format(self._pipe))
        item = next(self._source)
        self._pipe._number_of_samples_yielded += 1
        return item


def in_passes(begin: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A pipe's `__iter__` that resets the pipe and begins a pass; called by a subclass's own, it is part of that one's."""

    @functools.wraps(begin)
    def __iter__(self: Any) -> Any:
        if type(self).__iter__ is not __iter__:
            return begin(self)
        self.reset()
        if not self._has_passes:
            return begin(self)
        self._pass_number += 1
        self._number_of_samples_yielded = 0
        number = self._pass_number
        return Pass(self, number, begin(self))

    return __iter__
