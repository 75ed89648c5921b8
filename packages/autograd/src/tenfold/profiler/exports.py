"""What can be made of a recording: a trace for Chrome and Perfetto, stacks, and pictures of time and memory."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from typing import Any

from tenfold.autograd.canvas import PALETTE, Canvas
from tenfold.profiler.events import Event
from tenfold.profiler.formats import format_memory, format_time
from tenfold.profiler.memory import CATEGORIES

Path = str | os.PathLike[str]


def parsed(text: str) -> Any:
    """The value of a JSON text."""
    return json.loads(text)


def written(path: Path, text: str) -> None:
    """Put a text into a file, whole or not at all; compressed where the name ends in .gz."""
    name = os.fspath(path)
    data = text.encode()
    temporary = f"{name}.{os.getpid()}.tmp"
    with open(temporary, "wb") as file:
        file.write(gzip.compress(data) if name.endswith(".gz") else data)
    os.replace(temporary, name)


def chrome_trace(events: list[Event], path: Path, account: Any = None, metadata: dict[str, Any] | None = None) -> None:
    """Write all events as complete events, what accelerators did as rows of their own, and the memory as a counter."""
    pid = os.getpid()
    rows: list[dict[str, Any]] = [
        {"name": "process_name", "ph": "M", "pid": pid, "tid": 0, "args": {"name": "tenfold"}},
    ]
    rows += [
        {"name": e.name, "ph": "X", "cat": e.category, "ts": e.start_us, "dur": e.cpu_time_total, "pid": pid, "tid": e.thread,
         "args": _facts(e)}
        for e in events
    ]  # fmt: skip
    rows += _on_devices(events, pid)
    if account is not None:
        times, sizes = account.timeline()
        rows += [
            {"name": "memory", "ph": "C", "ts": t, "pid": pid, "args": dict(zip(CATEGORIES, row))} for t, row in zip(times, sizes)
        ]
    written(path, json.dumps({"schemaVersion": 1, "traceEvents": rows, "displayTimeUnit": "ms", **(metadata or {})}))


def _on_devices(events: list[Event], pid: int) -> list[dict[str, Any]]:
    """A row for each queue of an accelerator, with when it was at which call."""
    timed = [e for e in events if e.device_us is not None]
    lines = {line: -1 - place for place, line in enumerate(sorted({e.device_line for e in timed}))}
    names = [{"name": "thread_name", "ph": "M", "pid": pid, "tid": tid, "args": {"name": line}} for line, tid in lines.items()]
    return names + [
        {"name": e.name, "ph": "X", "cat": "kernel", "ts": e.device_start_us, "dur": e.device_us, "pid": pid,
         "tid": lines[e.device_line], "args": {"External id": e.id}}
        for e in timed
    ]  # fmt: skip


def _facts(event: Event) -> dict[str, Any]:
    facts: dict[str, Any] = {"External id": event.id}
    if event.input_shapes:
        facts["Input Dims"] = event.input_shapes
    if event.stack:
        facts["Call stack"] = ";".join(event.stack)
    if event.flops:
        facts["flops"] = event.flops
    if event.self_cpu_memory_usage:
        facts["Bytes"] = event.self_cpu_memory_usage
    return facts


# Stacks


def paths(roots: list[Event], metric: str = "self_cpu_time_total") -> dict[tuple[str, ...], float]:
    """For each way to a call, outermost first, the time in microseconds that it took without the calls inside it."""
    found: dict[tuple[str, ...], float] = {}
    waiting: list[tuple[Event, tuple[str, ...]]] = [(e, ()) for e in roots]
    while waiting:
        event, above = waiting.pop()
        inner = (*above, *_new_frames(event), event.key)
        found[inner] = found.get(inner, 0.0) + max(getattr(event, metric), 0.0)
        waiting += [(child, inner) for child in event.children]
    return found


def _new_frames(event: Event) -> list[str]:
    """The lines of the program between a call and the one around it, outermost first."""
    shared = len(event.parent.stack) if event.parent is not None else 0
    return [short(frame) for frame in event.stack[: len(event.stack) - shared][::-1]]


def short(frame: str) -> str:
    """A line of the program without the folders above its file's."""
    return "/".join(frame.replace("\\", "/").split("/")[-2:])


METRICS = ("self_cpu_time_total", "self_cuda_time_total", "self_xpu_time_total", "self_privateuse1_time_total")


def stacks(roots: list[Event], path: Path, metric: str) -> None:
    """Write folded stacks."""
    if metric not in METRICS:
        raise ValueError(f"export_stacks: metric should be one of: {', '.join(METRICS)}; got {metric!r}")
    name = "self_cpu_time_total" if metric == METRICS[0] else "self_device_time_total"
    ways = sorted(paths(roots, name).items())
    lines = [f"{';'.join(p.replace(';', ',') for p in way)} {int(us)}" for way, us in ways if int(us)]
    written(path, "\n".join(lines) + "\n")


# Pictures

ROW, WIDTH = 18, 1200


def flame_graph(prof: Any, path: Path) -> None:
    """Draw the tree of calls."""
    ways = paths(prof._roots)
    if not ways:
        raise RuntimeError("export_flame_graph: nothing was recorded")
    total: dict[tuple[str, ...], float] = {}
    for way, us in ways.items():
        for depth in range(len(way) + 1):
            total[way[:depth]] = total.get(way[:depth], 0.0) + us
    depth = max(map(len, total))
    canvas = Canvas(WIDTH, (depth + 1) * ROW + 28, f"{format_time(total[()])} in {len(prof.events())} calls")
    children: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for way in total:
        if way:
            children.setdefault(way[:-1], []).append(way)
    scale = WIDTH / (total[()] or 1.0)
    waiting: list[tuple[tuple[str, ...], float]] = [((), 0.0)]
    while waiting:
        way, x = waiting.pop()
        width = total[way] * scale
        if width < 0.3:
            continue
        label = way[-1].removeprefix("autograd::engine::evaluate_function: ") if way else "all"
        told = f"{label}: {format_time(total[way])}, {100 * total[way] / (total[()] or 1.0):.1f} %"
        colour = PALETTE[sum(label.encode()) % len(PALETTE)]
        canvas.box(x, 24 + len(way) * ROW, max(width - 0.5, 0.3), ROW - 1, colour, label, told)
        for child in sorted(children.get(way, ())):
            waiting.append((child, x))
            x += total[child] * scale
    canvas.save(path)


def memory_timeline(prof: Any, path: Path) -> None:
    """Write or draw the memory by category."""
    if not prof.profile_memory:
        raise RuntimeError("export_memory_timeline: nothing is known of memory: make the profiler with profile_memory=True")
    name = os.fspath(path)
    kind = name.removesuffix(".gz")
    makers: list[tuple[str, Callable[[Any], str]]] = [
        (".raw.json", _raw), (".json", lambda account: json.dumps(list(account.timeline()))),
        (".html", lambda account: f"<!DOCTYPE html><title>Memory</title>{memory_picture(account).svg()}"),
    ]  # fmt: skip
    for ending, make in makers:
        if kind.endswith(ending):
            written(path, make(prof.account))
            return
    memory_picture(prof.account).save(path)


def _raw(account: Any) -> str:
    """Every allocation and free: [time in us, what, bytes, category]."""
    rows = []
    for block in account.blocks:
        category = account.category(block)
        rows.append([block.start_us, "create" if block.is_made else "preexisting", block.size_bytes, category])
        if block.end_us is not None:
            rows.append([block.end_us, "destroy", -block.size_bytes, category])
    return json.dumps(sorted(rows, key=lambda row: row[0]))


def memory_picture(account: Any) -> Canvas:
    """The bytes of each category over time, one on top of the other."""
    times, sizes = account.timeline()
    peak, end = account.peak_bytes() or 1, max(times, default=0.0) or 1.0
    left, top, width, height = 80, 30, 900, 320
    canvas = Canvas(left + width + 150, top + height + 40, f"memory: peak {format_memory(peak)}")
    for k in range(5):
        y = top + height - height * k / 4
        canvas.line([(left, y), (left + width, y)], "#dddddd")
        canvas.text(left - 6, y + 4, format_memory(peak * k // 4), anchor="end")
    base = [0.0] * len(times)
    for place, category in enumerate(CATEGORIES):
        upper = [b + row[place] for b, row in zip(base, sizes)]
        canvas.area(_steps(times, upper, base, (left, top, width, height), end, peak), PALETTE[place], category)
        canvas.box(left + width + 16, top + 20 * place, 12, 12, PALETTE[place])
        canvas.text(left + width + 34, top + 20 * place + 11, category)
        base = upper
    canvas.text(left, top + height + 18, "0")
    canvas.text(left + width, top + height + 18, format_time(end), anchor="end")
    return canvas


def _steps(
    times: list[float], upper: list[float], lower: list[float], frame: tuple[int, int, int, int], end: float, peak: float
) -> list[tuple[float, float]]:
    """The outline of one category: along its upper edge and back along the lower one."""
    left, top, width, height = frame

    def edge(values: list[float]) -> list[tuple[float, float]]:
        points = []
        for i, (t, v) in enumerate(zip(times, values)):
            y = top + height - height * v / peak
            after = times[i + 1] if i + 1 < len(times) else end
            points += [(left + width * t / end, y), (left + width * after / end, y)]
        return points

    return edge(upper) + edge(lower)[::-1]


__all__ = ["chrome_trace", "flame_graph", "memory_picture", "memory_timeline", "parsed", "paths", "stacks"]
