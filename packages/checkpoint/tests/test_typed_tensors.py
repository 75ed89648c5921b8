"""PyTorch's classes of tensors of one dtype: what they make, what is an instance of them, and what refuses them."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold


def test_typed_tensor_classes() -> None:
    x = tenfold.FloatTensor([1, 2])
    assert isinstance(x, tenfold.FloatTensor)
    assert not isinstance(x, tenfold.DoubleTensor)
    assert tenfold.LongTensor(2, 3).shape == (2, 3)
    assert tenfold.ByteTensor(np.array([1])).dtype is tenfold.uint8
    assert x.type(tenfold.LongTensor).dtype is tenfold.int64
    assert x.new(2).dtype is tenfold.float32
    assert x.new([3]).tolist() == [3]
    with pytest.raises(TypeError, match="not an acceptable base type"):
        type("Own", (tenfold.FloatTensor,), {})


def test_a_typed_tensor_of_a_tensor_has_its_memory() -> None:
    x = tenfold.arange(6.0)
    assert tenfold.FloatTensor(x).data_ptr() == x.data_ptr()


def test_the_default_tensor_type_warns() -> None:
    tenfold.set_warn_always(True)
    try:
        with pytest.warns(UserWarning, match=r"deprecated as of PyTorch 2\.1"):
            tenfold.set_default_tensor_type(tenfold.FloatTensor)
    finally:
        tenfold.set_warn_always(False)


def test_dir_names_the_classes() -> None:
    assert {"FloatTensor", "LongTensor", "BoolTensor"} <= {*dir(tenfold)}
