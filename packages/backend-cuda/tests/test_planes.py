"""Convolution, pooling and batch norm by kernels of the device, with their gradients, against the CPU."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.cuda.kernels import planes
from tenfold.nn import functional as F
from tenfold.testing.tolerances import implementation

HALF = (tenfold.bfloat16, tenfold.float16)


def drawn(shape, dtype=tenfold.float32, seed=0):
    return tenfold.tensor(np.random.default_rng(seed).standard_normal(shape)).to(dtype)


def assert_close(got, expected, scale=1.0, words=""):
    rtol, atol = implementation(expected.dtype)
    assert got.device.type == "cuda"
    assert got.dtype is expected.dtype, words
    assert got.stride() == expected.stride(), words
    a, b = (t.detach().cpu().double().numpy() for t in (got, expected))
    np.testing.assert_allclose(a, b, rtol=scale * rtol, atol=scale * atol, equal_nan=True, err_msg=words)


def both(function, *tensors):
    """The result and the gradients of a function on the CPU and on the device."""
    found = []
    for device in ("cpu", "cuda"):
        given = [t.to(device).detach().requires_grad_() for t in tensors]
        result = function(*given)
        gradient = drawn(tuple(result.shape), result.dtype, 9).to(device)
        result.backward(gradient)
        found.append([result, *[t.grad for t in given]])
    return zip(*found, strict=True)


# name: (input, weight, options); the bias has as many elements as the result has channels
CONVOLUTIONS = {
    "plain": ((2, 3, 6, 7), (5, 3, 3, 2), {}),
    "stride and padding": ((2, 3, 9, 8), (4, 3, 3, 3), {"stride": (2, 3), "padding": (1, 2)}),
    "dilation": ((1, 2, 9, 9), (3, 2, 3, 3), {"dilation": (2, 1), "padding": 1}),
    "groups": ((2, 6, 5, 5), (9, 2, 3, 3), {"groups": 3}),
    "depthwise": ((2, 4, 6, 6), (4, 1, 3, 3), {"groups": 4, "padding": 1}),
    "steps and dilation without a common divisor": ((1, 3, 11, 13), (4, 3, 3, 3), {"stride": (2, 3), "dilation": (3, 2)}),
    "steps and dilation with one": ((1, 3, 13, 9), (4, 3, 2, 2), {"stride": (4, 3), "dilation": (2, 3), "padding": 2}),
    "steps larger than windows": ((1, 17, 9, 7), (3, 17, 2, 1), {"stride": (3, 4)}),
    "two channels for each": ((1, 3, 7, 6), (6, 1, 3, 2), {"groups": 3, "stride": 2, "padding": 1}),
    "many channels": ((2, 20, 5, 5), (24, 20, 3, 3), {"padding": 1}),
    "pointwise": ((2, 18, 4, 4), (17, 18, 1, 1), {"stride": 2}),
    "one dimension": ((2, 3, 12), (4, 3, 5), {"stride": 2, "padding": 2}),
    "three dimensions": ((1, 2, 5, 4, 6), (3, 2, 2, 3, 2), {"stride": (1, 2, 1), "padding": (1, 0, 1)}),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolution(name):
    shape, weight, options = CONVOLUTIONS[name]
    function = getattr(F, f"conv{len(shape) - 2}d")
    given = drawn(shape), drawn(weight, seed=1), drawn(weight[:1], seed=2)
    for expected, got in both(lambda x, w, b: function(x, w, b, **options), *given):
        assert_close(got, expected, 20, name)


@pytest.mark.parametrize("shape", [(2, 0, 5), (2, 0, 5, 4)], ids=["one dimension", "two"])
def test_convolution_without_input_channels(shape):
    function = getattr(F, f"conv{len(shape) - 2}d")
    given = drawn(shape), drawn((3, 0, *[2] * (len(shape) - 2))), drawn((3,), seed=2)
    result, *_, of_bias = both(function, *given)
    assert_close(*result[::-1])
    assert of_bias[1].tolist() == of_bias[0].tolist() == [0.0] * 3
    assert function(given[0].cuda(), given[1].cuda()).count_nonzero() == 0


@pytest.mark.parametrize("dtype", HALF, ids=lambda d: d.name)
def test_convolution_in_half_precision(dtype):
    shape, weight, options = CONVOLUTIONS["stride and padding"]
    given = drawn(shape, dtype), drawn(weight, dtype, 1), drawn(weight[:1], dtype, 2)
    for expected, got in both(lambda x, w, b: F.conv2d(x, w, b, **options), *given):
        assert_close(got, expected, 4)


TRANSPOSED = {
    "plain": ((2, 3, 4, 5), (3, 4, 3, 2), {}),
    "stride": ((2, 4, 4, 3), (4, 3, 3, 3), {"stride": 2, "padding": 1, "output_padding": 1}),
    "groups": ((1, 4, 5, 5), (4, 3, 2, 2), {"groups": 2, "dilation": 2}),
    "one dimension": ((2, 3, 5), (3, 2, 4), {"stride": 3}),
}


@pytest.mark.parametrize("name", TRANSPOSED)
def test_transposed_convolution(name):
    shape, weight, options = TRANSPOSED[name]
    function = getattr(F, f"conv_transpose{len(shape) - 2}d")
    for expected, got in both(lambda x, w: function(x, w, **options), drawn(shape), drawn(weight, seed=1)):
        assert_close(got, expected, 20, name)


@pytest.mark.parametrize("last", [False, True])
def test_depthwise_convolution_of_layouts_and_double_precision(last):
    for shape, weight, groups in (
        ((2, 6, 6, 5), (6, 1, 3, 3), 6),
        ((1, 4, 5, 5), (4, 2, 3, 3), 2),
        ((1, 3, 5, 5), (4, 3, 3, 3), 1),
    ):
        x, w = drawn(shape, tenfold.float64), drawn(weight, tenfold.float64, 1)
        x = x.contiguous(memory_format=tenfold.channels_last) if last else x
        *planes, windows = both(lambda x, w, g=groups: F.conv2d(x, w, stride=2, padding=1, groups=g), x, w)
        for expected, got in (*planes, [t.flatten() for t in windows]):  # of one channel strides say nothing
            assert_close(got, expected, 20)


def test_gradients_of_windows_are_summed_by_shares(monkeypatch):
    monkeypatch.setattr(planes, "FEWEST", 16)
    for weight, groups in (((4, 4, 3, 3), 1), ((4, 1, 3, 3), 4)):
        for expected, got in both(lambda x, w, g=groups: F.conv2d(x, w, groups=g), drawn((2, 4, 9, 9)), drawn(weight, seed=1)):
            assert_close(got, expected, 20)


def test_gradients_of_gradients_of_convolution():
    found = []
    for device in ("cpu", "cuda"):
        x, w = (drawn(s, seed=7).to(device).requires_grad_() for s in ((1, 2, 5, 5), (3, 2, 3, 3)))
        first = tenfold.autograd.grad((F.conv2d(x, w, stride=2) ** 2).sum(), (x, w), create_graph=True)
        found.append(tenfold.autograd.grad(sum((g**2).sum() for g in first), (x, w)))
    for expected, got in zip(*found, strict=True):
        assert_close(got, expected, 100)


def test_channels_last_stays():
    last = tenfold.channels_last
    x = drawn((2, 5, 6, 6)).contiguous(memory_format=last)
    w = drawn((4, 5, 3, 3), seed=1)
    for function in (
        lambda x: F.conv2d(x, w.to(x.device), padding=1), lambda x: F.max_pool2d(x, 2), lambda x: F.avg_pool2d(x, 3, 2, 1),
        lambda x: F.batch_norm(x, None, None, training=True),
    ):  # fmt: skip
        for expected, got in list(both(function, x))[:1]:
            assert got.is_contiguous(memory_format=last)
            assert_close(got, expected, 20)


def test_what_kernels_do_not_serve_goes_another_way():
    x, w = drawn((1, 2, 4, 4), tenfold.float64), drawn((2, 2, 3, 3), tenfold.float64)
    assert_close(F.conv2d(x.cuda(), w.cuda()), F.conv2d(x, w), 20)
    x, w = (tenfold.complex(t, t + 1) for t in (x, w))
    assert F.conv2d(x.cuda(), w.cuda()).cpu().allclose(F.conv2d(x, w))
    assert F.conv2d(tenfold.zeros(0, 2, 4, 4, device="cuda"), tenfold.zeros(3, 2, 3, 3, device="cuda")).shape == (0, 3, 2, 2)


POOLS = {
    "max": lambda x: F.max_pool2d(x, 2),
    "max with steps": lambda x: F.max_pool2d(x, (3, 2), (2, 1), (1, 1), (1, 2), True),
    "average": lambda x: F.avg_pool2d(x, 2),
    "average with steps": lambda x: F.avg_pool2d(x, (3, 2), (2, 3), (1, 1), True),
    "average without padding": lambda x: F.avg_pool2d(x, 3, 2, 1, True, False),
    "average with a divisor": lambda x: F.avg_pool2d(x, 3, 1, 1, divisor_override=5),
    "adaptive average": lambda x: F.adaptive_avg_pool2d(x, (3, 2)),
    "adaptive average of all": lambda x: F.adaptive_avg_pool2d(x, 1),
    "adaptive average to more": lambda x: F.adaptive_avg_pool2d(x, 11),
    "one dimension": lambda x: F.max_pool1d(x[0], 3, 2),
    "max of nothing": lambda x: F.max_pool1d(x[0, :, :2], 2, 1, 1, 3),  # a window with both ends in the border
    "three dimensions": lambda x: F.avg_pool3d(x, 2, 1),
}


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.float64, tenfold.bfloat16], ids=lambda d: d.name)
@pytest.mark.parametrize("name", POOLS)
def test_pooling(name, dtype):
    for expected, got in both(POOLS[name], drawn((2, 3, 7, 8), dtype)):
        assert_close(got, expected, 4, name)


def test_maxima_of_what_hurts():
    inf, nan = float("inf"), float("nan")
    x = tenfold.tensor([[[[1.0, nan, -inf, -inf], [2.0, 2.0, -inf, -inf], [inf, nan, 0.0, -0.0], [nan, inf, -0.0, 0.0]]]])
    expected, got = (F.max_pool2d(t, 2, return_indices=True) for t in (x, x.cuda()))
    assert got[1].tolist() == expected[1].tolist()
    assert_close(got[0], expected[0])


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.float64, tenfold.bfloat16], ids=lambda d: d.name)
@pytest.mark.parametrize("shape", [(3, 4, 5, 6), (70, 3), (2, 2, 300)], ids=str)
@pytest.mark.parametrize("training", [True, False])
def test_batch_norm(shape, training, dtype):
    x = drawn(shape, dtype) + 3
    w, b, mean = (drawn(shape[1:2], dtype, k) for k in (1, 2, 3))
    var = drawn(shape[1:2], dtype, 4).abs() + 0.5
    statistics = {d: (mean.to(d, copy=True), var.to(d, copy=True)) for d in ("cpu", "cuda")}
    for expected, got in both(lambda x, w, b: F.batch_norm(x, *statistics[x.device.type], w, b, training), x, w, b):
        assert_close(got, expected, 10)
    for expected, got in zip(statistics["cpu"], statistics["cuda"], strict=True):
        assert_close(got, expected, 4)


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.bfloat16, tenfold.float64], ids=lambda d: d.name)
def test_running_statistics_follow_together(dtype):
    found = []
    for device in ("cpu", "cuda"):
        mean, var = (tenfold.full((5,), v, dtype=dtype, device=device) for v in (0.5, 2.0))
        for seed in range(3):
            x = tenfold.tensor(np.random.default_rng(seed).standard_normal((4, 5, 3)) * 2 + 1).to(dtype).to(device)
            F.batch_norm(x, mean, var, training=True, momentum=0.3)
        found.append((mean, var))
    for expected, got in zip(*found, strict=True):
        np.testing.assert_allclose(
            got.cpu().double().numpy(), expected.double().numpy(), rtol=2e-2 if dtype is tenfold.bfloat16 else 2e-6
        )
        assert got._version == 3


def test_views_that_reach_further_than_32_bits_say():
    lake = tenfold.empty(3 * 2**30, dtype=tenfold.float16, device="cuda")  # of which a few pages are ever touched
    x = lake.as_strided((1, 2, 3, 3), (9, 3, 2**30, 1))
    x.copy_(tenfold.arange(18.0, device="cuda").reshape(1, 2, 3, 3))
    assert F.max_pool2d(x, 2, 1).flatten().tolist() == [4, 5, 7, 8, 13, 14, 16, 17]
    assert F.conv2d(x, tenfold.ones(1, 2, 3, 3, dtype=tenfold.float16, device="cuda")).item() == 153
    assert F.batch_norm(x, None, None, training=True).sum().abs().item() < 0.1


def test_masks_that_reach_further_than_32_bits_say():
    q = tenfold.ones(1, 1, 3, 4, device="cuda")
    lake = tenfold.empty(2**31 + 8, dtype=tenfold.bool, device="cuda")
    mask = lake.as_strided((3, 3), (2**30, 1)).copy_(tenfold.eye(3, device="cuda") > 0)
    v = tenfold.arange(12.0, device="cuda").reshape(1, 1, 3, 4)
    assert F.scaled_dot_product_attention(q, q, v, mask).equal(v)


@pytest.mark.parametrize("layout", ["planes", "channels last"])
@pytest.mark.parametrize("size", [1, 3])
def test_convolution_of_whole_sixteens_of_channels(layout, size):
    x, w = drawn((2, 32, 4, 16), tenfold.float32), drawn((16, 32, size, size), tenfold.float32, 1)
    if layout == "channels last":
        x, w = (t.contiguous(memory_format=tenfold.channels_last) for t in (x, w))
    for expected, got in both(lambda x, w: F.conv2d(x, w, padding=size // 2), x, w):
        assert_close(got, expected, 8)
    for expected, got in both(lambda x, w: F.conv2d(x, w[:, :16], groups=2, stride=2), x, w):
        assert_close(got, expected, 8)


@pytest.mark.parametrize("last", [False, True])
def test_batch_norm_of_whole_sixteens(last):
    x, w = drawn((2, 32, 2, 8), tenfold.float32) + 3, drawn((32,), tenfold.float32, 1)
    x = x.contiguous(memory_format=tenfold.channels_last) if last else x
    for expected, got in both(lambda x, w: F.batch_norm(x, None, None, w, w, True), x, w):
        assert_close(got, expected, 8)


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
def test_places_that_are_no_numbers_lie_outside_and_have_no_slope(mode):
    x = tenfold.ones(1, 1, 3, 3, device="cuda", requires_grad=True)
    grid = tenfold.full((1, 1, 2, 2), float("nan"), device="cuda", requires_grad=True)
    with tenfold.no_grad():
        grid[0, 0, 1] = 0.0
    out = tenfold.nn.functional.grid_sample(x, grid, mode, "zeros", align_corners=False)
    out.sum().backward()
    assert out.tolist() == [[[[0.0, 1.0]]]]
    assert grid.grad[0, 0, 0].tolist() == [0.0, 0.0]
    assert x.grad.sum().item() == 1.0


@pytest.mark.parametrize("shape", [(4, 2), (2, 2, 4, 4), (2, 2, 40, 40)])
def test_the_mean_of_a_channel_with_an_infinity_is_infinite(shape):
    x = tenfold.arange(float(np.prod(shape))).reshape(shape)
    x.view(-1)[0] = float("inf")
    mean = tenfold.zeros(2, device="cuda")
    F.batch_norm(x.cuda(), mean, tenfold.ones(2, device="cuda"), training=True)
    assert mean[0].item() == float("inf")
    assert 0 < mean[1].item() < 1e4
