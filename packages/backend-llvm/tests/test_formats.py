"""Convolutions of arrays that lie in other orders than row by row: channels last, strided, expanded."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.llvm import session
from tenfold.llvm.kernels import conv

RNG = np.random.default_rng(0)
# images, channels, size, output channels, kernel, stride, padding, groups
CASES = [
    (2, 16, 8, 32, 3, 1, 1, 1),
    (3, 24, 9, 16, 1, 1, 0, 1),
    (2, 16, 8, 16, 3, 1, 1, 16),
    (2, 3, 17, 20, 5, 2, 2, 1),
    (2, 16, 8, 32, 1, 2, 0, 1),
    (2, 16, 8, 32, 1, 1, 0, 2),
    (1, 1, 6, 8, 3, 1, 1, 1),
    (8, 32, 16, 32, 3, 1, 1, 1),
    (64, 256, 2, 128, 1, 1, 0, 1),
]
ORDER = (0, 2, 3, 1)


def last(x):
    """The same numbers, channels last."""
    return x.transpose(ORDER).copy().transpose(np.argsort(ORDER))  # a copy also where sizes are 1, for the strides


def same(got, expected, dtype):
    assert got is not NotImplemented
    assert got.dtype == dtype
    error = np.abs(got - expected).max()
    assert error <= (3e-6 if dtype == np.float32 else 1e-14) * max(1.0, np.abs(expected).max())
    assert got.transpose(ORDER).flags.c_contiguous


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_channels_last(case, dtype, threads):
    N, C, size, O, k, stride, padding, groups = case
    x, w, bias = (RNG.standard_normal(s).astype(dtype) for s in ((N, C, size, size), (O, C // groups, k, k), (O,)))
    steps = ((stride,) * 2, (padding,) * 2, (1, 1), False, (0, 0), groups)
    images, kernels = (tenfold.from_numpy(a).requires_grad_() for a in (x, w))
    made = tenfold.nn.functional.conv2d(images, kernels, tenfold.from_numpy(bias), stride, padding, 1, groups)
    g = RNG.standard_normal(made.shape).astype(dtype)
    made.backward(tenfold.from_numpy(g))
    plain, back, weights = made.detach().numpy(), images.grad.numpy(), kernels.grad.numpy()
    before = tenfold.get_num_threads()
    tenfold.set_num_threads(threads)
    try:
        for images, kernels, given in ((last(x), w, g), (x, last(w), g), (last(x), last(w), last(g))):
            changed = images is not x, kernels is not w, given is not g
            same(conv._forward(images, kernels, bias, *steps), plain, dtype)
            if changed[1] or changed[2]:
                same(conv._for_input(given, kernels, x.shape, *steps), back, dtype)
            if changed[0] or changed[2]:
                same(conv._for_weight(given, images, w.shape, *steps), weights, dtype)
    finally:
        tenfold.set_num_threads(before)
    assert session.failures() == []


@pytest.mark.parametrize("transposed", [False, True])
def test_volumes_and_transposed(transposed):
    conv3d = tenfold.nn.functional.conv_transpose3d if transposed else tenfold.nn.functional.conv3d
    x, w = tenfold.randn(2, 8, 5, 6, 7), tenfold.randn(8, 8, 3, 3, 3)
    found = conv3d(x.contiguous(memory_format=tenfold.channels_last_3d), w)
    assert found.is_contiguous(memory_format=tenfold.channels_last_3d)
    tenfold.testing.assert_close(found.contiguous(), conv3d(x, w))


def test_expanded_gradients_and_strided_images():
    x, w = RNG.standard_normal((2, 16, 20, 20)).astype(np.float32), RNG.standard_normal((24, 16, 3, 3)).astype(np.float32)
    steps = ((1, 1), (1, 1), (1, 1), False, (0, 0), 1)
    part = x[:, :, ::2, 3:13]
    plain = conv._forward(part.copy(), w, None, *steps)
    np.testing.assert_array_equal(conv._forward(part, w, None, *steps), plain)
    one = np.broadcast_to(np.float32(1), plain.shape)
    np.testing.assert_array_equal(conv._for_input(one, w, part.shape, *steps), conv._for_input(one.copy(), w, part.shape, *steps))
    np.testing.assert_array_equal(
        conv._for_weight(one, part, w.shape, *steps), conv._for_weight(one.copy(), part.copy(), w.shape, *steps)
    )


def test_a_network_stays_channels_last():
    layers = [tenfold.nn.Conv2d(3, 16, 3), tenfold.nn.ReLU(), tenfold.nn.Conv2d(16, 8, 1)]
    net = tenfold.nn.Sequential(*layers).to(memory_format=tenfold.channels_last)
    x = tenfold.randn(2, 3, 10, 10).contiguous(memory_format=tenfold.channels_last).requires_grad_()
    y = net(x)
    y.backward(tenfold.ones_like(y))
    for t in (y, x.grad, layers[0].weight.grad):
        assert t.is_contiguous(memory_format=tenfold.channels_last)
