"""Compiled sampling at places, bags of rows, losses of differences and batch normalization down columns, against PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold
from tenfold.llvm import session
from tenfold.llvm.kernels import bags, differences, sampling

torch = pytest.importorskip("torch")
RNG = np.random.default_rng(0)


@pytest.fixture(params=[1, 2])
def threads(request):
    before = tenfold.get_num_threads()
    tenfold.set_num_threads(request.param)
    yield
    tenfold.set_num_threads(before)


def close(ours: list[Any], theirs: list[Any], dtype: Any, factor: float = 1) -> None:
    tolerance = (1e-5 if dtype == np.float32 else 1e-11) * factor
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
    assert session.failures() == []


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
def test_grid_sample(mode, padding, align, threads):
    for dtype in (np.float32, np.float64):
        for shape, out in (
            ((2, 3, 7, 9), (4, 5)),
            ((1, 17, 5, 6), (3, 20)),
            ((2, 4, 1, 6), (3, 3)),
            ((2, 3, 4, 5, 6), (2, 3, 4)),
        ):
            if mode == "bicubic" and len(shape) == 5:
                continue
            x = RNG.standard_normal(shape).astype(dtype)
            grid = (RNG.standard_normal((shape[0], *out, len(out))) * 1.3).astype(dtype)
            g = RNG.standard_normal((*shape[:2], *out)).astype(dtype)
            found = []
            for lib in (tenfold, torch):
                leaves = [lib.from_numpy(a.copy()).requires_grad_() for a in (x, grid)]
                y = lib.nn.functional.grid_sample(*leaves, mode=mode, padding_mode=padding, align_corners=align)
                y.backward(lib.from_numpy(g))
                found.append([y.detach().numpy(), *(leaf.grad.numpy() for leaf in leaves)])
            close(*found, dtype, 10)


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
def test_places_that_are_no_numbers(mode):
    x, grid = RNG.standard_normal((2, 3, 7, 9)), RNG.standard_normal((2, 4, 5, 2))
    grid.reshape(-1)[::7], grid.reshape(-1)[3::11], grid.reshape(-1)[5::13] = np.nan, np.inf, -1e9
    for padding in ("zeros", "border", "reflection"):
        found = [
            lib.nn.functional.grid_sample(lib.from_numpy(x), lib.from_numpy(grid), mode, padding, False).numpy()
            for lib in (tenfold, torch)
        ]
        close([found[0]], [found[1]], np.float64)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("padding_idx", [None, 3])
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags(mode, padding_idx, weighted, threads):
    if weighted and mode != "sum":
        return
    for dtype, D, ends, even in [
        (d, w, e, v) for d in (np.float32, np.float64) for w in (1, 16, 70) for e in (0, 1) for v in (0, 1)
    ]:
        table = np.round(RNG.standard_normal((20, D)) * 2).astype(dtype)  # with equals
        index = RNG.integers(0, 20, (6, 5) if even else (30,))
        offsets = None if even else np.array([0, 0, 4, 9, 9, 25, 30 if ends else 28])
        factors = RNG.standard_normal(index.shape).astype(dtype)
        found = []
        for lib in (tenfold, torch):
            weight, each = (lib.from_numpy(a.copy()).requires_grad_() for a in (table, factors))
            y = lib.nn.functional.embedding_bag(
                lib.from_numpy(index), weight, None if even else lib.from_numpy(offsets), mode=mode, padding_idx=padding_idx,
                per_sample_weights=each if weighted else None, include_last_offset=bool(ends and not even),
            )  # fmt: skip
            y.backward(lib.from_numpy(np.cos(np.arange(y.numel(), dtype=dtype)).reshape(tuple(y.shape))))
            found.append([y.detach().numpy(), weight.grad.numpy(), *([each.grad.numpy()] if weighted else [])])
        close(*found, dtype)


def test_what_bags_refuse():
    table, one = tenfold.ones(20, 3), tenfold.tensor([0])
    for index in ([0, 20], [-1, 2]):
        with pytest.raises(RuntimeError, match="idx >= 0 && idx < num_embeddings"):
            tenfold.nn.functional.embedding_bag(tenfold.tensor(index), table, one)
    with pytest.raises(RuntimeError, match=r"offsets\[0\] has to be 0"):
        tenfold.nn.functional.embedding_bag(tenfold.tensor([1, 2]), table, tenfold.tensor([1]))
    with pytest.raises(RuntimeError, match=r"offsets\[-1\] can not be greater"):
        tenfold.nn.functional.embedding_bag(tenfold.tensor([1, 2]), table, tenfold.tensor([0, 3]))
    out_of_order = table.numpy(), np.arange(4), np.array([0, 3, 2]), None, "sum", 3, -1, False, False
    assert bags.fused_bags(*out_of_order) is NotImplemented


LOSSES = [
    ("mse_loss", {}), ("smooth_l1_loss", {}), ("smooth_l1_loss", {"beta": 0.3}), ("smooth_l1_loss", {"beta": 0.0}),
    ("huber_loss", {}), ("huber_loss", {"delta": 2.5}),
]  # fmt: skip


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize(("name", "options"), LOSSES, ids=str)
def test_losses(name, options, reduction, threads):
    for dtype, shape in [(d, s) for d in (np.float32, np.float64) for s in ((), (7, 33), (300, 300), (0, 3))]:
        x, t = (np.asarray(RNG.standard_normal(shape) * 2).astype(dtype) for _ in range(2))
        for special, turned in ((False, False), (True, False), (False, True)):
            if special:
                x.reshape(-1)[::7], x.reshape(-1)[1::9], t.reshape(-1)[3::11] = np.inf, np.nan, -np.inf
            found = []
            for lib in (tenfold, torch):
                a, b = (lib.from_numpy(v.copy()) for v in (x, t))
                if turned and a.dim() > 1:
                    a, b = a.T, b.T.contiguous()
                a, b = a.detach().requires_grad_(), b.requires_grad_()
                y = getattr(lib.nn.functional, name)(a, b, reduction=reduction, **options)
                y.backward(lib.ones_like(y) * 1.5)
                found.append([y.detach().numpy(), a.grad.numpy(), b.grad.numpy()])
            close(*found, dtype)


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("affine", [False, True])
def test_batch_norm_down_columns(affine, training, threads):
    for dtype, shape in [
        (d, s)
        for d in (np.float32, np.float64)
        for s in ((64, 20), (4096, 9), (2, 16, 8, 8), (8, 33, 5, 7), (4, 16, 32, 40), (2, 9, 3, 4, 5))
    ]:
        x, (W, B, M, V) = RNG.standard_normal(shape).astype(dtype) + 30, RNG.random((4, shape[1])).astype(dtype) + 0.5
        g, found = RNG.standard_normal(shape).astype(dtype), []
        for lib in (tenfold, torch):
            last = {4: lib.channels_last, 5: lib.channels_last_3d}.get(len(shape), lib.contiguous_format)
            leaf = lib.from_numpy(x.copy()).contiguous(memory_format=last).requires_grad_()
            weight, bias = (lib.from_numpy(v.copy()).requires_grad_() for v in (W, B))
            mean, var = (lib.from_numpy(v.copy()) for v in (M, V))
            y = lib.nn.functional.batch_norm(leaf, mean, var, *((weight, bias) if affine else (None, None)), training=training)
            y.backward(lib.from_numpy(g).contiguous(memory_format=last))
            grads = [leaf.grad.numpy(), *((weight.grad.numpy(), bias.grad.numpy()) if affine else ())]
            found.append([y.detach().numpy(), mean.numpy(), var.numpy(), *grads])
            assert y.stride() == leaf.stride() == leaf.grad.stride()
        close(*found, dtype, 300 if training else 20)


def test_these_are_served():
    """By compiled code, not by the bodies."""
    x, grid = np.ones((1, 2, 4, 4), np.float32), np.zeros((1, 3, 3, 2), np.float32)
    how, g = ("bilinear", "zeros", False), np.ones((1, 2, 3, 3), np.float32)
    bag = np.ones((5, 3), np.float32), np.arange(4), np.array([0, 2]), None, "sum", 2, -1, False, False
    pair = x, x, None, None, "bent", 1.0, 1.0
    results = [
        sampling.fused_grid_sample(x, grid, *how), sampling.fused_grid_sample_input_grad(g, grid, x.shape, *how),
        sampling.fused_grid_sample_grid_grad(g, x, grid, *how), bags.fused_bags(*bag), differences.fused_pointwise_loss(*pair, 1),
        differences.fused_pointwise_loss(*pair, 0), differences.fused_pointwise_loss_grad(x[0, 0, 0, 0], *pair, 1),
    ]  # fmt: skip
    assert all(r is not NotImplemented for r in results)
    assert sampling.fused_grid_sample(x.astype(np.float16), grid.astype(np.float16), *how) is NotImplemented
