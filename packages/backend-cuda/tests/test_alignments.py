"""Connectionist temporal classification by kernels of the device, with its gradient, against the CPU."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.dispatch.devices import AcceleratorError
from tenfold.nn import functional as F

RNG = np.random.default_rng(0)
SIZES = [(5, 2, 4, 2), (20, 4, 9, 6), (1, 1, 2, 1), (7, 3, 6, 0), (9, 2, 1100, 4), (4, 2, 3, 80)]


def outcome(device, scores, labels, sizes, blank=0, reduction="none", zero_infinity=False):
    x = tenfold.from_numpy(scores).to(device).log_softmax(2).transpose(0, 1).detach().requires_grad_()
    labels = tenfold.from_numpy(labels).to(device)
    loss = F.ctc_loss(x, labels, *map(tenfold.from_numpy, sizes), blank, reduction, zero_infinity)
    shares = tenfold.arange(1.0, loss.numel() + 1, dtype=loss.dtype).reshape(loss.shape)
    loss.backward(shares.to(device))
    return loss.detach().cpu().numpy(), x.grad.cpu().numpy()


def compare(scores, *given, **options):
    tolerance = 2e-4 if scores.dtype == np.float32 else 1e-9
    for expected, got in zip(*[outcome(device, scores, *given, **options) for device in ("cpu", "cuda")], strict=True):
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


def drawn(case, dtype, blank, least=0):
    T, N, C, S = case
    labels = RNG.integers(0, C - 1, (N, S))
    sizes = RNG.integers(least, T + 1, N), RNG.integers(0, S + 1, N)
    return RNG.standard_normal((N, T, C)).astype(dtype), np.where(labels >= blank, labels + 1, labels), sizes


@pytest.fixture(autouse=True)
def _kernels_alone(monkeypatch):
    """Of what is on the device the body is made of thousands of calls: here it must not run."""

    def asked(log_probs, *given):
        assert log_probs.is_cpu
        raise AssertionError("the body ran")

    monkeypatch.setattr("tenfold.nn.ops.loss.ctc._forward", asked)


@pytest.mark.parametrize(("dtype", "zero_infinity"), [(np.float32, True), (np.float64, False)])
@pytest.mark.parametrize("case", SIZES, ids=str)
def test_losses_and_gradients(case, dtype, zero_infinity):
    """Among them samples that cannot be aligned, without steps, and without labels."""
    for least, reduction in ((0, "none"), (case[0], "mean")):
        blank = int(RNG.integers(0, case[2]))
        scores, labels, sizes = drawn(case, dtype, blank, least)
        compare(scores, labels, sizes, blank=blank, reduction=reduction, zero_infinity=zero_infinity)
        compare(scores, np.repeat(labels[:, :1], case[3], 1), sizes, blank=blank, zero_infinity=zero_infinity)


def test_labels_one_after_the_other():
    scores, labels, sizes = drawn(SIZES[1], np.float32, 0, 20)
    compare(scores, np.concatenate([row[:n] for row, n in zip(labels, sizes[1], strict=True)]), sizes)


def test_numbers_that_are_none():
    scores, labels, sizes = drawn(SIZES[1], np.float32, 0, 20)
    scores[1, 3, 2], scores[2, 0, 0] = np.nan, -np.inf
    compare(scores, labels, sizes)


def test_a_label_that_is_no_class_is_told():
    scores, labels, sizes = drawn((5, 2, 4, 2), np.float32, 0, 5)
    labels[0, 0], sizes[1][:] = 9, 2
    with pytest.raises(AcceleratorError, match="ctc_loss was out of bounds"):
        _told(scores, labels, sizes)


def _told(*given):
    outcome("cuda", *given)
    tenfold.cuda.synchronize()


def test_what_lies_behind_the_labels_is_not_read():
    scores, labels, sizes = drawn((5, 2, 4, 3), np.float32, 0, 5)
    sizes[1][:] = 1
    labels[:, 1:] = -100
    compare(scores, labels, sizes)
