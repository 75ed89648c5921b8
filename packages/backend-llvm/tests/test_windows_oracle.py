"""Compiled pooling and borders of both orders in memory, forward and backward, against PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tenfold
from tenfold.llvm import session
from tenfold.llvm.kernels import means, padding, pool

torch = pytest.importorskip("torch")
RNG = np.random.default_rng(0)
SHAPES = [(2, 16, 8, 8), (2, 3, 17, 23), (1, 33, 9, 40), (3, 5, 2, 7)]
# kernel, stride, padding
WINDOWS = [(2, 2, 0), (3, 2, 1), (3, 1, 1), (2, 3, 1), ((2, 3), (1, 2), (1, 0)), (5, 5, 2), (7, 1, 3)]
WIDTHS = [(1, 1, 1, 1), (2, 0, 0, 1), (-1, 2, 1, -1), (0, 0, 1, 1), (2, 1)]


@pytest.fixture(params=[1, 2])
def threads(request):
    before = tenfold.get_num_threads()
    tenfold.set_num_threads(request.param)
    yield
    tenfold.set_num_threads(before)


def last_of(lib: Any, x: Any) -> Any:
    return x.contiguous(memory_format=lib.channels_last if x.dim() == 4 else lib.channels_last_3d)


def agree(call: Callable[[Any, Any], Any], x: np.ndarray, last: bool = False, strides: bool = True) -> None:
    """Results, the first one's gradient and how both lie in memory."""
    found = []
    for lib in (tenfold, torch):
        leaf = lib.from_numpy(x.copy())
        leaf = (last_of(lib, leaf) if last else leaf).requires_grad_()
        results = call(lib, leaf)
        results = results if isinstance(results, tuple) else (results,)
        g = lib.from_numpy(np.cos(np.arange(results[0].numel(), dtype=x.dtype)).reshape(tuple(results[0].shape)))
        results[0].backward(last_of(lib, g) if last else g)
        found.append(([r.detach().numpy() for r in results] + [leaf.grad.numpy()], results[0].stride()))
    (ours, lying), (theirs, expected) = found
    tolerance = 1e-5 if x.dtype == np.float32 else 1e-12
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
    assert not strides or x.ndim != 4 or lying == expected
    assert session.failures() == []


def valid(call: Callable[[Any, Any], Any], x: np.ndarray) -> bool:
    try:
        call(torch, torch.from_numpy(x))
    except RuntimeError:
        return False
    return True


def numbers(shape: tuple[int, ...], dtype: Any, special: bool = False) -> np.ndarray:
    x = RNG.standard_normal(shape).astype(dtype)
    if special:
        x.reshape(-1)[::53], x.reshape(-1)[1::61] = np.nan, np.inf
    return x


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_pooling(window, dtype, last, threads):
    for shape in SHAPES:
        for ceil_mode in (False, True):
            for special in (False, True):
                x = numbers(shape, dtype, special)
                for options in ((True, None), (False, None), (True, 3)):

                    def mean(lib: Any, t: Any) -> Any:
                        return lib.nn.functional.avg_pool2d(t, *window, ceil_mode, *options)  # noqa: B023 - called here

                    def largest(lib: Any, t: Any) -> Any:
                        return lib.nn.functional.max_pool2d(t, *window, 1, ceil_mode, return_indices=options[0])  # noqa: B023

                    if valid(mean, x):
                        agree(mean, x, last)
                        agree(largest, x, last)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 2, 7, (3, 5), (None, 2), 12], ids=str)
def test_adaptive(size, dtype, last):
    for shape in SHAPES:
        agree(lambda lib, t: lib.nn.functional.adaptive_avg_pool2d(t, size), numbers(shape, dtype), last)
        agree(lambda lib, t: lib.nn.functional.adaptive_max_pool2d(t, size, True), numbers(shape, dtype, True), last)


@pytest.mark.parametrize("last", [False, True])
def test_volumes_and_lines(last):
    x = numbers((2, 5, 7, 9, 11), np.float32)
    for name, *options in (
        ("avg_pool3d", 2), ("avg_pool3d", 3, 2, 1, True, False), ("max_pool3d", 3, 2, 1), ("adaptive_avg_pool3d", (3, 4, 1)),
        ("adaptive_max_pool3d", (3, 4, 2)),
    ):  # fmt: skip
        agree(lambda lib, t, name=name, options=options: getattr(lib.nn.functional, name)(t, *options), x, last)
    line = numbers((3, 4, 31), np.float32)
    for name, *options in (("avg_pool1d", 5, 3, 2, True, False), ("max_pool1d", 3, 2, 1), ("adaptive_avg_pool1d", 6)):
        agree(lambda lib, t, name=name, options=options: getattr(lib.nn.functional, name)(t, *options), line)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
@pytest.mark.parametrize("widths", WIDTHS, ids=str)
def test_borders(widths, mode, last, threads):
    for dtype in (np.float32, np.float64):
        for shape in (*SHAPES, (3, 5, 5)):

            def call(lib: Any, t: Any) -> Any:
                return lib.nn.functional.pad(t, widths, mode=mode)

            x = numbers(shape, dtype)
            try:
                call(torch, torch.from_numpy(x))
            except (RuntimeError, NotImplementedError):
                continue
            agree(call, x, last and len(shape) == 4, strides=mode != "circular")


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
def test_borders_of_volumes_and_other_dtypes(mode):
    x = numbers((2, 4, 5, 6, 7), np.float32)
    for widths in ((1, 1, 1, 1, 1, 1), (2, 0, 0, 3, 1, 0), (0, 1, -1, 2, -1, -1)):
        for last in (False, True):
            agree(lambda lib, t, widths=widths: lib.nn.functional.pad(t, widths, mode=mode), x, last)
    for dtype in ("float16", "bfloat16"):
        given = [lib.arange(90.0).view(1, 3, 5, 6).to(getattr(lib, dtype)) for lib in (tenfold, torch)]
        ours, theirs = (lib.nn.functional.pad(t, (1, 2, 2, 1), mode=mode) for lib, t in zip((tenfold, torch), given, strict=True))
        np.testing.assert_array_equal(ours.float().numpy(), theirs.float().numpy())


@pytest.mark.parametrize("last", [False, True])
def test_these_are_served(last):
    """By compiled code, not by what is beneath."""
    x = numbers((2, 6, 9, 8), np.float32)
    x = np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2) if last else x
    window = (3, 3), (2, 2), (1, 1)
    mean = means.avg_pool(x, *window, False, True, None)
    largest, indices = pool._max_pool(x, *window, (1, 1), False)
    results = [
        mean, means._avg_pool_grad(mean, x.shape, *window, False, True, None), means.adaptive_avg_pool(x, (4, 3)),
        means._adaptive_avg_pool_grad(mean, x.shape, 2), pool._max_pool_grad(largest, indices, x.shape, 2),
        pool.adaptive_max_pool(x, (4, 3))[0], pool._max_pool2d(x, 3, 2, 1, 1, False, False), padding.constant_pad(x, (1, 1), 0),
        padding.border_pad(x, (1, 2, 2, 1), "reflect"), padding.border_pad_grad(x, (2, 6, 6, 5), (1, 2, 2, 1), "reflect"),
    ]  # fmt: skip
    assert all(r is not NotImplemented and (r.strides[1] == 4) is last for r in results)
    half = x.astype(np.float16)
    assert means.avg_pool(half, *window, False, True, None) is NotImplemented
    assert padding.border_pad_grad(half, (2, 6, 6, 5), (1, 2, 2, 1), "reflect") is NotImplemented
    assert padding.constant_pad(x, (1, 1), 2.0) is NotImplemented
    assert means.avg_pool(np.ones((1, 1, 1, 9000), np.float32), (1, 3), (1, 1), (0, 1), False, True, None) is NotImplemented
