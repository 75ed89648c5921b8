"""An iterator whose items a thread makes ahead of use."""

from __future__ import annotations

import queue
import threading
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

_END = object()
_LOOK_S = 0.1  # how often a waiting thread looks whether its items are still wanted


class Ahead(Iterator[Any]):
    """The items of a source, at most `size` of them waiting; the thread ends with this iterator.

    >>> list(Ahead("abc", 2))
    ['a', 'b', 'c']
    """

    def __init__(self, source: Iterable[Any], size: int) -> None:
        self._made: queue.Queue[tuple[Any, BaseException | None]] = queue.Queue(size)
        stop = threading.Event()
        self._end = weakref.finalize(self, stop.set)
        threading.Thread(target=_make, args=(source, self._made, stop), name="tenfold.data prefetch", daemon=True).start()

    def __next__(self) -> Any:
        if not self._end.alive:
            raise StopIteration
        item, error = self._made.get()
        if error is None and item is not _END:
            return item
        self._end()
        if error is not None:
            raise error
        raise StopIteration


def _make(source: Iterable[Any], made: queue.Queue[tuple[Any, BaseException | None]], stop: threading.Event) -> None:
    try:
        for item in source:
            if not _put(made, (item, None), stop):
                return
        _put(made, (_END, None), stop)
    except BaseException as error:  # noqa: BLE001 - raised where the item is asked for
        _put(made, (None, error), stop)


def _put(made: queue.Queue[Any], item: Any, stop: threading.Event) -> bool:
    """Whether the item was taken in before nobody wanted it any more."""
    while not stop.is_set():
        try:
            made.put(item, timeout=_LOOK_S)
        except queue.Full:
            continue
        return True
    return False
