"""Names of `torch.cuda` beside devices, memory and streams."""

from __future__ import annotations

import pytest

import tenfold
from tenfold import cuda


def test_initialization_and_architectures():
    cuda.init()
    assert cuda.is_initialized()
    assert cuda.get_arch_list() == ["sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"]
    assert cuda.get_gencode_flags().startswith("-gencode compute=compute_80,code=sm_80")
    cuda.ipc_collect()
    assert not cuda.can_device_access_peer(0, 0)
    assert not cuda.is_current_stream_capturing()
    with pytest.raises(AssertionError, match="Invalid device id: 99"):
        cuda.can_device_access_peer(0, 99)


def test_random_states_are_a_seed_and_a_counter():
    state = cuda.get_rng_state()
    assert state.shape == (16,)
    with pytest.raises(RuntimeError, match="expected 16 bytes"):
        cuda.set_rng_state(tenfold.get_rng_state())
    assert len(cuda.get_rng_state_all()) == cuda.device_count()
    first = tenfold.rand(3, device="cuda").tolist()
    cuda.set_rng_state(state)
    assert tenfold.rand(3, device="cuda").tolist() == first
    cuda.set_rng_state_all([state])
    assert tenfold.rand(3, device="cuda").tolist() == first


def test_memory_is_told_as_numbers_and_as_a_table():
    found = cuda.memory_stats()
    assert found["allocated_bytes.all.peak"] >= found["allocated_bytes.all.current"] >= 0
    assert cuda.max_memory_reserved() >= 0
    assert "held by tensors" in cuda.memory_summary()


def test_contexts():
    side = cuda.Stream()
    with cuda.StreamContext(side), cuda.device_of(tenfold.zeros(1, device="cuda")), cuda.device_of(tenfold.zeros(1)):
        assert cuda.current_device() == 0
    cuda.set_stream(None)
    assert not cuda.Event().wait()


def test_sleeping_takes_a_number_of_cycles():
    assert cuda._sleep(1000) is None
    cuda.synchronize()
    with pytest.raises((TypeError, ValueError)):
        cuda._sleep("long")


def test_nothing_is_claimed_without_a_device(no_runtime):
    if cuda.is_available():
        pytest.skip("a GPU is here")
    assert not cuda.is_initialized()
    assert cuda.get_arch_list() == []
    assert cuda.get_rng_state_all() == []
    assert cuda.memory_stats() == {}
    assert not cuda.is_tf32_supported()
    with pytest.raises(RuntimeError, match="not available"):
        cuda.init()


def test_graphs_and_pools_are_a_gpus():
    from tenfold.cuda import runtime

    if not runtime.is_replaced():
        pytest.skip("a GPU is here")
    with pytest.raises(RuntimeError, match="recorded by a GPU's driver"):
        cuda.CUDAGraph()
    with pytest.raises(RuntimeError, match="pools are a GPU's"):
        cuda.MemPool()
    with pytest.raises(TypeError, match="expected a CUDAGraph"):
        cuda.graph(3)
    assert cuda.graph_pool_handle() != cuda.graph_pool_handle()
    x = tenfold.ones(3, device="cuda")
    x.record_stream(cuda.Stream())  # everything is done at once
    with pytest.raises(RuntimeError, match="expected a tensor on a GPU"):
        tenfold.ones(3).record_stream(cuda.Stream())


def test_names_that_tell_of_waits_memory_and_streams():
    assert cuda.get_sync_debug_mode() == 0
    cuda.set_sync_debug_mode("warn")
    assert cuda.get_sync_debug_mode() == 1
    cuda.set_sync_debug_mode(0)
    with pytest.raises(RuntimeError, match="expected one of"):
        cuda.set_sync_debug_mode("loud")
    cuda.set_per_process_memory_fraction(1.0)
    assert cuda.get_per_process_memory_fraction() == 1.0
    with pytest.raises(ValueError, match="Allowed range"):
        cuda.set_per_process_memory_fraction(1.5)
    with pytest.raises(TypeError, match="must be `float`"):
        cuda.set_per_process_memory_fraction(1)
    assert cuda.memory_stats_as_nested_dict()["allocated_bytes"]["all"]["current"] >= 0
    assert isinstance(cuda.ExternalStream(0), cuda.Stream)
    assert cuda.random.get_rng_state().shape == (16,)
    with cuda.profiler.profile():
        pass


def test_mixed_precision_has_its_older_place():
    from tenfold.cuda.amp import GradScaler, autocast  # the form that programs use

    assert (cuda.amp.autocast, cuda.amp.GradScaler) == (autocast, GradScaler)
    x = tenfold.ones(4, 4, device="cuda")
    with pytest.warns(FutureWarning, match="is deprecated"):
        region = autocast()
    with region:
        assert (x @ x).dtype is tenfold.float16
