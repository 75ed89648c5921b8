"""Scenarios of streams: what is ordered behind what, and on which GPU, where a program has several."""

# ruff: noqa: B023 - calls are made inside the loops

from __future__ import annotations

import gc
import warnings
from types import SimpleNamespace

import stub
from scenarios import DEVICE, array

import tenfold
from tenfold import cuda
from tenfold.nn import functional as F


def case_a_copy_to_another_gpu_is_awaited_by_both():
    x, there = array(64, 64), array(64, 64, device="cuda:1")
    for copy in (lambda: x.to("cuda:1"), lambda: x.T.to("cuda:1"), lambda: there.copy_(x)):
        found = [(turn.what, turn.device) for turn in stub.turns(copy)]
        assert found == [("record", 0), ("wait", 1), ("copy", 1), ("record", 1), ("wait", 0)], found


def case_a_gpus_own_stream_is_asked_on_that_gpu():
    stream, event = cuda.default_stream(1), cuda.Event()
    event.record()
    assert stream.cuda_stream == 0 == cuda.current_device()  # of which every GPU has one
    for call in (lambda: stream.wait_event(event), stream.synchronize, stream.query):
        (turn,) = stub.turns(call)
        assert (turn.device, turn.stream) == (1, 0), turn
    found = stub.turns(lambda: stream.wait_stream(cuda.default_stream(0)))
    assert [(turn.what, turn.device) for turn in found] == [("record", 0), ("wait", 1)]


def case_streams_stay_when_nobody_has_them():
    def come_and_go():
        handles.append(cuda.Stream().cuda_stream)
        gc.collect()

    handles = []
    for _ in range(40):
        found = stub.turns(come_and_go)
        assert not [turn for turn in found if turn.what == "destroy"], found
    assert len(set(handles)) == 32
    assert cuda.Stream(priority=-1).cuda_stream not in handles
    assert cuda.Stream("cuda:1").cuda_stream not in handles


def case_constants_are_each_streams_own():
    x, eight = array(1, 1, 8, 8), array(64).to(tenfold.float8_e4m3fn)
    weights = [array(3000).requires_grad_() for _ in range(3)]
    gated = array(4, 8)
    for w in weights:
        w.grad = array(3000)
    steps = [tenfold.optim.AdamW(weights, capturable=capturable) for capturable in (False, True)]

    def calls():
        F.interpolate(x, scale_factor=2.0, mode="bilinear")
        eight.float().to(tenfold.float8_e5m2)
        F.glu(gated.requires_grad_(), 1).sum().backward()
        for step in steps:
            step.step()

    streams = [cuda.Stream() for _ in range(2)]
    for stream in streams:
        with cuda.stream(stream):
            calls()  # which compiles what there is
    counted = []
    for stream in (cuda.Stream(), cuda.Stream()):
        with cuda.stream(stream):
            found = [turn.stream for turn in stub.turns(calls) if turn.what == "copy"]
            assert set(found) == {stream.cuda_stream}, found
            counted.append(len(found))
            assert not [turn for turn in stub.turns(calls) if turn.what == "copy"]
    assert counted[0] == counted[1] >= 5, counted


def case_memory_of_small_results_leaves_a_recorded_stream():
    from tenfold.cuda import lifetimes, runtime

    side, x = cuda.Stream(), array(8, 8)
    x + x
    y = x + x  # in a ring
    y.record_stream(side)
    del y
    tenfold.empty(3, device=DEVICE)
    tenfold.empty(3, device=DEVICE)
    assert not lifetimes._used
    assert not runtime.BEFORE_ALLOCATION
    assert (x + x).shape == (8, 8)


def case_transforms_take_turns_between_streams():
    import cupy

    x, first, second = array(64).to(tenfold.complex64), cuda.Stream(), cuda.Stream()
    real, cupy.fft.fft = cupy.fft.fft, lambda x, **options: x + x  # the stub has no plans

    def on(stream):
        with cuda.stream(stream):
            tenfold.fft.fft(x)

    def waits(stream):
        return [(turn.stream, turn.event) for turn in stub.turns(lambda: on(stream)) if turn.what == "wait"]

    try:
        (mark,) = [turn for turn in stub.turns(lambda: on(first)) if turn.what == "record"]
        assert mark.stream == first.cuda_stream
        assert not waits(first)
        assert waits(second) == [(second.cuda_stream, mark.event)]
        assert not waits(second)
        assert len(waits(first)) == 1
    finally:
        cupy.fft.fft = real


def case_a_graph_keeps_the_plans_of_its_transforms():
    import cupy

    plans, made = cupy.fft.config.get_plan_cache(), []

    def transform(x, **options):
        made.append(SimpleNamespace(gpus=None, work_area=None))
        plans[(len(made),)] = made[-1]
        return x + x

    x = array(64).to(tenfold.complex64)
    real, cupy.fft.fft = cupy.fft.fft, transform
    try:
        tenfold.fft.fft(x)
        graph = cuda.CUDAGraph()
        with cuda.graph(graph):
            y = tenfold.fft.fft(x)
        assert y.shape == x.shape
        assert [any(x is plan for x in graph._capture.held) for plan in made] == [False, True]
        assert not [node for _, node in plans if node.plan is made[1]]  # which others would work in while the graph does
    finally:
        cupy.fft.fft = real
        plans.clear()


def unwritten(size, dtype):
    """Memory that nobody has written, filled all the same."""
    tenfold.use_deterministic_algorithms(True)
    try:
        return tenfold.empty(size, dtype=dtype, device="cuda:1")
    finally:
        tenfold.use_deterministic_algorithms(False)


def case_writes_are_done_on_the_gpu_that_is_written_to():
    def on_the_other(*shape, dtype):
        return array(*shape, device="cuda:1", dtype=dtype)

    for dtype in (tenfold.complex64, tenfold.float32, tenfold.float8_e4m3fn):
        x, y, other = on_the_other(4, 4, dtype=dtype), on_the_other(4, 4, dtype=dtype), array(4, 4, dtype=dtype)
        calls = [
            lambda: x.copy_(y), lambda: x.copy_(other), lambda: x.copy_(y.T),
            lambda: x.copy_(on_the_other(4, dtype=tenfold.float32)),
            x.clone, x.T.clone, x.T.contiguous, lambda: x.cpu(), lambda: x.copy_(tenfold.ones(4, 4)),
        ]  # fmt: skip
        if dtype is not tenfold.float8_e4m3fn:
            calls += [
                lambda: x[1:].zero_(),
                lambda: x.T.fill_(2.0),
                lambda: x.__setitem__(0, 3.0),
                lambda: x.add_(y),
                lambda: x.T * y,
            ]
        calls += [lambda: tenfold.mul(x, x, out=y.T)] if dtype is tenfold.complex64 else []
        calls += [lambda: unwritten(3, dtype), lambda: x.clone().untyped_storage().copy_(y.untyped_storage())]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for k, call in enumerate(calls):
                work = stub.work(call)
                assert work.devices <= {1}, (dtype, k, work)


def case_a_stream_is_kept_busy():
    side = cuda.Stream()
    with cuda.stream(side):
        work = stub.work(lambda: cuda._sleep(10**6))
    assert [(launch.name, launch.stream) for launch in work.launches] == [("sleep_for", side.cuda_stream)]
    assert "sync" not in work.counts
