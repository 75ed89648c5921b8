"""Events grouped by what they have in common, and the table of them that PyTorch's users know."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tenfold.profiler import exports
from tenfold.profiler.events import Event, Told, in_order
from tenfold.profiler.formats import format_count, format_memory, format_time


@dataclass(slots=True)
class EventAverage(Told):
    """All calls of one name (and, when grouped so, with the same input shapes or from the same place)."""

    key: str
    count: int = 0
    cpu_time_total: float = 0.0
    self_cpu_time_total: float = 0.0
    input_shapes: Any = ""  # a list where they are grouped by
    cpu_memory_usage: int = 0
    self_cpu_memory_usage: int = 0
    flops: int = 0
    stack: list[str] = field(default_factory=list)
    use_device: str | None = None
    device_time_total: float = 0.0
    self_device_time_total: float = 0.0
    device_memory_usage: int = 0
    self_device_memory_usage: int = 0
    is_user_annotation: bool = False

    @property
    def cpu_time(self) -> float:
        """Average time of a call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def device_time(self) -> float:
        """Average time of a call on an accelerator."""
        return self.device_time_total / self.count if self.count else 0.0

    def add(self, event: Any, nested: bool = False) -> None:
        """Count an event, or a row, too; of one that is nested in one of the same name, only what is its own."""
        self.use_device = self.use_device or event.use_device
        self.is_user_annotation = self.is_user_annotation or event.is_user_annotation
        for name in _OWN if nested else (*_OWN, *_WITH_CHILDREN):
            setattr(self, name, getattr(self, name) + getattr(event, name))


_OWN = ("count", "self_cpu_time_total", "self_cpu_memory_usage", "flops", "self_device_time_total", "self_device_memory_usage")
_WITH_CHILDREN = ("cpu_time_total", "cpu_memory_usage", "device_time_total", "device_memory_usage")


# What a table can be sorted by, and the names that earlier versions of PyTorch had for it.
SORTABLE = (
    "cpu_time", "cpu_time_total", "self_cpu_time_total", "cpu_memory_usage", "self_cpu_memory_usage", "count", "flops",
    "device_time", "device_time_total", "self_device_time_total", "device_memory_usage", "self_device_memory_usage",
)  # fmt: skip


class EventList(list[Any]):
    """Events, or averages as `profile.key_averages()` returns them."""

    def table(
        self, sort_by: str | None = None, row_limit: int = 100, max_src_column_width: int = 75,
        max_name_column_width: int = 55, max_shapes_column_width: int = 80, header: str | None = None,
        top_level_events_only: bool = False, time_unit: str | None = None,
    ) -> str:  # fmt: skip
        """A text table, sorted by one of the rows' attributes, largest first.

        `time_unit` is "s", "ms" or "us", or for each number the one that fits it. Raises ValueError for an unknown attribute.
        """
        rows = [e for e in self if not (top_level_events_only and getattr(e, "parent", None) is not None)]
        if sort_by is not None:
            name = sort_by.replace("cuda", "device").replace("xpu", "device")
            if name not in SORTABLE:
                raise ValueError(f"table: cannot sort by {sort_by!r}, choose one of {', '.join(SORTABLE)}")
            rows.sort(key=lambda e: getattr(e, name), reverse=True)
        total_us = sum(e.self_cpu_time_total for e in self)
        columns = _columns(rows, total_us or 1.0, time_unit, max_name_column_width, max_shapes_column_width, max_src_column_width)
        cells = [[cell(e) for _, cell in columns] for e in rows[:row_limit]]
        names = [name for name, _ in columns]
        widths = [max(len(r[i]) for r in [names, *cells]) + 2 for i in range(len(names))]
        rule = "  ".join("-" * w for w in widths)
        lines = ["  ".join(text.rjust(w) for text, w in zip(row, widths)) for row in [names, *cells]]
        text = "\n".join([*([header] if header else []), rule, lines[0], rule, *lines[1:], rule])
        told = f"{text}\nSelf CPU time total: {format_time(total_us)}\n"
        name, device_us = device_of(self), self.self_device_time_total
        return f"{told}Self {name} time total: {format_time(device_us)}\n" if device_us else told

    def total_average(self) -> EventAverage:
        """Everything together."""
        total = EventAverage("Total")
        for e in self:
            total.add(e)
        return total

    @property
    def self_cpu_time_total(self) -> float:
        """The time of all rows, each without what is inside it."""
        return float(sum(e.self_cpu_time_total for e in self))

    @property
    def self_device_time_total(self) -> float:
        """The time of all rows on an accelerator, each without what is inside it."""
        return float(sum(e.self_device_time_total for e in self))

    def key_averages(
        self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """Totals and averages by name; see `profile.key_averages`."""
        return averages([e for e in self if e.parent is None], group_by_input_shapes, group_by_stack_n)

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write the events in the Trace Event Format; see `profile.export_chrome_trace`."""
        exports.chrome_trace(self, path)

    def supported_export_stacks_metrics(self) -> list[str]:
        """What `export_stacks` can write."""
        return list(exports.METRICS)

    def export_stacks(self, path: str | os.PathLike[str], metric: str) -> None:
        """Write a line for each stack; see `profile.export_stacks`."""
        exports.stacks([e for e in self if e.parent is None], path, metric)

    def __str__(self) -> str:
        return self.table()


def _columns(rows: list[Any], total_us: float, unit: str | None, names: int, shapes: int, sources: int) -> list[Any]:
    """(heading, text of a row) for every column that has something to show."""

    def time(name: str) -> Any:
        return lambda e: format_time(getattr(e, name), unit)

    def share(name: str) -> Any:
        return lambda e: f"{100 * getattr(e, name) / total_us:.2f}%"

    columns = [
        ("Name", lambda e: _cut(e.key, names)), ("Self CPU %", share("self_cpu_time_total")),
        ("Self CPU", time("self_cpu_time_total")), ("CPU total %", share("cpu_time_total")),
        ("CPU total", time("cpu_time_total")), ("CPU time avg", time("cpu_time")),
    ]  # fmt: skip
    device = device_of(rows)
    device_us = sum(e.self_device_time_total for e in rows)
    if device_us:
        columns += [
            (f"Self {device}", time("self_device_time_total")),
            (f"Self {device} %", lambda e: f"{100 * e.self_device_time_total / device_us:.2f}%"),
            (f"{device} total", time("device_time_total")), (f"{device} time avg", time("device_time")),
        ]  # fmt: skip
    for name, kind in (("CPU", "cpu"), (device, "device")):
        columns += _memory(rows, name, f"{kind}_memory_usage")
    columns.append(("# of Calls", lambda e: str(e.count)))
    if any(e.input_shapes for e in rows):
        columns.append(("Input Shapes", lambda e: _cut(str(e.input_shapes or ""), shapes)))
    if any(e.stack for e in rows):
        columns.append(("Source Location", lambda e: _cut(e.stack[0] if e.stack else "", sources, end=True)))
    if any(e.flops for e in rows):
        columns.append(("Total FLOPs", lambda e: format_count(e.flops) if e.flops else "--"))
    return columns


def _memory(rows: list[Any], name: str, what: str) -> list[Any]:
    """The columns of a kind of memory, if any was taken."""
    if not any(getattr(e, what) or getattr(e, f"self_{what}") for e in rows):
        return []
    return [
        (f"{name} Mem", lambda e: format_memory(getattr(e, what))),
        (f"Self {name} Mem", lambda e: format_memory(getattr(e, f"self_{what}"))),
    ]


def device_of(rows: Iterable[Any]) -> str:
    """The accelerator that rows are of, as headings name it."""
    return next((e.use_device for e in rows if e.use_device), "device").upper()


def _cut(text: str, width: int, end: bool = False) -> str:
    if len(text) <= width:
        return text
    return "..." + text[3 - width :] if end else text[: width - 3] + "..."


def averages(roots: Iterable[Event], by_shape: bool = False, stack_n: int = 0) -> EventList:
    """Group events by name; time and memory inside a recursive call of the same name count once."""
    groups: dict[Any, EventAverage] = {}

    def key_of(event: Event) -> Any:
        return event.key, str(event.input_shapes) if by_shape else "", tuple(event.stack[:stack_n])

    stack = [(event, frozenset[Any]()) for event in reversed(list(roots))]
    while stack:
        event, inside = stack.pop()
        key = key_of(event)
        group = groups.get(key)
        if group is None:
            group = groups[key] = EventAverage(event.key, input_shapes=event.input_shapes if by_shape else "", stack=list(key[2]))
        group.add(event, key in inside)
        stack += [(child, inside | {key}) for child in reversed(event.children)]
    return EventList(groups.values())


__all__ = ["EventAverage", "EventList", "averages", "in_order"]
