"""Scenarios of what people try first: forks, loaders, waits that are looked for, devices as contexts."""

from __future__ import annotations

import os

import numpy as np
import pytest
import stub
from scenarios import DEVICE, array

import tenfold
from tenfold import cuda


def in_a_child(function):
    """What a function says of itself in a forked child: its error's text, or nothing."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            function()
            text = ""
        except BaseException as error:  # noqa: BLE001 - to be told to the parent
            text = f"{type(error).__name__}: {error}"
        os.write(writing, text.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return text


def case_a_forked_child_is_told_that_it_has_no_device():
    x = array(64, 64)
    x + x
    calls = (
        lambda: x + x, lambda: x + 1.0, lambda: x.relu(), lambda: x.softmax(0), lambda: x.cpu(), lambda: x @ x, lambda: x.sum(),
        lambda: tenfold.ones(3, device="cuda"), cuda.synchronize, lambda: tenfold.ones(3).cuda(), cuda.current_device,
        cuda.Stream, cuda.Event().record, x.tolist,
    )  # fmt: skip
    for k, call in enumerate(calls):
        assert "Cannot re-initialize CUDA in forked subprocess" in (told := in_a_child(call)), (k, told)
    # What needs no driver goes on: seeds of a loader's workers, and the processor's own tensors.
    assert in_a_child(lambda: (tenfold.manual_seed(3), tenfold.randn(3).sum().item(), cuda.is_available())) == ""
    assert (x + x).device.type == "cuda"


def case_host_memory_lives_until_it_is_copied():
    from tenfold.cuda import staging

    staging._under_way.clear()
    host = tenfold.ones(1000)
    work = stub.work(lambda: host.to(DEVICE, non_blocking=True))
    assert "sync" not in work.counts
    assert [memory.mem.size >= 4000 for _, memory in staging._under_way] in ([True], [])  # gone, if the mark is passed already


def case_waits_can_be_looked_for():
    x = array(4)
    cuda.set_sync_debug_mode("error")
    try:
        x + x
        for wait in (x.cpu, lambda: float(x[0]), lambda: bool(x.any()), x.tolist):
            with pytest.raises(RuntimeError, match="called a synchronizing CUDA operation"):
                wait()
    finally:
        cuda.set_sync_debug_mode(0)


def case_what_a_program_does_first():
    x = array(4, 4)
    with cuda.device(1):
        assert tenfold.zeros(2, device="cuda").device.index == cuda.current_device() == 1
    with tenfold.device("cuda:1"):
        assert tenfold.zeros(2).device.index == 1
    cuda.set_device("cuda:1")
    cuda.set_device(0)
    for dtype in (tenfold.bfloat16, tenfold.float16):
        with tenfold.autocast("cuda", dtype=dtype):
            assert (x @ x).dtype is dtype
    with tenfold.amp.autocast("cuda"):
        assert (x @ x).dtype is tenfold.float16
    tenfold.backends.cudnn.benchmark = True
    tenfold.backends.cudnn.deterministic = True
    tenfold.backends.cuda.matmul.allow_tf32 = False
    assert tenfold.backends.cudnn.is_available() in (True, False)
    assert "cuda:0" in cuda.memory_summary()
    cuda.set_per_process_memory_fraction(0.5)
    assert cuda.get_per_process_memory_fraction() <= 0.5
    cuda.set_per_process_memory_fraction(1.0)
    start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
    start.record()
    end.record()
    end.synchronize()
    start.elapsed_time(end)
    loader = tenfold.utils.data.DataLoader([np.ones(3, np.float32)] * 4, batch_size=2, pin_memory=True)
    for batch in loader:
        assert batch.to("cuda", non_blocking=True).shape == (2, 3)
    assert cuda.get_device_properties(0).total_memory > 0


def case_memory_is_shared_with_cupy():
    import cupy  # the stub's, once it is installed

    x = array(3, 4, device="cuda:1")
    given = x.__cuda_array_interface__
    assert (given["data"][0], given["shape"], given["typestr"]) == (x.data_ptr(), (3, 4), "<f4")
    assert not hasattr(tenfold.zeros(2), "__cuda_array_interface__")
    with pytest.raises(RuntimeError, match="detach"):
        x.requires_grad_().__cuda_array_interface__
    with cupy.cuda.Device(1):
        theirs = cupy.zeros((4, 2), cupy.float64)
        ours = tenfold.from_dlpack(theirs.T)
        assert (ours.data_ptr(), ours.shape, ours.stride(), ours.dtype) == (theirs.data.ptr, (2, 4), (1, 2), tenfold.float64)
        assert ours.device == tenfold.device("cuda:1")
        assert cupy.from_dlpack(ours).data.ptr == theirs.data.ptr
        again = tenfold.from_dlpack(theirs.__dlpack__())
        assert (again.data_ptr(), again.device) == (theirs.data.ptr, tenfold.device("cuda:1"))
        halves = tenfold.empty(3, 2, device="cuda:1", dtype=tenfold.bfloat16).T
        for shared in (tenfold.from_dlpack(halves), tenfold.from_dlpack(halves.__dlpack__())):
            assert (shared.data_ptr(), shared.dtype, shared.stride()) == (halves.data_ptr(), tenfold.bfloat16, (1, 2))
        assert tenfold.from_dlpack(theirs, copy=True).data_ptr() != theirs.data.ptr
        assert tenfold.from_dlpack(theirs, device="cuda:1", copy=False).data_ptr() == theirs.data.ptr
        assert tenfold.from_dlpack(theirs, device="cpu").device.type == "cpu"
        with pytest.raises(ValueError, match="from cuda:1 to cpu"):
            tenfold.from_dlpack(theirs, device="cpu", copy=False)
