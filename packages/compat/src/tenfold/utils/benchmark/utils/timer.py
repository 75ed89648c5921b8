"""A timer of statements, with the threads that were asked for and after a warm-up."""

from __future__ import annotations

import enum
import sys
import textwrap
import timeit
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from time import perf_counter as timer
from typing import Any, NoReturn

import tenfold
from tenfold.utils.benchmark.utils.common import Measurement, TaskSpec

_ENOUGH_S = 0.2
_HIDDEN = 1e-4  # what the loop's clock calls may take of a block of runs


class Language(enum.Enum):
    """What a statement is written in."""

    PYTHON = 0
    CPP = 1


class Timer:
    """Times a statement of Python.

    A thread is the default; `setup` runs before each measurement; `globals` are the statement's names, beside `torch`.
    Raises ValueError for a statement in C++, which there is no compiler for.

    >>> measured = Timer("x + x", "x = torch.ones(3)").timeit(10)
    >>> measured.number_per_run, measured.median > 0
    (10, True)
    """

    _timer_cls: Any = timeit.Timer  # what takes the times; subclasses may have another

    def __init__(
        self, stmt: str = "pass", setup: str = "pass", global_setup: str = "", timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None, label: str | None = None, sub_label: str | None = None,
        description: str | None = None, env: str | None = None, num_threads: int = 1, language: Any = Language.PYTHON,
    ) -> None:  # fmt: skip
        if not isinstance(stmt, str):
            raise ValueError(f"Timer: stmt is the text of a statement, got {type(stmt).__name__}")
        if language not in (Language.PYTHON, "python", "py"):
            raise ValueError(f"Timer: statements of Python are timed, got language={language}; there is no compiler for others")
        if global_setup:
            raise ValueError(f"Timer: global_setup is for statements in C++, got {global_setup!r}; use setup")
        stmt, setup = _dedented(stmt), _dedented(setup)
        names = {"torch": sys.modules.get("torch", tenfold), "tenfold": tenfold, **(globals or {})}
        self._globals = names
        self._timer = self._timer_cls(stmt=stmt, setup=setup or "pass", timer=timer, globals=names)
        self._task_spec = TaskSpec(stmt, setup, "", label, sub_label, description, env, num_threads)

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """One measurement of `number` runs, after a hundredth as many that are not counted."""
        with self._threads():
            self._timer.timeit(max(number // 100, 2))
            return self._measured(number, [self._timer.timeit(number)])

    def repeat(self, repeat: int = -1, number: int = -1) -> NoReturn:
        """Not offered: several measurements are what `blocked_autorange` makes."""
        raise NotImplementedError("Timer.repeat is not offered; use blocked_autorange, or timeit several times")

    def autorange(self, callback: Callable[[int, float], NoReturn] | None = None) -> NoReturn:
        """Not offered: `blocked_autorange` finds the number of runs."""
        raise NotImplementedError("Timer.autorange is not offered; use blocked_autorange")

    def blocked_autorange(
        self, callback: Callable[[int, float], Any] | None = None, min_run_time: float = _ENOUGH_S
    ) -> Measurement:
        """Measurements of equal blocks, long enough for the clock, until they have taken `min_run_time` seconds."""
        number = self._block(min_run_time)
        with self._threads():
            times: list[float] = []
            while sum(times) < min_run_time:
                times.append(self._timer.timeit(number))
                if callback is not None:
                    callback(number, times[-1])
        return self._measured(number, times)

    def adaptive_autorange(
        self, threshold: float = 0.1, *, min_run_time: float = 0.01, max_run_time: float = 10.0,
        callback: Callable[[int, float], Any] | None = None,
    ) -> Measurement:  # fmt: skip
        """Measurements until the quartiles lie closer than `threshold` of the median, or `max_run_time` seconds are over."""
        number = self._block(0.05)
        with self._threads():
            times: list[float] = []
            while sum(times) < max_run_time:
                times.append(self._timer.timeit(number))
                if callback is not None:
                    callback(number, times[-1])
                if sum(times) > min_run_time and len(times) > 3 and self._measured(number, times).meets_confidence(threshold):
                    break
        return self._measured(number, times)

    def collect_callgrind(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Not offered: counts of instructions are the program valgrind's."""
        raise NotImplementedError("Timer.collect_callgrind is not offered: run the program under valgrind --tool=callgrind")

    def _block(self, min_run_time: float) -> int:
        """How many runs hide the clock and are no less than a thousandth of the whole."""
        with self._threads():
            overhead, number = median(self._timer.timeit(0) for _ in range(5)), 1
            while True:
                taken = self._timer.timeit(number)
                if taken > min_run_time or (overhead <= _HIDDEN * taken and taken >= min_run_time / 1000):
                    return number
                number *= 10

    def _measured(self, number: int, times: list[float]) -> Measurement:
        return Measurement(number, times, self._task_spec)

    @contextmanager
    def _threads(self) -> Iterator[None]:
        before = tenfold.get_num_threads()
        tenfold.set_num_threads(self._task_spec.num_threads)
        try:
            yield
        finally:
            tenfold.set_num_threads(before)


def _dedented(text: str) -> str:
    """A statement as it stands in a program's indented text."""
    return textwrap.dedent(text).strip()
