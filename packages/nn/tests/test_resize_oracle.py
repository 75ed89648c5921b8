"""Resampling and sampling at places against PyTorch: every mode, dtype, memory format, and bytes to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold
import tenfold.nn.functional as F

torch = pytest.importorskip("torch")
TF = torch.nn.functional
FORMATS = {4: torch.channels_last, 5: torch.channels_last_3d}
MODES = [
    ("nearest", 3, False), ("nearest", 4, False), ("nearest", 5, False), ("nearest-exact", 4, False), ("linear", 3, False),
    ("bilinear", 4, False), ("bilinear", 4, True), ("bicubic", 4, False), ("bicubic", 4, True), ("trilinear", 5, False),
    ("lanczos", 4, True), ("area", 3, False), ("area", 4, False), ("area", 5, False),
]  # fmt: skip
SIZES: list[dict[str, Any]] = [
    {"size": 5}, {"size": 11}, {"size": 8}, {"scale_factor": 1.7}, {"scale_factor": 0.6},
    {"scale_factor": 1.7, "recompute_scale_factor": True},
]  # fmt: skip


def images(ndim: int, dtype: Any, channels: int, last: bool) -> Any:
    x = torch.rand((2, channels, 8, 9, 7)[:ndim], generator=torch.Generator().manual_seed(channels)) * 255
    x = x.to(dtype) if dtype is torch.uint8 else (x / 100).to(dtype).requires_grad_()
    return x.detach().contiguous(memory_format=FORMATS[ndim]).requires_grad_(x.requires_grad) if last else x


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.uint8], ids=str)
@pytest.mark.parametrize(("mode", "ndim", "antialias"), MODES)
def test_interpolate(mode: str, ndim: int, antialias: bool, dtype: Any, agree: Any) -> None:
    if antialias and dtype in (torch.float16, torch.bfloat16):
        pytest.skip("PyTorch has no antialiasing of half precision on the CPU")
    smooth = not mode.startswith("nearest") and mode not in ("area", "lanczos")
    for align in (False, True) if smooth else (None,):
        for channels, last in ((1, False), (3, False), (5, True), (3, True)):
            for kw in SIZES:
                x = images(ndim, dtype, channels, last and ndim > 3)
                options = {"mode": mode, "align_corners": align, "antialias": antialias, **kw}
                tolerance = 1e-4 if dtype is torch.float32 else None
                keeps = (mode, ndim) != ("area", 5)  # PyTorch's three-dimensional means alone forget where channels were
                agree(F.interpolate, TF.interpolate, x, tolerance=tolerance, strides=keeps, **options)


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32, torch.int64, torch.bool, torch.complex64], ids=str)
@pytest.mark.parametrize(("mode", "ndim", "antialias"), MODES)
def test_interpolate_refuses(mode: str, ndim: int, antialias: bool, dtype: Any, agree: Any) -> None:
    agree(F.interpolate, TF.interpolate, torch.ones((1, 2, 8, 8, 8)[:ndim], dtype=dtype), size=5, mode=mode, antialias=antialias)


@pytest.mark.parametrize("x", [torch.full((1, 3, 40, 30), 255, dtype=torch.uint8), torch.zeros(1, 1, 2, 2, dtype=torch.uint8)])
def test_bytes_stay_bytes_at_the_ends_of_their_range(x: Any, agree: Any) -> None:
    for mode in ("bilinear", "bicubic"):
        for antialias in (False, True):
            for size in ((7, 300), (64, 3)):
                agree(F.interpolate, TF.interpolate, x, size=size, mode=mode, antialias=antialias)


@pytest.mark.parametrize(
    ("kw", "words"),
    [
        ({"size": (1, 2.5)}, "expected size to be one of int or"),
        ({"size": (1,)}, "must have the same number of spatial dimensions"),
        ({}, "either size or scale_factor should be defined"),
        ({"size": 2, "scale_factor": 2}, "only one of size or scale_factor"),
        ({"scale_factor": (1, 2, 3)}, "scale_factor of shape \\(1, 2, 3\\)"),
        ({"size": 2, "mode": "linear"}, "Got 4D input, but linear mode needs 3D input"),
        ({"size": 2, "mode": "x"}, "Only 3D, 4D and 5D input Tensors supported \\(got 4D\\)"),
        ({"size": 2, "align_corners": True}, "align_corners option can only be set"),
        ({"size": 2, "antialias": True}, "Anti-alias option is restricted"),
        ({"size": 2, "recompute_scale_factor": True}, "not meaningful with an explicit size"),
        ({"scale_factor": 1e20, "mode": "bilinear"}, "cannot be converted to type int64_t without overflow"),
        ({"size": 0}, "Input and output sizes should be greater than 0, but got input \\(H: 8, W: 8\\) output \\(H: 0, W: 0\\)"),
        ({"size": 2, "mode": "lanczos"}, "Lanczos mode requires antialias=True"),
    ],
)
def test_messages(kw: dict[str, Any], words: str) -> None:
    x = torch.ones(1, 2, 8, 8)
    with pytest.raises(Exception, match=words) as wanted:
        TF.interpolate(x, **kw)
    import tenfold as tf

    with pytest.raises(wanted.type, match=words):
        F.interpolate(tf.ones(1, 2, 8, 8), **kw)


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
@pytest.mark.parametrize("align", [False, True])
def test_grid_sample_beyond_the_borders(mode: str, padding: str, align: bool, agree: Any) -> None:
    torch.manual_seed(0)
    x = torch.randn(1, 2, 5, 6, dtype=torch.float64, requires_grad=True)
    grid = (torch.randn(1, 7, 8, 2, dtype=torch.float64) * 2).requires_grad_()
    agree(F.grid_sample, TF.grid_sample, x, grid, mode=mode, padding_mode=padding, align_corners=align)
    agree(F.grid_sample, TF.grid_sample, x.detach(), grid, mode=mode, padding_mode=padding, align_corners=align)


@pytest.mark.parametrize("mode", ["nearest", "bilinear"])
@pytest.mark.parametrize("at", [float("inf"), -float("inf"), 1e20])
def test_grid_sample_at_infinity(mode: str, at: float, agree: Any) -> None:
    x = torch.arange(30.0).reshape(1, 1, 5, 6)
    grid = torch.tensor([[[[at, 0.1], [0.2, at], [at, at]]]])
    agree(F.grid_sample, TF.grid_sample, x, grid, mode=mode, padding_mode="border", align_corners=False)


@pytest.mark.parametrize("mode", ["nearest", "bilinear"])
@pytest.mark.parametrize("at", [float("inf"), -float("inf"), float("nan"), 1e20])
def test_what_is_not_finite_lies_outside_a_volume(mode: str, at: float, agree: Any) -> None:
    x = torch.arange(60.0).reshape(1, 1, 3, 4, 5).requires_grad_()
    grid = torch.tensor([[[[[at, 0.1, 0.2], [0.2, at, 0.1], [0.1, 0.2, at], [0.1, 0.2, 0.3]]]]]).requires_grad_()
    agree(F.grid_sample, TF.grid_sample, x, grid, mode=mode, padding_mode="zeros", align_corners=False)


@pytest.mark.parametrize("at", [float("inf"), float("nan")])
def test_cubic_weights_of_what_is_not_finite_are_nan(at: float, agree: Any) -> None:
    x = torch.arange(30.0).reshape(1, 1, 5, 6)
    grid = torch.tensor([[[[at, 0.1], [0.2, at], [0.1, 0.2]]]])
    for padding in ("zeros", "border", "reflection"):
        agree(F.grid_sample, TF.grid_sample, x, grid, mode="bicubic", padding_mode=padding, align_corners=False)


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("size", [(2, 1, 3, 4), (2, 3, 2, 3, 4), (1, 1, 5, 2)])
def test_a_grid_keeps_nothing_for_its_gradient(size: Any, align_corners: bool) -> None:
    n = len(size) - 2
    maps = np.random.default_rng(0).standard_normal((size[0], n, n + 1))

    def found(t: Any) -> Any:
        theta = t.tensor(maps, requires_grad=True)
        grid = t.nn.functional.affine_grid(theta, size, align_corners)
        weights = t.arange(float(grid.numel()), dtype=t.float64).view(grid.shape)
        grid.backward(weights)
        grid.backward(weights.sqrt())  # without retain_graph
        return grid.detach().numpy(), theta.grad.numpy(), grid.grad_fn.name()

    (grid, grad, name), (expected_grid, expected_grad, expected_name) = found(tenfold), found(torch)
    np.testing.assert_allclose(grid, expected_grid, rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(grad, expected_grad, rtol=1e-13, atol=1e-12)
    assert name == expected_name


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_shuffled_channels_have_memory_of_their_own(groups: int) -> None:
    x = tenfold.arange(12.0).view(1, 4, 3)
    y = tenfold.channel_shuffle(x, groups)
    assert y.tolist() == torch.channel_shuffle(torch.arange(12.0).view(1, 4, 3), groups).tolist()
    y.fill_(-1)
    assert x.tolist() == torch.arange(12.0).view(1, 4, 3).tolist()
