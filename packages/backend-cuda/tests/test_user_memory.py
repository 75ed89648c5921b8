"""Memory as programs ask about it, and what is told of it, in the interpreter: names, and refusals of what is a GPU's."""

from __future__ import annotations

import pytest

import tenfold
from tenfold import cuda


def test_statistics_have_pytorchs_names():
    found = cuda.memory_stats()
    for what in ("allocation", "segment", "active", "allocated_bytes", "reserved_bytes", "inactive_split_bytes"):
        for pool in ("all", "small_pool", "large_pool"):
            assert {f"{what}.{pool}.{kind}" for kind in ("current", "peak", "allocated", "freed")} <= set(found)
    assert {"num_alloc_retries", "num_ooms", "oversize_segments.current"} <= set(found)
    assert cuda.memory_snapshot() == []
    assert cuda.memory._snapshot()["device_traces"] == [[]] * cuda.device_count()
    cuda.reset_accumulated_memory_stats()
    with pytest.raises(RuntimeError, match="None, 'state' or 'all'"):
        cuda.memory._record_memory_history("some")


def test_statistics_of_pinned_memory_have_pytorchs_names():
    found = cuda.host_memory_stats()
    kinds = ("current", "peak", "allocated", "freed")
    for what in ("allocations", "allocated_bytes", "active_requests", "active_bytes"):
        assert {f"{what}.{kind}" for kind in kinds} <= set(found)
    assert {"num_host_alloc", "num_host_free", "host_alloc_time.avg", "host_free_time.total"} <= set(found)
    nested = cuda.memory.host_memory_stats_as_nested_dict()
    assert nested["active_bytes"]["peak"] == found["active_bytes.peak"]
    cuda.reset_accumulated_host_memory_stats()
    cuda.reset_peak_host_memory_stats()
    assert cuda.host_memory_stats()["active_requests.allocated"] == 0


def test_more_memory_than_there_is_is_told_as_used_up():
    for elements, told in ((1 << 50, r"\d+\.00 GiB"), (1 << 60, "more than 1EB memory")):
        with pytest.raises(cuda.OutOfMemoryError, match=f"CUDA out of memory. Tried to allocate {told}"):
            tenfold.empty(elements, device="cuda")


def test_typed_storages_are_of_the_device():
    tenfold.storage._reset_warn_typed_storage_removal()
    with pytest.warns(UserWarning, match="TypedStorage is deprecated"):
        made = cuda.FloatStorage([1.0, 2.0])
    assert made.device.type == "cuda"
    assert isinstance(made, cuda.FloatStorage)
    assert not isinstance(made, tenfold.FloatStorage)
    assert not isinstance(made, cuda.IntStorage)
    assert isinstance(made.cpu(), tenfold.FloatStorage)
    assert isinstance(tenfold.IntStorage(2).cuda(), cuda.IntStorage)
    assert made.tolist() == [1.0, 2.0]
    assert made.type() == "torch.cuda.FloatStorage"
    assert cuda.FloatStorage.is_cuda
    assert not tenfold.FloatStorage.is_cuda
    assert tenfold.ones(2, device="cuda", dtype=tenfold.int32).storage_type() is cuda.IntStorage
    with pytest.raises(RuntimeError, match="Not available for CUDA storage"):
        cuda.FloatStorage.from_buffer(b"1234")
    with pytest.raises(RuntimeError, match="must be cuda, but got cpu"):
        cuda.FloatStorage(wrap_storage=tenfold.ones(2).untyped_storage())


def test_allocators_are_a_gpus():
    from tenfold.cuda import runtime

    if not runtime.is_replaced():
        pytest.skip("a GPU is here")
    for call in (lambda: cuda.caching_allocator_alloc(8), cuda.caching_allocator_enable):
        with pytest.raises(RuntimeError, match="interprets kernels"):
            call()
    with pytest.raises(RuntimeError, match="invalid device pointer"):
        cuda.caching_allocator_delete(8)
    with pytest.raises(TypeError, match="stream argument"):
        cuda.caching_allocator_alloc(8, stream="s")
    with pytest.raises(TypeError, match="expected a CUDAPluggableAllocator"):
        cuda.change_current_allocator(3)
    with pytest.raises(OSError, match="nowhere"):
        cuda.CUDAPluggableAllocator("/nowhere.so", "take", "give")
    assert cuda.cudart().cudaProfilerStart() == 0
    with pytest.raises(cuda.CudaError, match=r"\(2\)"):
        cuda.check_error(2)
    cuda.check_error(0)
    free, total = cuda.cudart().cudaMemGetInfo(0)
    assert 0 < free <= total == cuda.get_device_properties(0).total_memory
    assert "nvidia-ml-py" in cuda.list_gpu_processes()


def test_tensors_are_spread_and_joined():
    x = tenfold.arange(6.0, device="cuda")
    assert [part.tolist() for part in cuda.comm.scatter(x, [0, 0])] == [[0, 1, 2], [3, 4, 5]]
    assert [part.tolist() for part in cuda.comm.scatter(x, [0, 0], [1, 5])] == [[0], [1, 2, 3, 4, 5]]
    assert cuda.comm.gather([x, x], destination=-1).device.type == "cpu"
    assert cuda.comm.reduce_add([x, x]).tolist() == (2 * x).tolist()
    assert [[t.tolist() for t in row] for row in cuda.comm.broadcast_coalesced([x], [0])] == [[x.tolist()]]
    assert cuda.comm.reduce_add_coalesced([[x], [x]])[0].tolist() == (2 * x).tolist()
    out = tenfold.zeros(6, device="cuda")
    cuda.comm.broadcast(x, out=[out])
    assert out.tolist() == x.tolist()
    with pytest.raises(RuntimeError, match="exactly one of"):
        cuda.comm.broadcast(x)
    with pytest.raises(ValueError, match="input 1 has invalid size"):
        cuda.comm.reduce_add([x, x[:2]])
    with pytest.raises(RuntimeError, match="expected 2 chunk sizes"):
        cuda.comm.scatter(x, [0, 0], [6])
    with pytest.raises(RuntimeError, match="must not be specified"):
        cuda.comm.gather([x], destination=0, out=out)


def test_events_and_streams_say_what_they_are():
    event, stream = cuda.Event(enable_timing=True), cuda.Stream(priority=-1)
    assert (event.cuda_event, event.device) == (0, None)
    with pytest.raises(RuntimeError, match="must be recorded before"):
        event.elapsed_time(event)
    event.record(stream)
    assert event.device == tenfold.device("cuda:0")
    with pytest.raises(RuntimeError, match="interprocess=True"):
        event.ipc_handle()
    with stream as entered:
        assert entered is stream
    low, high = cuda.Stream.priority_range()
    assert high < low == 0
    assert (stream.priority, stream.device_type, stream.is_capturing()) == (-1, 1, False)
    assert cuda.Stream(stream_id=stream.stream_id, device_index=0, device_type=1) == stream
    assert issubclass(cuda.ExternalStream, cuda.Stream)
    assert isinstance(stream, tenfold.Stream)
    assert isinstance(event, tenfold.Event)
    assert isinstance(tenfold.Stream("cuda"), cuda.Stream)
    assert tenfold.accelerator.current_stream() == cuda.current_stream()
    assert tenfold.accelerator.memory_stats().keys() == cuda.memory_stats().keys()


def test_a_stream_is_the_current_one_inside_its_block():
    first, side = cuda.current_stream(), cuda.Stream()
    assert first == cuda.default_stream()
    assert first.cuda_stream == 0 != side.cuda_stream
    assert side != cuda.Stream()
    with cuda.stream(side):
        assert cuda.current_stream() == side
        with first:
            assert cuda.current_stream() == first
        assert (tenfold.ones(3, device="cuda") + 1).tolist() == [2, 2, 2]
        assert cuda.current_stream() == side
    assert cuda.current_stream() == first
    cuda.set_stream(side)
    try:
        assert cuda.current_stream() == side
        assert side.query()
    finally:
        cuda.set_stream(first)
