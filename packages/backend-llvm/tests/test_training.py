"""Cross entropy and fused optimizer steps, with gradients as a program has them, against NumPy and the ordinary rules."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.nn import functional
from tenfold.optim.rule import _fused_kernels

RNG = np.random.default_rng(0)


def reference(x, target):
    x = x.astype(np.float64)
    shifted = x - x.max(1, keepdims=True)
    log_sum = np.log(np.exp(shifted).sum(1))
    rows = np.arange(len(x))
    gradient = np.exp(shifted - log_sum[:, None])
    gradient[rows, target] -= 1
    return log_sum - shifted[rows, target], gradient


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 2), (10, 7), (64, 1001)])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_cross_entropy(reduction, shape, dtype):
    numbers, target = (RNG.standard_normal(shape) * 4).astype(dtype), RNG.integers(0, shape[1], shape[0])
    x = tenfold.tensor(numbers, requires_grad=True)
    loss = functional.cross_entropy(x, tenfold.tensor(target), reduction=reduction)
    losses, gradient = reference(numbers, target)
    expected = {"mean": losses.mean(), "sum": losses.sum(), "none": losses}[reduction]
    rtol = 1e-5 if dtype == np.float32 else 1e-12
    # the sum of exponentials is one of float32, near 1 where the loss is small
    np.testing.assert_allclose(loss.detach().numpy(), expected, rtol=rtol, atol=rtol / 100)
    loss.sum().backward()
    scale = shape[0] if reduction == "mean" else 1
    np.testing.assert_allclose(x.grad.numpy(), gradient / scale, rtol=rtol, atol=rtol / scale)


def test_cross_entropy_of_special_rows_and_wrong_targets():
    x = tenfold.tensor([[0.0, np.inf], [np.nan, 0.0], [-np.inf, 0.0]])
    losses = functional.cross_entropy(x, tenfold.tensor([0, 1, 1]), reduction="none")
    assert losses[:2].isnan().tolist() == [False, True] or losses[:2].isnan().all()
    assert losses[2].item() == 0
    with pytest.raises(IndexError, match="Target 2 is out of bounds"):
        functional.cross_entropy(x, tenfold.tensor([0, 2, 1]))
    assert functional.cross_entropy(x[2:], tenfold.tensor([-100])).isnan()


OPTIMIZERS = [
    ("Adam", {}),
    ("Adam", {"weight_decay": 0.1}),
    ("Adam", {"amsgrad": True}),
    ("AdamW", {}),
    ("AdamW", {"maximize": True, "betas": (0.3, 0.5)}),
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.1, "momentum": 0.5, "dampening": 0.5, "maximize": True}),
    ("SGD", {"lr": 0.1, "weight_decay": 0.1}),
]


def trained(name, options, dtype, layout=lambda t: t):
    generator = np.random.default_rng(1)
    made = [generator.standard_normal(shape) for shape in ((37, 211), (5,), (), (4097,))]
    params = [layout(tenfold.tensor(p, dtype=dtype)).requires_grad_() for p in made]
    optimizer = getattr(tenfold.optim, name)(params, **options)
    for _ in range(4):
        for p in params:
            p.grad = tenfold.tensor(generator.standard_normal(p.shape), dtype=dtype)
        optimizer.step()
    return params


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.float64, tenfold.bfloat16])
@pytest.mark.parametrize(("name", "options"), OPTIMIZERS)
def test_steps_are_those_of_the_ordinary_rule(name, options, dtype):
    fused = trained(name, options, dtype)
    assert {("adam", "cpu"), ("sgd", "cpu")} <= _fused_kernels.keys()
    plain = trained(name, {**options, "foreach": False}, dtype)
    tolerance = {tenfold.float32: 1e-6, tenfold.float64: 1e-14, tenfold.bfloat16: 1e-2}[dtype]
    for a, b in zip(fused, plain):
        np.testing.assert_allclose(a.detach().double().numpy(), b.detach().double().numpy(), rtol=tolerance, atol=tolerance)


def test_parameters_of_other_layouts():
    def turned(t):
        return t.T.clone().T if t.ndim == 2 else t

    for a, b in zip(trained("AdamW", {}, tenfold.float32, turned), trained("AdamW", {}, tenfold.float32)):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-6, atol=1e-6)


def test_a_step_counts_as_a_write():
    x = tenfold.ones(5000, requires_grad=True)
    y = (x * x).sum()
    x.grad = tenfold.ones(5000)
    version = x._version
    tenfold.optim.SGD([x], lr=0.1).step()
    assert x._version > version
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.float64])
@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (64, 10), (7, 1000), (16, 1024), (17, 1024)])  # one launch, and several
def test_cross_entropy_in_one_go_is_what_its_parts_give(shape, dtype):
    functional = tenfold.nn.functional
    for extreme in (False, True):
        logits = tenfold.randn(*shape, dtype=dtype) * 5
        if extreme:
            logits.view(-1)[::7] = -float("inf")
            logits.view(-1)[3::7] = 88.0
        target = tenfold.arange(shape[0]) % shape[1]
        for reduction in ("mean", "sum", "none"):
            x, y = (logits.clone().requires_grad_() for _ in range(2))
            got = functional.cross_entropy(x, target, reduction=reduction)
            expected = -y.log_softmax(1).gather(1, target[:, None])[:, 0]
            expected = expected if reduction == "none" else getattr(expected, reduction)()
            tenfold.testing.assert_close(got, expected, equal_nan=True, rtol=1e-5, atol=1e-6)
            for result in (got, expected):
                (result * 1.5).sum().backward()
            tenfold.testing.assert_close(x.grad, y.grad, equal_nan=True, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("rows", [2, 5000])
@pytest.mark.parametrize("bad", [10, -1, 1 << 62, -(1 << 63)])
def test_a_target_that_is_no_class_is_named_and_read_nowhere(rows, bad):
    target = tenfold.zeros(rows, dtype=tenfold.int64)
    target[-1] = bad
    with pytest.raises(IndexError, match="is out of bounds"):
        tenfold.nn.functional.cross_entropy(tenfold.randn(rows, 10), target)


@pytest.mark.parametrize("rows", [2, 5000])
def test_the_gradient_writes_nothing_at_a_target_that_is_no_class(rows):
    from tenfold.llvm.kernels.loss import fused_cross_entropy_grad  # the kernel is there where LLVM is

    x, target = RNG.standard_normal((rows, 10)).astype(np.float32), np.zeros(rows, np.int64)
    target[-1] = 1 << 40
    one, zeros = np.ones((), np.float32), np.zeros(rows, np.float32)
    assert fused_cross_entropy_grad(one, x, target, None, -100, 0.0, "mean", one, zeros, zeros) is NotImplemented
