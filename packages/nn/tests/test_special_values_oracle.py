"""Losses, bags, statistics, pools, borders and sampling at nan and infinity, in odd layouts and dtypes, as PyTorch has them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")

LIBRARIES = (torch, tenfold)
NAN, INF = math.nan, math.inf


def both(call: Any) -> tuple[Any, Any]:
    """What PyTorch and Tenfold make of a call, as lists: their tensors, numbers, or the class of the error."""
    found = []
    for lib in LIBRARIES:
        try:
            found.append(call(lib, lib.nn.functional))
        except (RuntimeError, ValueError) as error:
            found.append(type(error).__name__)
    return found[0], found[1]


def same(call: Any) -> None:
    expected, got = both(call)
    np.testing.assert_equal(got, expected)


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("name", ["smooth_l1_loss", "huber_loss"])
def test_second_derivatives_at_nan(name: str, reduction: str) -> None:
    def call(lib: Any, F: Any) -> Any:
        x = lib.tensor([NAN, 0.25, 2.0, INF, -0.5], dtype=lib.float64, requires_grad=True)
        loss = getattr(F, name)(x, lib.zeros(5, dtype=lib.float64), reduction=reduction)
        (g,) = lib.autograd.grad(loss.sum(), x, create_graph=True)
        return g.tolist(), lib.autograd.grad(g.sum(), x)[0].tolist()

    same(call)


@pytest.mark.parametrize("grad", [0.0, 1.0, 1e-5, INF, NAN])
@pytest.mark.parametrize("name", ["mse_loss", "huber_loss", "smooth_l1_loss"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_gradients_of_sums_in_half_precision(name: str, grad: float, dtype: str) -> None:
    def call(lib: Any, F: Any) -> Any:
        kind = getattr(lib, dtype)
        x = lib.tensor([0.0, 1, 65504, 3, INF, NAN, 1e-4, 300, 6e4] * 40, dtype=kind, requires_grad=True)
        target = lib.tensor([0, 2, -65504, 3, INF, 1, 0, 0, -3e4] * 40, dtype=kind)
        loss = getattr(F, name)(x, target, reduction="sum")
        return (lib.autograd.grad(loss, x, lib.tensor(grad, dtype=kind))[0] + 0).tolist()

    same(call)


def test_where_no_gradient_of_nan_to_num_passes_nan_stays() -> None:
    def call(lib: Any, F: Any) -> Any:
        x = lib.tensor([NAN, 1.0, INF, -INF], requires_grad=True)
        out = lib.nan_to_num(x)
        return [lib.autograd.grad(out, x, lib.full((4,), g), retain_graph=True)[0].tolist() for g in (NAN, INF, 2.0)]

    same(call)


@pytest.mark.parametrize("index", [[0, 1, 2], [1, 0, 2], [0, 2, 3], [4, 1], [1, 1], [4, 4, 0]])
def test_maxima_of_bags_skip_nan_but_the_first(index: list[int]) -> None:
    def call(lib: Any, F: Any) -> Any:
        table = lib.tensor([[1.0, 2.0], [NAN, 3.0], [2.0, NAN], [NAN, NAN], [-INF, -INF]], requires_grad=True)
        out = F.embedding_bag(lib.tensor(index), table, lib.tensor([0, 1]), mode="max")
        return out.tolist(), lib.autograd.grad(out.sum(), table)[0].tolist()

    same(call)


@pytest.mark.parametrize("shape", [(4, 2), (3, 2, 5), (2, 2, 4, 4), (64, 8), (2, 8, 8, 8)])
def test_running_means_of_infinite_inputs(shape: tuple[int, ...]) -> None:
    def call(lib: Any, F: Any) -> Any:
        x = lib.arange(float(np.prod(shape))).reshape(shape)
        x.view(-1)[3] = INF
        mean, var = lib.zeros(shape[1]), lib.ones(shape[1])
        F.batch_norm(x, mean, var, training=True, momentum=0.5)
        return mean.tolist()

    expected, got = both(call)
    np.testing.assert_allclose(got, expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["max_pool", "avg_pool", "adaptive_max_pool", "adaptive_avg_pool"])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_how_results_of_pools_lie(name: str, dims: int) -> None:
    def call(lib: Any, F: Any) -> Any:
        x = lib.rand(2, *(4,) * dims, 3).movedim(-1, 1)
        pool = getattr(F, f"{name}{dims}d")
        return [pool(t, 2).stride() for t in (x, x if name == "avg_pool" else x.half(), x.double().requires_grad_())] + [
            pool(x[0], 2).stride()
        ]

    same(call)


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
@pytest.mark.parametrize("widths", [(0, 0), (0, 0, 0, 0), (1, 0, 0, 1), (-1, 0, 0, 0), (0, 0, 1, 1, 0, 0)])
def test_how_padded_tensors_lie(mode: str, widths: tuple[int, ...]) -> None:
    def call(lib: Any, F: Any) -> Any:
        sizes = (3, 4, 5)[: len(widths) // 2]
        x = lib.rand(2, *sizes, 3).movedim(-1, 1)
        return F.pad(x, widths, mode=mode).stride()

    same(call)


@pytest.mark.parametrize("name", ["smooth_l1_loss", "huber_loss", "mse_loss", "l1_loss"])
def test_how_losses_of_mixed_layouts_lie(name: str) -> None:
    def call(lib: Any, F: Any) -> Any:
        x, y = lib.rand(3, 3, 9).transpose(1, 2), lib.rand(3, 9, 3)
        loss = getattr(F, name)
        return [loss(a, b, reduction="none").stride() for a, b in ((x, y), (y, x), (x, x))]

    same(call)


REFUSED: dict[str, Any] = {
    "windows larger than a volume": lambda lib, F: F.avg_pool3d(lib.ones(1, 1, 2, 2, 8), 3, ceil_mode=True, padding=1).tolist(),
    "reflected truth values": lambda lib, F: F.pad(lib.ones(1, 1, 4, dtype=lib.bool), (1, 1), mode="reflect").tolist(),
    "repeated truth values": lambda lib, F: F.pad(lib.ones(1, 1, 4, dtype=lib.bool), (0, 0), mode="replicate").tolist(),
    "nothing left": lambda lib, F: F.pad(lib.ones(1, 1, 2), (-2, 0), mode="replicate").tolist(),
    "cropped beyond the end": lambda lib, F: F.pad(lib.ones(1, 1, 1), (5, -2)).tolist(),
    "no half": lambda lib, F: lib.linspace(0, 3e38, 5, dtype=lib.float16).tolist(),
    "no bfloat16": lambda lib, F: lib.linspace(0, 1e39, 5, dtype=lib.bfloat16).tolist(),
    "no float": lambda lib, F: lib.linspace(1e39, 0, 5, dtype=lib.float32).tolist(),
    "no uint8": lambda lib, F: lib.linspace(0, 300, 5, dtype=lib.uint8).tolist(),
    "one step": lambda lib, F: lib.linspace(0, 3e38, 1, dtype=lib.float16).tolist(),
    "infinite": lambda lib, F: lib.linspace(0, INF, 3, dtype=lib.float16).tolist(),
    "whole maxima": lambda lib, F: [r.tolist() for r in F.max_pool1d(lib.arange(8).view(1, 8), 2, return_indices=True)],
    "whole maxima without places": lambda lib, F: F.max_pool1d(lib.arange(8).view(1, 8), 2).tolist(),
    "weighted whole errors": lambda lib, F: F.mse_loss(lib.arange(3), lib.ones(3).long(), weight=lib.arange(3)).tolist(),
    "whole errors": lambda lib, F: F.mse_loss(lib.arange(3), lib.ones(3).long()).tolist(),
    "whole absolute errors": lambda lib, F: F.smooth_l1_loss(lib.arange(3), lib.ones(3).long(), beta=0.0, reduction="sum").item(),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_and_what_is_not(name: str) -> None:
    expected, got = both(REFUSED[name])
    if expected == "RuntimeError":  # whose kinds PyTorch chooses among
        assert got in ("RuntimeError", "NotImplementedError")
    else:
        np.testing.assert_equal(got, expected)


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sampling_of_volumes_at_no_places(mode: str, padding: str, dtype: str) -> None:
    def call(lib: Any, F: Any) -> Any:
        kind = getattr(lib, dtype)
        x = lib.arange(1.0, 6, dtype=kind).view(1, 1, 5, 1, 1).expand(1, 1, 5, 2, 2)
        grid = lib.zeros(1, 4, 1, 1, 3, dtype=kind)
        grid[0, :, 0, 0, 2] = lib.tensor([NAN, INF, -INF, 0.5], dtype=kind)
        return [F.grid_sample(x, grid, mode=mode, padding_mode=padding, align_corners=a).tolist() for a in (False, True)]

    same(call)
