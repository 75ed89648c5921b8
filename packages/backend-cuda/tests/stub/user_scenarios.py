"""Scenarios of what programs ask of memory, streams and events, with CuPy's pool and the stub's driver beneath."""

from __future__ import annotations

import ctypes
import pickle
import sys
import types

import pytest
import stub
from scenarios import DEVICE

import tenfold
from tenfold import cuda
from tenfold.profiler import profile


def case_memory_that_is_used_up_is_told_as_pytorch_tells_it():
    ooms = cuda.memory_stats()["num_ooms"]
    cuda.set_per_process_memory_fraction(0.01)
    try:
        for call in (
            lambda: tenfold.empty(1 << 30, device=DEVICE), lambda: tenfold.zeros(1 << 30, device=DEVICE),
            lambda: tenfold.rand(1 << 30, device=DEVICE), lambda: tenfold.ones(1, device=DEVICE).expand(1 << 30) + 1,
            lambda: tenfold.ones(1, device=DEVICE).expand(1 << 30).sort(),
        ):  # fmt: skip
            with pytest.raises(cuda.OutOfMemoryError, match=r"CUDA out of memory. Tried to allocate \d+.00 GiB. GPU 0 has"):
                call()
    finally:
        cuda.set_per_process_memory_fraction(1.0)
    assert cuda.memory_stats()["num_ooms"] == ooms + 5


def case_more_memory_than_the_gpu_has_is_refused_and_the_next_call_works():
    for elements, told in ((1 << 40, "4096.00 GiB"), (1 << 60, "more than 1EB memory")):
        with pytest.raises(cuda.OutOfMemoryError, match=f"CUDA out of memory. Tried to allocate {told}"):
            tenfold.empty(elements, device=DEVICE)
    assert tenfold.empty(3, device=DEVICE).shape == (3,)


def case_memory_is_counted_and_its_history_kept():
    cuda.memory._record_memory_history(clear_history=True)
    try:
        cuda.reset_accumulated_memory_stats()
        before = cuda.memory_stats()
        x = tenfold.empty(1 << 20, device=DEVICE)
        held = cuda.memory_stats()
        assert held["allocated_bytes.all.current"] - before["allocated_bytes.all.current"] == 4 << 20
        assert held["allocation.all.allocated"] == 1
        assert held["requested_bytes.all.allocated"] == 4 << 20
        (segment,) = [s for s in cuda.memory_snapshot() if s["address"] == x.data_ptr()]
        assert any(frame["name"].startswith("case_memory") for frame in segment["blocks"][0]["frames"])
        address = x.data_ptr()
        del x
        after = cuda.memory_stats()
        assert (after["allocation.all.freed"], after["allocated_bytes.all.freed"]) == (1, 4 << 20)
        assert after["allocated_bytes.all.peak"] >= held["allocated_bytes.all.current"]
        events = [e["action"] for e in cuda.memory._snapshot()["device_traces"][0] if e["addr"] == address]
        assert events == ["alloc", "free_completed"]
        assert pickle.loads(pickle.dumps(cuda.memory._snapshot()))["segments"] == cuda.memory_snapshot()
        reserved = cuda.max_memory_reserved()
        cuda.empty_cache()
        assert cuda.memory_reserved() < cuda.max_memory_reserved() == reserved
        cuda.reset_peak_memory_stats()
        assert cuda.max_memory_reserved() == cuda.memory_reserved()
    finally:
        cuda.memory._record_memory_history(None)
    assert cuda.memory_snapshot() == []


def case_memory_past_tensors():
    used = cuda.memory_allocated()
    address = cuda.caching_allocator_alloc(5000, stream=cuda.Stream())
    assert cuda.memory_allocated() == used + 5120
    cuda.caching_allocator_delete(address)
    assert cuda.memory_allocated() == used
    with cuda.caching_allocator_disabled():
        x = tenfold.zeros(1000, device=DEVICE)
        assert cuda.memory_allocated() == used
    assert x.is_cuda
    pool = cuda.MemPool(use_on_oom=True)
    with cuda.use_mem_pool(pool):
        y = tenfold.zeros(1000, device=DEVICE)
        assert pool.use_count() == 2
    assert pool.cupy_pool.used_bytes() == 4096
    assert y.is_cuda


def case_an_allocator_of_ones_own_serves_a_pool():
    library = ctypes.CDLL(None)
    allocator = cuda.CUDAPluggableAllocator.__new__(cuda.CUDAPluggableAllocator)
    given = []
    allocator._alloc = lambda size, device, stream: library_malloc(size)
    allocator._free = lambda address, size, device, stream: given.append((size, device))
    allocator._sizes, allocator._cupy = {}, None
    library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, (ctypes.c_size_t,)
    library_malloc = library.malloc
    pool = cuda.MemPool(allocator.allocator())
    with cuda.use_mem_pool(pool):
        x = tenfold.empty(1000, device=DEVICE)
    assert len(allocator._sizes) == 1
    del x
    pool.cupy_pool.free_all_blocks()
    assert len(given) == 1
    with pytest.raises(RuntimeError, match="already initialized allocator"):
        cuda.change_current_allocator(allocator)


def case_streams_and_events_have_handles():
    import cupy

    stream = cuda.Stream(priority=-3)
    assert stream.cuda_stream == stream.stream_id == stream.native_handle == stream._as_parameter_.value != 0
    assert cuda.Stream(stream_id=stream.stream_id, device_index=0, device_type=1) == stream
    assert cuda.ExternalStream(stream.cuda_stream) == stream
    with stream:
        assert cuda.current_stream() == stream
        assert tenfold.accelerator.current_stream() == stream
    assert cuda.current_stream() == cuda.default_stream()
    event = cuda.Event(interprocess=True)
    event.record(stream)
    assert event.cuda_event == event.event_id != 0
    with pytest.raises(RuntimeError, match="does not match recording stream's device"):
        event.record(cuda.Stream(1))
    runtime, opened = cupy.cuda.runtime, []
    real = runtime.ipcGetEventHandle, runtime.ipcOpenEventHandle  # which the stub has not
    runtime.ipcGetEventHandle = lambda pointer: pointer.to_bytes(64, "little")
    runtime.ipcOpenEventHandle = lambda handle: opened.append(handle) or runtime.eventCreate()
    try:
        found = cuda.Event.from_ipc_handle(0, event.ipc_handle())
    finally:
        runtime.ipcGetEventHandle, runtime.ipcOpenEventHandle = real
    assert opened == [event.cuda_event.to_bytes(64, "little")]
    found.wait(stream)
    found.synchronize()
    assert found.query()
    number = ctypes.c_size_t()
    assert cuda.cudart().cudaStreamCreate(ctypes.addressof(number)) == 0
    assert number.value != 0


def case_generators_are_each_gpus_own():
    first, second = cuda.default_generators
    cuda.manual_seed_all(9)
    tenfold.rand(4, device="cuda:1")
    assert (first.get_offset(), second.get_offset() > 0) == (0, True)
    assert tenfold.Generator("cuda:1").device == second.device == tenfold.device("cuda:1")
    assert tenfold.backends.cuda.cufft_plan_cache[1].max_size > 0
    with tenfold.accelerator.device_index(1):
        assert tenfold.accelerator.current_device_index() == cuda.current_device() == 1
    assert cuda.current_device() == 0


def case_arrays_of_a_gpu_are_data_of_tensors():
    import cupy

    theirs = cupy.zeros((5, 2), "f4")
    for shared in (tenfold.as_tensor(theirs), tenfold.asarray(theirs), tenfold.as_tensor(theirs, device=DEVICE)):
        assert (shared.data_ptr(), shared.device.type, shared.shape) == (theirs.data.ptr, "cuda", (5, 2))
    for copied in (tenfold.tensor(theirs), tenfold.as_tensor(theirs, dtype=tenfold.float16), tenfold.asarray(theirs, copy=True)):
        assert copied.data_ptr() != theirs.data.ptr
    assert tenfold.as_tensor(theirs, device="cpu").device.type == "cpu"
    given = []

    class Foreign:
        __cuda_array_interface__ = theirs.__cuda_array_interface__

    real, cupy.asarray = cupy.asarray, lambda found: given.append(found) or theirs  # which asks the driver whose memory it is
    try:
        assert tenfold.as_tensor(Foreign()).data_ptr() == theirs.data.ptr
    finally:
        cupy.asarray = real
    assert len(given) == 1


def case_memory_pinned_where_it_lies():
    x = tenfold.ones(20)
    runtime = cuda.cudart()
    assert runtime.cudaHostRegister(x.data_ptr(), x.nbytes, 0) == 0
    assert x.is_pinned()
    assert x[3:].is_pinned()
    assert runtime.cudaHostUnregister(x.data_ptr()) == 0
    assert not x.is_pinned()
    cuda.empty_host_cache()


def case_a_backward_pass_meets_the_streams_of_its_forward_pass():
    x, side = tenfold.ones(8, device=DEVICE, requires_grad=True), cuda.Stream()
    (x * x).sum().backward()  # which waits for the streams that other scenarios have left
    waits, wait = [], cuda.Stream.wait_stream
    cuda.Stream.wait_stream = lambda self, other: (waits.append((self.cuda_stream, other.cuda_stream)), wait(self, other))[1]
    default = cuda.default_stream().cuda_stream
    there, back = (default, side.cuda_stream), (side.cuda_stream, default)
    try:
        (x * x).sum().backward()
        with cuda.stream(side):
            y = (x * x).sum()
        y.backward()  # on the stream outside
        assert waits == [there, back]
        (x * x).sum().backward()
        assert waits == [there, back]
        with cuda.stream(side):
            x.detach() * 2  # copies and the like have no gradients
        (x * x).sum().backward()
        assert waits == [there, back]
        z = (x * x).sum()
        with cuda.stream(side):
            z.backward()
        assert waits == [there, back, back, there]
        waits.clear()
        with cuda.stream(side):
            (x * x).sum().backward()
            (x * x).sum().backward()
        assert waits == []
        with side:
            held = tenfold.autograd.grad((x * x).sum(), x)
        assert held
        cuda.set_stream(side)
        w = (x * x).sum()
        cuda.set_stream(cuda.default_stream())
        w.backward()
        assert waits == [there, back]
    finally:
        cuda.Stream.wait_stream = wait


def case_the_profilers_marks_are_read_at_its_end():
    """Times of the device cost two marks a call, and one wait where the recording ends; the work is what it was."""
    x = tenfold.ones(64, 64, device=DEVICE)

    def run():
        return (x.exp() + 1).sum()

    def profiled():
        with profile() as prof:
            run()
        events = [e for e in prof.events() if e.device_us is not None]
        assert [e.name for e in events] == ["exp", "add", "sum"]
        assert all(e.device_time_total == 1000.0 and e.device_line == "cuda:0 stream 0" for e in events)  # the stub's millisecond

    plain, seen = stub.settled(run), stub.settled(profiled)
    assert seen.names == plain.names
    assert not plain.counts["sync"]
    assert 0 < seen.counts["sync"] <= 2


def case_nothing_is_timed_while_a_graph_is_recorded():
    x = tenfold.ones(64, device=DEVICE)
    x.exp()
    graph = cuda.CUDAGraph()
    with profile() as prof, cuda.graph(graph):
        x.exp()
    assert [e.name for e in prof.events()] == ["exp"]
    assert all(e.device_us is None for e in prof.events())


def case_a_gpu_is_looked_up_where_it_is_plugged_in():
    class Library(types.ModuleType):
        def nvmlInit(self):
            pass

        def nvmlDeviceGetHandleByPciBusId(self, place):
            return place

        def nvmlDeviceGetTemperature(self, handle, sensor):
            return int(handle.split(":")[1], 16)

    sys.modules["pynvml"] = Library("pynvml")
    try:
        assert [cuda.temperature(), cuda.temperature("cuda:1")] == [7, 6]
    finally:
        del sys.modules["pynvml"]


def case_every_gpu_gets_back_what_no_tensor_uses():
    x, y = tenfold.empty(1 << 22, device=DEVICE), tenfold.empty(1 << 22, device="cuda:1")
    del x, y
    assert min(cuda.memory_reserved(0), cuda.memory_reserved(1)) >= 1 << 24
    cuda.empty_cache()
    assert max(cuda.memory_reserved(0), cuda.memory_reserved(1)) < 1 << 24
