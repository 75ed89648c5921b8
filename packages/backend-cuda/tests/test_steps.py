"""Optimizers' steps of all parameters in one launch, against the CPU's."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold import nn, optim
from tenfold.cuda.kernels import multi_tensor
from tenfold.testing.tolerances import implementation

DTYPES = (tenfold.float32, tenfold.bfloat16)


def drawn(shape, dtype, seed=0):
    return tenfold.tensor(np.random.default_rng(seed).standard_normal(shape)).to(dtype)


def assert_close(got, expected, scale=1.0):
    rtol, atol = implementation(expected.dtype)
    assert got.device.type == "cuda"
    assert got.dtype is expected.dtype
    a, b = (t.detach().cpu().double().numpy() for t in (got, expected))
    np.testing.assert_allclose(a, b, rtol=scale * rtol, atol=scale * atol, equal_nan=True)


OPTIMIZERS = {
    "AdamW": lambda p: optim.AdamW(p, lr=0.05),
    "Adam": lambda p: optim.Adam(p, lr=0.05, weight_decay=0.1, maximize=True),
    "Adam amsgrad": lambda p: optim.Adam(p, lr=0.05, amsgrad=True),
    "SGD": lambda p: optim.SGD(p, lr=0.1, weight_decay=0.1),
    "SGD momentum": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "Adam amsgrad decay": lambda p: optim.AdamW(p, lr=0.05, amsgrad=True, weight_decay=0.2),
    "Adadelta": lambda p: optim.Adadelta(p, lr=0.5, weight_decay=0.1),
    "Adagrad": lambda p: optim.Adagrad(p, lr=0.05, lr_decay=0.1, weight_decay=0.1, initial_accumulator_value=0.1),
    "Adamax": lambda p: optim.Adamax(p, lr=0.05, maximize=True),
    "NAdam": lambda p: optim.NAdam(p, lr=0.05, weight_decay=0.1),
    "NAdam decoupled": lambda p: optim.NAdam(p, lr=0.05, weight_decay=0.1, decoupled_weight_decay=True),
    "RAdam": lambda p: optim.RAdam(p, lr=0.05, weight_decay=0.1),
    "RMSprop": lambda p: optim.RMSprop(p, lr=0.05),
    "RMSprop centered": lambda p: optim.RMSprop(p, lr=0.05, centered=True),
    "RMSprop momentum": lambda p: optim.RMSprop(p, lr=0.05, momentum=0.9, weight_decay=0.1),
    "RMSprop both": lambda p: optim.RMSprop(p, lr=0.05, momentum=0.9, centered=True, maximize=True),
    "Rprop": lambda p: optim.Rprop(p, lr=0.05),
    "ASGD": lambda p: optim.ASGD(p, lr=0.05, t0=2, lambd=0.1),
    "SGD dampening": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.5, maximize=True),
}


# Not Adam's float16: the CPU's rule, which rounds each operation, loses eps there and divides by zero.
CASES = [(name, dtype) for dtype in DTYPES for name in OPTIMIZERS]
CASES += [(name, tenfold.float64) for name in ("AdamW", "Adam amsgrad", "SGD momentum", "RMSprop both", "Rprop", "NAdam")]


@pytest.mark.parametrize(("name", "dtype"), CASES, ids=lambda x: getattr(x, "name", x))
def test_optimizer_steps(name, dtype):
    found = []
    for device in ("cpu", "cuda"):
        params = [drawn(shape, dtype, k).to(device).requires_grad_() for k, shape in enumerate([(2100,), (3, 4), (), (7,)])]
        optimizer = OPTIMIZERS[name](params)
        for step in range(7):
            for k, p in enumerate(params):
                p.grad = drawn(tuple(p.shape), dtype, 10 * step + k).to(device) if k != 3 or step else None
            optimizer.step()
        found.append(params)
    for expected, got in zip(*found, strict=True):
        assert_close(got, expected, 8 if dtype.itemsize == 2 else 4)


def test_parameters_in_another_order_than_rows_are_in_the_launch(monkeypatch):
    found, refused = [], monkeypatch.setattr("tenfold.cuda.kernels.optim._by_rule", None)
    assert refused is None
    for device in ("cpu", "cuda"):
        p = drawn((2, 3, 4, 5), tenfold.float32).to(device).contiguous(memory_format=tenfold.channels_last).requires_grad_()
        optimizer = optim.AdamW([p], lr=0.1)
        for k in range(2):  # gradients of either layout
            p.grad = drawn((2, 3, 4, 5), tenfold.float32, k).to(device)
            p.grad = p.grad.contiguous(memory_format=tenfold.channels_last) if k else p.grad
            optimizer.step()
        found.append(p)
    assert_close(found[1], found[0])
    assert found[1].is_contiguous(memory_format=tenfold.channels_last)


SCALED = {
    "AdamW": lambda p, fused: optim.AdamW(p, lr=0.05, fused=fused),
    "SGD": lambda p, fused: optim.SGD(p, lr=0.1, momentum=0.9, fused=fused),
    "SGD dampening": lambda p, fused: optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.5, fused=fused),
    "Adagrad": lambda p, fused: optim.Adagrad(p, lr=0.1, lr_decay=0.1, fused=fused),
}


@pytest.mark.parametrize("name", SCALED)
@pytest.mark.parametrize("unscaled", [False, True], ids=["by the step", "before"])
def test_steps_with_a_scale_are_left_out_where_a_gradient_is_not_finite(name, unscaled):
    found = []
    for device, fused in (("cpu", None), ("cpu", True), ("cuda", True)):
        params = [drawn(shape, tenfold.float32, k).to(device).requires_grad_() for k, shape in enumerate([(3, 4), ()])]
        optimizer, scaler = SCALED[name](params, fused), tenfold.amp.GradScaler(device, init_scale=8.0, growth_interval=2)
        scales = []
        for step in range(6):
            scaler.scale(tenfold.ones((), device=device))
            for k, p in enumerate(params):
                p.grad = drawn(tuple(p.shape), tenfold.float32, 10 * step + k).to(device) * 8
            if step in (0, 2):
                params[0].grad[1, 2] = float("nan" if step else "inf")
            if unscaled:
                scaler.unscale_(optimizer)
            scaler.step(optimizer)
            scaler.update()
            scales.append(scaler.get_scale())
        grads = [p.grad for p in params]
        steps = [float(state["step"]) for state in optimizer.state.values() if "step" in state]
        found.append(([*params, *grads], [s["momentum_buffer"] for s in optimizer.state.values() if "momentum_buffer" in s]))
        assert scales == [4.0, 4.0, 2.0, 2.0, 4.0, 4.0]
        assert steps == ([] if "SGD" in name else [4.0, 4.0])
    for group in (0, 1):
        for plain, host, got in zip(*(f[group] for f in found), strict=True):
            assert host.equal(plain)
            assert_close(got, plain, 4)


@pytest.mark.parametrize("name", [name for name in OPTIMIZERS if "Adam" in name and name[0] == "A" and "max" not in name])
@pytest.mark.parametrize("rate", ["a number", "on the device"])
def test_counters_on_the_device_give_the_same_steps(name, rate):
    found = []
    for capturable in (False, True):
        params = [drawn(shape, tenfold.float32, k).cuda().requires_grad_() for k, shape in enumerate([(5000,), (3, 4), ()])]
        optimizer = OPTIMIZERS[name](params)
        group = optimizer.param_groups[0]
        group["capturable"] = capturable
        if capturable and rate == "on the device":
            group["lr"] = tenfold.tensor(group["lr"], device="cuda")
        for step in range(5):
            for k, p in enumerate(params):
                p.grad = drawn(tuple(p.shape), tenfold.float32, 10 * step + k).cuda()
            optimizer.step()
        steps = [optimizer.state[p]["step"] for p in params]
        assert [float(s) for s in steps] == [5.0] * 3
        assert all(s.is_cuda == capturable for s in steps)
        found.append(params)
    for expected, got in zip(*found, strict=True):
        assert_close(got, expected, 4)


def test_counters_on_the_device_go_to_checkpoints_and_back():
    p = drawn((4,), tenfold.float32).cuda().requires_grad_()
    optimizer = optim.AdamW([p], capturable=True)
    for _ in range(3):
        p.grad = tenfold.ones_like(p)
        optimizer.step()
    other = optim.AdamW([p.detach().clone().requires_grad_()], capturable=True)
    other.load_state_dict(optimizer.state_dict())
    assert float(other.state_dict()["state"][0]["step"]) == 3.0


def test_a_table_is_made_once_and_anew_for_other_addresses():
    p = tenfold.zeros(9000, device="cuda", requires_grad=True)
    p.grad = tenfold.ones_like(p)
    optimizer = optim.SGD([p], lr=0.1)
    multi_tensor._tables.clear()
    for _ in range(2):
        optimizer.step()
    assert [rows for _, rows in multi_tensor._tables.values()] == [5]
    kept, p.grad = p.grad, tenfold.ones_like(p)
    optimizer.step()
    assert len(multi_tensor._tables) == 2
    assert kept.sum() == 9000
    assert_close(p, tenfold.full((9000,), -0.3), 4)


def gradients(device, dtype, *shapes, hurt=()):
    params = [tenfold.zeros(shape, dtype=dtype, device=device, requires_grad=True) for shape in shapes]
    for k, p in enumerate(params):
        p.grad = drawn(tuple(p.shape), dtype, k).to(device)
    for value in hurt:
        params[1].grad.view(-1)[3] = value
    return params


@pytest.mark.parametrize("dtype", [*DTYPES, tenfold.float16, tenfold.float64], ids=lambda d: d.name)
@pytest.mark.parametrize("order", [2.0, 1.0, float("inf"), 3.0])
def test_gradients_are_clipped_together(dtype, order):
    for hurt in ((), (float("inf"),), (float("nan"),)):
        totals, found = [], []
        for device in ("cpu", "cuda"):
            params = gradients(device, dtype, (2100,), (3, 40), (1,), hurt=hurt)
            totals.append(nn.utils.clip_grad_norm_(params, 1.5, order))
            found.append([p.grad for p in params])
        assert_close(totals[1], totals[0], 8)
        for expected, got in zip(*found, strict=True):
            assert_close(got, expected, 8)
    params = gradients("cuda", dtype, (4,), (3, 4))
    before = [p.grad.clone() for p in params]
    nn.utils.clip_grad_norm_(params, 1e4, order)
    assert all(p.grad.equal(b) for p, b in zip(params, before, strict=True))


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.float64, tenfold.bfloat16, tenfold.complex64], ids=lambda d: d.name)
def test_gradients_are_zeroed_together(dtype):
    params = gradients("cuda", dtype, (5000,), (3, 40), (1,))
    strided = params[1].grad = params[1].grad.t().contiguous().t()
    kept = [p.grad for p in params]
    optim.SGD(params, lr=0.1).zero_grad(set_to_none=False)
    assert all(p.grad is g and not g.any() for p, g in zip(params, kept, strict=True))
    assert strided.stride() == (1, 3)


def test_a_write_to_many_counts_for_each():
    x = tenfold.ones(4, device="cuda", requires_grad=True)
    y = x * 2
    loss = (y * y).sum()
    with tenfold.no_grad():
        tenfold._foreach_zero_([y.detach(), tenfold.ones(3, device="cuda")])
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@pytest.mark.parametrize("dtype", [*DTYPES, tenfold.float64], ids=lambda d: d.name)
@pytest.mark.parametrize("hurt", [(), (float("inf"),), (float("nan"),), (-float("inf"),)], ids=str)
def test_gradients_are_unscaled_together(dtype, hurt):
    params = gradients("cuda", dtype, (5000,), (3, 40), (1,), hurt=hurt)
    before = [p.grad.clone() for p in params]
    scaler, optimizer = tenfold.amp.GradScaler("cuda", init_scale=8.0), optim.SGD(params, lr=1.0)
    scaler.scale(tenfold.ones((), device="cuda"))
    scaler.unscale_(optimizer)
    for p, b in zip(params, before, strict=True):
        assert_close(p.grad, b.cpu() / 8, 4)
    scaler.step(optimizer)
    assert bool(params[0].any()) == (not hurt)
    scaler.update()
    assert scaler.get_scale() == (4.0 if hurt else 8.0)


@pytest.mark.parametrize("name", ["Adadelta", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop", "Rprop", "ASGD"])
@pytest.mark.parametrize("options", [{}, {"weight_decay": 0.1, "maximize": True}, {"lr": "on the device"}], ids=repr)
def test_steps_counted_on_the_device_are_those_of_the_host(name, options):
    found = []
    if name == "Rprop":
        options = {key: value for key, value in options.items() if key != "weight_decay"}
    for device in ("cpu", "cuda"):
        rate = tenfold.full((), 0.1, device=device) if "lr" in options else 0.1
        given = {**options, "lr": rate, "capturable": device == "cuda"} | ({"t0": 2, "lambd": 0.1} if name == "ASGD" else {})
        params = [drawn(shape, tenfold.float32, k).to(device) for k, shape in enumerate([(2100,), (3, 4), (0,), (5, 6)])]
        params[3] = params[3][:, ::2]  # which lies apart
        params = [p.requires_grad_() for p in params]
        optimizer = getattr(optim, name)(params, **given)
        for step in range(8):  # RAdam rectifies from the sixth on
            for k, p in enumerate(params):
                p.grad = drawn(tuple(p.shape), tenfold.float32, 10 * step + k).to(device) if k or step else None
            optimizer.step()
        states = [optimizer.state[p] for p in params]
        assert all(s[key].is_cuda == (device == "cuda") for s in states for key in optimizer.scalars)
        assert [float(s["step"]) for s in states] == [7, 8, 8, 8]
        found.append([*params, *(s[key].to(device) for s in states for key in s)])
    for expected, got in zip(*found, strict=True):
        assert_close(got, expected, 8)


@pytest.mark.parametrize("name", ["Adadelta", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop", "Rprop", "ASGD"])
def test_capturable_steps_one_parameter_at_a_time(name):
    found = []
    for device in ("cpu", "cuda"):
        p = tenfold.ones(3, device=device, requires_grad=True)
        optimizer = getattr(optim, name)([p], lr=0.1, capturable=device == "cuda", foreach=False)
        for n in range(3):
            p.grad = tenfold.arange(3.0, device=device) + n
            optimizer.step()
        found.append(p.detach().cpu())
    np.testing.assert_allclose(found[1].numpy(), found[0].numpy(), rtol=1e-5)


@pytest.mark.parametrize("options", [{"foreach": False}, {"fused": None}, {"foreach": True}], ids=["single", "plain", "foreach"])
@pytest.mark.parametrize("name", ["Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop", "Rprop", "ASGD"])
def test_complex_parameters_are_two_reals_each_with_capturable_too(name, options):
    found = []
    for device in ("cpu", "cuda"):
        p = (tenfold.arange(1.0, 4.0) + 0.5j).to(device).requires_grad_()
        capturable = {"capturable": True} if device == "cuda" and name != "Adagrad" else {}
        given = {k: v for k, v in options.items() if k != "fused" or name in ("Adam", "AdamW")}
        optimizer = getattr(optim, name)([p], lr=0.1, **given, **capturable)
        for n in range(3):
            p.grad = (tenfold.arange(3.0) + 1j * n - 1).to(p.dtype).to(device)
            optimizer.step()
        found.append([p.detach().cpu(), *(v.cpu() for v in optimizer.state[p].values())])
        assert all(v.is_complex() for k, v in optimizer.state[p].items() if k not in optimizer.scalars)
        assert float(optimizer.state[p]["step"]) == 3
    for expected, got in zip(*found, strict=True):
        np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=1e-5)


@pytest.mark.parametrize(
    "make", [optim.AdamW, optim.Adagrad, lambda p, **k: optim.SGD(p, momentum=0.9, **k)], ids=["AdamW", "Adagrad", "SGD"]
)
def test_a_scaled_gradient_in_another_order_is_unscaled_where_it_lies(make):
    p = drawn((8, 6), tenfold.float32).cuda().requires_grad_()
    last = drawn((2, 3, 4, 5), tenfold.float32).cuda().contiguous(memory_format=tenfold.channels_last).requires_grad_()
    grads = drawn((6, 8), tenfold.float32, 1).t(), drawn((2, 3, 4, 5), tenfold.float32, 2)
    scaler, optimizer = tenfold.amp.GradScaler("cuda", init_scale=8.0), make([p, last], lr=0.1, fused=True)
    scaler.scale(tenfold.ones((), device="cuda"))
    p.grad, last.grad = ((8 * g).cuda() for g in grads)
    assert p.grad.stride() == (1, 8)
    scaler.step(optimizer)
    for got, expected in zip((p.grad, last.grad), grads, strict=True):
        assert_close(got, expected, 4)


def test_a_differentiable_step_that_is_capturable_is_one_of_operators():
    found = []
    for device in ("cpu", "cuda"):
        p = tenfold.ones(3, device=device, requires_grad=True)
        moved = p.clone()
        optimizer = optim.Adam([moved], lr=0.1, differentiable=True, capturable=device == "cuda")
        moved.grad = tenfold.arange(3.0, device=device)
        optimizer.step()
        found.append(moved.detach().cpu())
    np.testing.assert_allclose(found[1].numpy(), found[0].numpy(), rtol=1e-6)


@pytest.fixture
def in_float64():
    tenfold.set_default_dtype(tenfold.float64)
    yield
    tenfold.set_default_dtype(tenfold.float32)


@pytest.mark.parametrize("name", ["Adam", "Adagrad", "NAdam", "ASGD"])
def test_counters_are_of_the_default_dtype(name, in_float64):
    found = []
    for device in ("cpu", "cuda"):
        p = drawn((40,), tenfold.float64).to(device).requires_grad_()
        optimizer = getattr(optim, name)([p], lr=0.1, **({"lr_decay": 0.1} if name == "Adagrad" else {}))
        optimizer.param_groups[0]["capturable"] = device == "cuda" and name != "Adagrad"
        if name == "Adagrad":
            optimizer.state[p]["step"] = optimizer.state[p]["step"].to(device)
        for step in range(4):
            p.grad = drawn((40,), tenfold.float64, step).to(device)
            optimizer.step()
        found.append(p)
    counter = optimizer.state[p]["step"]
    assert (counter.dtype, counter.is_cuda, float(counter)) == (tenfold.float64, True, 4.0)
    assert_close(found[1], found[0])
