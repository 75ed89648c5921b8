"""The native gate before programs over rows: what it serves is what the function in Python behind it gives, for every layout."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from left_behind import SMALL, left_behind, repeated

import tenfold
from tenfold.dispatch.kernels import table
from tenfold.llvm.kernels.attaching import ACCELERATED
from tenfold.llvm.session import session

pytestmark = pytest.mark.skipif(session() is None, reason="no compiled kernels on this machine")
DTYPES = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]
SHAPES = [(4, 4), (1, 7), (7, 1), (3, 5, 17), (65,), (8, 64), (2, 3, 4, 5), (5, 1100), (40, 600)]
rng = np.random.default_rng(0)


def numbers(shape, dtype=np.float32):
    return rng.standard_normal(shape).astype(dtype)


def misaligned(x):
    memory = np.zeros(x.nbytes + 1, np.uint8)
    other = memory[1:].view(x.dtype).reshape(x.shape)
    other[...] = x
    return other


def layouts(x):
    yield x
    yield misaligned(x)
    yield np.asfortranarray(x)
    yield np.repeat(x, 2, -1)[..., ::2]
    yield x[::-1]
    read_only = x.copy()
    read_only.flags.writeable = False
    yield read_only


def kernel(name):
    function = getattr(table("cpu"), name)
    assert "row_gate" in repr(function)
    return function


def compared(name, *arguments):
    """The kernel's results, after those of the function in Python were found to be the same, to the last bit."""
    got, expected = kernel(name)(*arguments), ACCELERATED[name](*arguments)
    if expected is NotImplemented:  # the kernel beneath has it
        return got
    pairs = zip(got, expected, strict=True) if isinstance(expected, tuple) else [(got, expected)]
    for g, e in pairs:
        assert (g.dtype, g.shape) == (e.dtype, e.shape)
        assert g.flags.c_contiguous or not e.flags.c_contiguous
        np.testing.assert_array_equal(g.astype(np.float64), e.astype(np.float64))
    return got


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["softmax", "log_softmax", "softmax_backward", "log_softmax_backward"])
def test_softmax(name, dtype):
    for shape in SHAPES:
        x = numbers(shape, dtype)
        x.flat[0] = np.inf
        x.flat[-1] = np.nan
        for given in layouts(x):
            extra = [numbers(shape, dtype)] if name.endswith("backward") else []
            for dim in {-1, x.ndim - 1, 0, -x.ndim}:
                compared(name, given, *extra, dim)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["sum", "mean", "amax", "amin"])
def test_reductions(name, dtype):
    for shape in SHAPES:
        x = numbers(shape, dtype)
        for given in (x, x.copy()):
            for dim in (None, *range(-x.ndim, x.ndim), (0,), tuple(range(x.ndim))):
                for keepdim in (False, True):
                    # several dimensions of a few elements are the kernel's beneath
                    got = kernel(name)(given, dim, keepdim) if type(dim) is tuple else compared(name, given, dim, keepdim)
                    assert got.shape == np.sum(x.astype(np.float64), axis=dim, keepdims=keepdim).shape
                    plain = {"sum": np.sum, "mean": np.mean, "amax": np.max, "amin": np.min}[name]
                    expected = plain(x.astype(np.float64), axis=dim, keepdims=keepdim)
                    eps = float(ml_dtypes.finfo(dtype).eps)
                    np.testing.assert_allclose(got.astype(np.float64), expected, rtol=4 * eps, atol=4 * eps * len(x) * 8)
        x.flat[0], x.flat[-1] = np.nan, np.inf
        for dim in (None, 0, -1):
            assert np.isnan(compared(name, x, dim, False)).any()


@pytest.mark.parametrize("dtype", DTYPES)
def test_normalization(dtype):
    for shape in SHAPES:
        for given in layouts(numbers(shape, dtype)):
            width = shape[-1:]
            for weight, bias in ((None, None), (1, None), (None, 1), (1, 1)):
                w, b = (None if there is None else numbers(width, dtype) for there in (weight, bias))
                out, _, _ = compared("fused_layer_norm", given, 1, w, b, 1e-5)
                without = compared("layer_norm", given, width, w, b, 1e-5)
                if without is not NotImplemented:  # which tells the call to run the body
                    np.testing.assert_array_equal(out.astype(np.float64), without.astype(np.float64))
                compared("layer_norm", given, list(width), w, b, 1e-5)
            compared("fused_layer_norm", given, len(shape), None, None, 1e-5)
            compared("fused_rms_norm", given, 1, w, 1e-6)
        compared("fused_layer_norm", given, 1, numbers(width, np.float64), None, 1e-5)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_columns_of_any_size_on_any_number_of_threads(threads):
    before = tenfold.get_num_threads()
    tenfold.set_num_threads(threads)
    try:
        for shape in ((256, 512), (3, 200, 130), (2, 40_000), (40_000, 2), (5, 7, 11, 130), (1, 3000, 70)):
            for dtype in (np.float32, np.float64):
                x = numbers(shape, dtype)
                for name in ("sum", "mean", "amax", "amin"):
                    for dim in range(x.ndim):
                        compared(name, x, dim, False)
    finally:
        tenfold.set_num_threads(before)


def test_what_it_does_not_serve_is_said_as_before():
    x = tenfold.ones(3, 4)
    norm = tenfold.nn.functional.layer_norm
    for call in (lambda: x.softmax(2), lambda: x.sum(5), lambda: x.sum(10**30), lambda: x.sum(True), lambda: norm(x, (3,))):
        with pytest.raises((IndexError, RuntimeError, TypeError)):
            call()
    assert tenfold.ones(()).sum().item() == 1
    assert tenfold.ones(0).sum().item() == 0
    assert tenfold.ones(2, 0).sum(0).shape == (0,)
    assert tenfold.ones(0, 3).softmax(-1).shape == (0, 3)
    assert tenfold.arange(4).sum().item() == 6


def test_no_reference_is_kept():
    x, w = numbers((8, 16)), numbers((16,))
    calls = [
        lambda: kernel("softmax")(x, -1), lambda: kernel("sum")(x, None, False), lambda: kernel("sum")(x, 0, False),
        lambda: kernel("fused_layer_norm")(x, 1, w, w, 1e-5), lambda: kernel("layer_norm")(x, (16,), w, None, 1e-5),
        lambda: kernel("mean")(x, (0, 1), True),
    ]  # fmt: skip
    for call in calls:
        call()
    things = (x, w, np.dtype(np.float32), None, False)
    assert left_behind(repeated(calls, 2000), things) < SMALL
