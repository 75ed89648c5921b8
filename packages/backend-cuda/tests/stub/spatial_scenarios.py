"""Scenarios of images: how many launches convolutions, resampling, borders, blocks and sampling are, forward and backward."""

from __future__ import annotations

import stub
from scenarios import array, quiet

import tenfold
from tenfold import cuda
from tenfold.nn import functional as F


def launches(function, *shapes, dtype=tenfold.float32):
    """(kernels of the result, those of its gradients), none of which copies or waits."""
    leaves = [array(*shape, dtype=dtype).requires_grad_() for shape in shapes]
    forward = quiet(stub.settled(lambda: function(*leaves))).names
    result = function(*leaves)
    gradient = array(*result.shape, dtype=dtype)

    def back():
        tenfold.autograd.grad(result, leaves, gradient, retain_graph=True)

    return forward, quiet(stub.settled(back)).names


def case_convolution_by_steps_has_one_launch_for_each_gradient():
    names = launches(lambda x, w: F.conv2d(x, w, stride=2, padding=1), (2, 32, 9, 9), (32, 32, 3, 3))
    assert names == (["correlate"], ["correlate", "correlate_windows"])
    x, w = array(4, 64, 32, 32), array(64, 64, 3, 3)
    work = stub.settled(lambda: F.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1))
    assert work.names == ["correlate"]
    assert work.launches[0].grid == (4 * 4096 // 128, 1, 1)  # results of one rest by the steps at a time


def case_depthwise_convolution_needs_no_matrix_units():
    x, w = (2, 32, 9, 9), (32, 1, 3, 3)
    forward, back = launches(lambda x, w: F.conv2d(x, w, padding=1, groups=32), x, w)
    assert (forward, back) == (["correlate_groups"], ["correlate_groups", "correlate_group_windows"])
    work = stub.settled(lambda: F.conv2d(array(1, 8, 5, 5, dtype=tenfold.float64), array(8, 8, 3, 3, dtype=tenfold.float64)))
    assert "correlate" in work.names


def case_images_are_resampled_and_padded_by_one_launch():
    for mode in ("nearest", "bilinear", "bicubic"):
        names = launches(lambda x, m=mode: F.interpolate(x, (12, 20), mode=m), (2, 3, 8, 10))
        assert names[0] == ["sums_of_places"], mode
        assert set(names[1]) == {"sums_of_places"}, mode
    for mode in ("reflect", "replicate", "circular"):
        assert launches(lambda x, m=mode: F.pad(x, (1, 2, 3, 1), m), (2, 3, 8, 10)) == (["sums_of_places"],) * 2
    assert launches(lambda x: F.pad(x, (1, 2, 3, 1)), (2, 3, 8, 10)) == (["with_border"],) * 2
    assert launches(lambda x: F.unfold(x, 3), (2, 3, 8, 10)) == (["columns_of_blocks"], ["blocks_of_columns"])


def case_sampling_at_places_is_a_launch_for_each_result():
    grid = (2, 4, 4, 2)
    forward, back = launches(lambda x, g: F.grid_sample(x, g, align_corners=False), (2, 3, 8, 10), grid)
    assert forward == ["sample_places"]
    assert back.count("sample_places") == 2
    forward, back = launches(lambda x: F.fractional_max_pool2d(x, 2, (3, 2)), (2, 3, 8, 10))
    assert forward == ["draw_samples", "largest_of_fractional_windows"]
    assert back == ["spread_largest"]
    forward, back = launches(lambda x: F.fractional_max_pool3d(x, 2, (3, 2, 4)), (2, 3, 8, 10, 9))
    assert forward == ["draw_samples", "largest_of_fractional_windows"]
    forward, back = launches(lambda x: F.adaptive_max_pool2d(x, (3, 2)), (2, 3, 8, 10))
    assert forward == ["largest_of_adaptive_windows"]
    assert back.count("spread_largest") == 1


def case_tables_of_places_can_be_recorded():
    x = array(2, 3, 8, 10)
    with cuda.graph(cuda.CUDAGraph()):
        work = stub.work(lambda: F.interpolate(x, (11, 17), mode="bilinear"))
    assert work.names == ["sums_of_places"]


def case_maps_have_gradients_of_a_few_launches():
    for theta, size in (((4, 2, 3), (4, 3, 8, 9)), ((2, 3, 4), (2, 1, 4, 5, 6))):
        forward, back = launches(lambda theta, size=size: F.affine_grid(theta, size, False), theta)
        assert forward == ["affine_places"]
        assert len(back) <= 6, back
