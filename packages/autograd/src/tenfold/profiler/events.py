"""Profiler events, their averages by operator, and the table that PyTorch's users know."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Event:
    """One call: times in microseconds since the profiler started; children are the calls inside it."""

    name: str
    start_us: float
    end_us: float = 0.0
    depth: int = 0
    thread: int = 0
    shapes: list[list[int]] = field(default_factory=list)
    stack: list[str] = field(default_factory=list)
    children: list[Event] = field(default_factory=list)

    @property
    def cpu_time_total(self) -> float:
        return self.end_us - self.start_us

    @property
    def self_cpu_time_total(self) -> float:
        return self.cpu_time_total - sum(c.cpu_time_total for c in self.children)


@dataclass(slots=True)
class EventAverage:
    """All calls of one operator (and, when grouped so, with the same input shapes)."""

    key: str
    count: int = 0
    cpu_time_total: float = 0.0
    self_cpu_time_total: float = 0.0
    input_shapes: str = ""

    @property
    def cpu_time(self) -> float:
        """Average time of a call."""
        return self.cpu_time_total / self.count if self.count else 0.0


class EventList(list[EventAverage]):
    """Averages, as `profile.key_averages()` returns them."""

    def table(
        self, sort_by: str | None = None, row_limit: int = 100, max_name_column_width: int = 55, header: str | None = None
    ) -> str:
        """A text table, sorted by one of the averages' attributes, largest first."""
        rows = list(self)
        if sort_by is not None:
            if not rows or not hasattr(rows[0], sort_by):
                known = "count, cpu_time, cpu_time_total, self_cpu_time_total"
                if rows:
                    raise ValueError(f"table: cannot sort by {sort_by!r}, choose one of {known}")
            rows.sort(key=lambda e: getattr(e, sort_by), reverse=True)
        total_self = sum(e.self_cpu_time_total for e in self) or 1.0
        names = ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "# of Calls"]
        if any(e.input_shapes for e in rows):
            names.append("Input Shapes")
        cells = [_cells(e, total_self, max_name_column_width, "Input Shapes" in names) for e in rows[:row_limit]]
        widths = [max(len(r[i]) for r in [names, *cells]) + 2 for i in range(len(names))]
        rule = "  ".join("-" * w for w in widths)
        lines = ["  ".join(text.rjust(w) for text, w in zip(row, widths)) for row in [names, *cells]]
        text = "\n".join([*([header] if header else []), rule, lines[0], rule, *lines[1:], rule])
        return f"{text}\nSelf CPU time total: {format_time(sum(e.self_cpu_time_total for e in self))}\n"

    def total_average(self) -> EventAverage:
        """Everything together."""
        return EventAverage(
            "Total", sum(e.count for e in self), sum(e.cpu_time_total for e in self), sum(e.self_cpu_time_total for e in self)
        )

    def __str__(self) -> str:
        return self.table()


def _cells(e: EventAverage, total_us: float, width: int, with_shapes: bool) -> list[str]:
    row = [
        e.key if len(e.key) <= width else e.key[: width - 3] + "...", f"{100 * e.self_cpu_time_total / total_us:.2f}%",
        format_time(e.self_cpu_time_total), f"{100 * e.cpu_time_total / total_us:.2f}%", format_time(e.cpu_time_total),
        format_time(e.cpu_time), str(e.count),
    ]  # fmt: skip
    return [*row, e.input_shapes] if with_shapes else row


def format_time(time_us: float) -> str:
    """A time with the unit that fits it.

    >>> format_time(1500.0)
    '1.500ms'
    """
    if time_us >= 1e6:
        return f"{time_us / 1e6:.3f}s"
    return f"{time_us / 1e3:.3f}ms" if time_us >= 1e3 else f"{time_us:.3f}us"


def averages(events: Iterable[Event], by_shape: bool = False) -> EventList:
    """Group events by name; time inside a recursive call of the same name counts once."""
    groups: dict[tuple[str, str], EventAverage] = {}

    def visit(event: Event, inside: frozenset[tuple[str, str]]) -> None:
        shapes = str(event.shapes) if by_shape else ""
        key = (event.name, shapes)
        group = groups.setdefault(key, EventAverage(event.name, input_shapes=shapes))
        group.count += 1
        group.self_cpu_time_total += event.self_cpu_time_total
        if key not in inside:
            group.cpu_time_total += event.cpu_time_total
        for child in event.children:
            visit(child, inside | {key})

    for event in events:
        visit(event, frozenset())
    return EventList(groups.values())
