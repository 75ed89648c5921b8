"""What a timer measured, and how much of it can be believed."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from statistics import fmean, median, pstdev
from typing import Any

_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_NORMAL_90_PERCENT = 1.645
_FINEST_S = 25e-9  # what a clock and a loop leave uncertain at best
_MOST_FIGURES = 4
_UNEVEN, _VERY_UNEVEN = 0.1, 0.25  # of the median, between the quartiles


def select_unit(t: float) -> tuple[str, float]:
    """The unit in which seconds are read best, and its size.

    >>> select_unit(3e-5)
    ('us', 1e-06)
    """
    unit = next((name for name, size in reversed(_UNITS.items()) if t >= size), "ns")
    return unit, _UNITS[unit]


def unit_to_english(u: str) -> str:
    """A unit's name in full."""
    return {"ns": "nanosecond", "us": "microsecond", "ms": "millisecond", "s": "second"}[u]


def trim_sigfig(x: float, n: int) -> float:
    """A number with `n` significant figures.

    >>> trim_sigfig(12345.0, 2)
    12000.0
    """
    if x == 0 or not math.isfinite(x):
        return x
    return float(round(x, n - 1 - math.floor(math.log10(abs(x)))))


@dataclass(init=True, repr=False, eq=True, frozen=True)
class TaskSpec:
    """What was run."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label, or the statement, and what it is a case of."""
        if self.label is None and "\n" in self.stmt:
            case = f" ({self.sub_label})" if self.sub_label else ""
            return f"stmt:{case}\n{textwrap.indent(self.stmt, '  ')}"
        return (self.label or self.stmt) + (f": {self.sub_label}" if self.sub_label else "")

    def setup_str(self) -> str:
        """The setup as it is printed."""
        if self.setup in ("", "pass"):
            return ""
        several = "\n" in self.setup
        return f"setup:\n{textwrap.indent(self.setup, '  ')}" if several else f"setup: {self.setup}"


@dataclass(init=True, repr=False)
class Measurement:
    """Times of one statement: `raw_times` in seconds, each of `number_per_run` runs."""

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = field(default=None)

    def __getattr__(self, name: str) -> Any:
        if name in TaskSpec.__dataclass_fields__:  # what was run is asked of the result
            return getattr(self.task_spec, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def times(self) -> list[float]:
        """Seconds of one run, in each measurement."""
        return [t / self.number_per_run for t in self.raw_times]

    @cached_property
    def _sorted(self) -> list[float]:
        return sorted(self.times)

    @property
    def median(self) -> float:
        """Seconds of one run."""
        return median(self._sorted)

    @property
    def mean(self) -> float:
        """Seconds of one run."""
        return fmean(self._sorted)

    @property
    def iqr(self) -> float:
        """Seconds between the quartiles, each found between two measurements where it falls there."""
        return self._quantile(0.75) - self._quantile(0.25)

    def _quantile(self, q: float) -> float:
        place = q * (len(self._sorted) - 1)
        below = math.floor(place)
        above = min(below + 1, len(self._sorted) - 1)
        return self._sorted[below] + (place - below) * (self._sorted[above] - self._sorted[below])

    @property
    def significant_figures(self) -> int:
        """How many figures of the median the middle half of the measurements bears out, at most four."""
        n = len(self._sorted)
        middle = self._sorted[n // 4 : max(math.ceil(3 * n / 4), n // 4 + 1)]
        doubt = max(_NORMAL_90_PERCENT * pstdev(middle) / math.sqrt(len(middle)), _FINEST_S)
        return min(max(math.floor(math.log10(self.median / doubt)), 1), _MOST_FIGURES)

    @property
    def has_warnings(self) -> bool:
        """Whether the measurements differ so much that the median says little."""
        return not self.meets_confidence()

    def meets_confidence(self, threshold: float = _UNEVEN) -> bool:
        """Whether the quartiles lie closer than a part of the median."""
        return self.iqr / self.median < threshold

    @property
    def title(self) -> str:
        """What was run, for a heading."""
        return self.task_spec.title

    @property
    def env(self) -> str:
        """The environment that the timer was told."""
        return self.task_spec.env or "Unspecified env"

    @property
    def as_row_name(self) -> str:
        """What names a row of a table."""
        return self.task_spec.sub_label or self.task_spec.stmt or "[Unknown]"

    def to_dict(self) -> dict[str, Any]:
        """The measurement in plain values."""
        return {**asdict(self.task_spec), "number_per_run": self.number_per_run, "raw_times": list(self.raw_times)}

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """One measurement for each task, of all that were made of it."""
        grouped: dict[tuple[TaskSpec, int], list[float]] = {}
        for one in measurements:
            grouped.setdefault((one.task_spec, one.number_per_run), []).extend(one.raw_times)
        return [Measurement(number, times, task) for (task, number), times in grouped.items()]

    def __repr__(self) -> str:
        unit, size = select_unit(self.median)
        n, threads = len(self.raw_times), self.task_spec.num_threads
        lines = [f"<{type(self).__module__}.{type(self).__name__} object at {id(self):#x}>", self.title]
        lines += [text for text in (self.task_spec.description, self.task_spec.setup_str()) if text]
        lines[1:] = [f"{text}\n" if "\n" in text else text for text in lines[1:]]
        if n > 1:
            lines.append(f"  Median: {self.median / size:.2f} {unit}")
        if n > 3:
            low, high = self._quantile(0.25) / size, self._quantile(0.75) / size
            lines.append(f"  IQR:    {self.iqr / size:.2f} {unit} ({low:.2f} to {high:.2f})")
        if n == 1:
            lines.append(f"  {self.median / size:.2f} {unit}")
        runs = f"{self.number_per_run} run{'s' if self.number_per_run > 1 else ''} per measurement"
        lines.append(f"  {n} measurement{'s' if n > 1 else ''}, {runs}, {threads} thread{'s' if threads > 1 else ''}")
        if n > 1 and self.has_warnings:
            degree = "very uneven" if not self.meets_confidence(_VERY_UNEVEN) else "uneven"
            lines.append(f"  WARNING: the measurements are {degree}: the quartiles lie {self.iqr / self.median:.0%} apart.")
        return "\n".join(lines)
