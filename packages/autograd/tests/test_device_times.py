"""The profiler's times on an accelerator, with a device's clock of our own: marks are numbers of microseconds."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

import tenfold
from tenfold.profiler import Event, EventList, profile
from tenfold.profiler.averages import averages
from tenfold.profiler.device_times import Begun, DeviceTimes, placed


class Clock:
    """A device that comes to each mark 10 us after the one before, and is 1000 us ahead of this process."""

    def __init__(self, never=False):
        self.now, self.never, self.waits = 1000, never, 0

    def mark(self, index):
        self.now += 10
        return None if self.never else SimpleNamespace(at=self.now, line="queue 7")

    def wait(self):
        self.waits += 1

    def elapsed_us(self, first, second):
        return float(second.at - first.at)


def timed(times, clock, event, device, inner=()):
    begun = Begun(device, clock, clock.mark(device.index))
    for child in inner:
        timed(times, clock, child, device)
    times.after(event, begun)


def recorded():
    """An event with a child, both timed, beside one that was not."""
    clock, device = Clock(), tenfold.device("meta", 0)
    times = DeviceTimes(lambda: 500.0)
    times._timers["meta"] = clock
    outer, inner, alone = (Event(name, 0.0, 100.0, id=k) for k, name in enumerate(("linear", "mm", "ones")))
    outer.children.append(inner)
    inner.parent, inner.depth = outer, 1
    timed(times, clock, outer, device, [inner])
    times.settle()
    assert clock.waits == 2  # for what was recorded, and for the mark that tells what time it is
    return outer, inner, alone


def test_times_and_when_they_began():
    outer, inner, alone = recorded()
    assert (outer.device_time_total, outer.self_device_time_total) == (30.0, 20.0)
    assert (inner.device_time_total, inner.device_start_us) == (10.0, 500.0 - 30.0)
    assert (outer.device_start_us, outer.device_line) == (500.0 - 40.0, "meta:0 queue 7")
    assert (alone.device_time_total, alone.self_device_time_total, alone.use_device) == (0.0, 0.0, None)
    around = Event("mine", 0.0, 200.0, children=[outer, alone])  # what is not timed itself has the times of what is inside it
    assert (around.device_time_total, around.self_device_time_total) == (30.0, 0.0)


def test_tables_have_columns_of_the_device():
    outer, _, alone = recorded()
    rows = averages([outer, alone])
    table = rows.table(sort_by="self_device_time_total")
    heading = table.splitlines()[1]
    assert all(name in heading for name in ("Self META ", "Self META %", "META total", "META time avg"))
    assert table.splitlines()[3].split()[0] == "linear"
    assert table.endswith("Self META time total: 30.000us\n")
    assert "META" not in averages([alone]).table()
    assert rows.total_average().self_device_time_total == 30.0
    assert EventList([outer]).self_device_time_total == 20.0
    assert {row.key: row.cuda_time for row in rows} == {"linear": 30.0, "mm": 10.0, "ones": 0.0}


def test_traces_have_rows_of_the_device(tmp_path):
    with profile() as prof:
        pass
    outer, _, _ = recorded()
    prof._roots.append(outer)
    prof.export_chrome_trace(tmp_path / "trace.json")
    rows = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    kernels = [row for row in rows if row.get("cat") == "kernel"]
    assert [(row["name"], row["ts"], row["dur"]) for row in kernels] == [("linear", 460.0, 30.0), ("mm", 470.0, 10.0)]
    assert {row["tid"] for row in kernels} == {row["tid"] for row in rows if row["args"].get("name") == "meta:0 queue 7"}
    prof.export_stacks(tmp_path / "stacks.txt", "self_cuda_time_total")
    assert (tmp_path / "stacks.txt").read_text() == "linear 20\nlinear;mm 10\n"


def test_where_there_are_no_times():
    times = DeviceTimes(lambda: 0.0)
    assert times.before((tenfold.ones(2), 3), {}) is None
    assert times.before(([tenfold.ones(2)],), {"device": "cpu"}) is None
    on_meta = tenfold.ones(2, device="meta")
    assert placed([1, [tenfold.ones(1), on_meta]]) == on_meta.device
    assert times.before((on_meta,), {}) is None  # whose backend has no timer
    clock = times._timers["meta"] = Clock(never=True)
    assert times.before((on_meta,), {}) is None  # as while a graph is recorded
    times.settle()
    assert clock.waits == 1


@pytest.mark.parametrize("options", [{}, {"profile_memory": True}])
def test_on_the_cpu_nothing_is_timed(options):
    with profile(**options) as prof:
        (tenfold.ones(2) * 2).sum()
    assert prof.key_averages().self_device_time_total == 0.0
    assert "device" not in prof.key_averages().table().lower()
