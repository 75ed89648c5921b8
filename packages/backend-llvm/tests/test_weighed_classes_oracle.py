"""Cross entropy and the negative log likelihood of weighed classes, ignored targets and several places, against PyTorch."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tenfold
from tenfold.llvm.kernels import loss, nll

torch = pytest.importorskip("torch")
SHAPES = ((1, 1), (5, 3), (40, 70), (300, 130), (3, 70, 4), (2, 65, 3, 2))
LIBRARIES = (tenfold, torch)


def _numbers(shape, dtype, special):
    rng = np.random.default_rng(3)
    x = rng.standard_normal(shape).astype(dtype)
    if special:
        x.reshape(-1)[:: max(1, x.size // 7)] = np.inf
        x.reshape(-1)[1 :: max(1, x.size // 5)] = np.nan
    target = rng.integers(0, shape[1], (shape[0], *shape[2:]))
    return x, target, (rng.random(shape[1]) + 0.1).astype(dtype)


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["cross_entropy", "nll_loss"])
@pytest.mark.parametrize("shape", SHAPES)
def test_losses_and_gradients(shape, name, dtype, special):
    x, target, weight = _numbers(shape, dtype, special)
    for ignored, weighed, reduction in itertools.product((-100, 0, "some", "all"), (False, True), ("mean", "sum", "none")):
        t = target.copy()
        if ignored == "some":
            t.reshape(-1)[::2] = -100
        elif ignored == "all":
            t[...] = -100
        found = []
        for lib in LIBRARIES:
            given = lib.from_numpy(x.copy()).requires_grad_()
            made = getattr(lib.nn.functional, name)(
                given, lib.from_numpy(t.copy()), lib.from_numpy(weight.copy()) if weighed else None,
                ignore_index=ignored if isinstance(ignored, int) else -100, reduction=reduction,
            )  # fmt: skip
            made.backward(lib.ones_like(made.detach()) * 0.5)
            found += [made.detach().numpy(), given.grad.numpy()]
        what = str((ignored, weighed, reduction))
        assert (found[0].dtype, found[1].strides) == (found[2].dtype, found[3].strides), what
        np.testing.assert_allclose(found[0], found[2], rtol=2e-5 if dtype == "float32" else 1e-12, err_msg=what)
        np.testing.assert_allclose(found[1], found[3], rtol=2e-4 if dtype == "float32" else 1e-10, atol=1e-7, err_msg=what)


@pytest.mark.parametrize("name", ["cross_entropy", "nll_loss"])
def test_a_target_that_is_no_class_is_refused(name):
    for bad, ignored in ((3, 1), (-1, 1), (-101, -100)):
        for lib in LIBRARIES:
            with pytest.raises(IndexError):
                getattr(lib.nn.functional, name)(lib.zeros(2, 3), lib.tensor([bad, 1]), lib.ones(3), ignore_index=ignored)


def test_compiled_kernels_serve_them():
    x, t, w = np.ones((4, 3), np.float32), np.array([0, 2, -100, 1]), np.ones(3, np.float32)
    one = np.ones((), np.float32)
    for weight, ignored, reduction in ((None, -100, "mean"), (w, -100, "none"), (None, 1, "sum")):
        given = np.where(t == -100, ignored, t)
        made = loss.fused_cross_entropy(x, given, weight, ignored, 0.0, reduction)
        assert made is not NotImplemented
        grad = np.ones(4, np.float32) if reduction == "none" else one
        assert loss.fused_cross_entropy_grad(grad, x, given, weight, ignored, 0.0, reduction, *made[1:]) is not NotImplemented
        found = nll.fused_nll_loss(x, given, weight, ignored, reduction)
        assert found is not NotImplemented
        assert nll.fused_nll_loss_grad(grad, x, given, weight, ignored, reduction, found[1]) is not NotImplemented
    many = np.ones((2, 64, 3), np.float32)
    assert loss.fused_cross_entropy(many, np.zeros((2, 3), np.int64), None, -100, 0.0, "mean") is not NotImplemented
