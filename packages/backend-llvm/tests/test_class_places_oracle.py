"""Losses of classes at places (N, C, *S), and those of half precision, against PyTorch."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tenfold
from tenfold.llvm.kernels import class_places, loss, nll

torch = pytest.importorskip("torch")
SHAPES = ((2, 5, 20), (3, 21, 7, 45), (1, 4, 1, 600), (2, 2, 3), (40, 9))
TOLERANCES = {"float64": 1e-12, "float32": 2e-5, "float16": 2e-3, "bfloat16": 2e-2}


def _given(lib, x, dtype):
    return lib.from_numpy(x.copy()).to(getattr(lib, dtype))


def _numbers(x):
    return x.detach().float().numpy() if x.dtype in (torch.bfloat16, tenfold.bfloat16) else x.detach().numpy()


def _losses(lib, name, x, target, weight, dtype, **options):
    """The loss and the gradient; PyTorch, which rounds half precision on the way, computes it in float32."""
    given, w = (None if a is None else _given(lib, a, dtype) for a in (x, weight))
    if lib is torch and dtype.endswith("16"):
        given, w = given.float(), None if w is None else w.float()
    given = given.requires_grad_()
    made = getattr(lib.nn.functional, name)(given, lib.from_numpy(target.copy()), w, **options)
    (slopes,) = lib.autograd.grad(made, given, lib.ones_like(made.detach()) * 0.5)
    return made, slopes


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("shape", SHAPES)
def test_losses_and_gradients(shape, dtype, special):
    rng = np.random.default_rng(len(shape))
    x = rng.standard_normal(shape) * 3
    if special:
        x.reshape(-1)[::17], x.reshape(-1)[1::23] = -np.inf, np.nan
    target, weight = rng.integers(0, shape[1], (shape[0], *shape[2:])), rng.random(shape[1]) + 0.1
    names = [("nll_loss", {}), ("cross_entropy", {}), ("cross_entropy", {"label_smoothing": 0.3})]
    for (name, more), w, ignored, reduction in itertools.product(names, (None, weight), (-100, 1), ("mean", "sum", "none")):
        options = {"ignore_index": ignored, "reduction": reduction, **more}
        what, limit = f"{name} {w is not None} {options}", TOLERANCES[dtype]
        (mine, slopes), (theirs, expected) = (_losses(lib, name, x, target, w, dtype, **options) for lib in (tenfold, torch))
        assert (mine.dtype, slopes.dtype, slopes.stride()) == (*[getattr(tenfold, dtype)] * 2, expected.stride()), what
        np.testing.assert_allclose(_numbers(mine), _numbers(theirs), rtol=limit, atol=limit / 4, err_msg=what)
        np.testing.assert_allclose(_numbers(slopes), _numbers(expected), rtol=4 * limit, atol=limit / 40, err_msg=what)


def test_strided_logits_and_targets():
    x, target = np.random.default_rng(1).standard_normal((3, 6, 8, 40)), np.random.default_rng(2).integers(0, 6, (3, 40, 8))
    found = []
    for lib in (tenfold, torch):
        given = lib.from_numpy(x)[:, :, ::2].requires_grad_()
        made = lib.nn.functional.cross_entropy(given, lib.from_numpy(target).transpose(1, 2)[:, ::2], reduction="none")
        found.append((made.detach().numpy(), lib.autograd.grad(made.sum(), given)[0].numpy()))
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_targets_that_are_no_class_are_refused(dtype):
    for bad, ignored in ((3, 1), (-1, 1), (-101, -100)):
        target = np.zeros((2, 20), np.int64)
        target[1, 3] = bad
        for name, lib in itertools.product(("cross_entropy", "nll_loss"), (tenfold, torch)):
            given = lib.zeros(2, 3, 20, dtype=getattr(lib, dtype)), lib.from_numpy(target)
            with pytest.raises(IndexError):
                getattr(lib.nn.functional, name)(*given, ignore_index=ignored)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_compiled_kernels_serve_them(dtype):
    numpys = tenfold.zeros(1, dtype=getattr(tenfold, dtype))._array.dtype
    x, target = np.zeros((2, 5, 20), numpys), np.zeros((2, 20), np.int64)
    for weight, reduction in ((None, "mean"), (np.ones(5, numpys), "none")):
        grad = np.ones((2, 20) if reduction == "none" else (), numpys)
        options = (target, weight, -100, 0.0, reduction)
        made = class_places.entropies(x, *options)
        assert class_places.entropies_grad(grad, x, *options, *made[1:]) is not NotImplemented
        options = (target, weight, -100, reduction)
        made = nll.fused_nll_loss(x, *options)
        assert nll.fused_nll_loss_grad(grad, x, *options, made[1]) is not NotImplemented
    if dtype == "float32":
        assert loss.fused_cross_entropy(x, target, None, -100, 0.1, "mean") is not NotImplemented
