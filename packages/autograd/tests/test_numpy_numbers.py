"""Dimensions and sizes that are NumPy's integers, as programs compute them, forwards and backwards."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold

ALONG = (
    "sum mean amax amin prod std var logsumexp softmax cumsum sort max flip squeeze unsqueeze unbind norm "
    "roll argmax all count_nonzero aminmax"
).split()


def first(result):
    while isinstance(result, (tuple, list)):
        result = result[0]
    return result


@pytest.mark.parametrize("name", ALONG)
@pytest.mark.parametrize("number", [np.int64(1), np.int32(-1), np.uint8(0)])
def test_a_dimension(name, number):
    found, wanted = [], []
    for dim, kept in ((number, found), (int(number), wanted)):
        x = tenfold.arange(6.0).reshape(2, 3).requires_grad_()
        named = {"dim": dim} if name in ("norm", "aminmax") else {}
        y = first(getattr(x, name)(*(() if named else (dim,)), **named))
        kept.append(y.tolist())
        if y.requires_grad:
            (y * y).sum().backward()
            kept.append(x.grad.tolist())
    assert found == wanted


def test_sizes_and_counts():
    x = tenfold.arange(6.0)
    assert [len(part) for part in x.split(np.int64(4))] == [4, 2]
    assert len(x.chunk(np.int32(3))) == 3
    assert x.view(np.int64(2), 3).expand(np.int64(4), 2, 3).shape == (4, 2, 3)


def test_positions_into_a_given_tensor():
    out = tenfold.empty(0, dtype=tenfold.int64)
    assert tenfold.nonzero(tenfold.tensor([0, 3, 0, 4]), out=out) is out
    assert out.tolist() == [[1], [3]]
