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
    assert cuda.cudart().cudaMemGetInfo(0) == (0, 0)
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
