"""The profiler: what it records, groups, writes and draws; nothing of it is left when it is off."""

from __future__ import annotations

import gc
import gzip
import json
import sys
import threading
import types
import warnings
import xml.etree.ElementTree as ET
from typing import Any

import pytest

import tenfold
from tenfold.autograd import detect_anomaly, draw, profiler as older
from tenfold.dispatch.runtime import RUNTIME, STATE
from tenfold.profiler import ProfilerAction, ProfilerActivity, profile, record_function, schedule

W = tenfold.ones(4, 3, requires_grad=True)


def step() -> None:
    hidden = (tenfold.ones(2, 4) @ W).relu()
    hidden.sum().backward()


def rows(prof: profile, **grouped: Any) -> dict[str, Any]:
    return {row.key: row for row in prof.key_averages(**grouped)}


def test_calls_lie_inside_one_another_in_time_and_place():
    with profile() as prof, record_function("outer"):
        step()
    events = prof.events()
    assert events[0].name == "outer"
    assert events[0].cpu_parent is None
    for e in events:
        assert e.time_range.elapsed_us() >= 0
        assert e.self_cpu_time_total <= e.cpu_time_total
        for child in e.cpu_children:
            assert child.cpu_parent is e
            assert child.depth == e.depth + 1
            assert e.start_us <= child.start_us <= child.end_us <= e.end_us
    assert sum(e.self_cpu_time_total for e in events) == pytest.approx(events[0].cpu_time_total)


def test_calls_and_the_nodes_they_made_have_one_number():
    w = tenfold.ones(3, 3, requires_grad=True)
    with profile() as prof:
        hidden = (tenfold.ones(2, 3) @ w).relu()
        with tenfold.no_grad():
            hidden + 1
        hidden.detach().contiguous()
        hidden.max(0).values.sum().backward()
    events = prof.events()
    forward = {e.sequence_nr: e.name for e in reversed(events) if e.sequence_nr >= 0 and e.category == "cpu_op"}
    backward = {e.sequence_nr: e for e in events if e.sequence_nr >= 0 and e.category == "backward"}
    assert [forward[n] for n in sorted(forward)] == ["matmul", "relu", "max", "sum"]
    names = [backward[n].name.rpartition(" ")[2] for n in sorted(backward)]
    assert names == ["MmBackward0", "ReluBackward0", "MaxBackward0", "SumBackward0"]
    assert forward.keys() == backward.keys()
    assert {e.fwd_thread for e in backward.values()} == {threading.get_ident()}
    assert {e.sequence_nr for e in events if e.name in ("add", "detach", "contiguous") or "AccumulateGrad" in e.name} == {-1}


def test_the_older_profiler_takes_all_of_pytorchs_arguments():
    with older.profile(custom_trace_id_callback=lambda: "mine", post_processing_timeout_s=1.0, activity_filters=None) as prof:
        step()
    assert prof.get_trace_id() == "mine"


def test_backward_nodes_hold_what_they_call():
    with profile() as prof:
        step()
    found = rows(prof)
    name = "autograd::engine::evaluate_function: MmBackward0"
    assert found[name].count == 1
    (node,) = [e for e in prof.events() if e.name == name]
    assert node.children
    assert node.category == "backward"


def test_shapes_are_those_of_the_arguments_in_order():
    with profile(record_shapes=True) as prof:
        a = tenfold.ones(2, 3)
        tenfold.cat([a, a])
        tenfold.add(a, 1)
        tenfold.add(a, tenfold.ones(3))
    by_name = {(e.name, str(e.input_shapes)) for e in prof.events()}
    assert {("cat", "[[[2, 3], [2, 3]]]"), ("add", "[[2, 3], []]"), ("add", "[[2, 3], [3]]")} <= by_name
    assert rows(prof)["add"].count == 2
    grouped = [(row.key, row.input_shapes) for row in prof.key_averages(group_by_input_shape=True)]
    assert grouped.count(("add", [[2, 3], []])) == 1  # lists, from which programs read sizes, and nothing where not asked for
    assert {row.input_shapes for row in prof.key_averages()} == {""}
    assert "Input Shapes" in prof.key_averages(group_by_input_shape=True).table()


def test_stacks_are_the_programs_lines():
    with profile(with_stack=True) as prof:
        step()
    (event,) = [e for e in prof.events() if e.name == "relu"]
    assert event.stack[0].endswith(": step")
    assert "test_profiler.py(" in event.stack[0]
    assert not any("dispatch" in frame or "<tenfold" in frame for frame in event.stack)
    grouped = prof.key_averages(group_by_stack_n=1)
    assert any(row.stack and row.stack[0].endswith(": step") for row in grouped)
    assert "Source Location" in grouped.table()


@pytest.mark.parametrize(
    ("call", "count"),
    [
        (lambda: tenfold.ones(2, 3) @ tenfold.ones(3, 4), 48),
        (lambda: tenfold.mm(tenfold.ones(2, 3), tenfold.ones(3, 4)), 48),
        (lambda: tenfold.addmm(tenfold.ones(2, 4), tenfold.ones(2, 3), tenfold.ones(3, 4)), 48),
        (lambda: tenfold.bmm(tenfold.ones(5, 2, 3), tenfold.ones(5, 3, 4)), 240),
        (lambda: tenfold.ones(7) * 2, 7),
        (lambda: tenfold.ones(7).exp(), 0),
    ],
)
def test_operations_count_once(call, count):
    with profile(with_flops=True) as prof:
        call()
    assert prof.key_averages().total_average().flops == count


def test_memory_that_comes_and_goes():
    with profile(profile_memory=True) as prof:
        kept = tenfold.ones(1000)  # 4000 bytes
        kept.exp()  # freed at once
        view = kept[10:]
    assert view.numel() == 990
    events = {e.name: e for e in prof.events()}
    assert events["ones"].cpu_memory_usage == 4000
    assert events["exp"].cpu_memory_usage == 4000
    sizes = [sum(row) for row in prof.account.timeline()[1]]
    assert max(sizes) == 8000 == prof.account.peak_bytes()
    assert sizes[-1] == 4000
    assert "4000 B" in prof.key_averages().table() or "3.91 KB" in prof.key_averages().table()


def test_memory_has_a_purpose():
    w = tenfold.ones(100, 100, requires_grad=True)
    x = tenfold.ones(50, 100)
    with profile(profile_memory=True) as prof:
        ((x @ w).exp() * 1.0).sum().backward()
    purposes: dict[str, int] = {}
    for block in prof.account.blocks:
        name = prof.account.category(block)
        purposes[name] = purposes.get(name, 0) + block.size_bytes
    assert purposes["parameter"] == 40_000
    assert purposes["input"] == 20_000
    assert purposes["activation"] >= 20_000  # what exp keeps
    assert purposes["gradient"] >= 40_000
    assert w.grad is not None


def test_a_schedule_with_steps_of_their_own():
    handed: list[list[str]] = []
    plan = schedule(wait=1, warmup=1, active=2, repeat=2)
    with profile(schedule=plan, on_trace_ready=lambda p: handed.append([e.name for e in p.events() if e.depth == 0])) as prof:
        for _ in range(9):
            step()
            prof.step()
    assert handed == [["ProfilerStep#2", "ProfilerStep#3"], ["ProfilerStep#6", "ProfilerStep#7"]]
    assert rows(prof)["ProfilerStep*"].count == 2
    assert prof.current_action is ProfilerAction.NONE


def test_traces(tmp_path):
    with profile(record_shapes=True, with_stack=True, profile_memory=True) as prof, record_function("mine"):
        step()
    prof.add_metadata("note", "text")
    prof.add_metadata_json("numbers", "[1, 2]")
    prof.export_chrome_trace(tmp_path / "trace.json")
    prof.export_chrome_trace(str(tmp_path / "trace.json.gz"))
    trace = json.loads((tmp_path / "trace.json").read_text())
    assert json.loads(gzip.decompress((tmp_path / "trace.json.gz").read_bytes())) == trace
    assert trace["note"] == "text"
    assert trace["numbers"] == [1, 2]
    complete = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    assert {"mine", "matmul", "relu"} <= {e["name"] for e in complete}
    assert all(e["dur"] >= 0 and e["ts"] >= 0 for e in complete)
    assert {e["cat"] for e in complete} == {"cpu_op", "backward", "user_annotation"}
    assert any(e["ph"] == "C" for e in trace["traceEvents"])
    prof.export_stacks(tmp_path / "stacks.txt")
    for line in (tmp_path / "stacks.txt").read_text().splitlines():
        assert int(line.rpartition(" ")[2]) > 0
    with pytest.raises(ValueError, match="metric should be one of"):
        prof.export_stacks(tmp_path / "stacks.txt", "speed")


def test_pictures(tmp_path):
    with profile(profile_memory=True) as prof, record_function("a < b"):
        step()
    prof.export_flame_graph(tmp_path / "flames.svg")
    root = ET.parse(tmp_path / "flames.svg").getroot()
    titles = [t.text or "" for t in root.iter("{http://www.w3.org/2000/svg}title")]
    assert any(t.startswith("a < b: ") and t.endswith("100.0 %") for t in titles)
    widths = {t: float(r.get("width")) for t, r in zip(titles, list(root.iter("{http://www.w3.org/2000/svg}rect"))[1:])}
    assert max(widths.values()) == pytest.approx(1199.5)
    for ending in ("svg", "html", "json", "raw.json", "json.gz"):
        prof.export_memory_timeline(tmp_path / f"memory.{ending}")
    ET.parse(tmp_path / "memory.svg")
    times, sizes = json.loads((tmp_path / "memory.json").read_text())
    assert len(times) == len(sizes)
    assert times == sorted(times)
    raw = json.loads((tmp_path / "memory.raw.json").read_text())
    assert {row[1] for row in raw} == {"create", "destroy", "preexisting"}
    with pytest.raises(RuntimeError, match="profile_memory=True"):
        profile().export_memory_timeline(tmp_path / "memory.json")
    with pytest.raises(ValueError, match=r"\.svg or \.png"):
        prof.export_flame_graph(tmp_path / "flames.pdf")


def test_pictures_as_png(tmp_path):
    pytest.importorskip("PIL")
    with profile(profile_memory=True) as prof:
        step()
    prof.export_flame_graph(tmp_path / "flames.png")
    prof.export_memory_timeline(tmp_path / "memory.png")
    for name in ("flames", "memory"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_tables_sort_and_refuse():
    with profile() as prof:
        step()
    averages = prof.key_averages()
    assert averages.table(sort_by="cuda_time_total", row_limit=1).count("\n") == 6
    assert "ms" in averages.table(time_unit="ms")
    with pytest.raises(ValueError, match="cannot sort by 'speed'"):
        averages.table(sort_by="speed")
    with pytest.raises(ValueError, match="time_unit"):
        averages.table(time_unit="h")
    counts = [int(line.split()[-1]) for line in averages.table(sort_by="count").splitlines()[3:-3]]
    assert counts == sorted(counts, reverse=True)
    everything = averages.total_average()
    assert everything.self_cpu_time_total == pytest.approx(averages.self_cpu_time_total)


def test_off_it_leaves_nothing():
    before = RUNTIME["ACTIVE"], STATE.layers
    with profile(profile_memory=True):
        step()
    assert (RUNTIME["ACTIVE"], STATE.layers) == before
    with record_function("alone") as alone:
        assert alone._events == []
    with pytest.raises(KeyError), profile():
        raise KeyError
    assert (RUNTIME["ACTIVE"], STATE.layers) == before


def calls_of(run: Any) -> int:
    """How many functions, Python's and C's, a run calls."""
    count = 0

    def seen(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    gc.disable()
    sys.setprofile(seen)
    try:
        run()
    finally:
        sys.setprofile(None)
        gc.enable()
    return count


def test_off_it_costs_no_call():
    step()
    before = calls_of(step)
    with profile(record_shapes=True, profile_memory=True, with_stack=True):
        step()
    draw((W * 2).sum(), show_saved=True).svg()
    with warnings.catch_warnings(action="ignore"), detect_anomaly(check_nan=False):
        step()
    step()
    assert calls_of(step) == before


def test_names_of_other_threads_do_not_mix_in():
    with profile() as prof, record_function("here"):
        thread = threading.Thread(target=lambda: record_function("there").__enter__())
        thread.start()
        thread.join()
        tenfold.ones(1)
    roots = [e.name for e in prof.events() if e.depth == 0]
    assert sorted(roots) == ["here", "there"]
    assert [e.name for e in prof.events() if e.depth] == ["ones"]


def test_ranges_for_other_profilers(monkeypatch):
    monkeypatch.setitem(sys.modules, "nvtx", None)
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.setitem(sys.modules, "cupy.cuda.nvtx", None)
    with pytest.raises(RuntimeError, match="NVTX not installed"), older.emit_nvtx():
        pass
    with older.emit_nvtx(enabled=False):
        tenfold.ones(1)
    told: list[str] = []
    stand_in = types.SimpleNamespace(push_range=told.append, pop_range=lambda: told.append("end"))
    monkeypatch.setitem(sys.modules, "nvtx", stand_in)
    with older.emit_nvtx(record_shapes=True):
        tenfold.ones(2).exp()
    assert told == ["ones, sizes = [[]]", "end", "exp, sizes = [[2]]", "end"]


def test_the_older_profiler():
    with older.profile(enabled=False) as off:
        step()
    assert off.function_events == []
    with older.profile(record_shapes=True) as prof:
        step()
    assert prof.total_average().count == len(prof.function_events)
    assert prof.self_cpu_time_total > 0
    assert "relu" in str(prof)
    assert "relu" in prof.table()


def test_recording_stops_and_goes_on():
    with profile() as prof:
        tenfold.ones(1)
        prof.toggle_collection_dynamic(False, [ProfilerActivity.CPU])
        with record_function("unseen"):
            tenfold.zeros(1)
        prof.toggle_collection_dynamic(True, [ProfilerActivity.CPU])
        tenfold.rand(1)
    assert [e.name for e in prof.events()] == ["ones", "rand"]


def test_what_events_and_averages_say_besides():
    with profile() as prof, record_function("mine"):
        tenfold.ones(1)
    mine, ones = prof.events()
    assert (mine.is_user_annotation, ones.is_user_annotation) == (True, False)
    assert (ones.device_type, ones.is_async, ones.is_remote, ones.node_id) == (tenfold.autograd.DeviceType.CPU, False, False, -1)
    assert (ones.device_time_str, ones.self_cuda_time_total) == ("0.000us", 0.0)
    for row in (ones, prof.key_averages()[1]):
        assert row.cpu_time_str == row.cpu_time_total_str == row.self_cpu_time_total_str
        assert row.cpu_time_str.endswith("s")
    assert [row.is_user_annotation for row in prof.key_averages()] == [True, False]


def test_lists_of_events_are_written(tmp_path):
    with profile() as prof:
        step()
    prof.events().export_chrome_trace(str(tmp_path / "trace.json"))
    assert any(row["name"] == "relu" for row in json.loads((tmp_path / "trace.json").read_text())["traceEvents"])
    assert "self_cpu_time_total" in prof.events().supported_export_stacks_metrics()
    for write, name in ((prof.export_stacks, "whole"), (prof.events().export_stacks, "list")):
        write(str(tmp_path / name), "self_cpu_time_total")
    assert (tmp_path / "whole").read_text() == (tmp_path / "list").read_text()
    with pytest.raises(ValueError, match="metric should be one of"):
        prof.events().export_stacks(str(tmp_path / "none"), "speed")


def test_recordings_have_names():
    with profile() as prof:
        pass
    first = prof.get_trace_id()
    assert len(first) == 32
    assert int(first, 16) >= 0
    prof.set_custom_trace_id_callback(lambda: "mine")
    with prof:
        pass
    assert prof.get_trace_id() == "mine"
    with profile(activities=[{ProfilerActivity.CPU: ["sizes"]}], custom_trace_id_callback=lambda: "its") as prof:
        tenfold.ones(1)
    assert (prof.get_trace_id(), prof.times_devices, len(prof.events())) == ("its", False, 1)
