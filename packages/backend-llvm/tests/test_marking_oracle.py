"""Where masks hold, and what they select of arrays that are broadcast or turned, against PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.llvm.kernels.marking import masked, nonzero
from tenfold.llvm.session import session

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(session() is None, reason="no compiled kernels on this machine")
SHAPES = [(5,), (0, 3), (3, 0), (1, 1, 1), (3, 4, 5), (2, 3, 17), (1000,), (2, 9, 8), (7,), (3, 64), ()]


@pytest.mark.parametrize("dtype", ["bool", "int32", "uint8", "float32", "float64", "bfloat16", "complex64"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 1.0])
def test_positions(shape, share, dtype):
    mask = np.random.default_rng(2).random(shape) < share
    for turn in (False, True):
        found = []
        for m in (tenfold, torch):
            x = m.tensor(mask.tolist()).reshape(shape).to(getattr(m, dtype))
            if dtype.startswith("float"):
                x = m.where(x != 0, float("nan"), -0.0).to(getattr(m, dtype))
            found.append(x.mT if turn and len(shape) > 1 else x)
        ours, theirs = (x.nonzero() for x in found)
        assert (tuple(ours.shape), ours.tolist()) == (tuple(theirs.shape), theirs.tolist())
        assert ours.stride() == theirs.stride() or not theirs.numel()
        assert [x.tolist() for x in tenfold.where(found[0])] == [x.tolist() for x in torch.where(found[1])]


def test_masks_of_what_is_broadcast_or_turned():
    numbers, mask = np.arange(60.0).reshape(5, 12), np.random.default_rng(1).random((5, 12)) < 0.4
    for call in (
        lambda m, x, k: x[:1].masked_select(k),
        lambda m, x, k: x.masked_select(k[:, :1]),
        lambda m, x, k: x.t()[k.t()],
        lambda m, x, k: x[:, None].expand(5, 3, 12)[k[:, None].expand(5, 3, 12)],
        lambda m, x, k: x[k],
    ):
        ours, theirs = (call(m, m.tensor(numbers.tolist()), m.tensor(mask.tolist())) for m in (tenfold, torch))
        assert ours.tolist() == theirs.tolist()


def test_which_calls_are_served():
    mask = np.array([[True, False], [True, True]])
    assert nonzero(mask).tolist() == [[0, 0], [1, 0], [1, 1]]
    assert masked(np.broadcast_to(np.arange(2.0), (2, 2)), [mask]).tolist() == [0, 0, 1]
    assert masked(np.ones((2, 2)), [mask]) is NotImplemented
