"""What benchmarks/gpu.py measures: for each piece of work how a library does it, the bytes it has to move, and its bar.

A piece is made for a library (`tenfold` or `torch`, whose programs are the same), a device, a dtype, and its full size or a
small one, on which a result is compared with the CPU's.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np


class Side(NamedTuple):
    """Who does a piece of work, where, and whether on few numbers."""

    lib: Any  # tenfold or torch
    device: str = "cuda"
    small: bool = False


class Work(NamedTuple):
    """A piece of work, ready to be called."""

    run: Callable[[], Any]
    bytes_moved: float  # at least; 0: not what limits it
    operations: float = 0.0  # floating-point ones; 0: not what limits it


Make = Callable[[Side, Any], Work]


class Case(NamedTuple):
    """A piece of work."""

    group: str
    name: str
    dtypes: tuple[str, ...]
    make: Make
    bar: float | None  # of its time to PyTorch's; None: nothing was promised
    limit: float = 0.0  # share of a copy's bandwidth that was promised
    drawn: bool = False  # its numbers are random


ALL, HALF = ("float32", "float16", "bfloat16"), ("bfloat16",)
MEGABYTES = 256


def size_of(dtype: Any) -> int:
    """Bytes of an element, of either library's dtype."""
    return int(dtype.itemsize)


def count(at: Side, dtype: Any) -> int:
    """Elements of an array of 256 MB."""
    return 1 << 12 if at.small else (MEGABYTES << 20) // size_of(dtype)


def given(at: Side, dtype: Any, *shape: int, seed: int = 0) -> Any:
    """The same numbers for both libraries, from -1 to 1: a few of them made by NumPy, repeated on the device."""
    length = int(np.prod(shape))
    few = np.random.default_rng(seed).random(min(length, 1 << 20), np.float32) * 2 - 1
    x = at.lib.tensor(few).to(at.device).to(dtype)
    repeats = -(-length // len(few))
    return x.repeat(repeats)[:length].reshape(shape).contiguous()


def places(at: Side, high: int, *shape: int, seed: int = 1) -> Any:
    """The same places below `high` for both libraries."""
    return at.lib.tensor(np.random.default_rng(seed).integers(0, high, shape)).to(at.device)


def of_one(function: Callable[[Any], Any], traffic: float, columns: int = 0) -> Make:
    """Work on one array of 256 MB, as rows of `columns` if given; `traffic`: reads and writes of each element."""

    def make(at: Side, dtype: Any) -> Work:
        n, wide = count(at, dtype), min(columns, 64) if at.small else columns
        x = given(at, dtype, n) if not columns else given(at, dtype, n // wide, wide)
        return Work(partial(function, x), traffic * size_of(dtype) * x.numel())

    return make


def of_two(function: Callable[[Any, Any], Any], traffic: float, other: str = "same") -> Make:
    """Work on an array of 256 MB and another: of its shape, one row of it, or its transpose."""

    def make(at: Side, dtype: Any) -> Work:
        side = 64 if at.small else 8192
        x = given(at, dtype, count(at, dtype) // side, side)
        y = given(at, dtype, side, x.shape[0], seed=1).t() if other == "transposed" else given(at, dtype, *x.shape, seed=1)
        y = y[0].contiguous() if other == "row" else y
        return Work(partial(function, x, y), traffic * size_of(dtype) * x.numel())

    return make


def trained(forward: Callable[..., Any], *arrays: Any) -> Callable[[], Any]:
    """A call that runs forward and backward, and gives the result and the gradients."""
    leaves = [x.detach().requires_grad_() for x in arrays]
    # Not the result itself: a norm's gradient of that is zero, all of it rounding.
    out = forward(*leaves).detach()
    slope = out.cos() if out.dim() else out * 0 + 1

    def run() -> Any:
        for x in leaves:
            x.grad = None
        out = forward(*leaves)
        out.backward(slope)
        return (out.detach(), *[x.grad for x in leaves])

    return run


@contextmanager
def deterministic(lib: Any, wanted: bool) -> Iterator[None]:
    """Only algorithms of the same bits each time, if wanted; it is said to cuDNN's switch, as the other fills new memory too."""
    switches, before = lib.backends.cudnn, lib.backends.cudnn.deterministic
    switches.deterministic = wanted or before
    try:
        yield
    finally:
        switches.deterministic = before


def rows(name: str, traffic: float, backward: bool = False) -> Make:
    """A function of nn.functional on rows of 1,024; with its gradient."""

    def make(at: Side, dtype: Any) -> Work:
        width = 32 if at.small else 1024
        x, w = given(at, dtype, count(at, dtype) // width, width), given(at, dtype, width, seed=1)
        F = at.lib.nn.functional
        calls = {
            "softmax": lambda x, w: F.softmax(x, -1),
            "layer_norm": lambda x, w: F.layer_norm(x, (width,), w, w),
            "rms_norm": lambda x, w: F.rms_norm(x, (width,), w, 1e-5),
            "group_norm": lambda x, w: F.group_norm(x.view(-1, width, 16), 8, w, w),
            "gelu": lambda x, w: F.gelu(x),
            "dropout": lambda x, w: F.dropout(x, 0.5),
        }
        call = calls[name]
        run = trained(call, x, w) if backward and name.endswith("norm") else partial(call, x, w)
        if backward and not name.endswith("norm"):
            run = trained(lambda x: call(x, w), x)
        return Work(run, traffic * size_of(dtype) * x.numel())

    return make


def cross_entropy(at: Side, dtype: Any) -> Work:
    """Over the vocabulary of GPT-2, with the gradient: the logits are read twice and their gradient is written."""
    tokens, words = (16, 64) if at.small else (4096, 50257)
    x, target = given(at, dtype, tokens, words), places(at, words, tokens)
    run = trained(lambda x: at.lib.nn.functional.cross_entropy(x, target, reduction="sum"), x)
    return Work(run, 3.0 * size_of(dtype) * x.numel())


def loss(name: str, targets: str = "same") -> Make:
    """A loss of two arrays with its gradient."""

    def make(at: Side, dtype: Any) -> Work:
        x, y = (given(at, dtype, count(at, dtype), seed=k) for k in (0, 1))
        y = (y > 0).to(dtype) if targets == "classes" else y
        run = trained(lambda x: getattr(at.lib.nn.functional, name)(x, y), x)
        return Work(run, 5.0 * size_of(dtype) * x.numel())

    return make


def matmul(side: int, batch: int = 0) -> Make:
    def make(at: Side, dtype: Any) -> Work:
        n = 32 if at.small else side
        shape = (batch, n, n) if batch else (n, n)
        x, y = given(at, dtype, *shape), given(at, dtype, *shape, seed=1)
        return Work(lambda: x @ y, 0, 2.0 * n**3 * max(batch, 1))

    return make


def linear(at: Side, dtype: Any) -> Work:
    """A layer of GPT-2's size with its bias, forward and backward."""
    tokens, width = (64, 32) if at.small else (16384, 768)
    x, w, b = given(at, dtype, tokens, width), given(at, dtype, 4 * width, width, seed=1), given(at, dtype, 4 * width, seed=2)
    return Work(trained(at.lib.nn.functional.linear, x, w, b), 0, 24.0 * tokens * width**2)


def experts(at: Side, dtype: Any) -> Work:
    """Tokens times the matrix of the expert of each, of 64 such with unequal numbers of tokens, forward and backward."""
    tokens, width, G = (64, 32, 4) if at.small else (16384, 1024, 64)
    x, w = given(at, dtype, tokens, width), given(at, dtype, G, 2 * width, width, seed=1)
    shares = np.random.default_rng(2).random(G)
    ends = at.lib.tensor((np.cumsum(shares) / shares.sum() * tokens).astype("i4"), device=at.device)
    product = partial(at.lib.nn.functional.grouped_mm, offs=ends)
    return Work(trained(lambda x, w: product(x, w.mT), x, w), 0, 12.0 * tokens * width**2)


def attention(features: int, length: int, backward: bool, same_bits: bool = False) -> Make:
    """Causal attention of 16,384 tokens and 2,048 features in all; its gradient costs 2.5 times as much again.

    Few numbers are enough keys for Tenfold's gradients in one pass. `same_bits` asks for two, which give the same bits each time.
    """

    def make(at: Side, dtype: Any) -> Work:
        n, heads, batch = (1040, 2, 1) if at.small else (length, 2048 // features, 16384 // length)
        q, k, v = (given(at, dtype, batch, heads, n, features, seed=s) for s in range(3))
        call = partial(at.lib.nn.functional.scaled_dot_product_attention, is_causal=True)
        products = 2.0 * batch * heads * n**2 * features  # half of the pairs, two products
        run = trained(call, q, k, v) if backward else partial(call, q, k, v)

        def under() -> Any:
            with deterministic(at.lib, same_bits):
                return run()

        return Work(under if same_bits else run, 0, products * (3.5 if backward else 1.0))

    return make


def decoding(at: Side, dtype: Any) -> Work:
    """One query of each of 8 texts against 16,384 keys."""
    n, heads = (64, 2) if at.small else (16384, 16)
    q = given(at, dtype, 8, heads, 1, 128)
    k, v = (given(at, dtype, 8, heads, n, 128, seed=s) for s in (1, 2))
    return Work(partial(at.lib.nn.functional.scaled_dot_product_attention, q, k, v), 2.0 * size_of(dtype) * k.numel())


def convolution(inputs: int, outputs: int, side: int, kernel: int, stride: int, groups: int = 1) -> Make:
    """Of 64 images, channels last, forward and backward."""

    def make(at: Side, dtype: Any) -> Work:
        images, n = (2, 8) if at.small else (64, side)
        a, b, g = (8, 8, 8 if groups > 1 else 1) if at.small else (inputs, outputs, groups)
        x = given(at, dtype, images, a, n, n).contiguous(memory_format=at.lib.channels_last)
        w = given(at, dtype, b, a // g, kernel, kernel, seed=1).contiguous(memory_format=at.lib.channels_last)
        call = partial(at.lib.nn.functional.conv2d, stride=stride, padding=kernel // 2, groups=g)
        return Work(trained(call, x, w), 0, 6.0 * images * b * (a // g) * kernel**2 * (n // stride) ** 2)

    return make


def on_images(function: Callable[[Any, Any], Any], traffic: float, backward: bool = True) -> Make:
    """A function of (library, images) on 64 images of 128 channels, 56 by 56, with its gradient."""

    def make(at: Side, dtype: Any) -> Work:
        x = given(at, dtype, *((2, 4, 8, 8) if at.small else (64, 128, 56, 56)))
        call = partial(function, at.lib)
        return Work((trained(call, x) if backward else partial(call, x)), traffic * size_of(dtype) * x.numel())

    return make


def embedding(at: Side, dtype: Any) -> Work:
    """65,536 words of a vocabulary of 50,257, forward and backward."""
    words, tokens, width = (50, 64, 16) if at.small else (50257, 65536, 768)
    w, i = given(at, dtype, words, width), places(at, words, tokens)
    run = trained(lambda w: at.lib.nn.functional.embedding(i, w), w)
    return Work(run, size_of(dtype) * width * (4.0 * tokens + words))


def indexed(function: Callable[[Any, Any, Any], Any], traffic: float) -> Make:
    """A function of (array, places along its first dimension, source) of 128 MB."""

    def make(at: Side, dtype: Any) -> Work:
        width = 16 if at.small else 512
        x = given(at, dtype, count(at, dtype) // width // 2, width)
        i, s = places(at, x.shape[0], x.shape[0]), given(at, dtype, *x.shape, seed=2)
        return Work(partial(function, x, i, s), traffic * size_of(dtype) * x.numel())

    return make


def joined(x: Any, i: Any, s: Any) -> Any:
    return importlib.import_module(type(x).__module__.split(".")[0]).cat([x, s], 1)


def lstm(at: Side, dtype: Any) -> Work:
    """128 steps of a layer of 512 features, with its gradient."""
    steps, batch, width = (4, 2, 8) if at.small else (128, 64, 512)
    at.lib.manual_seed(0)
    layer = at.lib.nn.LSTM(width, width)
    rng = np.random.default_rng(0)
    for p in layer.parameters():
        p.data.copy_(at.lib.tensor((rng.random(tuple(p.shape), np.float32) - 0.5) * 0.1))
    layer = layer.to(at.device).to(dtype)
    return Work(trained(lambda x: layer(x)[0], given(at, dtype, steps, batch, width)), 0, 6.0 * steps * batch * 8 * width**2)


def adamw(at: Side, dtype: Any) -> Work:
    """A step for the parameters of GPT-2's smallest: reads four arrays, writes three."""
    width, layers, words = (16, 1, 64) if at.small else (768, 12, 50257)
    shapes = [(words, width), (1024, width)]
    for _ in range(layers):
        shapes += [(width,)] * 4 + [(3 * width, width), (3 * width,), (width, width), (width,)]
        shapes += [(4 * width, width), (4 * width,), (width, 4 * width), (width,)]
    parameters = [given(at, dtype, *shape).requires_grad_() for shape in shapes]
    for p in parameters:
        p.grad = p.detach() * 0.01
    fused = {} if at.lib.__name__ == "tenfold" else {"fused": True}
    optimizer = at.lib.optim.AdamW(parameters, lr=1e-4, **fused)

    def run() -> Any:
        optimizer.step()
        return parameters[2].detach()

    return Work(run, 7.0 * sum(p.numel() for p in parameters) * size_of(dtype))


def cholesky(at: Side, dtype: Any) -> Work:
    """Of 512 matrices of 64 by 64."""
    x = given(at, dtype, *((3, 8, 8) if at.small else (512, 64, 64)))
    a = x @ x.mT + 8 * at.lib.eye(x.shape[-1], device=at.device)
    return Work(partial(at.lib.linalg.cholesky, a), 0)


def cases() -> Iterator[Case]:
    """All of it, what was promised first."""
    one, full = partial(Case, "elementwise", bar=1.0, limit=0.85), partial(Case, "reduction", bar=1.0, limit=0.85)
    yield Case("elementwise", "copy", ALL, of_one(lambda x: x.clone(), 2), 1.0)
    yield one("add", ALL, of_two(lambda x, y: x + y, 3))
    yield one("add a number", ALL, of_one(lambda x: x + 1.5, 2))
    yield one("add a row", ALL, of_two(lambda x, y: x + y, 2, "row"))
    yield one("exp", ALL, of_one(lambda x: x.exp(), 2))
    yield one("tanh", ALL, of_one(lambda x: x.tanh(), 2))
    yield one("sigmoid", ALL, of_one(lambda x: x.sigmoid(), 2))
    yield one("gelu", ALL, rows("gelu", 2))
    yield Case("elementwise", "greater", ALL, of_two(lambda x, y: x > y, 2.25), 1.0)
    yield Case("elementwise", "add transposed", ALL, of_two(lambda x, y: x + y, 3, "transposed"), 1.0)
    yield full("sum", ALL, of_one(lambda x: x.sum(), 1))
    yield full("sum of rows", ALL, of_one(lambda x: x.sum(1), 1, 1024))
    yield full("sum of columns", ALL, of_one(lambda x: x.sum(0), 1, 1024))
    yield full("maximum of rows", ALL, of_one(lambda x: x.amax(1), 1, 1024))
    yield full("mean", ALL, of_one(lambda x: x.mean(), 1))
    yield Case("reduction", "argmax of rows", ALL, of_one(lambda x: x.argmax(1), 1, 1024), 1.0)
    yield Case("reduction", "variance of rows", ALL, of_one(lambda x: x.var(1), 1, 1024), 1.0)
    yield Case("reduction", "norm", ALL, of_one(lambda x: x.norm(), 1), 1.0)
    for name, traffic in (("softmax", 2), ("layer_norm", 2), ("rms_norm", 2)):
        yield Case("rows", name, ALL, rows(name, traffic), 0.8)
        yield Case("rows", f"{name} with gradient", ALL, rows(name, traffic + 3, True), 0.8)
    yield Case("rows", "cross_entropy with gradient", ALL, cross_entropy, 0.8)
    yield Case("rows", "group_norm with gradient", ALL, rows("group_norm", 5, True), None)
    yield Case("products", "matmul 8192", HALF, matmul(8192), 1.02)
    yield Case("products", "matmul 4096", ALL, matmul(4096), 1.02)
    yield Case("products", "batched matmul", ALL, matmul(1024, 16), 1.02)
    yield Case("products", "linear with gradient", ALL, linear, None)
    yield Case("products", "experts with gradient", HALF, experts, None)
    for features in (64, 128):
        for length in (2048, 4096, 8192, 16384):
            for backward in (False, True):
                name = f"attention {features} {length}{' with gradient' * backward}"
                yield Case("attention", name, HALF, attention(features, length, backward), 1.0)
        yield Case(
            "attention",
            f"attention {features} 8192 with gradient in two passes",
            HALF,
            attention(features, 8192, True, True),
            None,
        )
    yield Case("attention", "decoding", HALF, decoding, None)
    yield Case("optimizer", "AdamW, 124M parameters", ("float32",), adamw, 1.0)
    yield from others()


def others() -> Iterator[Case]:
    """What nothing was promised of: it is to be known."""
    layer = partial(Case, "layers", bar=None)
    yield layer("convolution 3x3", ALL, convolution(128, 128, 56, 3, 1))
    yield layer("convolution 3x3 stride 2", HALF, convolution(128, 128, 56, 3, 2))
    yield layer("convolution 1x1", HALF, convolution(256, 64, 56, 1, 1))
    yield layer("convolution 7x7 of images", HALF, convolution(3, 64, 224, 7, 2))
    yield layer("convolution depthwise", HALF, convolution(128, 128, 56, 3, 1, 128))
    yield layer("batch norm", HALF, on_images(lambda lib, x: lib.nn.functional.batch_norm(x, None, None, training=True), 5))
    yield layer("max pool", HALF, on_images(lambda lib, x: lib.nn.functional.max_pool2d(x, 2), 2.5))
    yield layer("bilinear", HALF, on_images(lambda lib, x: lib.nn.functional.interpolate(x, scale_factor=2, mode="bilinear"), 10))
    yield layer("dropout with gradient", HALF, rows("dropout", 4, True), drawn=True)
    yield layer("LSTM", ("float32", "bfloat16"), lstm)
    yield layer("embedding", ("float32", "bfloat16"), embedding)
    for name, targets in (("mse_loss", "same"), ("smooth_l1_loss", "same"), ("binary_cross_entropy_with_logits", "classes")):
        yield layer(name, ("float32", "bfloat16"), loss(name, targets))
    some = partial(Case, "indexing", dtypes=("float32", "bfloat16"), bar=None)
    yield some("index_select", make=indexed(lambda x, i, s: x.index_select(0, i), 2))
    yield some("index_add", make=indexed(lambda x, i, s: x.index_add(0, i, s), 4))
    yield some("gather", make=indexed(lambda x, i, s: x.gather(0, i[:, None].expand(x.shape)), 2))
    yield some("scatter_add", make=indexed(lambda x, i, s: x.scatter_add(0, i[:, None].expand(x.shape), s), 4))
    yield some("cat", make=indexed(joined, 4))
    yield some("flip", make=of_one(lambda x: x.flip(0), 2))
    order = partial(Case, "order", dtypes=("float32", "bfloat16"), bar=None)
    yield order("cumsum of rows", make=of_one(lambda x: x.cumsum(1), 2, 1024))
    yield order("sort of rows", make=of_one(lambda x: x.sort(1)[0], 3, 1024))
    yield order("top 50 of rows", make=of_one(lambda x: x.topk(min(50, x.shape[1]), 1)[0], 1, 32768))
    yield Case("algebra", "cholesky", ("float32",), cholesky, None)
