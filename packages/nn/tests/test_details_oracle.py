"""Details of layers and losses in which PyTorch's own table of modules found a difference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")
LIBS = (tenfold, torch)


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("batch", [True, False])
@pytest.mark.parametrize("given", [True, False], ids=["numbers given", "numbers drawn"])
def test_fractional_pools_take_random_numbers_in_pytorchs_order(n: int, batch: bool, given: bool) -> None:
    random = np.random.default_rng(0)
    x, u = random.normal(size=(2, 3, 7, 9, 8)[: n + 2]), random.random((2, 3, n))
    found = []
    for lib in LIBS:
        lib.manual_seed(0)
        pool = getattr(lib.nn, f"FractionalMaxPool{n}d")
        layer = pool(2, output_size=(4, 3, 5)[:n], _random_samples=lib.from_numpy(u) if given else None)
        found.append(layer(lib.from_numpy(x if batch else x[0])).numpy())
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("empty", [0, 1])
def test_fractional_pools_to_nothing(n: int, empty: int) -> None:
    out = [2] * n
    out[empty] = 0
    shapes = []
    for lib in LIBS:
        x = lib.rand(*(2, 3, 6, 6, 6)[: n + 2], requires_grad=True)
        y, indices = getattr(lib.nn.functional, f"fractional_max_pool{n}d")(x, 2, output_size=out, return_indices=True)
        y.sum().backward()
        shapes.append((tuple(y.shape), tuple(indices.shape), str(indices.dtype).split(".")[-1], x.grad.abs().sum().item()))
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize(
    "shape", [(2, 4, 3), (2, 4, 1), (2, 4), (1, 4, 3), (2, 1, 3), (1, 1, 3), (4, 3), (3,), (1,), (2, 2, 3)], ids=str
)
def test_shapes_of_gaussian_variances(shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(0)
    x, y, var = random.normal(size=(2, 4, 3)), random.normal(size=(2, 4, 3)), random.random(shape) + 0.5
    found: list[Any] = []
    for lib in LIBS:
        tensors = [lib.from_numpy(v).requires_grad_() for v in (x, var)]
        try:
            loss = lib.nn.functional.gaussian_nll_loss(tensors[0], lib.from_numpy(y), tensors[1])
        except ValueError:
            found.append([])
            continue
        found.append([loss.item(), *(g.numpy() for g in lib.autograd.grad(loss, tensors))])
    assert len(found[0]) == len(found[1])
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:Initializing zero-element")
@pytest.mark.parametrize("kind", ["Conv1d", "Conv2d", "Conv3d"])
def test_convolution_of_no_channels(kind: str) -> None:
    found = []
    for lib in LIBS:
        layer = getattr(lib.nn, kind)(0, 3, 2)
        layer(lib.ones(2, 0, *[4] * int(kind[-2]))).sum().backward()
        found.append([layer.bias.grad.tolist(), tuple(layer.weight.grad.shape)])
    assert found[0] == found[1]


def test_gradients_of_lazy_parameters_that_were_loaded() -> None:
    layer = tenfold.nn.LazyConv1d(3, 2).to(tenfold.float64)
    layer.load_state_dict(tenfold.nn.Conv1d(4, 3, 2, dtype=tenfold.float64).state_dict())
    layer(tenfold.ones(1, 4, 6, dtype=tenfold.float64)).sum().backward()
    assert layer.weight.grad.shape == (3, 4, 2)
    assert layer.bias.grad.tolist() == [5.0] * 3
