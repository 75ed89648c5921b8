"""Scenarios of pinned memory: what `pin_memory` gives, and which copies wait for nothing."""

from __future__ import annotations

import numpy as np
import pytest
import stub
from scenarios import DEVICE, array

import tenfold
from tenfold import cuda
from tenfold.cuda import staging


def counted(work, **expected):
    assert {name: work.counts[name] for name in expected} == expected, work
    return work


def case_pinned_tensors_are_copies_in_pinned_memory():
    for dtype in (tenfold.float32, tenfold.bfloat16, tenfold.bool):
        x = tenfold.arange(12).reshape(3, 4).to(dtype)
        for given in (x, x.T, x[:, ::2], x[:0]):
            pinned = given.pin_memory()
            assert pinned.is_pinned()
            assert not given.is_pinned()
            assert pinned.equal(given)
            assert pinned.pin_memory() is pinned
            assert pinned[1:].is_pinned()
        assert x.T.pin_memory().stride() == x.T.stride()
    assert tenfold.ones(2, requires_grad=True).pin_memory().requires_grad
    with pytest.raises(RuntimeError, match="cannot pin"):
        array(2).pin_memory()
    assert not array(2).is_pinned()


def case_pinned_memory_is_counted():
    before = cuda.host_memory_stats()
    x = tenfold.ones(1024).pin_memory()
    held = cuda.host_memory_stats()
    assert held["active_bytes.current"] - before["active_bytes.current"] == 4096
    assert held["active_requests.allocated"] - before["active_requests.allocated"] == 1
    del x
    after = cuda.host_memory_stats()
    assert after["active_bytes.freed"] - before["active_bytes.freed"] == 4096
    assert after["active_bytes.peak"] >= held["active_bytes.current"]
    assert after["allocations.current"] >= 1  # what the pool keeps


def case_what_is_pinned_is_read_where_it_lies():
    x = tenfold.ones(64, 4).pin_memory()
    sent = staging.send
    staging.send = None  # no other memory is taken
    try:
        for given in (x, x.T, x[3:]):
            work = counted(stub.work(lambda given=given: given.to(DEVICE, non_blocking=True)), to_device=1, sync=0, to_host=0)
            assert not work.names
        counted(stub.work(lambda: x.cuda(non_blocking=True)), to_device=1, sync=0)
    finally:
        staging.send = sent
    y = array(64, 4)
    counted(stub.work(lambda: y.copy_(x, non_blocking=True)), to_device=1, sync=0)
    counted(stub.work(lambda: x.to(DEVICE)), to_device=1, sync=0)
    counted(stub.work(lambda: x[:, ::2].to(DEVICE, non_blocking=True)), to_device=1, sync=0)


def case_copies_to_the_host_need_not_wait():
    y = tenfold.arange(12.0).reshape(3, 4).to(DEVICE)
    cuda.set_sync_debug_mode("error")
    try:
        for given in (y, y.T, y[1:], y[:0]):
            found = []
            work = stub.work(lambda given=given, found=found: found.append(given.to("cpu", non_blocking=True)))
            counted(work, to_host=int(given.numel() > 0), sync=0)
            assert found[0].is_pinned()
            assert found[0].stride() == given.stride()
        for waiting in (
            lambda: y.cpu(),
            lambda: y.to("cpu", tenfold.float64, non_blocking=True),
            lambda: tenfold.empty(3, 4).copy_(y, non_blocking=True),
        ):
            with pytest.raises(RuntimeError, match="synchronizing"):
                waiting()
    finally:
        cuda.set_sync_debug_mode(0)
    cuda.synchronize()
    assert y.to("cpu", non_blocking=True).numpy().dtype == np.float32


def case_copies_of_pinned_memory_are_recorded_into_graphs():
    x, into, graph, found = tenfold.ones(64, 4).pin_memory(), array(64, 4), cuda.CUDAGraph(), []
    with cuda.graph(graph):
        before = len(staging._under_way)
        for given in (x, x.T, x[3:]):
            counted(stub.work(lambda given=given: found.append(given.to(DEVICE, non_blocking=True))), to_device=1, sync=0)
        counted(stub.work(lambda: into.copy_(x, non_blocking=True)), to_device=1, sync=0)
        counted(stub.work(lambda: found.append(into.to("cpu", non_blocking=True))), to_host=1, sync=0)
        assert len(staging._under_way) == before  # no mark, which could not be asked while work is recorded
        with pytest.raises(RuntimeError, match="cannot be copied from the host"):
            x.to(DEVICE)
        with pytest.raises(RuntimeError, match="cannot be copied from the host"):
            x[:, ::2].to(DEVICE, non_blocking=True)
    assert found[-1].is_pinned()
    held = [kept for kept in graph._capture.held if isinstance(kept, np.ndarray)]
    assert [kept.ctypes.data for kept in held] == [t.data_ptr() for t in (x, x, x[3:], x, found[-1])]


def case_the_gpu_writes_into_pinned_memory_that_is_there():
    given = tenfold.arange(256.0).reshape(64, 4)
    y, w = given.to(DEVICE), array(4, 64, dtype=tenfold.bfloat16)
    x, whole = tenfold.ones(64, 4).pin_memory(), tenfold.ones(64, 8).pin_memory()
    cuda.set_sync_debug_mode("error")
    try:
        for into, other in ((x, y), (x.T, w), (x[3:], y[3:]), (x[:0], y[:0])):
            place, before = into.data_ptr(), x._version
            work = stub.work(lambda into=into, other=other: into.copy_(other, non_blocking=True))
            counted(work, to_host=other.numel() > 0, sync=0)
            assert into.data_ptr() == place
            assert x._version == before + 1
        for into in (tenfold.ones(64, 4), whole[:, ::2]):  # not pinned; with gaps
            with pytest.raises(RuntimeError, match="synchronizing"):
                into.copy_(y, non_blocking=True)
        for other, options in ((y, {}), (y[:1], {"non_blocking": True})):
            with pytest.raises(RuntimeError, match="synchronizing"):
                x.copy_(other, **options)
    finally:
        cuda.set_sync_debug_mode(0)
    cuda.synchronize()
    assert x[3:].equal(given[3:])
    p = tenfold.ones(64, 4, device=DEVICE, requires_grad=True)
    into = tenfold.zeros(64, 4).pin_memory()
    into.copy_(p, non_blocking=True).sum().backward()
    assert p.grad.shape == (64, 4)


def case_graphs_write_into_pinned_memory_that_is_there():
    x, y, graph = tenfold.ones(64, 4).pin_memory(), array(64, 4), cuda.CUDAGraph()
    with cuda.graph(graph):
        counted(stub.work(lambda: x.copy_(y * 2, non_blocking=True)), to_host=1, sync=0)
        with pytest.raises(RuntimeError, match="cannot be read"):
            x.copy_(y)
    assert any(kept is x._array for kept in graph._capture.held)


def case_what_is_too_large_to_be_pinned_is_waited_for():
    x, before = tenfold.ones(1024), staging.LARGEST
    staging.LARGEST = 2048
    try:
        assert [turn.what for turn in stub.turns(lambda: x.to(DEVICE))] == ["copy", "synchronize"]
    finally:
        staging.LARGEST = before
    assert [turn.what for turn in stub.turns(lambda: x.to(DEVICE))] == ["copy", "record"]
