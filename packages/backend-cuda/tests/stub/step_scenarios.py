"""Scenarios of what follows a backward pass: optimizers' steps, clipping, scaling."""

# ruff: noqa: B023 - calls are made inside the loops

from __future__ import annotations

import gc

import numpy as np
import pytest
import stub
from scenarios import DEVICE, array, quiet

import tenfold
from tenfold import amp, cuda, nn, optim
from tenfold.nn import functional as F

OPTIMIZERS = {
    "adam_step": [lambda p: optim.AdamW(p, lr=1e-3), lambda p: optim.Adam(p, weight_decay=0.1, amsgrad=True)],
    "sgd_step": [lambda p: optim.SGD(p, lr=0.1, momentum=0.9), lambda p: optim.SGD(p, lr=0.1)],
    "rule_step": [
        optim.Adadelta, optim.Adagrad, optim.Adamax, optim.NAdam, lambda p: optim.RMSprop(p, momentum=0.9, centered=True),
        optim.RMSprop, optim.Rprop, optim.ASGD, optim.RAdam,
    ],
}  # fmt: skip


def with_gradients(*shapes):
    params = [array(*shape).requires_grad_() for shape in shapes]
    for p in params:
        p.grad = tenfold.ones_like(p)
    return params


def case_an_optimizer_step_is_one_launch():
    for kernel, makers in OPTIMIZERS.items():
        for make in makers:
            optimizer = make(with_gradients((1, 100), (30, 100), (64, 100)))
            optimizer.step()
            optimizer.step()
            assert quiet(stub.work(optimizer.step)).names == [kernel], make


def case_adam_counts_on_the_device_where_it_is_recorded():
    for placed in (False, True):
        params = with_gradients((4, 4), (700,))
        optimizer = optim.AdamW(params, lr=1e-3, capturable=True)
        if placed:
            optimizer.param_groups[0]["lr"] = array(1)
        for _ in range(4):
            optimizer.step()
        assert quiet(stub.work(optimizer.step)).names == ["count_steps", "adam_step"]
        graph = cuda.CUDAGraph()
        with cuda.graph(graph):
            work = stub.work(optimizer.step)
        assert work.names == ["count_steps", "adam_step"]
        assert quiet(stub.work(graph.replay)).counts == {"graph": 1}


def case_what_counts_on_the_host_is_not_recorded():
    for make in (optim.Adagrad, optim.Adam, *CAPTURABLE):
        optimizer = make(with_gradients((4,)))
        optimizer.step()
        with pytest.raises(RuntimeError, match=f"Attempting CUDA graph capture.*{make.__name__}"), cuda.graph(cuda.CUDAGraph()):
            optimizer.step()
    optimizer = optim.SGD(with_gradients((4,)), lr=0.1)
    optimizer.step()
    with cuda.graph(cuda.CUDAGraph()):
        optimizer.step()


CAPTURABLE = (optim.NAdam, optim.RAdam, optim.Adamax, optim.ASGD, optim.RMSprop, optim.Adadelta, optim.Rprop)


def case_what_counts_on_the_device_is_recorded():
    for make in CAPTURABLE:
        for lr in (0.1, array()):
            optimizer = make(with_gradients((4,), (0,), (3, 5)), lr=0.1, capturable=True)
            optimizer.param_groups[0]["lr"] = lr  # not before: this device computes nothing, and would make it 0
            for _ in range(2):
                optimizer.step()
            graph = cuda.CUDAGraph()
            with cuda.graph(graph):
                work = stub.work(optimizer.step)
            assert {"count_steps", "rule_step"} <= set(work.names)
            assert quiet(stub.work(graph.replay)).counts == {"graph": 1}


def case_gradients_are_clipped_in_three_launches():
    params = with_gradients((1, 10), (3, 10), (8, 10))
    for norm in (2.0, 1.0, float("inf")):
        work = quiet(stub.settled(lambda norm=norm: nn.utils.clip_grad_norm_(params, 1.0, norm)))
        assert work.names == ["norms_of_pieces", "norm_of_parts", "clip_many"]
        work = quiet(stub.settled(lambda norm=norm: tenfold._foreach_norm([p.grad for p in params], norm)))
        assert work.names == ["norms_of_pieces", "norm_of_each"]
    quiet(stub.settled(lambda: nn.utils.clip_grad_norm_(params, 1.0, 3.0)))  # one after the other, without a wait too


def case_gradients_of_two_dtypes_are_clipped_by_their_dtypes():
    params = with_gradients((3, 10), (8, 10), (1, 10))
    for p in params[:2]:
        p.data, p.grad = p.data.bfloat16(), p.grad.bfloat16()
    params += with_gradients((4, 4))
    work = quiet(stub.settled(lambda: nn.utils.clip_grad_norm_(params, 1.0)))
    assert work.names.count("clip_many") == work.names.count("norm_of_parts") == 2
    assert len(work.launches) <= 9


def case_gradients_are_zeroed_in_one_launch():
    params = with_gradients((1, 10), (3, 10), (8, 10))
    optimizer = optim.SGD(params, lr=0.1)
    assert quiet(stub.settled(lambda: optimizer.zero_grad(set_to_none=False))).names == ["zero_many"]
    assert quiet(stub.settled(lambda: tenfold._foreach_zero_([p.grad for p in params]))).names == ["zero_many"]


def case_lists_are_changed_in_one_launch():
    params = with_gradients((1, 10), (3, 10), (8, 10))
    averages = [p.detach().clone() for p in params]
    new = [p.detach() for p in params]
    for call in (
        lambda: tenfold._foreach_lerp_(averages, new, 0.1), lambda: tenfold._foreach_mul_(averages, 0.9),
        lambda: tenfold._foreach_add_(averages, new, alpha=0.1), lambda: tenfold._foreach_copy_(averages, new),
        lambda: nn.utils.clip_grad_value_(params, 1.0),
        lambda: optim.swa_utils.get_ema_multi_avg_fn(0.9)(averages, new, 1),
    ):  # fmt: skip
        assert quiet(stub.settled(call)).names == ["change_many"]


def case_gradients_are_unscaled_in_one_launch_without_a_wait():
    params = with_gradients((1, 10), (3, 10), (8, 10))
    scaler, optimizer = tenfold.amp.GradScaler("cuda"), optim.SGD(params, lr=0.1)
    scaler.scale(array())
    for _ in range(2):
        work = stub.work(lambda: scaler.unscale_(optimizer))
        scaler.update()
    assert quiet(work).names.count("unscale_many") == 1
    assert len(work.launches) == 2, work.names  # and the scale's reciprocal


def case_a_scaled_step_waits_only_where_the_optimizer_is_not_fused():
    makers = {
        "adam_step": optim.AdamW, "sgd_step": lambda p, **more: optim.SGD(p, lr=0.1, momentum=0.9, **more),
        "rule_step": optim.Adagrad,
    }  # fmt: skip
    for kernel, make in makers.items():
        for fused in (True, None):
            model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3)).to(DEVICE)
            scaler, optimizer = tenfold.amp.GradScaler("cuda"), make(model.parameters(), **({"fused": True} if fused else {}))
            x, target = array(4, 8), tenfold.zeros(4, dtype=tenfold.int64, device=DEVICE)

            def step(clip):
                optimizer.zero_grad()
                with tenfold.autocast("cuda", tenfold.float16):
                    loss = F.cross_entropy(model(x), target)
                scaler.scale(loss).backward()
                if clip:
                    scaler.unscale_(optimizer)
                    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                scaler.step(optimizer)
                scaler.update()

            for clip in (False, True):
                step(clip)
                work = stub.settled(lambda: step(clip))
                assert work.counts["sync"] == work.counts["to_host"] == (0 if fused else 1), (kernel, fused, clip, work)
                assert work.names.count("next_scale") == work.names.count("unscale_many") == 1, work
                assert not fused or work.names.count(kernel) == 1, (
                    work
                )  # else what the host read decides, which nothing wrote here


def case_steps_settle_on_the_same_memory_and_copies_do_not_wait():
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3)).to(DEVICE)
    optimizer, x = optim.AdamW(model.parameters()), array(4, 8)

    def step():
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()

    # A table of other addresses would be copied; how soon they are the same depends on what the pool held before.
    assert any("to_device" not in stub.work(step).counts for _ in range(16))
    data = np.ones((300, 400), np.float32)
    assert stub.settled(lambda: tenfold.tensor(data, device=DEVICE)).counts == {"to_device": 1}
    assert stub.settled(lambda: tenfold.tensor(data.T).to(DEVICE)).counts == {"to_device": 1}


def case_steps_leave_nothing_behind():
    """Neither memory of the device nor objects of Python, in batches of three sizes, with half precision and scaled gradients."""
    model = nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8), nn.GELU(), nn.Dropout(0.1), nn.Linear(8, 3)).to(DEVICE)
    optimizer, scaler = optim.AdamW(model.parameters(), fused=True), amp.GradScaler("cuda")
    schedule = optim.lr_scheduler.LambdaLR(optimizer, lambda k: 1 / (1 + k))

    def held(steps):
        for k in range(steps):
            x = tenfold.rand(4 + k % 3, 8).pin_memory().to(DEVICE, non_blocking=True)
            with tenfold.autocast("cuda", tenfold.float16):
                loss = F.cross_entropy(model(x), tenfold.zeros(len(x), dtype=tenfold.int64, device=DEVICE))
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            schedule.step()
        gc.collect()
        return cuda.memory_allocated(), cuda.memory_reserved(), len(gc.get_objects())

    (allocated, reserved, objects), later = held(60), held(240)
    # What other scenarios left in tables of addresses may go in the meantime; a block of memory is 512 bytes.
    assert later[0] < allocated + 24 * 512, (allocated, later[0])  # a tenth of a block a step
    assert later[1] <= reserved, (reserved, later[1])
    assert later[2] < objects + 60, (objects, later[2])  # a quarter of an object a step


def case_running_statistics_are_one_launch():
    x = array(2, 16, 8, 8, dtype=tenfold.bfloat16)
    layer = nn.BatchNorm2d(16).to(DEVICE, tenfold.bfloat16)
    names = ["channel_moments", "channel_norm", "follow_statistics"]
    work = quiet(stub.settled(lambda: layer(x)))
    assert [name for name in work.names if not name.startswith("add_i")] == names  # and the count of batches


def case_autocast_adds_nothing_but_casts():
    """Each weight is cast once a step however often it is used, and what is not cast is launched as outside of autocast."""
    first = nn.Conv2d(3, 8, 3, padding=1)
    body = [first, nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.1)]
    model = nn.Sequential(*body, nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 3)).to(DEVICE)
    x, target = tenfold.rand(4, 3, 8, 8, device=DEVICE), tenfold.zeros(4, dtype=tenfold.int64, device=DEVICE)

    def forward(enabled):
        with tenfold.autocast("cuda", tenfold.bfloat16, enabled=enabled):
            model[6](model(x) @ model[6].weight[:3])
            return F.cross_entropy(model(x), target)

    names = lambda work: [name.split("_")[0] for name in work.names]  # noqa: E731
    with tenfold.no_grad():
        model(x)
    plain, cast = (quiet(stub.settled(lambda enabled=enabled: forward(enabled))) for enabled in (False, True))
    assert [name for name in names(cast) if name != "cast"] == [name for name in names(plain) if name != "cast"]
    assert plain.products == cast.products
    parameters = 6  # those of products, each cast once
    assert names(cast).count("cast") - names(plain).count("cast") <= parameters + 6, cast.names
