"""Convolutions of windows of one tap as products over all images, against sums in float64."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import tenfold
from tenfold.llvm import channels, session
from tenfold.llvm.planes import Window, backward, forward
from tenfold.nn import functional

pytestmark = pytest.mark.skipif(session.session() is None, reason="no compiled kernels on this machine")
RNG = np.random.default_rng(0)
# images, channels, output channels, height, width
SIZES = [(1, 16, 32, 4, 4), (3, 37, 61, 5, 7), (2, 300, 270, 4, 5), (9, 16, 33, 6, 3), (5, 70, 40, 13, 17), (8, 64, 530, 7, 7)]
TOLERANCE = {np.float32: 3e-6, np.float64: 1e-14}


@pytest.fixture(params=[1, 2, 3])
def threads(request):
    before = tenfold.get_num_threads()
    tenfold.set_num_threads(request.param)
    yield request.param
    tenfold.set_num_threads(before)


def arrays(sizes, dtype):
    N, C, O, H, W = sizes
    return (RNG.standard_normal(shape).astype(dtype) for shape in ((N, C, H, W), (O, C), (N, O, H, W), (O,)))


def window(H, W):
    return Window((1, 1), (1, 1), (0, 0), (1, 1), (H, W), (H, W))


def near(got, wanted, depth, dtype):
    assert got is not None
    assert got.dtype == dtype
    assert np.abs(got - wanted).max() <= TOLERANCE[dtype] * np.sqrt(depth) * np.abs(wanted).max()


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("sizes", SIZES)
def test_results_and_gradients(sizes, dtype, threads):
    N, C, O, H, W = sizes
    x, w, g, b = arrays(sizes, dtype)
    wide = [a.astype(np.float64) for a in (x, w, g, b)]
    reading = forward(window(H, W))
    back = backward(window(H, W), (0, 0))[1]
    result = np.einsum("oc,nchw->nohw", wide[1], wide[0])
    near(channels.correlate(x, w, None, False, reading), result, C, dtype)
    near(channels.correlate(x, w, b, False, reading), result + wide[3][:, None, None], C, dtype)
    gradient = np.einsum("oc,nohw->nchw", wide[1], wide[2])
    if C >= channels.FEWEST_OUTPUTS:
        near(channels.correlate(g, w, None, True, back), gradient, O, dtype)
    near(channels.weight_gradient(x, g, reading), np.einsum("nohw,nchw->oc", wide[2], wide[0]), N * H * W, dtype)


@pytest.mark.parametrize("sizes", SIZES)
def test_threads_change_no_number(sizes):
    x, w, g, b = arrays(sizes, np.float32)
    reading = forward(window(*sizes[3:]))
    before, found = tenfold.get_num_threads(), []
    for count in (1, 2, 5):
        tenfold.set_num_threads(count)
        found.append([channels.correlate(x, w, b, False, reading), channels.weight_gradient(x, g, reading)])
    tenfold.set_num_threads(before)
    for other in found[1:]:
        assert all(np.array_equal(p, q) for p, q in zip(found[0], other, strict=True))


def test_what_is_no_number_stays_in_its_pixel(threads):
    x, w, _, _ = arrays((3, 20, 48, 6, 7), np.float32)
    x[1, 3, 2, 5], x[2, 4, 0, 0], x[0, 0, 5, 6] = np.nan, np.inf, -np.inf
    out = functional.conv2d(tenfold.from_numpy(x), tenfold.from_numpy(w[:, :, None, None].copy())).numpy()
    strange = ~np.isfinite(out)
    expected = np.zeros_like(strange)
    expected[1, :, 2, 5] = expected[2, :, 0, 0] = expected[0, :, 5, 6] = True
    assert np.array_equal(strange, expected)
    assert np.isnan(out[1, :, 2, 5]).all()
    assert np.array_equal(out[2, :, 0, 0], np.sign(w[:, 4]) * np.inf)


@pytest.mark.parametrize(("stride", "layout"), list(product((1, 2, 3), ("rows", "apart", "last"))))
def test_strides_and_layouts(stride, layout, threads):
    x, w, _, b = arrays((2, 24, 40, 9, 10), np.float32)
    if layout == "apart":
        given = np.zeros((2, 24, 9, 21), np.float32)[..., :20:2]
    else:
        given = np.empty((2, 9, 10, 24), np.float32).transpose(0, 3, 1, 2) if layout == "last" else np.empty_like(x)
    given[...] = x
    image = tenfold.from_numpy(given).requires_grad_()
    weight = tenfold.from_numpy(w[:, :, None, None].copy()).requires_grad_()
    out = functional.conv2d(image, weight, tenfold.from_numpy(b), stride=stride)
    wide = [a.astype(np.float64) for a in (x, w, b)]
    taken = wide[0][:, :, ::stride, ::stride]
    near(out.detach().numpy(), np.einsum("oc,nchw->nohw", wide[1], taken) + wide[2][:, None, None], 24, np.float32)
    g = RNG.standard_normal(out.shape).astype(np.float32)
    out.backward(tenfold.from_numpy(g))
    spread = np.zeros_like(wide[0])
    spread[:, :, ::stride, ::stride] = np.einsum("oc,nohw->nchw", wide[1], g.astype(np.float64))
    near(image.grad.numpy(), spread, 40, np.float32)
    near(weight.grad.numpy()[:, :, 0, 0], np.einsum("nohw,nchw->oc", g.astype(np.float64), taken), 180, np.float32)
