"""Reductions of images channels last and of turned arrays: PyTorch's values and shapes, by compiled loops."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import tenfold
from tenfold.llvm.kernels import reduction
from tenfold.llvm.session import session

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.skipif(session() is None, reason="no compiled kernels on this machine"),
    pytest.mark.filterwarnings("ignore"),
]
LAYOUTS: dict[str, Any] = {
    "channels last": lambda m, x: x.to(memory_format=m.channels_last),
    "turned": lambda m, x: x.permute(3, 1, 0, 2),
    "turned round": lambda m, x: x.permute(3, 2, 1, 0),
    "matrix": lambda m, x: x.flatten(1).t(),
    "strided": lambda m, x: x[:, :, ::2],
}
SHAPES = ((2, 8, 6, 5), (2, 1, 6, 5), (1, 8, 1, 5), (2, 8, 1, 1), (0, 8, 6, 5), (2, 8, 0, 5))
TOLERANCE = {"float32": 1e-6, "float64": 1e-14, "float16": 2e-3, "bfloat16": 1.6e-2}


def outcome(call: Any, *given: Any, **named: Any) -> Any:
    try:
        return call(*given, **named)
    except Exception as error:  # noqa: BLE001 - compared
        return error


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", ["sum", "mean", "amax", "amin"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_set_of_dimensions(layout, name, dtype):
    for shape in SHAPES:
        numbers = np.random.default_rng(0).random(shape) + 0.5
        numbers.reshape(-1)[3::97] = np.resize([np.inf, -0.0, np.nan, -np.inf], numbers.size)[3::97]
        pair = [(m, LAYOUTS[layout](m, m.tensor(numbers).to(getattr(m, dtype)))) for m in (tenfold, torch)]
        ndim = pair[1][1].dim()
        for dims in (dims for n in range(1, ndim + 1) for dims in combinations(range(ndim), n)):
            for keepdim in (False, True):
                ours, theirs = (outcome(getattr(x, name), dims, keepdim=keepdim) for _, x in pair)
                if isinstance(theirs, Exception):
                    assert isinstance(ours, type(theirs)), (shape, dims)
                    continue
                assert tuple(ours.shape) == tuple(theirs.shape), (shape, dims)
                if min(pair[1][1].shape, default=2) > 1 and not keepdim:
                    assert tuple(ours.stride()) == tuple(theirs.stride()), (shape, dims)
                expected = theirs.double().numpy()
                np.testing.assert_allclose(ours.double().numpy(), expected, rtol=TOLERANCE[dtype], err_msg=str((shape, dims)))


def test_zeros_keep_their_sign():
    x = tenfold.full((2, 8, 6, 5), -0.0).to(memory_format=tenfold.channels_last)
    assert np.signbit(x.amax((2, 3)).numpy()).all()


def test_compiled_loops_serve_images_channels_last():
    x = np.random.default_rng(0).random((2, 6, 5, 8), np.float32).transpose(0, 3, 1, 2)
    for kind, wanted in (("mean", x.mean((2, 3))), ("total", x.sum((2, 3))), ("largest", x.max((2, 3)))):
        np.testing.assert_allclose(reduction.reduce(kind, x, (2, 3), False), wanted, rtol=1e-6)
    assert reduction.reduce("mean", x, 2, False) is NotImplemented  # whose result would lie in another order
    np.testing.assert_allclose(reduction.reduce("mean", x, (0, 2, 3), True), x.mean((0, 2, 3), keepdims=True), rtol=1e-6)


@pytest.mark.parametrize("name", ["sum", "mean", "amax", "amin", "nansum"])
def test_dimensions_of_size_one_join_their_neighbours(name):
    """A single image's channels are one pass, as rows are."""
    assert reduction._plan((1, 8, 6, 5), (0, 2, 3), False) == ((8,), ((8, 30, 1),))
    assert reduction._plan((2, 8, 1, 5), (0, 2, 3), False) == ((8,), ((16, 5, 1), (1, 2, 8)))
    for shape in ((1, 8, 6, 5), (2, 1, 6, 5), (2, 8, 1, 5), (1, 1, 1, 1), (1, 3, 1, 700)):
        numbers = np.random.default_rng(0).random(shape, np.float32)
        for dims in (dims for n in range(1, 5) for dims in combinations(range(4), n)):
            for keepdim in (False, True):
                ours, theirs = (getattr(m, name)(m.from_numpy(numbers), dims, keepdim=keepdim) for m in (tenfold, torch))
                assert ours.stride() == theirs.stride()
                np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-6)
