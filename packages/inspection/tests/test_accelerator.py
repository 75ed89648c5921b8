"""What programs for any device ask: the accelerator, a device's module, streams and events of whatever there is."""

from __future__ import annotations

import pytest

import tenfold
from tenfold import accelerator


def test_without_an_accelerator_nothing_is_claimed() -> None:
    if accelerator.is_available():
        pytest.skip("there is one here")
    assert accelerator.device_count() == accelerator.memory_allocated() == accelerator.max_memory_reserved() == 0
    assert accelerator.memory_stats() == {}
    assert accelerator.current_accelerator() is None
    accelerator.synchronize()
    accelerator.empty_cache()
    accelerator.empty_host_cache()
    for call in (
        accelerator.current_device_index, accelerator.current_stream, accelerator.get_memory_info, accelerator.Graph,
        accelerator.get_device_capability, lambda: accelerator.set_device_index(0), accelerator.reset_peak_memory_stats,
        lambda: accelerator.device_index(0).__enter__(),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match="accelerator"):
            call()
    with accelerator.device_index(None):
        pass
    assert tenfold.get_device_module() is tenfold.cpu


def test_the_module_of_a_device() -> None:
    assert tenfold.get_device_module("cpu") is tenfold.get_device_module(tenfold.device("cpu")) is tenfold.cpu
    with pytest.raises(RuntimeError, match="'xpu' does not have a module"):
        tenfold.get_device_module("xpu")


def test_the_cpu_has_streams_and_events_that_order_nothing() -> None:
    cpu = tenfold.cpu
    own = cpu.Stream()
    with cpu.stream(own):
        assert cpu.current_stream() is own
        with cpu.stream(None):
            assert cpu.current_stream() is own
    assert cpu.current_stream("cpu") is not own
    own.wait_stream(cpu.current_stream())
    own.wait_event(own.record_event())
    event = tenfold.Event("cpu")
    event.record()
    event.wait()
    event.synchronize()
    assert event.query()
    assert isinstance(event, tenfold.Event)
    assert isinstance(tenfold.Stream("cpu"), tenfold.Stream)
    assert not isinstance(event, tenfold.Stream)
    cpu.set_device("cpu")
    assert cpu.is_initialized()
    with pytest.raises(AttributeError):
        cpu.nothing_of_this_name
