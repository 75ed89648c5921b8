"""The profiler's times of the device: marks in a stream, and the clock in the interpreter."""

from __future__ import annotations

import json

import pytest

import tenfold
from tenfold import cuda, nn
from tenfold.profiler import ProfilerActivity, profile, record_function, supported_activities


@pytest.fixture(scope="module")
def step():
    model, x = nn.Sequential(nn.Linear(8, 16), nn.ReLU()).cuda(), tenfold.randn(4, 8, device="cuda")

    def run():
        model(x).sum().backward()

    run()  # what is compiled and loaded at first
    return run


def test_calls_on_the_device_have_its_times(step, tmp_path):
    with profile() as prof, record_function("mine"):
        step()
        tenfold.ones(3) * 2
    rows = {row.key: row for row in prof.key_averages()}
    for name in ("relu", "sum", "add_"):  # add_: gradients are added up
        assert rows[name].self_device_time_total > 0
        assert rows[name].use_device == "cuda"
    assert rows["mul"].device_time_total == 0  # on the CPU
    assert rows["transpose"].device_time_total == 0  # a view
    total = prof.key_averages().self_device_time_total
    assert rows["mine"].device_time_total == pytest.approx(total)
    assert "Self CUDA %" in prof.key_averages().table(sort_by="cuda_time_total")
    prof.export_chrome_trace(tmp_path / "trace.json")
    traced = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert any(row.get("cat") == "kernel" and row["name"] == "relu" for row in traced)
    assert any(str(row["args"].get("name", "")).startswith("cuda:0 stream ") for row in traced if row["ph"] == "M")


def test_times_only_where_they_are_asked_for(step):
    assert ProfilerActivity.CUDA in supported_activities()
    with profile(activities=[ProfilerActivity.CPU]) as prof:
        step()
    assert prof.key_averages().self_device_time_total == 0
    with tenfold.autograd.profiler.profile() as older:
        step()
    assert older.key_averages().self_device_time_total == 0
    with tenfold.autograd.profiler.profile(use_device="cuda") as older:
        step()
    assert older.key_averages().self_device_time_total > 0


def test_copies_to_the_device_and_from_it_have_times():
    x = tenfold.ones(3)
    with profile() as prof:
        there = x.to("cuda"), x.cuda()
        there[0].cpu()
        x.to(tenfold.float64)
    copies = [e for e in prof.events() if e.name == "to_device"]
    assert len(copies) == 3
    assert all(e.device_us is not None and e.use_device == "cuda" for e in copies)
    assert [e for e in prof.events() if e.parent is None][-1].device_time_total == 0


def test_a_stream_has_a_row_of_its_own(step):
    stream = cuda.Stream()
    with profile() as prof, cuda.stream(stream):
        made = tenfold.ones(4, device="cuda").exp()
    stream.synchronize()
    assert made.shape == (4,)
    (line,) = {event.device_line for event in prof.events() if event.device_us is not None}
    assert line == f"cuda:0 stream {stream.cuda_stream}"


def test_memory_of_the_device_is_counted_apart():
    with profile(profile_memory=True) as prof:
        x = tenfold.ones(256, device="cuda") * 2
        y = tenfold.ones(512) * 2
    rows = {row.key: row for row in prof.key_averages()}
    assert rows["mul"].self_device_memory_usage == x.nbytes
    assert rows["mul"].self_cpu_memory_usage == y.nbytes
    assert "Self CUDA Mem" in prof.key_averages().table()
