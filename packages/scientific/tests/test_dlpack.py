"""Memory shared with other array libraries through DLPack."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import tenfold
from tenfold.scientific import dlpack


@pytest.mark.parametrize("name", ["bool", "uint8", "int64", "float16", "bfloat16", "float32", "complex64", "complex128"])
def test_there_and_back(name: str) -> None:
    x = tenfold.tensor([[1, 0, 2], [3, 1, 0]]).to(getattr(tenfold, name))
    for taken in (tenfold.from_dlpack(x), tenfold.from_dlpack(x.__dlpack__(max_version=(1, 0))), tenfold.from_dlpack(x.t()).t()):
        assert taken.dtype is x.dtype
        assert taken.tolist() == x.tolist()
        assert taken.data_ptr() == x.data_ptr()


def test_numpy_shares_the_memory() -> None:
    x = tenfold.arange(6.0).view(2, 3)
    seen = np.from_dlpack(x.t())
    x[0, 1] = 9
    assert seen[1, 0] == 9
    a = np.arange(4)[::2]
    taken = tenfold.from_dlpack(a)
    a[1] = 7
    assert taken.tolist() == [0, 7]
    assert taken.stride() == (2,)
    copied = tenfold.from_dlpack(a, copy=True)
    a[0] = 5
    assert copied.tolist() == [0, 7]


def test_strides_of_dimensions_of_one_element_are_normal() -> None:
    assert tenfold.from_dlpack(tenfold.arange(16.0)[::3][:1]).stride() == (1,)


def test_memory_lives_as_long_as_it_is_lent() -> None:
    lent = len(dlpack._exported)
    capsule = tenfold.ones(3).__dlpack__()
    taken = tenfold.from_dlpack(capsule)
    assert taken.tolist() == [1, 1, 1]
    with pytest.raises(RuntimeError, match="only once"):
        tenfold.from_dlpack(capsule)
    assert len(dlpack._exported) == lent + 1
    del taken, capsule
    unused = tenfold.ones(3).__dlpack__()
    del unused
    gc.collect()
    assert len(dlpack._exported) == lent


def test_what_requires_grad_is_not_lent() -> None:
    pytest.importorskip("tenfold.autograd")
    with pytest.raises(BufferError, match="require gradient"):
        tenfold.Tensor._make_subclass(tenfold.Tensor, tenfold.ones(1), True).__dlpack__()


def test_refusals() -> None:
    with pytest.raises(BufferError, match="meta"):
        tenfold.ones(1, device="meta").__dlpack__()
    with pytest.raises(TypeError, match="stream"):
        tenfold.ones(1).__dlpack__(stream=object())
    with pytest.raises(RuntimeError, match="invalid capsule"):
        tenfold.from_dlpack(3)
