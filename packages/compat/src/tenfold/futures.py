"""Values that come later: `torch.futures`, on one machine."""

from __future__ import annotations

import concurrent.futures
import threading
import types
from collections.abc import Callable
from typing import Any

__all__ = ["Future", "collect_all", "wait_all"]


class Future:
    """A value that another thread, or a later line, provides.

    >>> later = Future()
    >>> doubled = later.then(lambda done: done.value() * 2)
    >>> later.set_result(21)
    >>> doubled.wait()
    42
    """

    __class_getitem__: Any = classmethod(types.GenericAlias)  # annotations say of what it is the future

    def __init__(self, *, devices: Any = None) -> None:
        self._future: concurrent.futures.Future[Any] = concurrent.futures.Future()

    def __reduce__(self) -> Any:
        raise RuntimeError("Can not pickle torch.futures.Future: its value may not be there yet; send what wait() gives")

    def done(self) -> bool:
        """Whether the value, or an error in its place, is there."""
        return self._future.done()

    def wait(self) -> Any:
        """The value, waited for; an error that was set is raised."""
        return self._future.result()

    def value(self) -> Any:
        """The value, which must be there already: RuntimeError otherwise."""
        if not self.done():
            raise RuntimeError("Future.value: the future is not completed; wait() waits for it")
        return self._future.result()

    def set_result(self, result: Any) -> None:
        """Provide the value, once."""
        self._complete(self._future.set_result, result)

    def set_exception(self, result: BaseException) -> None:
        """Provide an error, which those who wait meet."""
        if not isinstance(result, BaseException):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._complete(self._future.set_exception, result)

    def _complete(self, complete: Callable[[Any], None], what: Any) -> None:
        try:
            complete(what)
        except concurrent.futures.InvalidStateError:
            raise RuntimeError(
                "Attempting to mark a completed Future as complete again. Note that a Future can only be marked completed once."
            ) from None

    def add_done_callback(self, callback: Callable[[Future], Any]) -> None:
        """Call a function with this future when it is done, in the thread that completes it."""
        self._future.add_done_callback(lambda _: callback(self))

    def then(self, callback: Callable[[Future], Any]) -> Future:
        """A future of what the function makes of this one when it is done."""
        following = Future()

        def run(done: Future) -> None:
            try:
                result = callback(done)
            except Exception as error:  # noqa: BLE001 - whoever waits for the following future meets it
                told = RuntimeError(f"Got the following error when running the callback: {type(error).__name__}: {error}")
                told.__cause__ = error
                following.set_exception(told)
            else:
                following.set_result(result)

        self.add_done_callback(run)
        return following


def collect_all(futures: list[Future]) -> Future:
    """A future of the list of these futures, done when all of them are.

    >>> first = Future()
    >>> both = collect_all([first])
    >>> first.set_result(1)
    >>> [future.value() for future in both.wait()]
    [1]
    """
    together, left, lock = Future(), [len(futures)], threading.Lock()
    if not futures:
        together.set_result([])

    def count(_: Future) -> None:
        with lock:
            left[0] -= 1
            last = not left[0]
        if last:
            together.set_result(list(futures))

    for future in futures:
        future.add_done_callback(count)
    return together


def wait_all(futures: list[Future]) -> list[Any]:
    """The values of all these futures, waited for."""
    return [future.wait() for future in collect_all(futures).wait()]
