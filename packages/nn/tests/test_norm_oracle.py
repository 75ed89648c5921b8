"""Normalization against PyTorch: half precision with float32 parameters, empty inputs, large means, long rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tenfold as tf
import tenfold.nn as nn
import tenfold.nn.functional as F

torch = pytest.importorskip("torch")
TF = torch.nn.functional

NORMS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "layer_norm": lambda F, x, w, b: F.layer_norm(x, (4,), w, b),
    "rms_norm": lambda F, x, w, b: F.rms_norm(x, (4,), w, 1e-5),
    "batch_norm": lambda F, x, w, b: F.batch_norm(x, None, None, w, b, True),
    "group_norm": lambda F, x, w, b: F.group_norm(x, 2, w, b),
    "instance_norm": lambda F, x, w, b: F.instance_norm(x, None, None, w, b),
}
INPUTS: dict[str, Callable[[], Any]] = {
    "small": lambda: torch.randn(3, 4, 4),
    "large": lambda: torch.randn(30, 4, 50, 4),
    "infinite": lambda: torch.tensor([1.0, float("inf"), 2.0, 0.0] * 12).reshape(3, 4, 4),
    "nan": lambda: torch.tensor([1.0, float("nan"), 2.0, 0.0] * 12).reshape(3, 4, 4),
    "huge": lambda: torch.randn(3, 4, 4) * 1e15,
    "tiny": lambda: torch.randn(3, 4, 4) * 1e-15,
    "zero": lambda: torch.zeros(3, 4, 4),
    "permuted": lambda: torch.randn(4, 4, 3).permute(2, 0, 1),
    "strided": lambda: torch.randn(6, 8, 8)[::2, ::2, ::2],
    "empty batch": lambda: torch.randn(0, 4, 4),
}


@pytest.mark.parametrize("kind", INPUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", NORMS)
def test_values_and_gradients(name: str, dtype: str, kind: str, agree: Any) -> None:
    torch.manual_seed(0)
    x = INPUTS[kind]().to(getattr(torch, dtype)).requires_grad_()
    if name == "instance_norm" and kind == "empty batch":
        pytest.xfail("PyTorch fails with an IndexError of its own")
    w, b = (torch.randn(4, dtype=x.dtype, requires_grad=True) for _ in range(2))
    tolerance = 2e-4 if dtype == "float32" else 1e-8
    agree(lambda *a: NORMS[name](F, *a), lambda *a: NORMS[name](TF, *a), x, w, b, tolerance=tolerance)


@pytest.mark.parametrize("spread", [0.0, 1e-2])
@pytest.mark.parametrize("shape", [(3, 4, 4), (30, 4, 50, 4)])
@pytest.mark.parametrize("name", [n for n in NORMS if n != "rms_norm"])
def test_a_mean_much_larger_than_the_spread(name: str, shape: Any, spread: float, oracle: Any) -> None:
    """Rounding the mean must not show, times 1 / sqrt(eps), in the result; the exact one is PyTorch's in float64."""
    torch.manual_seed(0)
    x = torch.full(shape, 1000.1) + spread * torch.randn(shape)
    w, b = torch.randn(4), torch.randn(4)
    exact = NORMS[name](TF, x.double(), w.double(), b.double())
    got = NORMS[name](F, *map(oracle.ours, (x, w, b)))
    np.testing.assert_allclose(got.numpy(), exact.numpy(), atol=2e-5 if spread == 0.0 else 2e-2)


@pytest.mark.parametrize("parameters", ["float32", "same"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", NORMS)
def test_half_precision(name: str, dtype: str, parameters: str, agree: Any) -> None:
    torch.manual_seed(0)
    x = torch.randn(3, 4, 4).to(getattr(torch, dtype)).requires_grad_()
    kind = x.dtype if parameters == "same" else torch.float32
    w, b = ((1 + 0.1 * torch.randn(4)).to(kind).requires_grad_() for _ in range(2))
    tolerance = 1e-2 if dtype == "float16" else 8e-2
    agree(lambda *a: NORMS[name](F, *a), lambda *a: NORMS[name](TF, *a), x, w, b, tolerance=tolerance)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_autocast_leaves_parameters_their_gradients(dtype: str) -> None:
    m = nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4))
    with tf.autocast("cpu", dtype=getattr(tf, dtype)):
        m(tf.randn(2, 2, 5, 5)).float().sum().backward()
    assert m[1].weight.grad.dtype is tf.float32
    assert m[1].bias.grad.dtype is tf.float32


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_running_statistics_of_half_precision(dtype: str) -> None:
    x = torch.randint(-8, 9, (4, 64, 4, 4), generator=torch.Generator().manual_seed(0)).to(getattr(torch, dtype))
    theirs, ours = torch.nn.BatchNorm2d(64).to(x.dtype), nn.BatchNorm2d(64).to(getattr(tf, dtype))
    for _ in range(10):
        theirs(x)
        ours(tf.tensor(x.float().numpy()).to(ours.weight.dtype))
        (mean, var), expected = ((m.running_mean.float(), m.running_var.float()) for m in (ours, theirs))
        np.testing.assert_array_equal(mean.numpy(), expected[0].numpy())
        wide = 10 * torch.finfo(x.dtype).eps  # its sums are rounded, too, and each of the steps
        np.testing.assert_allclose(var.numpy(), expected[1].numpy(), rtol=wide)


def test_an_empty_batch_leaves_the_statistics_alone() -> None:
    m = nn.BatchNorm2d(3)
    m(tf.rand(0, 3, 2, 2)).sum().backward()
    assert m.running_mean.tolist() == [0.0] * 3
    assert m.running_var.tolist() == [1.0] * 3
    assert m.weight.grad.tolist() == m.bias.grad.tolist() == [0.0] * 3


def test_rows_of_no_elements() -> None:
    x, w = tf.zeros(3, 0, requires_grad=True), tf.ones(0, requires_grad=True)
    F.layer_norm(x, (0,), w).sum().backward()
    assert x.grad.shape == (3, 0)
    assert w.grad.shape == (0,)


@pytest.mark.parametrize("mean", [0.0, 0.5, 100.0])
def test_long_rows_keep_their_digits(mean: float) -> None:
    x = (np.random.default_rng(0).random((2, 1 << 21)) + mean).astype(np.float32)
    exact = x.astype(np.float64)
    exact = (exact - exact.mean(1, keepdims=True)) / np.sqrt(exact.var(1, keepdims=True) + 1e-5)
    got = {
        "layer_norm": F.layer_norm(tf.from_numpy(x), x.shape[1:]),
        "batch_norm": F.batch_norm(tf.from_numpy(x)[None], None, None, training=True)[0],
        "group_norm": F.group_norm(tf.from_numpy(x)[None], 2)[0],
    }
    for name, y in got.items():
        # x scale + shift rounds x scale
        np.testing.assert_allclose(y.numpy(), exact, atol=3e-6 + mean * 3e-7 / 0.29, err_msg=name)
    g = tf.from_numpy(x)
    w = tf.ones(x.shape[1:], requires_grad=True)
    b = tf.zeros(2, requires_grad=True)
    F.layer_norm(g, x.shape[1:], w).sum().backward()
    F.batch_norm(g[None], None, None, None, b, True).mul(g[None]).sum().backward()
    np.testing.assert_allclose(b.grad.numpy(), x.sum(1, dtype=np.float64), rtol=1e-6)


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
@pytest.mark.parametrize("shape", [(1, 0), (0,), (40, 0), (2, 3, 0)])
def test_rows_without_elements_have_gradients(name, shape):
    for lib in (torch, tf):
        x = lib.ones(shape, requires_grad=True)
        getattr(lib.nn.functional, name)(x, (0,)).sum().backward()
        assert tuple(x.grad.shape) == shape


@pytest.mark.parametrize("size", [0, 2])
@pytest.mark.parametrize("shape", [(3,), (3, 3), (3, 0, 3), (3, 3, 3)])
@pytest.mark.parametrize("dtype", ["bool", "complex64", "int64", "float32"])
def test_local_response_norm_asks_for_dimensions_before_dtypes(dtype: str, shape: tuple[int, ...], size: int) -> None:
    found = []
    for lib, functional in ((torch, TF), (tf, F)):
        try:
            found.append(tuple(functional.local_response_norm(lib.ones(shape, dtype=getattr(lib, dtype)), size).shape))
        except (RuntimeError, NotImplementedError, ValueError) as error:
            found.append(RuntimeError if size == 0 and isinstance(error, RuntimeError) else type(error))
    assert found[1] == found[0]
