"""What the device is given to do, on the stub driver: each scenario is a function `case_…`, which asserts (run.py runs them)."""

# ruff: noqa: B023 - calls are made inside the loops

from __future__ import annotations

import io
import sys
import threading
import warnings

import numpy as np
import pytest
import stub

import tenfold
from tenfold import cuda, nn, optim
from tenfold.nn import functional as F

DEVICE = "cuda:0"


def array(*shape, device=DEVICE, dtype=tenfold.float32):
    return tenfold.tensor(np.ones(shape, np.float32)).to(device).to(dtype)


def quiet(work):
    """No kernel waits for the device or copies from or to the host."""
    assert not {"sync", "to_host", "to_device"} & set(work.counts), work
    return work


def case_the_stub_sees_what_runs():
    x = array(64, 64)
    work = stub.settled(lambda: x + x)
    assert work.names == ["add_f_lll0__"]
    assert work.launches[0].grid == (4, 1, 1)
    assert stub.work(x.cpu).counts == {"sync": 1, "to_host": 1}
    assert stub.settled(lambda: x @ x).products == 1


def case_small_results_come_back_when_nobody_holds_them():
    x = array(64, 64)
    run = lambda: x + x  # noqa: E731
    assert len({run().data_ptr() for _ in range(5)}) == 1
    for hold in (lambda y: y, lambda y: y[1:], lambda y: y.view(-1), lambda y: y.detach(), lambda y: y._array.data):
        held = [hold(run()) for _ in range(6)]
        assert len({getattr(y, "ptr", 0) or y.data_ptr() for y in held}) == 6
        del held
    before = cuda.memory_allocated()
    y = run()
    assert cuda.memory_allocated() - before == 64 * 64 * 4
    del y
    assert cuda.memory_allocated() == before
    quiet(stub.settled(run))
    assert "malloc" not in stub.work(run).counts


def case_every_kernel_runs_where_its_arrays_are():
    x, b = array(8, 8, device="cuda:1"), array(8, 8, device="cuda:1", dtype=tenfold.bfloat16)
    i = tenfold.zeros(4, dtype=tenfold.int64, device="cuda:1")
    c = x.to(tenfold.complex64)
    w = x[0].clone()
    calls = {
        "x + x": lambda: x + x, "sum": x.sum, "mean": x.mean, "var": x.var,
        "softmax": lambda: x.softmax(1), "cumsum": lambda: x.cumsum(0),
        "index": lambda: x[i], "gather": lambda: x.gather(0, i[:, None]),
        "argmax": lambda: x.argmax(1), "max": lambda: x.max(1)[0],
        "cat": lambda: tenfold.cat([x, x]), "tril": x.tril, "complex": lambda: c * 2, "zeros": lambda: tenfold.zeros_like(x),
        "half": lambda: b * 2.0, "where": lambda: tenfold.where(x > 0, 1.0, 2.0), "int": lambda: i + 3,
        "norm": lambda: F.layer_norm(x, (8,), w, w), "softmax 0": lambda: x.softmax(0), "add_": lambda: x.add_(1.0),
        "pow": lambda: i**2,
        "index_add": lambda: x.clone().index_add_(0, i, x[:4]), "ones": lambda: tenfold.ones(5, device="cuda:1"),
        "loss": lambda: F.cross_entropy(x, tenfold.zeros(8, dtype=tenfold.int64, device="cuda:1")),
    }  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name, call in calls.items():
            results = []
            work = stub.work(lambda call=call, results=results: results.append(call()))
            assert work.devices <= {1}, (name, work)
            assert results[0].device == tenfold.device("cuda:1"), name
            assert results[0]._array.data.device_id == 1, name
    assert cuda.current_device() == 0


def case_a_new_thread_is_bound_to_the_device_before_it_launches():
    x = array(64)
    x.mul_(2.0)
    found = []

    def run():
        try:
            x.mul_(2.0)
            found.append(None)
        except Exception as error:  # noqa: BLE001 - to be looked at in the main thread
            found.append(error)

    stub.require_context(True)
    try:
        x.mul_(2.0)
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        stub.require_context(False)
    assert found == [None]


def case_expanded_memory_is_never_written_past_its_end():
    z = tenfold.zeros(1, device=DEVICE).expand(4096)
    full = tenfold.zeros(4096, device=DEVICE)
    for write in (lambda: z.mul_(2.0), lambda: z.copy_(full), lambda: z.add_(full), lambda: tenfold.add(full, full, out=z)):
        with pytest.raises(RuntimeError, match="single memory location"):
            write()
    for write in (z.zero_, lambda: z.fill_(2.0), lambda: z.masked_fill_(full > 0, 1.0)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            work = stub.work(write)
        writing = [name for name in work.names if name.startswith("cast_f_l")]
        assert not writing, work  # the result's own letter: s is by strides, l would be as far as it has elements


def case_reads_of_what_is_written_elsewhere_are_refused():
    x = array(64)
    with pytest.raises(RuntimeError, match=r"clone\(\)"):
        x[1:].add_(x[:-1])


def case_numbers_are_arguments_of_kernels():
    for dtype in (
        tenfold.float32,
        tenfold.bfloat16,
        tenfold.float16,
        tenfold.float64,
        tenfold.int32,
        tenfold.int64,
        tenfold.uint8,
    ):
        x = array(64, dtype=dtype)
        for call in (
            lambda x=x: x * 2,
            lambda x=x: x.mul_(3),
            lambda x=x: x > 1,
            lambda x=x: x.clamp_min(1),
            lambda x=x: tenfold.maximum(x, x) + 1,
        ):
            work = quiet(stub.settled(call))
            assert len(work.launches) <= 2, (dtype, work)
    b = array(64, dtype=tenfold.bfloat16)
    assert len(quiet(stub.settled(lambda: b * 0.1)).launches) == 1
    assert len(quiet(stub.settled(lambda: b.mul_(0.1))).launches) <= 2  # core computes, then writes
    i = array(64, dtype=tenfold.int64)
    assert len(quiet(stub.settled(lambda: i + 2**63)).launches) == 1
    assert len(quiet(stub.settled(lambda: i**2)).launches) == 1


def case_factories_copy_nothing():
    x = array(8, 8)
    for make in (
        lambda: tenfold.zeros(8, 8, device=DEVICE), lambda: tenfold.ones(8, 8, device=DEVICE),
        lambda: tenfold.empty(8, device=DEVICE),
        lambda: tenfold.full((8,), 2.5, device=DEVICE), lambda: tenfold.zeros_like(x), lambda: tenfold.ones_like(x.t()),
        lambda: x.new_full((3,), 7), lambda: x.zero_(), lambda: x.fill_(2.0), lambda: tenfold.full((4,), True, device=DEVICE),
        lambda: tenfold.ones(4, dtype=tenfold.bfloat16, device=DEVICE), lambda: tenfold.ones((), device=DEVICE),
        lambda: tenfold.arange(9, device=DEVICE), lambda: tenfold.linspace(0, 1, 9, device=DEVICE),
        lambda: tenfold.eye(3, device=DEVICE), lambda: tenfold.rand(9, device=DEVICE), lambda: tenfold.randn_like(x),
        lambda: tenfold.randint(9, (4,), device=DEVICE), lambda: tenfold.randperm(9, device=DEVICE),
        lambda: x.normal_(), lambda: x.uniform_(-1, 1), lambda: x.bernoulli_(0.5), lambda: tenfold.bernoulli(x),
        lambda: tenfold.multinomial(x, 1), lambda: F.dropout(x, 0.5), lambda: x.exponential_(),
    ):  # fmt: skip
        quiet(stub.settled(make))


def case_a_report_is_told_at_the_next_wait():
    from tenfold.cuda import reports
    from tenfold.dispatch.devices import AcceleratorError

    x = array(4)
    x[tenfold.zeros(2, dtype=tenfold.int64, device=DEVICE)]
    reports._state["host"][reports.WORDS.index("gather")] = 1  # as the kernel would
    with pytest.raises(AcceleratorError, match="an index given to gather was out of bounds"):
        cuda.synchronize()
    cuda.synchronize()  # told once


def case_complex_numbers_have_every_path():
    c = array(4).to(tenfold.complex64)
    i = tenfold.zeros(2, dtype=tenfold.int64, device=DEVICE)
    for name in ("logical_and", "logical_or", "logical_xor"):
        quiet(stub.settled(lambda name=name: getattr(tenfold, name)(c, c)))
    quiet(stub.settled(c.logical_not))
    quiet(stub.settled(lambda: c.clone().index_add_(0, i, c[:2])))
    quiet(stub.settled(lambda: c.clone().scatter_add_(0, i, c[:2])))
    quiet(stub.settled(lambda: c.clone().index_put_((i,), c[:2], accumulate=True)))


def case_softmax_and_norms_are_one_launch():
    for dtype in (tenfold.float32, tenfold.bfloat16):
        x, w = array(128, 256, dtype=dtype), array(256, dtype=dtype)
        for call in (
            lambda: F.softmax(x, -1),
            lambda: F.log_softmax(x, -1),
            lambda: F.layer_norm(x, (256,), w, w),
            lambda: F.rms_norm(x, (256,), w),
        ):
            work = quiet(stub.settled(call))
            assert len(work.launches) == 1, work


def case_cross_entropy_with_its_gradient_is_two_launches():
    x, target = array(128, 256), tenfold.zeros(128, dtype=tenfold.int64, device=DEVICE)
    one = array()

    def run():
        leaf = x.detach().requires_grad_()
        F.cross_entropy(leaf, target).backward(one)

    assert quiet(stub.settled(run)).names == ["cross_entropy_rows", "cross_entropy_gradient"]
    x = array(4, 50257)
    target = target[:4]
    work = quiet(stub.settled(run))
    assert [(launch.name, launch.grid) for launch in work.launches] == [
        ("cross_entropy_long", (4, 1, 1)), ("cross_entropy_gradient", (4, 13, 1))
    ]  # fmt: skip


def case_triton_launches_tenfolds_tensors():
    import triton
    from triton import language as tl

    from tenfold.cuda import driver

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        active = driver.activate()
        assert active.get_current_target().arch == 90
        kernel = triton.jit(_double(tl))
        x, y = array(1000), array(1000)
        assert stub.work(lambda: kernel[(4,)](y, x, 1000, BLOCK=256)).launches[0].grid == (4, 1, 1)
    assert "torch" not in sys.modules


def _double(tl):
    import linecache

    text = (
        "def double(out_ptr, x_ptr, n, BLOCK: tl.constexpr):\n"
        "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        "    tl.store(out_ptr + i, 2 * tl.load(x_ptr + i, i < n), i < n)\n"
    )
    linecache.cache["<double>"] = (len(text), None, text.splitlines(True), "<double>")
    names = {"tl": tl}
    exec(compile(text, "<double>", "exec"), names)
    return names["double"]


def case_launches_go_to_the_chosen_stream():
    x, side = array(64), cuda.Stream()
    with cuda.stream(side):
        assert {launch.stream for launch in stub.work(lambda: (x + 1, x.sum(), F.softmax(x, 0))).launches} == {side.cuda_stream}
    assert stub.work(lambda: x + 1).launches[0].stream == 0


def case_a_lenet_step_is_forty_launches_at_most():
    model = nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
    ).to(DEVICE)  # fmt: skip
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x, target = tenfold.rand(64, 1, 28, 28, device=DEVICE), tenfold.zeros(64, dtype=tenfold.int64, device=DEVICE)

    def step():
        optimizer.zero_grad()
        F.cross_entropy(model(x), target).backward()
        optimizer.step()

    step()
    step()
    work = stub.work(step)
    assert not {"sync", "to_host"} & set(work.counts), work
    assert len(work.launches) <= 40, work.names
    assert work.products <= 9, work


def case_convolution_pooling_and_batch_norm_are_kernels():
    for dtype in (tenfold.float32, tenfold.bfloat16):
        for last in (False, True):
            x, w = array(2, 16, 8, 8, dtype=dtype), array(8, 16, 3, 3, dtype=dtype)
            x = x.contiguous(memory_format=tenfold.channels_last) if last else x
            v = array(16, dtype=dtype)
            calls = {
                ("correlate",): lambda: F.conv2d(x, w, padding=1),
                ("largest_of_windows",): lambda: F.max_pool2d(x, 2), ("means_of_windows",): lambda: F.avg_pool2d(x, 2),
                ("adaptive_means",): lambda: F.adaptive_avg_pool2d(x, 1),
                ("channel_moments", "channel_norm"): lambda: F.batch_norm(x, None, None, v, v, True),
                ("channel_norm",): lambda: F.batch_norm(x, v, v, v, v, False),
            }  # fmt: skip
            for names, call in calls.items():
                assert tuple(quiet(stub.settled(call)).names) == names


def case_transfers_keep_the_layout_and_gpus_copy_without_the_host():
    last = tenfold.channels_last
    x = tenfold.rand(2, 3, 4, 5).contiguous(memory_format=last)
    there = x.to(DEVICE)
    assert there.is_contiguous(memory_format=last)
    assert there.cpu().equal(x)
    assert there.cpu().is_contiguous(memory_format=last)
    found = []
    work = stub.work(lambda: found.append(there.to("cuda:1")))
    assert work.counts["on_device"] == 1
    assert not {"sync", "to_host", "to_device"} & set(work.counts), work
    assert found[0].cpu().equal(x)
    assert found[0].is_contiguous(memory_format=last)


def case_storages_are_as_large_as_their_tensors():
    x = array(5)
    for t, size in (
        (x, 20),
        (x + 1, 20),
        (x[1:3], 20),
        (array(3, 4).t(), 48),
        (x.sum(), 4),
        (tenfold.zeros(0, device=DEVICE), 0),
    ):
        assert t.untyped_storage().nbytes() == size, t.shape
    assert x.view(tenfold.uint8).shape == (20,)
    files = [io.BytesIO(), io.BytesIO()]
    for file, t in zip(files, (x[1:], x.cpu()[1:])):
        tenfold.save(t, file)
    assert abs(len(files[0].getvalue()) - len(files[1].getvalue())) < 128  # the name of the device
    y = tenfold.arange(6.0, device=DEVICE)
    y.resize_(200)
    assert y.untyped_storage().nbytes() == 800
    with pytest.raises(RuntimeError, match="out of bounds"):
        x.as_strided((6,), (1,))


def case_a_model_step_does_not_wait():
    model = nn.Sequential(nn.Linear(16, 32), nn.LayerNorm(32), nn.ReLU(), nn.Linear(32, 10)).to(DEVICE)
    optimizer = optim.AdamW(model.parameters())
    x, target = array(8, 16), tenfold.zeros(8, dtype=tenfold.int64, device=DEVICE)

    def step():
        optimizer.zero_grad()
        F.cross_entropy(model(x), target).backward()
        optimizer.step()

    step()
    step()
    work = stub.work(step)
    assert not {"sync", "to_host"} & set(work.counts), work
    assert work.names.count("adam_step") == 1, work.names
    assert not [name for name in work.names if name.startswith(("lerp", "addcmul", "addcdiv"))], work.names
    assert len(work.launches) <= 24, work.names
