"""Arrays in one piece in another order than row by row, against PyTorch, with the results' strides.

Elementwise operators, convolutions, joining and resampling.
"""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.llvm import call_paths, session

torch = pytest.importorskip("torch")
RNG = np.random.default_rng(0)
needs_paths = pytest.mark.skipif(not call_paths.possible(), reason="call paths are native from Python 3.12 on")

SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 3e38, -3e38]
LAYOUTS = {
    "channels last": lambda lib, x: x.to(memory_format=lib.channels_last),
    "one image": lambda lib, x: x[:1].to(memory_format=lib.channels_last),
    "one channel": lambda lib, x: x[:, :1].to(memory_format=lib.channels_last),
    "turned": lambda lib, x: x[0, 0].t(),
    "permuted": lambda lib, x: x.permute(2, 0, 3, 1),
    "part": lambda lib, x: x.to(memory_format=lib.channels_last)[:, :, 1:],
    "spread": lambda lib, x: x[:, :, :1, :1].expand(2, 3, 4, 5),
    "no image": lambda lib, x: x[:0].to(memory_format=lib.channels_last),
}
CALLS = {
    "relu": lambda lib, x, y: lib.relu(x),
    "exp": lambda lib, x, y: lib.exp(x),
    "add": lambda lib, x, y: x + y,
    "times a number": lambda lib, x, y: x * 2.5,
    "itself": lambda lib, x, y: x * x,
    "mixed orders": lambda lib, x, y: x + y.contiguous(),
    "comparison": lambda lib, x, y: x > y,
    "broadcast": lambda lib, x, y: x + y[..., :1],
    "silu": lambda lib, x, y: lib.nn.functional.silu(x),
    "out": lambda lib, x, y: lib.add(x, y, out=lib.empty_like(x)),
    "out row by row": lambda lib, x, y: lib.add(x, y, out=lib.empty(x.shape, dtype=x.dtype)),
    "lerp": lambda lib, x, y: lib.lerp(x, y, 0.25),
}
WRITES = {
    "add_": lambda lib, x, y: x.add_(y),
    "relu_": lambda lib, x, y: x.relu_(),
    "mul_": lambda lib, x, y: x.mul_(3.0),
    "other order": lambda lib, x, y: x.add_(y.contiguous()),
    "itself": lambda lib, x, y: x.mul_(x),
    "lerp_": lambda lib, x, y: x.lerp_(y, 0.5),
}


def _given(lib, layout, dtype):
    x = np.random.default_rng(1).standard_normal((2, 2, 3, 4, 5)).astype(np.float32)
    x[0].reshape(-1)[: len(SPECIAL)] = SPECIAL
    return [LAYOUTS[layout](lib, lib.from_numpy(a.copy()).to(getattr(lib, dtype))) for a in x]


def _same(a, b, exact_strides=True):
    assert tuple(a.shape) == tuple(b.shape)
    assert str(a.dtype).split(".")[-1] == str(b.dtype).split(".")[-1]
    np.testing.assert_allclose(a.detach().double().numpy(), b.detach().double().numpy(), rtol=2e-6, atol=1e-30)
    if exact_strides and b.numel():
        moving = [d for d, n in enumerate(b.shape) if n > 1]
        assert [a.stride(d) for d in moving] == [b.stride(d) for d in moving]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_elementwise(layout, dtype):
    for call in CALLS.values():
        for _ in range(2):  # the first compiles, the second finds it
            found = [call(lib, *_given(lib, layout, dtype)) for lib in (tenfold, torch)]
            if dtype in ("float16", "bfloat16"):
                torch.testing.assert_close(
                    torch.from_numpy(found[0].double().numpy()), found[1].double(), rtol=1e-2, atol=1e-2, equal_nan=True
                )
            else:
                _same(*found)


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "spread"])
def test_writes(layout):
    for call in WRITES.values():
        found = []
        for lib in (tenfold, torch):
            x, y = _given(lib, layout, "float32")
            call(lib, x, y)
            found.append((x, x._version))
        _same(found[0][0], found[1][0])
        assert found[0][1] == found[1][1]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_gradients(layout):
    found = []
    for lib in (tenfold, torch):
        x, y = (a.nan_to_num(0.0, 1.0, 1.0).requires_grad_() for a in _given(lib, layout, "float64"))
        (lib.relu(x) * y + lib.exp(x.clamp(-2, 2)) * 2).sum().backward()
        found.append((x.grad, y.grad))
    for a, b in zip(*found, strict=True):
        _same(a, b)


@needs_paths
def test_no_interpreter(entered):
    x = tenfold.randn(2, 16, 16, 16).to(memory_format=tenfold.channels_last)
    for call in (lambda: tenfold.exp(x), lambda: x.mul_(x), lambda: x + x):
        call()  # compiles
        assert len(entered(call)) == 1


# images, channels, size, output channels, kernel, stride, padding, dilation
CONVOLUTIONS = [
    (1, 32, 9, 32, 3, 1, 1, 1),
    (3, 20, 8, 40, 3, 2, 1, 1),
    (2, 3, 17, 16, 7, 2, 3, 1),
    (2, 16, 7, 13, 2, 3, 0, 1),
    (1, 64, 4, 130, 3, 1, 2, 2),
    (5, 12, 5, 12, (1, 3), 1, (0, 1), 1),
    (2, 5, 3, 24, 3, 1, 0, 1),
    (60, 16, 12, 16, 3, 1, 1, 1),
]


@pytest.mark.parametrize("case", CONVOLUTIONS, ids=str)
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("threads", [1, 2])
def test_convolutions(case, transposed, dtype, threads):
    N, C, size, O, kernel, stride, padding, dilation = case
    k = kernel if isinstance(kernel, tuple) else (kernel, kernel)
    x = RNG.standard_normal((N, C, size, size)).astype(dtype)
    w = RNG.standard_normal((C, O, *k) if transposed else (O, C, *k)).astype(dtype)
    bias = RNG.standard_normal(O).astype(dtype)
    found, g = [], None
    before = tenfold.get_num_threads()
    tenfold.set_num_threads(threads)
    try:
        for lib in (torch, tenfold):
            leaves = [lib.from_numpy(a.copy()) for a in (x, w, bias)]
            leaves[:2] = [a.to(memory_format=lib.channels_last) for a in leaves[:2]]
            for leaf in leaves:
                leaf.requires_grad_()
            name = "conv_transpose2d" if transposed else "conv2d"
            y = getattr(lib.nn.functional, name)(*leaves, stride=stride, padding=padding, dilation=dilation)
            g = np.random.default_rng(2).standard_normal(tuple(y.shape)).astype(dtype) if g is None else g
            y.backward(lib.from_numpy(g.copy()).to(memory_format=lib.channels_last))
            found.append([y, *(leaf.grad for leaf in leaves)])
    finally:
        tenfold.set_num_threads(before)
    for ours, theirs in zip(found[1], found[0], strict=True):
        a, b = ours.detach().numpy(), theirs.detach().numpy()
        assert np.abs(a - b).max() <= (1e-5 if dtype == np.float32 else 1e-13) * max(1.0, np.abs(b).max())
    assert found[1][0].is_contiguous(memory_format=tenfold.channels_last)
    assert session.failures() == []


def test_convolutions_of_special_values():
    """What is infinite or no number stays within its windows."""
    x = RNG.standard_normal((2, 16, 8, 8)).astype(np.float32)
    x[0, 3, 2, 2], x[1, 5, 6, 6] = np.inf, np.nan
    w = RNG.standard_normal((20, 16, 3, 3)).astype(np.float32)
    found = [
        lib.nn.functional.conv2d(*(lib.from_numpy(a).to(memory_format=lib.channels_last) for a in (x, w)), padding=1).numpy()
        for lib in (tenfold, torch)
    ]
    np.testing.assert_allclose(*found, rtol=1e-4, atol=1e-4)


JOINED = {
    "cat": lambda lib, x, y: lib.cat([x, y], 1),
    "of one": lambda lib, x, y: lib.cat([x], -1),
    "images": lambda lib, x, y: lib.cat([x, y], 0),
    "orders": lambda lib, x, y: lib.cat([x, y.contiguous()], 1),
    "nearest": lambda lib, x, y: lib.nn.functional.interpolate(x, scale_factor=1.7),
    "exact": lambda lib, x, y: lib.nn.functional.interpolate(x, size=(5, 3), mode="nearest-exact"),
    "shuffle": lambda lib, x, y: lib.nn.functional.pixel_shuffle(lib.cat([x, y, x, y], 1), 2),
    "shuffle rows": lambda lib, x, y: lib.nn.functional.pixel_shuffle(lib.cat([x, y, x, y], 1).contiguous(), 2),
    "unshuffle": lambda lib, x, y: lib.nn.functional.pixel_unshuffle(lib.cat([x, x], 3).contiguous()[..., :2].contiguous(), 1),
}


@pytest.mark.parametrize("name", JOINED)
@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (1, 3, 4, 4), (2, 1, 3, 3), (1, 1, 1, 1), (2, 4, 1, 1), (1, 2, 1, 5)], ids=str)
def test_joined_and_resampled(name, shape):
    a, b = (RNG.standard_normal(shape).astype(np.float32) for _ in range(2))
    a.reshape(-1)[:1] = np.nan
    found = []
    for lib in (tenfold, torch):
        made = [lib.from_numpy(v.copy()).to(memory_format=lib.channels_last) for v in (a, b)]
        found.append(JOINED[name](lib, *made))
    np.testing.assert_array_equal(found[0].numpy(), found[1].numpy())
    _same(*found)


def test_shuffles_refuse_what_the_body_refuses():
    for call in (lambda x: tenfold.nn.functional.pixel_shuffle(x, 3), lambda x: tenfold.nn.functional.pixel_unshuffle(x, 3)):
        with pytest.raises(RuntimeError, match="divisible by"):
            call(tenfold.ones(1, 4, 4, 4))


@pytest.mark.parametrize("name", ["pixel_shuffle", "pixel_unshuffle"])
def test_shuffles_are_one_operator_of_the_graph(name):
    """Gradients had been those of five operators, also where images lie channels last."""
    for order in (tenfold.contiguous_format, tenfold.channels_last):
        x = tenfold.zeros(2, 4, 6, 6).to(memory_format=order).requires_grad_()
        made = getattr(tenfold.nn.functional, name)(x, 2)
        assert type(made.grad_fn).__name__ == name.title().replace("_", "") + "Backward0"
