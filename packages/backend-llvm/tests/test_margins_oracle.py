"""Losses of margins between the scores of a row, in one pass, against PyTorch: values, gradients, refusals."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tenfold
from tenfold.llvm.kernels import margins

torch = pytest.importorskip("torch")
SHAPES = ((1, 1), (5,), (4, 3), (33, 20), (200, 65))
LIBRARIES = (tenfold, torch)


def _scores(shape, dtype, special):
    x = np.random.default_rng(1).standard_normal(shape).astype(dtype)
    if special:
        x.reshape(-1)[:: max(1, x.size // 5)] = np.inf
        x.reshape(-1)[1 :: max(1, x.size // 4)] = np.nan
    return x


def _compared(name, x, target, what, **named):
    found = []
    for lib in LIBRARIES:
        given = lib.from_numpy(x.copy()).requires_grad_()
        options = {k: lib.from_numpy(v) if isinstance(v, np.ndarray) else v for k, v in named.items()}
        made = getattr(lib.nn.functional, name)(given, lib.from_numpy(np.array(target)), **options)
        made.backward(lib.ones_like(made.detach()) * 0.5)
        found.append((made.detach().numpy(), given.grad.numpy()))
    (ours, slope), (theirs, wanted) = found
    assert (ours.dtype, ours.shape, slope.strides) == (theirs.dtype, theirs.shape, wanted.strides), what
    tolerance = 1e-4 if x.dtype == np.float32 else 1e-12
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance, err_msg=what)
    np.testing.assert_allclose(slope, wanted, rtol=tolerance, atol=tolerance, err_msg=what)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_one_class(shape, dtype):
    rng = np.random.default_rng(2)
    x, target, weight = _scores(shape, dtype, False), rng.integers(0, shape[-1], shape[:-1]), rng.random(shape[-1]).astype(dtype)
    for p, weighed, reduction, margin in itertools.product((1, 2), (False, True), ("mean", "sum", "none"), (1.0, -0.5, 3)):
        named = {"p": p, "margin": margin, "reduction": reduction} | ({"weight": weight} if weighed else {})
        _compared("multi_margin_loss", x, target, str(named), **named)


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_several_labels(shape, dtype, special):
    rng = np.random.default_rng(3)
    target = rng.integers(0, shape[-1], shape)  # with labels that are there twice
    target[rng.random(shape) < 0.3] = -1
    for labels, reduction in itertools.product((target, np.full(shape, -1), np.maximum(target, 0)), ("mean", "sum", "none")):
        x = _scores(shape, dtype, special)
        if special and labels is not target:
            continue
        _compared("multilabel_margin_loss", x, labels, reduction, reduction=reduction)


def test_compiled_kernels_serve_them():
    x, one = np.ones((3, 4), np.float32), np.ones((), np.float32)
    classes, labels = np.array([0, 1, 3]), np.array([[0, 1, -1, 0]] * 3)
    assert margins.fused_class_margins(x, classes, None, 1, 1.0, "mean") is not NotImplemented
    assert margins.fused_class_margins_grad(one, x, classes, x[0].copy(), 2, 1.0, "mean") is not NotImplemented
    assert margins.fused_label_margins(x, labels, "sum") is not NotImplemented
    assert margins.fused_label_margins_grad(one, x, labels, "sum") is not NotImplemented
    for beyond in (4, -1):
        assert margins.fused_class_margins(x, np.array([0, beyond, 3]), None, 1, 1.0, "mean") is NotImplemented
    assert margins.fused_label_margins(x, np.array([[0, 4, -1, 0]] * 3), "sum") is NotImplemented


@pytest.mark.parametrize("library", [tenfold, torch], ids=["ours", "theirs"])
def test_powers_of_a_floating_type_and_single_scores(library):
    x, target = library.tensor([[0.5, 1.0, 2.0]]), library.tensor([0])
    functional = library.nn.functional
    assert round(functional.multi_margin_loss(x, target, p=2.0).item(), 4) == 2.8333
    assert library.nn.MultiMarginLoss(p=1.0)(x, target).item() == functional.multi_margin_loss(x, target).item()
    with pytest.raises(ValueError, match="only p == 1 and p == 2 supported"):
        functional.multi_margin_loss(x, target, p=1.5)
    one, first = library.tensor(0.5), library.tensor(0)
    assert functional.multi_margin_loss(one, first).item() == 0
    assert functional.multilabel_margin_loss(one, first).item() == 0
