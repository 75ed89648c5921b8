"""Resampling, borders, blocks, sampling at places and their gradients by kernels of the device, against the CPU."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.cuda import runtime
from tenfold.nn import functional as F
from tenfold.testing.tolerances import implementation


def drawn(shape, dtype=tenfold.float32, seed=0):
    return tenfold.tensor(np.random.default_rng(seed).standard_normal(shape)).to(dtype)


def launched(function):
    """(the result of a function, the kernels that it launched)."""
    now, names = runtime.current(), []
    given = now.launch_grid
    try:
        now.launch_grid = lambda kernel, *rest: (names.append(getattr(kernel, "name", "")), given(kernel, *rest))[1]
        return function(), names
    finally:
        if "launch_grid" in vars(now):
            del now.launch_grid


def compare(function, *tensors, kernels=None, scale=8.0):
    """The result and the gradients on the device as on the CPU, with the same layout; which kernels made the result."""
    found = []
    for device in ("cpu", "cuda"):
        leaves = [t.to(device).detach() for t in tensors]
        leaves = [t.requires_grad_() if t.is_floating_point() else t for t in leaves]
        result, names = launched(lambda leaves=leaves: function(*leaves)) if device == "cuda" else (function(*leaves), [])
        many = result if isinstance(result, tuple) else (result,)
        if many[0].requires_grad:
            many[0].backward(drawn(tuple(many[0].shape), many[0].dtype, 9).to(device))
        found.append([*many, *[t.grad for t in leaves if t.requires_grad]])
    for expected, got in zip(*found, strict=True):
        assert got.device.type == "cuda"
        assert got.dtype is expected.dtype
        assert got.stride() == expected.stride()
        rtol, atol = implementation(expected.dtype)
        a, b = (t.detach().cpu().double().numpy() for t in (got, expected))
        np.testing.assert_allclose(a, b, rtol=scale * rtol, atol=scale * atol)
    assert kernels is None or names == kernels


MODES = {
    "nearest": {"size": (3, 7), "mode": "nearest"},
    "nearest exact": {"scale_factor": 2, "mode": "nearest-exact"},
    "linear": {"size": (9, 3), "mode": "bilinear"},
    "aligned": {"scale_factor": 1.7, "mode": "bilinear", "align_corners": True},
    "cubic": {"size": (7, 4), "mode": "bicubic"},
    "one dimension stays": {"size": (4, 9), "mode": "bilinear"},
}


@pytest.mark.parametrize("name", MODES)
@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.float64], ids=lambda d: d.name)
def test_interpolation_is_one_launch(name, dtype):
    compare(lambda x: F.interpolate(x, **MODES[name]), drawn((2, 3, 4, 5), dtype), kernels=["sums_of_places"])


def test_interpolation_of_many_taps_layouts_volumes_and_bytes():
    x = drawn((1, 2, 30, 21))
    compare(lambda x: F.interpolate(x, (5, 4), mode="bicubic", antialias=True), x, kernels=["sums_of_places"] * 2)
    last = drawn((2, 5, 4, 6)).contiguous(memory_format=tenfold.channels_last)
    compare(lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), last)
    compare(lambda x: F.interpolate(x, size=(2, 5, 3), mode="trilinear"), drawn((1, 2, 3, 2, 4)))
    compare(lambda x: F.interpolate(x, size=5, mode="linear"), drawn((1, 2, 9), tenfold.bfloat16))
    given = tenfold.tensor(np.random.default_rng(0).integers(0, 256, (1, 3, 8, 9)).astype(np.uint8))
    for antialias in (False, True):
        got, expected = (F.interpolate(x, (5, 14), mode="bilinear", antialias=antialias) for x in (given.cuda(), given))
        assert got.cpu().equal(expected)


BORDERS = {
    "planes": ((2, 3, 4, 5), (2, 1, 0, 3)), "a row": ((3, 5), (4, 0)), "cropped": ((2, 3, 4, 5), (-1, 2, 1, -2)),
    "volumes": ((1, 2, 3, 4, 3), (1, 2, 2, 0, 1, 1)),
}  # fmt: skip


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
@pytest.mark.parametrize("name", BORDERS)
def test_borders_are_one_launch(name, mode):
    shape, widths = BORDERS[name]
    kernels = ["with_border" if mode == "constant" else "sums_of_places"]
    compare(lambda x: F.pad(x, widths, mode), drawn(shape), kernels=kernels)


def test_borders_of_other_dtypes_and_layouts():
    for values in (np.arange(12, dtype=np.int64) - 2**60, np.arange(12) > 5, np.arange(12, dtype=np.uint8), np.arange(12) * 1j):
        x = tenfold.tensor(values.reshape(3, 4))
        value = 1 if x.dtype is not tenfold.complex128 else 0
        assert F.pad(x.cuda(), (1, 2, 0, 1), value=value).cpu().equal(F.pad(x, (1, 2, 0, 1), value=value))
        assert F.pad(x.cuda(), (1, 2), "circular").cpu().equal(F.pad(x, (1, 2), "circular"))
    last = drawn((2, 3, 4, 5)).contiguous(memory_format=tenfold.channels_last)
    compare(lambda x: F.pad(x, (1, 2, 0, 1), value=-1.5), last)
    compare(lambda x: F.pad(x, (1, 2, 0, 1), "reflect"), last)
    volumes = drawn((1, 2, 3, 4, 3)).contiguous(memory_format=tenfold.channels_last_3d)
    for x, widths in ((last, (1, 2)), (last, (1, 2, 0, 1, 3, 1)), (volumes, (1, 2)), (volumes, (0, 1, 2, 0))):
        compare(lambda x, w=widths: F.pad(x, w, value=0.5), x, kernels=["with_border"])
    compare(lambda x: F.pad(x, (1, 0) * 4, value=2.0), drawn((2, 3, 2, 2)))


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.float64, tenfold.float16], ids=lambda d: d.name)
def test_blocks_as_columns_and_back(dtype):
    compare(lambda x: F.unfold(x, (3, 2), (2, 1), (1, 0), (1, 2)), drawn((2, 3, 7, 6), dtype), kernels=["columns_of_blocks"])
    columns = drawn((2, 18, 28), dtype)
    compare(lambda x: F.fold(x, (7, 6), (3, 2), 1, (1, 1), (2, 1)), columns, kernels=["blocks_of_columns"])


def test_pools_of_adaptive_windows_and_of_integers():
    x = drawn((2, 3, 7, 5))
    x[0, 0, 2, 3] = float("nan")
    for sizes in ((3, 2), (1, 1), (9, 4)):
        compare(lambda x, s=sizes: F.adaptive_max_pool2d(x, s, return_indices=True), x, kernels=["largest_of_adaptive_windows"])
    long = drawn((1, 1, 70_001))  # places times sizes do not fit into 32 bits
    compare(lambda x: F.adaptive_max_pool1d(x, 50_000, return_indices=True), long, kernels=["largest_of_adaptive_windows"])
    compare(lambda x: F.adaptive_avg_pool1d(x, 50_000), long, kernels=["adaptive_means"])
    for dtype in (tenfold.int64, tenfold.uint8):
        whole = (x.nan_to_num() * 40).abs().to(dtype)
        compare(lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True), whole, kernels=["largest_of_windows"])
    compare(lambda x: F.avg_pool2d(x, 3, 2, 1), (x.nan_to_num() * 40).to(tenfold.int64))
    values, where = F.max_pool2d(drawn((2, 3, 6, 4)), 2, return_indices=True)
    compare(lambda v, i: F.max_unpool2d(v, i, 2), values, where)


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.float64, tenfold.bfloat16], ids=lambda d: d.name)
def test_pools_of_windows_at_random_places(dtype):
    name = "largest_of_fractional_windows"
    spots = tenfold.tensor(np.random.default_rng(2).uniform(0, 1, (3, 4, 3))).to(dtype)
    flat, deep = drawn((3, 4, 9, 7)), drawn((3, 4, 6, 5, 7))
    flat[0, 0, 3, 3] = flat[1, 2, 4, 4] = float("nan")
    for sizes, taps in (((4, 3), 2), ((1, 5), (3, 2)), ((8, 6), (2, 2))):
        call = lambda x, s, o=sizes, k=taps: F.fractional_max_pool2d(x, k, o, None, True, s)  # noqa: E731
        for x in (flat.to(dtype), flat[0].to(dtype), flat.to(dtype).contiguous(memory_format=tenfold.channels_last)):
            given = spots[: 1 if x.dim() == 3 else 3, :, :2].contiguous()
            compare(lambda x, c=call, s=given: c(x, s.to(x.device)), x, kernels=[name])
    call = lambda x: F.fractional_max_pool3d(x, (2, 1, 3), (3, 4, 2), None, True, spots.to(x.device))  # noqa: E731
    compare(call, deep.to(dtype), kernels=[name])
    F.fractional_max_pool2d(flat.cuda(), 2, 3, _random_samples=tenfold.full((3, 4, 2), 5.0, device="cuda"))  # read inside


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
def test_sampling_at_places(mode, padding):
    grid = tenfold.tensor(np.random.default_rng(3).uniform(-1.6, 1.6, (1, 3, 4, 2))).float()
    for align in (False, True):
        compare(lambda x, g, a=align: F.grid_sample(x, g, mode, padding, a), drawn((1, 2, 5, 6)), grid, kernels=["sample_places"])


def test_sampling_where_places_are_not_finite():
    for at in (float("inf"), -float("inf"), float("nan")):
        grid = tenfold.tensor([[[[[at, 0.1, 0.2], [0.2, at, 0.1], [0.1, 0.2, at], [0.1, 0.2, 0.3]]]]])
        for mode in ("bilinear", "nearest"):
            compare(lambda x, g, m=mode: F.grid_sample(x, g, m, align_corners=False), drawn((1, 1, 3, 4, 5)), grid)
        places = tenfold.tensor([[[[at, 0.1], [0.2, at], [0.1, 0.2]]]])
        cubic = F.grid_sample(drawn((1, 1, 5, 6)).cuda(), places.cuda(), "bicubic", align_corners=False)
        assert cubic.isnan().flatten().tolist() == [True, True, False]


def test_sampling_of_volumes_and_its_second_derivative():
    grid = tenfold.tensor(np.random.default_rng(3).uniform(-1.4, 1.4, (1, 2, 2, 3, 3)))
    compare(
        lambda x, g: F.grid_sample(x, g, padding_mode="reflection", align_corners=False), drawn((1, 2, 3, 2, 4)).double(), grid
    )
    found = []
    for device in ("cpu", "cuda"):
        x, g = drawn((1, 2, 4, 5)).double().to(device), grid.flatten(0, 1)[..., :2].to(device)
        x, g = x.requires_grad_(), g[:1].detach().requires_grad_()
        first = tenfold.autograd.grad((F.grid_sample(x, g, align_corners=True) ** 2).sum(), (x, g), create_graph=True)
        found.append(tenfold.autograd.grad(sum((d**2).sum() for d in first), (x, g)))
    for expected, got in zip(*found, strict=True):
        assert got.cpu().allclose(expected)


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.float64, tenfold.bfloat16], ids=lambda d: d.name)
@pytest.mark.parametrize("align", [False, True])
def test_places_of_affine_maps_and_two_passes_through_them(dtype, align):
    for theta, size in (((3, 2, 3), (3, 1, 3, 70)), ((1, 2, 3), (1, 4, 5, 1)), ((2, 3, 4), (2, 1, 2, 3, 5))):
        scale = 16.0 if dtype is tenfold.bfloat16 else 8.0  # the CPU's places are rounded
        call = lambda t, size=size: tenfold.affine_grid_generator(t, size, align)  # noqa: E731
        compare(call, drawn(theta, dtype), kernels=["affine_places"], scale=scale)
    compare(lambda t: tenfold.affine_grid_generator(t.transpose(1, 2), (1, 1, 2, 3), align), drawn((1, 3, 2), dtype), scale=scale)
    theta = drawn((1, 2, 3), dtype).cuda().requires_grad_()
    places = F.affine_grid(theta, (1, 1, 2, 3), align_corners=align).sum()
    for _ in range(2):  # places are linear in the maps: nothing is kept that a pass would free
        places.backward()


def test_sampling_is_the_same_each_time_where_that_is_asked_for():
    x, grid = drawn((1, 2, 4, 4)).cuda().requires_grad_(), tenfold.zeros(1, 3, 3, 2, device="cuda")
    before = tenfold.are_deterministic_algorithms_enabled()
    tenfold.use_deterministic_algorithms(True)
    try:
        _, names = launched(lambda: F.grid_sample(x, grid, align_corners=False).sum().backward())
    finally:
        tenfold.use_deterministic_algorithms(before)
    assert names.count("sample_places") == 1  # the sums of the gradient are made in one order, by other operators


def test_maxima_of_windows_that_overlap_are_the_same_each_time_where_that_is_asked_for():
    before = tenfold.are_deterministic_algorithms_enabled()
    for pool in (lambda x: F.max_pool2d(x, 3, 1), lambda x: F.adaptive_max_pool2d(x, 4)):
        found = []
        for asked in (False, True, False):  # a call that has been seen is played again only while nothing has changed
            x = drawn((1, 2, 6, 6)).cuda().requires_grad_()
            tenfold.use_deterministic_algorithms(asked)
            try:
                _, names = launched(lambda: pool(x).sum().backward())  # noqa: B023
            finally:
                tenfold.use_deterministic_algorithms(before)
            assert ("spread_largest" in names) is not asked
            found.append(x.grad)
        assert found[0].equal(found[1])


@pytest.mark.parametrize("pool", [
    lambda x: F.adaptive_avg_pool2d(x, (3, 2)), lambda x: F.avg_pool2d(x, 2),
    lambda x: F.max_pool2d(x, 2), lambda x: F.adaptive_max_pool2d(x, (3, 2)),
])  # fmt: skip
def test_pools_of_a_part_of_the_channels_lie_channels_last(pool):
    whole = drawn((2, 6, 5, 4)).contiguous(memory_format=tenfold.channels_last)
    x = whole.cuda()[:, ::2].requires_grad_()
    found = pool(x)
    assert found.is_contiguous(memory_format=tenfold.channels_last)
    expected = whole[:, ::2].detach().requires_grad_()
    pool(expected).square().sum().backward()
    found.square().sum().backward()
    np.testing.assert_allclose(x.grad.cpu().numpy(), expected.grad.numpy(), rtol=1e-5)


@pytest.mark.parametrize("name", ["adaptive_avg_pool1d", "adaptive_max_pool2d", "adaptive_avg_pool3d"])
def test_adaptive_pools_of_no_window_have_no_gradient(name):
    x = drawn((2, 3, 4, 5, 6)[: 2 + int(name[-2])]).cuda().requires_grad_()
    found = getattr(F, name)(x, 0)
    assert found.numel() == 0
    with pytest.raises(RuntimeError, match="Expected grad_output to have non-zero size for non-batch dimensions"):
        found.sum().backward()
