"""Connectionist temporal classification: PyTorch's losses and gradients."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")
RNG = np.random.default_rng(0)
SIZES = [(5, 2, 4, 2), (50, 8, 20, 10), (1, 1, 2, 1), (12, 3, 5, 6), (30, 4, 3, 12), (7, 3, 6, 0), (90, 3, 40, 30)]
LAYOUTS = {"whole": lambda x: x, "batch first": lambda x: x.transpose(0, 1), "strided": lambda x: x[:, :, ::2]}


def outcome(library: Any, scores: Any, labels: Any, sizes: Any, layout: str, *options: Any) -> tuple[Any, Any]:
    """The loss, and the gradient for scores whose log-softmax is taken."""
    x = library.from_numpy(scores.copy()).requires_grad_()
    log_probs = library.log_softmax(LAYOUTS[layout](x), 2)
    loss = library.nn.functional.ctc_loss(log_probs, library.from_numpy(labels), *map(library.from_numpy, sizes), *options)
    shares = np.random.default_rng(1).standard_normal(tuple(loss.shape)).astype(scores.dtype)
    loss.backward(library.tensor(shares))
    return loss.detach().numpy(), x.grad.numpy()


def alike(scores: Any, *given: Any) -> None:
    tolerance = 5e-5 if scores.dtype == np.float32 else 1e-10
    for ours, theirs in zip(outcome(tenfold, scores, *given), outcome(torch, scores, *given), strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


def drawn(case: Any, dtype: Any, layout: str, blank: int) -> tuple[Any, Any]:
    T, N, C, S = case
    shape = {"whole": (T, N, C), "batch first": (N, T, C), "strided": (T, N, 2 * C)}[layout]
    labels = RNG.integers(0, C - 1, (N, S))
    return RNG.standard_normal(shape).astype(dtype), np.where(labels >= blank, labels + 1, labels)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", SIZES)
def test_losses_and_gradients(case, dtype, layout):
    """Among them samples that cannot be aligned, without steps, and without labels."""
    T, N, C, S = case
    for reduction, zero_infinity, least in itertools.product(("none", "mean", "sum"), (False, True), (0, T)):
        blank = int(RNG.integers(0, C))
        scores, labels = drawn(case, dtype, layout, blank)
        sizes = RNG.integers(least, T + 1, N), RNG.integers(0, S + 1, N)
        alike(scores, labels, sizes, layout, blank, reduction, zero_infinity)
        repeated = np.repeat(labels[:, :1], S, 1)
        alike(scores, repeated, sizes, layout, blank, reduction, zero_infinity)
        flat = np.concatenate([row[:n] for row, n in zip(labels, sizes[1], strict=True)])
        alike(scores, flat, sizes, layout, blank, reduction, zero_infinity)


def test_a_number_that_is_none():
    """Its sample's loss and gradients are NaN, the others' are theirs."""
    for at in (0, 3, 5):
        scores, labels = drawn((6, 3, 5, 2), np.float64, "whole", 0)
        scores[at, 1, 2] = np.nan
        alike(scores, labels, (np.array([6, 6, 6]), np.array([2, 2, 1])), "whole", 0, "none", False)


def test_classes_of_no_probability():
    """Of log_probs of -inf the posterior is 0, as is the gradient: PyTorch's is NaN there, and the same elsewhere."""
    log_probs = np.log(np.full((4, 2, 3), 0.5))
    log_probs[:, :, 2] = -np.inf
    found = []
    for library in (tenfold, torch):
        x = library.from_numpy(log_probs.copy()).requires_grad_()
        loss = library.nn.functional.ctc_loss(x, library.tensor([[1], [1]]), (4, 3), (1, 1), 0, "sum")
        loss.backward()
        found.append((loss.item(), x.grad.numpy()))
    (ours, slopes), (theirs, expected) = found
    assert ours == pytest.approx(theirs)
    np.testing.assert_allclose(slopes[:, :, :2], expected[:, :, :2], rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(slopes[:, :, 2], 0)


def test_labels_that_are_no_classes():
    log_probs = tenfold.zeros(4, 1, 3).log_softmax(2)
    for wrong in (3, -1):
        with pytest.raises((IndexError, RuntimeError)):
            tenfold.nn.functional.ctc_loss(log_probs, tenfold.tensor([[wrong]]), (4,), (1,))
    ours = tenfold.nn.functional.ctc_loss(log_probs, tenfold.tensor([[1, 99]]), (4,), (1,))  # behind the target's end
    theirs = torch.nn.functional.ctc_loss(torch.zeros(4, 1, 3).log_softmax(2), torch.tensor([[1, 2]]), (4,), (1,))
    assert ours.item() == pytest.approx(theirs.item())


def test_second_derivatives_are_those_of_the_formula():
    x = tenfold.tensor(RNG.standard_normal((4, 1, 3))).log_softmax(2).detach().requires_grad_()

    def slopes(y: Any) -> Any:
        loss = tenfold.nn.functional.ctc_loss(y, tenfold.tensor([[1]]), (4,), (1,), 0, "sum")
        return tenfold.autograd.grad(loss, y, create_graph=True)[0]

    second = tenfold.autograd.grad(slopes(x)[1, 0, 2], x)[0]
    step = tenfold.zeros_like(x)
    step[2, 0, 1] = 1e-6
    moved = [slopes((x + sign * step).detach().requires_grad_())[1, 0, 2].item() for sign in (1, -1)]
    assert second[2, 0, 1].item() == pytest.approx((moved[0] - moved[1]) / 2e-6, rel=1e-4)


def test_refusals_are_said_of_the_loss():
    labels = [[3, 1], [1, 2]]
    for library in (tenfold, torch):
        with pytest.raises(RuntimeError, match="log_probs tensor must not be empty"):
            library.nn.functional.ctc_loss(library.zeros(0, 2, 4), library.tensor(labels), (0, 0), (2, 2))
    with pytest.raises(RuntimeError, match=r"ctc_loss: Expected labels of targets to be from 0 to 3.* got 9"):
        tenfold.nn.functional.ctc_loss(tenfold.zeros(5, 2, 4), tenfold.tensor([[9, 1], [1, 2]]), (5, 5), (2, 2))
