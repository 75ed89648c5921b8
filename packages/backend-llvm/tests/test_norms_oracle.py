"""Norms of few numbers: PyTorch's values for every order, dimension and layout, and that they do not go the ordinary way."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from compared_calls import outcome, refused_alike

import tenfold

torch = pytest.importorskip("torch")
pytest.importorskip("tenfold.linalg")
inf, nan = float("inf"), float("nan")
ROWS: dict[str, list[float]] = {
    "ordinary": [0.5, -1.5, 3.0, 0.1], "zeros": [0.0, -0.0, 0.0, -0.0], "infinite": [inf, 1.0, -inf, 0.0],
    "nan": [nan, inf, 1.0, 0.0], "large": [1e20, -1e20, 1.0, 0.0], "small": [1e-30, -1e-30, 0.0, 0.0],
}  # fmt: skip
DIMS = (None, 0, 1, -1, -2, (0, 1), (1, 0), (-1, -2), [1], (), 2, (0, 0))


def alike(ours: Any, theirs: Any, what: Any) -> None:
    if refused_alike(ours, theirs, what):
        return
    assert str(ours.dtype).split(".")[1] == str(theirs.dtype).split(".")[1], what
    assert tuple(ours.shape) == tuple(theirs.shape), what
    tolerance = {torch.float64: 1e-14, torch.float32: 1e-6, torch.float16: 1e-3, torch.bfloat16: 8e-3}[theirs.dtype]
    np.testing.assert_allclose(ours.double().numpy(), theirs.double().numpy(), rtol=tolerance, atol=0, err_msg=str(what))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("name", ROWS)
def test_norms(name, dtype):
    if dtype.endswith("16") and name in ("large", "small"):
        pytest.skip("half precision has no such numbers")
    numbers = np.resize(ROWS[name], (4, 4))
    parts = [lambda x: x, lambda x: x.t(), lambda x: x[::2], lambda x: x[:1, :1], lambda x: x[:0], lambda x: x[0]]
    if name not in ("large", "small"):  # of one number PyTorch squares those that have no dimensions
        parts.append(lambda x: x[0, 0])
    for part in parts:
        pair = [(m, part(m.tensor(numbers).to(getattr(m, dtype)))) for m in (tenfold, torch)]
        for dim in DIMS:
            for ord in (2, 2.0, 1, 0, inf, -inf, 3):
                for keepdim in (False, True):
                    found = [outcome(m.linalg.vector_norm, x, ord, dim, keepdim) for m, x in pair]
                    alike(*found, (name, dtype, tuple(pair[1][1].shape), ord, dim, keepdim))
            alike(*(outcome(m.linalg.norm, x, dim=dim) for m, x in pair), (name, dtype, dim))


def test_the_dtype_asked_for():
    pair = [(m, m.tensor([3.0, -4.0, 1e30])) for m in (tenfold, torch)]
    alike(*(m.linalg.norm(x, dtype=m.float64) for m, x in pair), "float64")


def test_gradients():
    for shape, dim in (((5,), None), ((3, 4), None), ((3, 4), -1), ((3, 4), (0, 1)), ((2, 3, 4), (1, 2))):
        found = []
        for m in (tenfold, torch):
            x = m.linspace(-2.0, 3.0, int(np.prod(shape))).view(shape).requires_grad_()
            m.linalg.norm(x, dim=dim).sum().backward()
            found.append(x.grad.numpy())
        np.testing.assert_allclose(*found, rtol=1e-6)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="call paths are native from Python 3.12 on")
def test_the_ordinary_path_is_not_asked(entered):
    x, norm = tenfold.randn(8, 8), tenfold.linalg.norm
    for call in (lambda: norm(x), lambda: norm(x, dim=-1), lambda: norm(x, 1, 0), x.norm):
        call()
        assert "dispatch" not in entered(call)
