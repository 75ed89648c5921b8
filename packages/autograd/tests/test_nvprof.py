"""What nvprof wrote, read as events: a file with two ranges, one in the other, and what they launched."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from tenfold.autograd import profiler

TABLES = """
    CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY, value TEXT);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER (_id_ INTEGER PRIMARY KEY, flags INT, timestamp INT, id INT, name INT);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (_id_ INTEGER PRIMARY KEY, cbid INT, start INT, end INT, correlationId INT);
    CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
        (_id_ INTEGER PRIMARY KEY, start INT, end INT, deviceId INT, streamId INT, name INT, correlationId INT);
    INSERT INTO StringTable VALUES (1, 'linear'), (2, 'addmm'), (3, 'gemm'), (4, 'bias');
    INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES
        (1, 2, 1000, 10, 1), (2, 4, 9000, 10, 0), (3, 2, 2000, 11, 2), (4, 4, 5000, 11, 0);
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES
        (1, 211, 2500, 2700, 100), (2, 211, 6000, 6200, 101), (3, 40, 6300, 6400, 102);
    INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES (1, 3000, 9500, 0, 7, 3, 100), (2, 9600, 9900, 0, 7, 4, 101);
"""


@pytest.fixture
def trace(tmp_path):
    with closing(sqlite3.connect(tmp_path / "trace.nvvp")) as database:
        database.executescript(TABLES)
    return tmp_path / "trace.nvvp"


def test_ranges_nest_and_have_their_kernels(trace):
    outer, inner = profiler.load_nvprof(trace)
    assert [(e.name, e.start_us, e.end_us, e.depth) for e in (outer, inner)] == [("linear", 0, 8, 0), ("addmm", 1, 4, 1)]
    assert inner.parent is outer
    assert [(k.name, k.device, k.duration) for k in outer.kernels] == [("gemm", 0, 6.5), ("bias", 0, 0.3)]
    assert [k.name for k in inner.kernels] == ["gemm"]
    assert (outer.device_time_total, outer.self_device_time_total) == (pytest.approx(6.8), pytest.approx(0.3))
    averages = {row.key: row for row in profiler.load_nvprof(trace).key_averages()}
    assert averages["linear"].self_cpu_time_total == 5
    assert averages["addmm"].self_device_time_total == 6.5
    table = profiler.load_nvprof(str(trace)).table(sort_by="self_cuda_time_total")
    assert "Self CUDA %" in table
    assert "Self CUDA time total: 6.800us" in table


def test_files_that_are_none(tmp_path, trace):
    with pytest.raises(FileNotFoundError, match="no file"):
        profiler.load_nvprof(tmp_path / "missing")
    (tmp_path / "text").write_text("not a database, but long enough to be looked at as one by a reader of headers" * 9)
    with pytest.raises(RuntimeError, match="is not a file that nvprof wrote"):
        profiler.load_nvprof(tmp_path / "text")
    with closing(sqlite3.connect(trace)) as database, database:
        database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES (5, 2, 1500, 10, 1)")
    with pytest.raises(RuntimeError, match="duplicate key"):
        profiler.load_nvprof(trace)


def test_a_key_is_seen_once():
    keys = profiler.EnforceUnique()
    keys.see("a", 1)
    keys.see("a", 2)
    with pytest.raises(RuntimeError, match=r"duplicate key: \('a', 1\)"):
        keys.see("a", 1)
