"""PyTorch's helpers for optimizers that are written outside of it."""

from __future__ import annotations

import pytest

import tenfold
from tenfold.optim import SGD, lr_scheduler, optimizer
from tenfold.optim.optimizer import Optimizer


def test_an_optimizer_written_with_them() -> None:
    class Plain(Optimizer):
        def __init__(self, params, lr, differentiable=False):  # type: ignore[no-untyped-def]
            super().__init__(params, {"lr": lr, "differentiable": differentiable})

        @optimizer._use_grad_for_differentiable
        def step(self, closure=None):  # type: ignore[no-untyped-def]
            for group in self.param_groups:
                for param in group["params"]:
                    param.add_(param.grad, alpha=-optimizer._get_value(group["lr"]))

    weight = tenfold.ones(2, requires_grad=True)
    weight.sum().backward()
    Plain([weight], tenfold.tensor(0.5)).step()
    assert weight.tolist() == [0.5, 0.5]
    learned = tenfold.ones(2, requires_grad=True)
    moved = learned.clone()
    moved.grad = tenfold.ones(2)
    Plain([moved], 0.5, differentiable=True).step()
    assert moved.requires_grad
    assert optimizer._default_to_fused_or_foreach([weight], False) == (False, False)


def test_complex_lists_become_real() -> None:
    params, grads = [tenfold.ones(1), tenfold.ones(1, dtype=tenfold.complex64)], [tenfold.ones(1), tenfold.tensor([1j])]
    optimizer._view_as_real(params, grads)
    assert [list(x.shape) for x in params + grads] == [[1], [1, 2], [1], [1, 2]]


def test_scalars() -> None:
    assert optimizer._to_scalar(tenfold.tensor([2.0])).dim() == 0
    assert optimizer._to_scalar(2.0) == 2.0
    assert optimizer._get_scalar_dtype() is tenfold.float32
    assert optimizer._disable_dynamo_if_unsupported()(len) is len
    assert optimizer._stack_if_compiling(3) == 3
    with pytest.raises(AttributeError, match="_nothing"):
        optimizer._nothing


def test_a_sequence_takes_back_first_steps() -> None:
    sgd = SGD([tenfold.ones(1, requires_grad=True)], lr=1.0)
    parts = [lr_scheduler.ConstantLR(sgd, factor=0.5, total_iters=9), lr_scheduler.ExponentialLR(sgd, gamma=0.9)]
    sequence = lr_scheduler.SequentialLR(sgd, parts, milestones=[2])
    before = [part.last_epoch for part in parts]
    sequence.recursive_undo()
    assert [part.last_epoch for part in parts] == [epoch - 1 for epoch in before]
