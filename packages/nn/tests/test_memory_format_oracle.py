"""Where results lie in memory: channels last stay last, as PyTorch's do; and dtypes that operators refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tenfold as tf
import tenfold.nn.functional as F

torch = pytest.importorskip("torch")
TF = torch.nn.functional

IMAGES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "max_pool2d": lambda F, t, x: F.max_pool2d(x, 2, return_indices=True),
    "max_pool2d padded": lambda F, t, x: F.max_pool2d(x, 3, 2, 1),
    "avg_pool2d": lambda F, t, x: F.avg_pool2d(x, 3, 2),
    "adaptive_avg_pool2d": lambda F, t, x: F.adaptive_avg_pool2d(x, (3, 2)),
    "adaptive_avg_pool2d to one": lambda F, t, x: F.adaptive_avg_pool2d(x, 1),
    "adaptive_max_pool2d": lambda F, t, x: F.adaptive_max_pool2d(x, 3, return_indices=True),
    "batch_norm": lambda F, t, x: F.batch_norm(x, None, None, training=True),
    "group_norm": lambda F, t, x: F.group_norm(x, 2),
    "pad": lambda F, t, x: F.pad(x, (1, 2)),
    "pad planes": lambda F, t, x: F.pad(x, (1, 2, -1, 0)),
    "pad channels": lambda F, t, x: F.pad(x, (1, 2, 0, 1, 1, 0)),
    "pad circular": lambda F, t, x: F.pad(x, (1, 2, 0, 1), "circular"),
    "pad reflect": lambda F, t, x: F.pad(x, (1, 2, 0, 1), "reflect"),
    "pad replicate": lambda F, t, x: F.pad(x, (1, 2, 0, 1), "replicate"),
    "pixel_shuffle": lambda F, t, x: F.pixel_shuffle(x, 2),
    "pixel_unshuffle": lambda F, t, x: F.pixel_unshuffle(x, 2),
    "channel_shuffle": lambda F, t, x: F.channel_shuffle(x, 2),
    "interpolate": lambda F, t, x: F.interpolate(x, scale_factor=2),
    "dropout": lambda F, t, x: F.dropout(x, 0.0),
    "conv2d": lambda F, t, x: F.conv2d(x, t.ones((4, 4, 3, 3), dtype=x.dtype)),
    "conv_transpose2d": lambda F, t, x: F.conv_transpose2d(x, t.ones((4, 4, 3, 3), dtype=x.dtype)),
    "relu": lambda F, t, x: F.relu(x),
    "gelu": lambda F, t, x: F.gelu(x),
    "silu": lambda F, t, x: F.silu(x),
    "elu": lambda F, t, x: F.elu(x),
    "hardswish": lambda F, t, x: F.hardswish(x),
    "leaky_relu": lambda F, t, x: F.leaky_relu(x),
    "softplus": lambda F, t, x: F.softplus(x),
    "mish": lambda F, t, x: F.mish(x),
    "threshold": lambda F, t, x: F.threshold(x, 0.1, 2),
    "hardtanh": lambda F, t, x: F.hardtanh(x),
    "mse_loss": lambda F, t, x: F.mse_loss(x, x + 1, reduction="none"),
    "layer_norm": lambda F, t, x: F.layer_norm(x, (6,)),
    "softmax": lambda F, t, x: F.softmax(x, 1),
    "grid_sample": lambda F, t, x: F.grid_sample(x, t.zeros((2, 2, 3, 2), dtype=x.dtype), align_corners=False),
    "instance_norm": lambda F, t, x: F.instance_norm(x),
    "unfold": lambda F, t, x: F.unfold(x, 2),
    "normalize": lambda F, t, x: F.normalize(x),
}
REFUSING = [
    "max_pool2d", "avg_pool2d", "adaptive_avg_pool2d", "adaptive_max_pool2d", "batch_norm", "group_norm", "layer_norm",
    "instance_norm", "pad", "unfold", "pixel_shuffle", "interpolate", "grid_sample",
]  # fmt: skip
KINDS = ["uint8", "int16", "int64", "bool", "complex64"]


@pytest.mark.parametrize("name", IMAGES)
@pytest.mark.parametrize("kind", ["last", "first", "of one channel", "sliced", "permuted"])
def test_format(name: str, kind: str, agree: Any) -> None:
    x = torch.randn(2, 1 if kind == "of one channel" and name in ("max_pool2d", "avg_pool2d", "gelu") else 4, 6, 6)
    x = {
        "last": lambda: x.contiguous(memory_format=torch.channels_last),
        "of one channel": lambda: x.contiguous(memory_format=torch.channels_last),
        "sliced": lambda: torch.randn(2, 6, 6, 6).contiguous(memory_format=torch.channels_last)[:, :4],
        "permuted": lambda: x.permute(0, 3, 2, 1).contiguous().permute(0, 3, 2, 1),
        "first": lambda: x,
    }[kind]()
    call = IMAGES[name]
    agree(lambda y: call(F, tf, y), lambda y: call(TF, torch, y), x.requires_grad_(), strides=True)


@pytest.mark.parametrize("kernel", [1, 3])
@pytest.mark.parametrize("groups", [1, 4])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("image", ["contiguous_format", "channels_last"])
@pytest.mark.parametrize("weight", ["contiguous_format", "channels_last"])
def test_convolution_lies_channels_last_where_image_or_weight_does(
    image: str, weight: str, transposed: bool, groups: int, kernel: int
) -> None:
    def strides(t: Any) -> list[Any]:
        x = t.ones(2, 4, 5, 5).to(memory_format=getattr(t, image)).requires_grad_()
        layer = (t.nn.ConvTranspose2d if transposed else t.nn.Conv2d)(4, 8, kernel, groups=groups)
        result = layer.to(memory_format=getattr(t, weight))(x)
        result.backward(t.ones_like(result))
        return [result.stride(), x.grad.stride()]

    assert strides(tf) == strides(torch)


@pytest.mark.parametrize("name", ["max_pool3d", "batch_norm", "group_norm"])
def test_format_of_volumes(name: str, agree: Any) -> None:
    rest: tuple[Any, ...] = {"batch_norm": (None, None, None, None, True)}.get(name, (2,))
    x = torch.randn(2, 4, 4, 6, 4).contiguous(memory_format=torch.channels_last_3d)
    agree(getattr(F, name), getattr(TF, name), x.requires_grad_(), *rest, strides=True)


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("name", REFUSING)
def test_refused_dtypes(name: str, dtype: str, agree: Any) -> None:
    x = torch.ones(2, 4, 6, 6).to(getattr(torch, dtype))
    call = IMAGES[name]
    agree(lambda y: call(F, tf, y), lambda y: call(TF, torch, y), x)


@pytest.mark.parametrize("part", ["sliced", "restrided"])
def test_copies_of_one_image_lie_as_its_strides_say(part: str) -> None:
    """A part of one image with a new batch dimension is no channels_last image to PyTorch: copies keep its strides' order."""

    def strides(t: Any, interpolate: Any) -> list[Any]:
        x = t.ones(1, 3, 40, 40, dtype=t.uint8).contiguous(memory_format=t.channels_last)
        x = (x[:, :, 10:-10, 10:-10] if part == "sliced" else x[:, :, ::2, ::2])[0][None]
        made = [x.float(), x.clone(), t.empty_like(x), x.to(t.int16)]
        made += [interpolate(y, size=(8, 8), mode="bilinear") for y in (x, x.float())]
        return [tuple(y.stride()) for y in made]

    assert strides(tf, F.interpolate) == strides(torch, TF.interpolate)


@pytest.mark.parametrize(
    ("shape", "order"),
    [
        ((1, 3, 2, 1), (0, 2, 1, 3)), ((2, 3, 4, 1), (0, 2, 1, 3)), ((2, 4, 5, 3), (0, 3, 1, 2)), ((2, 1, 5, 3), (0, 3, 1, 2)),
        ((1, 1, 1, 3), (0, 3, 1, 2)), ((2, 1, 1, 3), (0, 3, 1, 2)), ((2, 4, 5, 1), (0, 3, 1, 2)), ((2, 5, 1, 1), (0, 3, 1, 2)),
        ((2, 4, 3, 5, 3), (0, 4, 1, 2, 3)), ((1, 3, 2, 2, 1), (0, 2, 3, 1, 4)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("training", [False, True])
def test_batch_norm_goes_by_where_the_elements_lie(shape: tuple[int, ...], order: tuple[int, ...], training: bool) -> None:
    strides: list[Any] = []
    for engine in (tf, torch):
        x = engine.arange(float(engine.empty(shape).numel())).reshape(shape).permute(order)
        C = x.shape[1]
        try:
            found = engine.nn.functional.batch_norm(x, engine.zeros(C), engine.ones(C), engine.ones(C), engine.zeros(C), training)
        except ValueError:
            strides.append(None)
            continue
        layer = engine.nn.functional.instance_norm(x, engine.zeros(C), engine.ones(C), use_input_stats=False)
        strides.append((found.stride(), layer.stride()))
    assert strides[0] == strides[1]


@pytest.mark.parametrize("last", [(False, True), (True, True), (True, False)])
@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("transposed", [False, True])
def test_an_image_without_a_batch_by_weights_channels_last(n, last, transposed):
    """A model whose weights are channels last takes one image; its dimensions had been counted as those of a batch."""
    results = []
    for t, functional in ((tf, F), (torch, TF)):
        formats = {4: t.channels_last, 5: t.channels_last_3d}
        numbers = [t.arange(4.0 * 6**n).reshape(1, 4, *[6] * n).sin(), t.arange(24.0 * 3**n).reshape(4, 6, *[3] * n).cos()]
        if not transposed:
            numbers[1] = numbers[1].transpose(0, 1)
        x, w = (a.to(memory_format=formats[a.dim()]) if q else a.contiguous() for a, q in zip(numbers, last, strict=True))
        x, w = x[0].requires_grad_(), w.requires_grad_()
        y = getattr(functional, f"conv{'_transpose' if transposed else ''}{n}d")(x, w, None, 2, 1)
        results.append((y, *t.autograd.grad(y, (x, w), t.ones_like(y))))
    for k, (ours, theirs) in enumerate(zip(*results, strict=True)):
        tf.testing.assert_close(ours.detach(), tf.from_numpy(theirs.detach().numpy()), atol=2e-5, rtol=2e-5)
        if n == 2 and k < 2:  # PyTorch's kernels for volumes have no channels last; weights' gradients lie as the weights do
            assert ours.stride() == theirs.stride()


@pytest.mark.parametrize("lies", ["rows", "channels last", "transposed"])
@pytest.mark.parametrize("factor", [1, 2])
@pytest.mark.parametrize("name", ["pixel_shuffle", "pixel_unshuffle"])
@pytest.mark.parametrize("shape", [(2, 8, 4, 6), (1, 4, 2, 2), (4, 2, 2), (2, 3, 4, 6, 6)], ids=str)
def test_shuffles_give_memory_of_their_own(shape, name, factor, lies):
    """A factor of 1 had given the input itself."""
    results = []
    for t, functional in ((tf, F), (torch, TF)):
        x = t.arange(float(np.prod(shape))).reshape(shape)
        last = lies == "channels last" and len(shape) == 4
        if last:
            x = x.to(memory_format=t.channels_last)
        x = x.transpose(-1, -2).requires_grad_() if lies == "transposed" else x.requires_grad_()
        y = getattr(functional, name)(x, factor)
        g = t.arange(float(y.numel())).reshape(y.shape)
        (back,) = t.autograd.grad(y, x, g.to(memory_format=t.channels_last) if last else g)
        with t.no_grad():
            alone = getattr(functional, name)(x, factor)
        assert len({a.data_ptr() for a in (x, y, alone)}) == 3
        results.append((y, back, alone))
    for k, (ours, theirs) in enumerate(zip(*results, strict=True)):
        assert ours.tolist() == theirs.tolist()
        if k == 1:  # a gradient, whose order is that of the operators it is made of
            continue
        if shape[0] > 1 or lies != "channels last":  # one image's sizes of 1 may have either order's strides
            assert ours.stride() == theirs.stride()
