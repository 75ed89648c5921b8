"""Arrays of sizes at which CUDA's grids end: the first and the last programs of launches, in arrays that take no memory."""

from __future__ import annotations

import numpy as np
import pytest
from vast_arrays import few_programs, vast  # noqa: F401 - a fixture

from tenfold.cuda import interpreter, runtime
from tenfold.cuda.kernels import (
    all_pairs,
    bags,
    batch_norm,
    conv,
    distance,
    group_norm,
    grouped_products,
    joining,
    scaled_products,
    scaling,
    soft_targets,
    sums,
)
from tenfold.cuda.kernels.handwritten import Handwritten, start
from tenfold.nn import functional as F
from tenfold.types.dtypes import BY_NAME

ONE = np.arange(1, 6)  # what is written at an end of an array
pytestmark = [
    pytest.mark.skipif(type(runtime.current()) is not interpreter.InterpretedRuntime, reason="the interpreter's programs"),
    pytest.mark.usefixtures("few_programs"),
]


def at_the_ends(shape, dtype=np.float32):
    """An array of zeros with numbers at both ends of its rows."""
    x = vast(shape, dtype)
    x[..., :5] = ONE.astype(dtype)
    x[..., -5:] = ONE.astype(dtype)
    return x


@pytest.mark.parametrize("grid", [(1, 65536), (1, 1, 65536), (2**31,)], ids=str)
def test_a_launch_larger_than_a_gpu_takes_is_refused(grid):
    with pytest.raises(RuntimeError, match=r"check_indices: a launch of .* is larger than a GPU takes"):
        start(Handwritten("check_indices", (("BLOCK", 1),)), grid, (), 0)


@pytest.mark.parametrize("grid", [(0,), (3, 0), (2, 1, 0)], ids=str)
def test_a_launch_of_no_programs_is_refused_as_a_driver_does(grid):
    with pytest.raises(RuntimeError, match=r"check_indices: a launch of .* programs, of which there are none"):
        start(Handwritten("check_indices", (("BLOCK", 1),)), grid, (), 0)


@pytest.mark.parametrize("shape", [(2, 3, 65536 * 256 + 7), (1, 2**31 + 6), (2, 2**31 - 6)], ids=str)
def test_triangles_of_wide_rows(shape):
    x, (rows, columns) = at_the_ends(shape, np.uint8), shape[-2:]
    low, high = joining.tril(x, 3).reshape(-1, columns), joining.triu(x, columns - 3).reshape(-1, columns)
    assert low[0, :6].tolist() == [1, 2, 3, 4, 0, 0]
    assert not low[-1, -5:].any()
    assert high[-1, -5:].tolist() == [0, 0, 3, 4, 5][:2] + [0] * (rows - 1) + [3, 4, 5][rows - 1 :]
    assert not high[0, :5].any()
    assert joining.tril(x, columns)[..., -1, -5:].reshape(-1, 5)[-1].tolist() == ONE.tolist()


def test_triangles_of_high_columns():
    x = at_the_ends((2**31 + 7,), np.uint8)[:, None]
    assert joining.tril(x, 0)[-5:, 0].tolist() == ONE.tolist()
    assert not joining.triu(x, 0)[-5:].any()


@pytest.mark.parametrize("stacked", [True, False])
def test_products_of_slices(stacked):
    kind, width = BY_NAME["bfloat16"].numpy, 65536 * 128 + 9
    b = at_the_ends((1, 16, width) if stacked else (16, width), kind)
    a, ends = np.ones((3, 16), kind), np.array([2 if stacked else 16], np.int32)
    out = grouped_products._grouped_mm(a, b, ends, None, None)
    last = (out[:2] if stacked else out[0])[..., -5:].astype(np.float32)
    assert np.array_equal(last, np.broadcast_to(16.0 * ONE, last.shape))


def test_products_with_scales_of_blocks():
    kind, width = BY_NAME["float8_e4m3fn"].numpy, 65536 * 128 + 128
    b = vast((width, 128), np.uint8).view(kind)
    b[-5:] = ONE.astype(np.float32).astype(kind)[:, None]
    a, of_a, of_b = np.ones((2, 128), kind), np.ones((1, 2), np.float32).T, np.ones((width // 128, 1), np.float32).T
    recipes = [F.ScalingType.BlockWise1x128.value], [F.ScalingType.BlockWise128x128.value]
    out = scaled_products._scaled_mm_v2(
        a, b.T, [of_a], recipes[0], [], [of_b], recipes[1], [], None, BY_NAME["float32"], [], False
    )
    assert np.array_equal(out[:, -5:], np.broadcast_to(128.0 * ONE, (2, 5)))


GROUPS, CHANNELS = 65537, 5  # groups of more channels than the kernel for small ones takes


@pytest.mark.parametrize("transposed", [False, True])
def test_convolutions_of_groups(transposed):
    x = np.arange(GROUPS * CHANNELS, dtype=np.float32).reshape(1, -1, 1) % 11
    w = np.ones((GROUPS * CHANNELS, CHANNELS, 1), np.float32)
    window = conv.window_constants((1,), (1,), (0,), (1,))
    out = conv.correlated(x, w, None, x.shape, window, GROUPS, transposed).reshape(GROUPS, CHANNELS)
    expected = x.reshape(GROUPS, CHANNELS).sum(1, keepdims=True)
    for group in (0, -1):
        assert np.array_equal(out[group], np.broadcast_to(expected[group], (CHANNELS,)))


def test_windows_gradients_of_groups():
    x = np.arange(GROUPS * CHANNELS, dtype=np.float32).reshape(1, -1, 1) % 11
    window = conv.window_constants((1,), (1,), (0,), (1,))
    out = conv._windows_gradient(x, x, (GROUPS * CHANNELS, CHANNELS, 1), window, GROUPS).reshape(GROUPS, CHANNELS, CHANNELS)
    each = x.reshape(GROUPS, CHANNELS)
    for group in (0, -1):
        assert np.array_equal(out[group], each[group][:, None] * each[group])


def test_segments():
    x, offsets = at_the_ends((3, 65536 * 1024 + 3)), np.array([0, 2, 3])
    out = vast((2, x.shape[1]))
    sums.reduced("sum", out, x, None, offsets, (1, 2, 3, x.shape[1]), 0, None)
    assert out[1, -5:].tolist() == ONE.tolist()
    assert out[0, :5].tolist() == (2 * ONE).tolist()


def test_products_of_complex_numbers_at_one_place():
    out, x = vast((1, 65536 * 256 + 3), np.complex64), at_the_ends((2, 65536 * 256 + 3), np.complex64)
    sums._multiplied(out, x, np.array([1, 0]), np.array([0, 2]), x.shape[1], False)
    assert out[0, -5:].tolist() == (ONE**2).tolist()


def test_gradients_of_distances_of_wide_rows():
    a, b = at_the_ends((2, 65536 * 16 + 3)), vast((2, 65536 * 16 + 3))
    g, lengths = np.ones((2, 2), np.float32), np.full((2, 2), 2.0, np.float32)
    out = all_pairs.fused_distances_grad(g, a, b, lengths, 2.0, False)
    assert np.array_equal(out[:, -5:], np.broadcast_to(ONE, (2, 5)))  # twice the difference over the length


def test_gradients_of_losses_of_many_classes():
    shape = (1, 65536 * 2048)
    x, target = vast(shape), at_the_ends(shape)
    saved = np.array([0.0, np.log(shape[1]), 1.0], np.float32).reshape(3, 1)
    out = soft_targets.fused_soft_cross_entropy_grad(np.ones((), np.float32), x, target, None, 0.0, "sum", saved)
    assert np.allclose(out[0, -5:], 1 / shape[1] - ONE)


HALF = np.float16
MANY = 2**31 + 4  # rows of one number, or elements


def rows(width, count=MANY):
    return vast((count, width), HALF)


SIZES_FOR_BODIES = {
    "pairs of rows": lambda: distance.fused_row_pairs(rows(2), rows(2), "cosine", 1e-8, 2.0),
    "distances": lambda: all_pairs.fused_distances(vast((MANY, 1, 1), HALF), vast((MANY, 1, 1), HALF), 2.0, False),
    "squares": lambda: all_pairs.fused_distances(vast((MANY, 1, 1)), vast((MANY, 1, 1)), 2.0, True),
    "bags": lambda: bags.fused_bags(
        rows(1, 2), np.zeros(3, int), vast((MANY,), np.int32), None, "sum", MANY, -1, False, False, False
    ),
    "planes": lambda: group_norm.fused_group_norm(rows(1, MANY), 1, None, None, 1e-5),
    "normalized rows": lambda: scaling.fused_scaled_rows(rows(1), 2.0, "scale", 1e-12),
    "a normalized row": lambda: scaling.fused_scaled_rows(rows(2**31 - 5, 1), 2.0, "scale", 1e-12),
    "a channel": lambda: conv.convolution_weight_grad(
        rows(2**31 - 5, 1)[None], rows(2**31 - 5, 1)[None], (1, 1, 1), (1,), (0,), (1,), False, (0,), 1
    ),
    "a normalized channel": lambda: batch_norm._served(rows(2**31 - 5, 1)[None]) or NotImplemented,
}


@pytest.mark.parametrize("name", SIZES_FOR_BODIES)
def test_sizes_at_which_32_bits_end_are_left_to_the_bodies(name, monkeypatch):
    monkeypatch.setattr(interpreter.InterpretedRuntime, "launch_grid", lambda self, kernel, *given: pytest.fail(kernel.name))
    assert SIZES_FOR_BODIES[name]() is NotImplemented
