"""Compiled convolutions and their gradients, against the definition in float64, tap by tap."""

from __future__ import annotations

import sys
from itertools import product

import numpy as np
import pytest

import tenfold
from tenfold.llvm import convolution, planes, products, session, weight_gradients
from tenfold.llvm.convolution_calls import forward_call, input_call, weight_call
from tenfold.llvm.kernels import conv
from tenfold.llvm.storage import FLOAT32, FLOAT64

RNG = np.random.default_rng(0)
# images, channels, sizes, output channels, kernel, stride, padding, dilation, groups
CASES = [
    (2, 3, (9, 9), 4, (3, 3), 1, 0, 1, 1),
    (4, 16, (8, 8), 20, (3, 3), 1, 1, 1, 1),
    (3, 64, (14, 14), 70, (3, 3), 1, 1, 1, 1),
    (2, 20, (13, 11), 64, (5, 3), 1, 2, 1, 1),
    (9, 8, (12, 12), 8, (3, 3), 1, 1, 1, 8),
    (2, 8, (12, 17), 16, (3, 3), 2, 1, 1, 8),
    (3, 12, (7, 7), 12, (3, 3), 1, 1, 1, 12),  # rows shorter than a vector
    (2, 6, (5, 3), 6, (3, 2), 1, 0, 1, 6),
    (2, 4, (28, 30), 8, (7, 5), 1, 3, 1, 4),
    (2, 4, (20, 20), 4, (9, 9), 1, 4, 1, 4),  # more rows of taps than registers
    (2, 5, (19, 19), 5, (3, 3), 1, 5, 2, 5),
    (1, 2, (150, 160), 2, (3, 3), 1, 1, 1, 2),  # planes that do not lie on the stack
    (1, 2, (300, 6), 4, (2, 3), 2, 1, 1, 2),
    (2, 3, (5, 6, 7), 3, (3, 3, 3), 1, 1, 1, 3),
    (2, 3, (41,), 3, (4,), 1, 3, 1, 3),
    (2, 3, (32, 32), 64, (7, 7), 2, 3, 1, 1),
    (5, 1, (28, 28), 6, (5, 5), 1, 0, 1, 1),
    (1, 32, (33,), 48, (5,), 1, 2, 1, 1),
    (2, 16, (6, 7, 8), 24, (3, 3, 3), 1, 1, 1, 1),
    (2, 24, (15, 15), 36, (3, 3), 1, 2, 2, 3),
    (2, 64, (10, 10), 128, (1, 1), 2, 0, 1, 1),
    (2, 4, (40,), 3, (4,), 3, 1, 2, 1),
    (5, 40, (7, 7), 30, (3, 3), 2, 1, 1, 1),
    (2, 4, (5, 5), 16, (3, 3), 4, 3, 1, 1),  # taps that meet nothing, and phases without a tap
    (1, 16, (9, 9), 16, (1, 1), 3, 0, 1, 1),
    (30, 24, (2, 2), 40, (3, 3), 1, 1, 1, 2),  # planes of few pixels
    (7, 33, (1, 3), 17, (1, 3), 1, 0, 1, 1),
    (7, 16, (4, 4), 70, (3, 3), 2, 1, 1, 1),
]
CALLS = (forward_call, input_call, weight_call)
TOLERANCE = {np.float32: 3e-6, np.float64: 1e-14}


def numbers(*shape, dtype):
    return RNG.standard_normal(shape).astype(dtype)


def taps(sizes, kernel, stride, padding, dilation, outputs):
    """Each tap with the slices of the padded planes that it meets."""
    for tap in product(*[range(k) for k in kernel]):
        yield (
            tap,
            tuple(slice(t * dilation, t * dilation + (o - 1) * stride + 1, stride) for t, o in zip(tap, outputs, strict=True)),
        )


def definition(x, w, grad, stride, padding, dilation, groups):
    """(result, gradient of x, gradient of w) in float64."""
    x, w, grad = (a.astype(np.float64) for a in (x, w, grad))
    n, sizes, kernel, outputs = w.ndim - 2, x.shape[2:], w.shape[2:], grad.shape[2:]
    wide = np.pad(x, [(0, 0), (0, 0), *[(padding, padding)] * n])
    N, C, O = x.shape[0], x.shape[1], w.shape[0]
    result, back, weights = np.zeros_like(grad), np.zeros_like(wide), np.zeros_like(w)
    given = grad.reshape(N, groups, O // groups, -1)
    kernels = w.reshape(groups, O // groups, C // groups, *kernel)
    for tap, where in taps(sizes, kernel, stride, padding, dilation, outputs):
        part = wide[(..., *where)].reshape(N, groups, C // groups, -1)
        k = kernels[(..., *tap)]
        result += (k @ part).reshape(result.shape)
        back[(..., *where)] += (k.swapaxes(1, 2) @ given).reshape(N, C, *outputs)
        weights[(..., *tap)] = (given @ part.swapaxes(2, 3)).sum(0).reshape(O, C // groups)
    return result, back[(..., *[slice(padding, padding + s) for s in sizes])], weights


def close(got, expected, dtype):
    assert got is not NotImplemented
    assert got.dtype == dtype
    assert got.shape == expected.shape
    assert np.abs(got - expected).max() <= TOLERANCE[dtype] * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_against_the_definition(case, dtype, threads):
    N, C, sizes, O, kernel, stride, padding, dilation, groups = case
    n = len(sizes)
    outputs = [(s + 2 * padding - dilation * (k - 1) - 1) // stride + 1 for s, k in zip(sizes, kernel, strict=True)]
    x, w, bias = numbers(N, C, *sizes, dtype=dtype), numbers(O, C // groups, *kernel, dtype=dtype), numbers(O, dtype=dtype)
    grad = numbers(N, O, *outputs, dtype=dtype)
    steps = [(value,) * n for value in (stride, padding, dilation)]
    result, back, weights = definition(x, w, grad, stride, padding, dilation, groups)
    before = tenfold.get_num_threads()
    tenfold.set_num_threads(threads)
    try:
        close(conv._forward(x, w, None, *steps, False, (0,) * n, groups), result, dtype)
        close(conv._forward(x, w, bias, *steps, False, (0,) * n, groups), result + bias.reshape(-1, *[1] * n), dtype)
        close(conv._for_input(grad, w, x.shape, *steps, False, (0,) * n, groups), back, dtype)
        close(conv._for_weight(grad, x, w.shape, *steps, False, (0,) * n, groups), weights, dtype)
    finally:
        tenfold.set_num_threads(before)


@pytest.mark.parametrize("stride", [(2, 1), (1, 2)])
def test_channels_by_themselves_with_steps_that_differ(stride):
    x, w = numbers(2, 6, 9, 6, dtype=np.float64), numbers(6, 1, 3, 3, dtype=np.float64)
    found = conv._forward(x, w, None, stride, (0, 0), (1, 1), False, (0, 0), 6)
    result = definition(x, w, np.zeros((2, 6, 7, 4)), 1, 0, 1, 6)[0]
    close(found, result[..., :: stride[0], :: stride[1]], np.float64)


def test_what_is_not_a_number_spreads_to_its_window_alone():
    x = np.zeros((1, 16, 12, 12), np.float32)
    x[0, 3, 5, 5] = np.nan
    w = np.ones((32, 16, 3, 3), np.float32)
    found = conv._forward(x, w, None, (1, 1), (1, 1), (1, 1), False, (0, 0), 1)
    where = np.zeros((12, 12), bool)
    where[4:7, 4:7] = True
    assert np.array_equal(np.isnan(found), np.broadcast_to(where, found.shape))
    assert not found[~np.isnan(found)].any()


@pytest.mark.parametrize(("rows", "vectors"), [(6, 4), (8, 3), (4, 3), (6, 2), (8, 1)])
@pytest.mark.parametrize("stored", [FLOAT32, FLOAT64])
def test_every_tile_gives_the_same(rows, vectors, stored, monkeypatch):
    """Tiles of processors with other registers than this one's."""
    plans = (*CALLS, convolution.correlation, convolution.input_gradient, weight_gradients.weight_gradient)
    for plan in plans:
        plan.cache_clear()
    monkeypatch.setattr(products, "panel_tile", lambda stored, channels: products.Tile(stored, rows, vectors))
    x, w = numbers(2, 16, 11, 11, dtype=stored.dtype), numbers(40, 16, 3, 3, dtype=stored.dtype)
    grad = numbers(2, 40, 11, 11, dtype=stored.dtype)
    result, back, weights = definition(x, w, grad, 1, 1, 1, 1)
    steps = ((1, 1), (1, 1), (1, 1))
    close(conv._forward(x, w, None, *steps, False, (0, 0), 1), result, stored.dtype.type)
    close(conv._for_input(grad, w, x.shape, *steps, False, (0, 0), 1), back, stored.dtype.type)
    close(conv._for_weight(grad, x, w.shape, *steps, False, (0, 0), 1), weights, stored.dtype.type)
    for plan in plans:
        plan.cache_clear()


@pytest.mark.parametrize("output_padding", [0, 1])
def test_transposed(output_padding):
    x, w, bias = (tenfold.randn(*s, dtype=tenfold.float64) for s in ((2, 16, 7, 9), (16, 8, 3, 3), (16,)))
    found = tenfold.nn.functional.conv_transpose2d(x, w, bias, stride=2, padding=1, output_padding=output_padding, groups=2)
    spread = tenfold.zeros(2, 16, 15 + output_padding + 1, 19 + output_padding + 1, dtype=tenfold.float64)
    for i, j in product(range(7), range(9)):
        for g in range(2):
            part = (x[:, 8 * g : 8 * g + 8, i, j] @ w[8 * g : 8 * g + 8].reshape(8, -1)).reshape(2, -1, 3, 3)
            spread[:, 8 * g : 8 * g + 8, 2 * i : 2 * i + 3, 2 * j : 2 * j + 3] += part
    expected = spread[:, :, 1 : found.shape[2] + 1, 1 : found.shape[3] + 1] + bias.reshape(-1, 1, 1)
    tenfold.testing.assert_close(found, expected)


def test_half_precision_and_nothing_are_the_kernels_beneath():
    x, w = numbers(1, 4, 8, 8, dtype=np.float32), numbers(4, 4, 3, 3, dtype=np.float32)
    steps = ((1, 1), (0, 0), (1, 1), False, (0, 0), 1)
    assert conv._forward(x.astype(np.float16), w.astype(np.float16), None, *steps) is NotImplemented
    assert conv._forward(x[:0], w, None, *steps) is NotImplemented
    assert session.failures() == []


@pytest.mark.parametrize("sizes", [(4, 8, 8, 8), (2, 64, 14, 64), (1, 4, 1, 3), (1, 256, 1, 16)])
def test_products_of_one_tap(sizes):
    """Little ones, too: once they are planned they take half of NumPy's time."""
    n, inner, side, outer = sizes
    shapes = (n, inner, side, side), (outer, inner, 1, 1), (n, outer, side, side)
    x, w, grad = (numbers(*s, dtype=np.float64) for s in shapes)
    steps = ((1, 1), (0, 0), (1, 1), False, (0, 0), 1)
    tenfold.testing.assert_close(conv._forward(x, w, None, *steps), np.einsum("ncij,oc->noij", x, w[..., 0, 0]))
    tenfold.testing.assert_close(conv._for_input(grad, w, x.shape, *steps), np.einsum("noij,oc->ncij", grad, w[..., 0, 0]))
    tenfold.testing.assert_close(conv._for_weight(grad, x, w.shape, *steps)[..., 0, 0], np.einsum("noij,ncij->oc", grad, x))


@pytest.mark.parametrize("transposed", [False, True])
def test_a_single_image_is_a_batch_of_one(transposed):
    """Without a batch, NumPy had served all of it."""
    shapes = (4, 9, 7), (*((4, 3) if transposed else (6, 2)), 3, 3), (6,)
    x, w, bias = (numbers(*s, dtype=np.float64) for s in shapes)
    steps = ((2, 1), (1, 0), (1, 1), transposed, (1, 0) if transposed else (0, 0), 2)
    whole = conv._forward(x[None], w, bias, *steps)
    assert np.array_equal(conv._forward(x, w, bias, *steps), whole[0])
    grad = numbers(*whole.shape, dtype=np.float64)
    assert np.array_equal(conv._for_input(grad[0], w, x.shape, *steps), conv._for_input(grad, w, (1, *x.shape), *steps)[0])
    assert np.array_equal(conv._for_weight(grad[0], x, w.shape, *steps), conv._for_weight(grad, x[None], w.shape, *steps))


def test_memory_order_of_the_arguments_changes_no_number():
    apart = [tenfold.tensor(numbers(*shape, 2, dtype=np.float32))[..., 1] for shape in ((2, 3, 20, 20), (8, 3, 5, 5), (8,))]
    whole = [t.contiguous() for t in apart]
    expected = tenfold.nn.functional.conv2d(*whole)
    for mask in product((False, True), repeat=3):
        arguments = [b if m else a for a, b, m in zip(apart, whole, mask, strict=True)]
        assert tenfold.equal(tenfold.nn.functional.conv2d(*arguments), expected), mask


def test_tables_of_a_large_plane_are_not_made_number_by_number():
    """A new size of image had taken as long as a hundred convolutions of it."""
    calls = []
    reading = planes.forward(planes.Window((3, 3), (1, 1), (1, 1), (1, 1), (301, 400), (301, 400)))
    sys.setprofile(lambda frame, event, _: calls.append(event))
    try:
        plane = planes.Plane(reading, 2, 4, parted=False)
    finally:
        sys.setprofile(None)
    assert len(calls) < 2000
    assert plane.pixels[:2].tolist() == [0, 4]
    assert plane.pixels[400] == plane.line == 402 * 4
    assert plane.pixels[120399] == (300 * 402 + 399) * 4
    assert plane.taps.tolist()[:4] == [0, 4, 8, 402 * 4]
    assert plane.taps[9] == 303 * 402 * 4


def test_sizes_met_before_are_planned_once(monkeypatch):
    """For one small image the planning had taken five times as long as the convolution."""
    x, w, bias = numbers(1, 3, 8, 8, dtype=np.float32), numbers(4, 3, 3, 3, dtype=np.float32), numbers(4, dtype=np.float32)
    grad = numbers(1, 4, 4, 4, dtype=np.float32)
    steps = ((2, 2), (1, 1), (1, 1), False, (0, 0), 1)

    def step():
        conv._forward(x, w, bias, *steps)
        conv._for_input(grad, w, x.shape, *steps)
        conv._for_weight(grad, x, w.shape, *steps)

    step()
    for name in ("windows", "Window", "correlation", "input_gradient", "weight_gradient"):
        monkeypatch.delattr(conv, name)
    before = [plan.cache_info().misses for plan in CALLS]
    step()
    assert [plan.cache_info().misses for plan in CALLS] == before


def test_few_plans_of_large_planes_are_kept():
    """A detector's images have ever other sizes: their tables had been kept by the gigabyte."""
    made = []
    keep = planes.Kept(lambda window, more: made.append(window) or len(made))
    windows = [planes.Window((3,), (1,), (1,), (1,), (n,), (n,)) for n in range(planes.LARGE + 1, planes.LARGE + 41)]
    for window in (*windows, *windows[-planes.FEW_KEPT :]):
        keep(window, 1)
    assert len(made) == len(windows)
    assert (keep.few.cache_info().currsize, keep.many.cache_info().currsize) == (planes.FEW_KEPT, 0)
    steps = ((1,), (1,), (1,), False, (0,), 1)
    assert forward_call((1, 2, *windows[0].inputs), (2, 2, 3), None, steps, FLOAT32.dtype, 2, 1) is None


def test_phases_are_planned_where_one_product_does_not_serve(monkeypatch):
    """Windows of 16x16 side by side have 256 phases."""
    planned = []
    monkeypatch.setattr(convolution, "_phases", lambda *sizes: planned.append(sizes))
    window = planes.Window((16, 16), (16, 16), (0, 0), (1, 1), (64, 64), (4, 4))
    run = convolution._spread(window, 1, 3, 64, 1, FLOAT32, 2, 1)
    found = run(numbers(1, 64, 4, 4, dtype=np.float32), numbers(64, 3, 16, 16, dtype=np.float32), None)
    assert found.shape == (1, 3, 64, 64)
    assert not planned
