"""Every NumPy kernel of tenfold.nn against PyTorch: values, gradients, dtypes, edge shapes, and that no input is written."""

from __future__ import annotations

import math
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional

DTYPES = [torch.float64, torch.float32]
TOLERANCE = {torch.float64: 1e-10, torch.float32: 2e-5}


def load(module: str) -> ModuleType:
    """A module of kernels."""
    return import_module(f"tenfold.nn.cpu.{module}")


def array(value: Any) -> Any:
    """The NumPy view of a tensor; anything else unchanged."""
    return value.detach().numpy() if isinstance(value, torch.Tensor) else value


def run(kernel: Any, *arguments: Any) -> Any:
    """Call a kernel on tensors' arrays, check that it wrote none of them, and return its result."""
    arrays = [array(a) for a in arguments]
    before = [a.copy() if isinstance(a, np.ndarray) else None for a in arrays]
    result = kernel(*arrays)
    for old, new in zip(before, arrays, strict=True):
        assert old is None or np.array_equal(old, new, equal_nan=old.dtype.kind == "f")
    return result


def agree(got: Any, expected: Any, tolerance: float | None = None) -> None:
    """Same shape, dtype and, within the dtype's tolerance, numbers."""
    tolerance = TOLERANCE.get(expected.dtype, 0.0) if tolerance is None else tolerance
    expected = array(expected)
    assert got.shape == expected.shape
    assert got.dtype == expected.dtype
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


def gradients(out: Any, *sources: Any) -> tuple[Any, list[Any]]:
    """A random incoming gradient and the gradients that PyTorch derives from it."""
    g = torch.randn_like(out)
    return g, list(torch.autograd.grad(out, [s for s in sources if s is not None], g))


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(20)


def normal(*shape: int, dtype: Any = torch.float64, strided: bool = False) -> Any:
    """A leaf that requires its gradient; `strided` makes it a view with every second element of the last dimension."""
    x = torch.randn(*shape[:-1], shape[-1] * 2, dtype=dtype)[..., ::2] if strided else torch.randn(*shape, dtype=dtype)
    return x.detach().requires_grad_()


CONVOLUTIONS = [
    # input, weight, stride, padding, dilation, transposed, output_padding, groups
    ((2, 3, 20), (4, 3, 3), (1,), (1,), (1,), False, (0,), 1),
    ((2, 4, 9, 8), (6, 2, 3, 2), (2, 1), (1, 0), (1, 2), False, (0, 0), 2),
    ((3, 4, 16, 16), (2, 4, 3, 3), (1, 1), (1, 1), (1, 1), False, (0, 0), 1),
    ((2, 4, 16, 17), (8, 4, 3, 3), (3, 2), (2, 1), (1, 1), False, (0, 0), 1),
    ((2, 4, 8, 8), (6, 4, 1, 1), (1, 1), (0, 0), (1, 1), False, (0, 0), 1),
    ((2, 4, 9, 9), (6, 2, 1, 1), (2, 2), (0, 0), (1, 1), False, (0, 0), 2),
    ((2, 4, 3, 3), (6, 4, 1, 1), (1, 1), (0, 0), (1, 1), False, (0, 0), 1),
    ((2, 4, 10, 9), (4, 1, 3, 3), (1, 1), (1, 1), (1, 1), False, (0, 0), 4),
    ((2, 4, 10, 9), (8, 1, 3, 3), (2, 2), (1, 1), (1, 1), False, (0, 0), 4),
    ((2, 2, 5, 6, 7), (3, 2, 2, 3, 2), (1, 2, 1), (0, 1, 1), (1, 1, 1), False, (0, 0, 0), 1),
    ((1, 2, 8), (2, 3, 3), (2,), (1,), (1,), True, (1,), 1),
    ((2, 4, 6, 5), (4, 2, 3, 3), (2, 2), (1, 1), (1, 1), True, (1, 1), 2),
    ((2, 4, 6, 5), (4, 3, 3, 2), (1, 1), (0, 0), (2, 1), True, (1, 0), 1),
    ((1, 2, 3, 4, 4), (2, 2, 2, 2, 2), (2, 1, 2), (0, 0, 0), (1, 1, 1), True, (0, 0, 0), 1),
    ((0, 3, 5, 5), (4, 3, 3, 3), (1, 1), (0, 0), (1, 1), False, (0, 0), 1),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("strided", [False, True])
@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_convolution(case: Any, strided: bool, dtype: Any) -> None:
    conv = load("conv")
    shape, kernel, *steps = case
    x, weight = normal(*shape, dtype=dtype, strided=strided), normal(*kernel, dtype=dtype, strided=strided)
    bias = normal(kernel[1] * steps[5] if steps[3] else kernel[0], dtype=dtype)
    out = torch.ops.aten.convolution(x, weight, bias, *steps)
    agree(run(conv.convolution, x, weight, bias, *steps), out)
    agree(run(conv.convolution, x, weight, None, *steps), torch.ops.aten.convolution(x, weight, None, *steps))
    g, (g_input, g_weight) = gradients(out, x, weight)
    agree(run(conv.convolution_input_grad, g, weight, tuple(shape), *steps), g_input)
    agree(run(conv.convolution_weight_grad, g, x, tuple(kernel), *steps), g_weight)


def test_unbatched_convolution() -> None:
    conv = load("conv")
    x, weight = normal(3, 7, 6), normal(4, 3, 3, 3)
    steps = ((1, 1), (1, 1), (1, 1), False, (0, 0), 1)
    out = F.conv2d(x, weight, padding=1)
    agree(run(conv.convolution, x, weight, None, *steps), out)
    g, (g_input, g_weight) = gradients(out, x, weight)
    agree(run(conv.convolution_input_grad, g, weight, (3, 7, 6), *steps), g_input)
    agree(run(conv.convolution_weight_grad, g, x, (4, 3, 3, 3), *steps), g_weight)


MAX_POOL = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
AVG_POOL = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}
ADAPTIVE_AVG = {1: F.adaptive_avg_pool1d, 2: F.adaptive_avg_pool2d, 3: F.adaptive_avg_pool3d}
ADAPTIVE_MAX = {1: F.adaptive_max_pool1d, 2: F.adaptive_max_pool2d, 3: F.adaptive_max_pool3d}
POOLS = [
    # input, kernel, stride, padding, dilation, ceil_mode
    ((2, 3, 9), (3,), (2,), (1,), (1,), False),
    ((3, 9), (2,), (2,), (0,), (1,), True),
    ((2, 3, 8, 9), (2, 2), (2, 2), (0, 0), (1, 1), False),
    ((2, 3, 8, 9), (3, 2), (2, 3), (1, 0), (1, 2), True),
    ((3, 7, 7), (3, 3), (1, 1), (1, 1), (2, 1), False),
    ((2, 2, 5, 6, 7), (2, 3, 2), (1, 2, 2), (0, 1, 1), (1, 1, 1), True),
    ((1, 1, 20, 20), (17, 17), (1, 1), (0, 0), (1, 1), False),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("strided", [False, True])
@pytest.mark.parametrize("case", POOLS)
def test_max_pool(case: Any, strided: bool, dtype: Any) -> None:
    pool = load("pool.windows")
    shape, kernel, stride, padding, dilation, ceil_mode = case
    x = normal(*shape, dtype=dtype, strided=strided)
    values, indices = MAX_POOL[len(kernel)](x, kernel, stride, padding, dilation, ceil_mode, True)
    got, places = run(pool.max_pool, x, *case[1:])
    agree(got, values, 0)
    agree(places, indices, 0)
    g, (expected,) = gradients(values, x)
    agree(run(pool.max_pool_grad, g, places, shape, len(kernel)), expected)


def test_max_pool_takes_the_last_nan_and_the_first_of_equals() -> None:
    x = torch.randint(-2, 3, (4, 3, 11, 10)).double()
    x[torch.rand_like(x) < 0.1] = math.nan
    x[torch.rand_like(x) < 0.3] = -math.inf
    values, indices = F.max_pool2d(x, 3, 2, 1, return_indices=True)
    got, places = run(load("pool.windows").max_pool, x, (3, 3), (2, 2), (1, 1), (1, 1), False)
    np.testing.assert_array_equal(got, array(values))
    np.testing.assert_array_equal(places, array(indices))
    for size in (1, 3, 5):
        values, indices = F.adaptive_max_pool2d(x, size, return_indices=True)
        got, places = run(load("pool.adaptive").adaptive_max_pool, x, (size, size))
        np.testing.assert_array_equal(got, array(values))
        np.testing.assert_array_equal(places, array(indices))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count_include_pad", [False, True])
@pytest.mark.parametrize("divisor", [None, 3])
@pytest.mark.parametrize("case", POOLS)
def test_avg_pool(case: Any, divisor: int | None, count_include_pad: bool, dtype: Any) -> None:
    pool = load("pool.windows")
    shape, kernel, stride, padding, _, ceil_mode = case
    if divisor is not None and len(kernel) == 1:
        divisor = None  # avg_pool1d has no such argument
    options = (kernel, stride, padding, ceil_mode, count_include_pad, divisor)
    x = normal(*shape, dtype=dtype, strided=True)
    out = AVG_POOL[len(kernel)](x, *(options if len(kernel) > 1 else options[:-1]))
    agree(run(pool.avg_pool, x, *options), out)
    g, (expected,) = gradients(out, x)
    agree(run(pool.avg_pool_grad, g, shape, *options), expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("shape", "size"),
    [((2, 3, 8), (4,)), ((3, 7), (3,)), ((2, 3, 8, 6), (1, 1)), ((2, 3, 8, 9), (4, 3)), ((2, 3, 7, 5), (3, 8)),
     ((2, 2, 5, 6, 4), (2, 3, 3)), ((0, 3, 4, 4), (2, 2))],
)  # fmt: skip
def test_adaptive_pool(shape: Any, size: Any, dtype: Any) -> None:
    adaptive = load("pool.adaptive")
    x = normal(*shape, dtype=dtype, strided=True)
    out = ADAPTIVE_AVG[len(size)](x, size)
    agree(run(adaptive.adaptive_avg_pool, x, size), out)
    g, (expected,) = gradients(out, x)
    agree(run(adaptive.adaptive_avg_pool_grad, g, shape, len(size)), expected)
    values, indices = ADAPTIVE_MAX[len(size)](x, size, return_indices=True)
    got, places = run(adaptive.adaptive_max_pool, x, size)
    agree(got, values, 0)
    agree(places, indices, 0)


@pytest.mark.parametrize("shape", [(2, 3, 8, 7), (3, 8, 7), (0, 3, 8, 7)])
@pytest.mark.parametrize("steps", [((2, 3), (1, 1), (0, 0), (1, 1)), ((3, 2), (2, 1), (1, 2), (2, 3))])
def test_unfold_and_fold(steps: Any, shape: Any) -> None:
    fold = load("fold")
    x = normal(*shape, strided=True)
    columns = F.unfold(x, *steps)
    agree(run(fold.im2col, x, *steps), columns, 0)
    agree(run(fold.col2im, columns, shape[-2:], *steps), F.fold(columns, shape[-2:], *steps))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize(("shape", "ndim"), [((3, 5, 8), 1), ((3, 5, 8), 2), ((2, 1), 1), ((600, 80), 1), ((0, 5), 1)])
def test_layer_and_rms_norm(shape: Any, ndim: int, affine: bool, dtype: Any) -> None:
    norm = load("norm.layer")
    sizes = shape[len(shape) - ndim :]
    x = normal(*shape, dtype=dtype, strided=True)
    weight, bias = (normal(*sizes, dtype=dtype) if affine else None for _ in range(2))
    expected = torch.native_layer_norm(x, sizes, weight, bias, 1e-3)
    got = run(norm.fused_layer_norm, x, ndim, weight, bias, 1e-3)
    for a, b in zip(got, expected, strict=True):
        agree(a, b, TOLERANCE[dtype] * 10)
    g, wanted = gradients(expected[0], x, weight, bias)
    for a, b in zip(run(norm.fused_layer_norm_grad, g, x, got[1], got[2], ndim, weight, 1e-3), wanted, strict=False):
        agree(a, b, TOLERANCE[dtype] * 10)
    out = F.rms_norm(x, sizes, weight, 1e-3)
    got = run(norm.fused_rms_norm, x, ndim, weight, 1e-3)
    agree(got[0], out)
    g, wanted = gradients(out, x, weight)
    for a, b in zip(run(norm.fused_rms_norm_grad, g, x, got[1], ndim, weight, 1e-3), wanted, strict=False):
        agree(a, b, TOLERANCE[dtype] * 10)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("shape", [(6, 4), (3, 4, 5), (2, 4, 7, 6), (40, 4, 30, 30), (2, 4, 3, 3, 2)])
def test_batch_norm(shape: Any, training: bool, affine: bool, dtype: Any) -> None:
    norm = load("norm.batch")
    x = normal(*shape, dtype=dtype, strided=True)
    weight, bias = (normal(4, dtype=dtype) if affine else None for _ in range(2))
    running = torch.randn(4, dtype=dtype), torch.rand(4, dtype=dtype) + 0.5
    out = F.batch_norm(x, running[0].clone(), running[1].clone(), weight, bias, training, 0.1, 1e-3)
    got, mean, variance, rstd = run(norm.fused_batch_norm, x, weight, bias, *running, training, 1e-3)
    agree(got, out)
    axes = [0, *range(2, x.ndim)]
    agree(mean, x.mean(axes) if training else running[0])
    agree(variance, x.var(axes, correction=0) if training else running[1])
    g, wanted = gradients(out, x, weight, bias)
    for a, b in zip(run(norm.fused_batch_norm_grad, g, x, weight, mean, rstd, training, 1e-3), wanted, strict=False):
        agree(a, b, TOLERANCE[dtype] * 10)  # sums over up to 36,000 products


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("shape", [(3, 4, 5), (2, 4, 7, 6), (2, 4, 3, 3, 2), (0, 4, 2)])
def test_group_norm(shape: Any, groups: int, affine: bool, dtype: Any) -> None:
    norm = load("norm.group")
    x = normal(*shape, dtype=dtype, strided=True)
    weight, bias = (normal(4, dtype=dtype) if affine else None for _ in range(2))
    out = F.group_norm(x, groups, weight, bias, 1e-3)
    got, mean, rstd = run(norm.fused_group_norm, x, groups, weight, bias, 1e-3)
    agree(got, out)
    g, wanted = gradients(out, x, weight, bias)
    for a, b in zip(run(norm.fused_group_norm_grad, g, x, mean, rstd, groups, weight, 1e-3), wanted, strict=False):
        agree(a, b, TOLERANCE[dtype] * 10)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("shape", [(7, 5), (4, 5, 3), (2, 5, 3, 2), (5,)])
def test_losses(shape: Any, reduction: str, weighted: bool, dtype: Any) -> None:
    loss = load("loss.classes")
    weight = torch.rand(5, dtype=dtype) if weighted else None
    target = torch.tensor(3) if len(shape) == 1 else torch.randint(0, 5, shape[:1] + shape[2:])
    for smoothing, ignored in ((0.0, -100), (0.1, 2), (0.0, 2)):
        x = (torch.randn(shape, dtype=dtype) * 3).requires_grad_()
        out = F.cross_entropy(x, target, weight, None, ignored, None, reduction, smoothing)
        got, *saved = run(loss.fused_cross_entropy, x, target, weight, ignored, smoothing, reduction)
        agree(got, out)
        g, (expected,) = gradients(out, x)
        arguments = (g, x, target, weight, ignored, smoothing, reduction, *saved)
        agree(run(loss.fused_cross_entropy_grad, *arguments), expected)
        out = F.nll_loss(x, target, weight, None, ignored, None, reduction)
        got, total = run(loss.fused_nll_loss, x, target, weight, ignored, reduction)
        agree(got, out)
        g, (expected,) = gradients(out, x)
        agree(run(loss.fused_nll_loss_grad, g, x, target, weight, ignored, reduction, total), expected)


def test_losses_at_the_edges() -> None:
    loss = load("loss.classes")
    x, empty = np.zeros((2, 3)), np.zeros((0, 3))
    none = np.zeros(0, np.int64)
    assert np.isnan(loss.fused_cross_entropy(x, np.array([1, 1]), None, 1, 0.0, "mean")[0])
    assert np.isnan(loss.fused_nll_loss(empty, none, None, -100, "mean")[0])
    assert loss.fused_cross_entropy(empty, none, None, -100, 0.0, "sum")[0] == 0
    for wrong in (3, -1):
        with pytest.raises(IndexError, match=f"Target {wrong} is out of bounds"):
            loss.fused_cross_entropy(x, np.array([0, wrong]), None, -100, 0.0, "mean")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("by_frequency", [False, True])
@pytest.mark.parametrize("padding", [-1, 3])
def test_embedding_weight_grad(padding: int, by_frequency: bool, dtype: Any) -> None:
    kernel = load("embedding").embedding_weight_grad
    weight, indices = normal(11, 6, dtype=dtype), torch.randint(0, 11, (5, 9))
    out = F.embedding(indices, weight, None if padding < 0 else padding, scale_grad_by_freq=by_frequency)
    g, (expected,) = gradients(out, weight)
    agree(run(kernel, g, indices, 11, padding, by_frequency), expected)
    assert not run(kernel, g[:0], indices[:0], 11, padding, by_frequency).any()


MASKS = {
    "none": lambda q, S: None,
    "causal": lambda q, S: None,
    "boolean": lambda q, S: (torch.rand(q.shape[-2], S) > 0.3) & (torch.arange(q.shape[-2]) != 1)[:, None],
    "additive": lambda q, S: torch.randn(q.shape[-2], S, dtype=q.dtype).requires_grad_(),
    "per batch": lambda q, S: torch.randn(*q.shape[:1], *[1] * (q.ndim - 2), S, dtype=q.dtype),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize(("shape", "S", "V"), [((2, 3, 5, 8), 7, 6), ((2, 5, 8), 5, 8), ((1, 3, 300, 8), 300, 8)])
def test_attention(shape: Any, S: int, V: int, kind: str, dtype: Any) -> None:
    attention = load("attention")
    q = normal(*shape, dtype=dtype, strided=True)
    k, v = normal(*shape[:-2], S, shape[-1], dtype=dtype), normal(*shape[:-2], S, V, dtype=dtype)
    mask, causal = MASKS[kind](q, S), kind == "causal"
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        out = F.scaled_dot_product_attention(q, k, v, mask, is_causal=causal, scale=0.4)
    got, sums = run(attention.fused_attention, q, k, v, mask, causal, 0.4)
    agree(got, out)
    g, expected = gradients(out, q, k, v)
    found = run(attention.fused_attention_grad, g, q, k, v, got, sums, mask, causal, 0.4)
    for a, b in zip(found, expected, strict=True):
        agree(a, b)


@pytest.mark.parametrize("half", ["float16", "bfloat16"])
def test_half_precision_computes_in_float32_and_rounds_once(half: str) -> None:
    dtype = np.dtype(half) if half == "float16" else np.dtype(pytest.importorskip("ml_dtypes").bfloat16)
    x = np.random.default_rng(3).normal(size=(2, 4, 6, 6)).astype(np.float32).astype(dtype)
    weight = np.ones((3, 4, 3, 3), dtype)
    steps = ((1, 1), (1, 1), (1, 1), False, (0, 0), 1)
    single = x.astype(np.float32)
    conv, norm, pool = load("conv"), load("norm.layer"), load("pool.windows")
    out = conv.convolution(x, weight, None, *steps)
    assert out.dtype == dtype
    np.testing.assert_array_equal(out, conv.convolution(single, weight.astype(np.float32), None, *steps).astype(dtype))
    out, mean, rstd = norm.fused_layer_norm(x, 1, None, None, 1e-5)
    assert (out.dtype, mean.dtype, rstd.dtype) == (dtype, np.float32, np.float32)
    np.testing.assert_array_equal(out, norm.fused_layer_norm(single, 1, None, None, 1e-5)[0].astype(dtype))
    values, indices = pool.max_pool(x, (2, 2), (2, 2), (0, 0), (1, 1), False)
    assert (values.dtype, indices.dtype) == (dtype, np.int64)
