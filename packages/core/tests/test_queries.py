"""Questions about tensors and shapes as functions."""

from __future__ import annotations

import pytest

import tenfold


def test_of_tensors():
    x = tenfold.ones(2, 3)
    assert tenfold.numel(x) == 6
    assert tenfold.is_floating_point(x)
    assert not tenfold.is_complex(x)
    assert tenfold.is_complex(x + 1j)
    assert tenfold.is_storage(x.untyped_storage())
    assert not tenfold.is_storage(x)
    assert tenfold.is_nonzero(tenfold.tensor([2]))
    with pytest.raises(RuntimeError, match="more than one value"):
        tenfold.is_nonzero(x)


def test_nothing_is_pending():
    z = tenfold.tensor([1 + 2j])
    assert not tenfold.is_conj(z.conj())
    assert not tenfold.is_neg(z.conj().imag)
    assert tenfold.resolve_conj(z.conj()).tolist() == [1 - 2j]


def test_typename():
    assert tenfold.typename(tenfold.ones(1)) == "torch.FloatTensor"
    assert tenfold.typename(3) == "int"
    assert tenfold.typename(tenfold.Size) == "tenfold.types.size.Size"


def test_broadcast_shapes():
    assert tenfold.broadcast_shapes((2, 1), (3,), 1) == (2, 3)
    assert tenfold.broadcast_shapes() == ()
    with pytest.raises(RuntimeError, match=r"broadcast_shapes: .*\(2\).*\(3\)"):
        tenfold.broadcast_shapes((2,), (3,))
    with pytest.raises(RuntimeError, match="negative"):
        tenfold.broadcast_shapes((-1,))
