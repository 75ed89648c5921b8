"""PyTorch's classes of tensors of one dtype: what they make, what is an instance of them, and what refuses them."""

from __future__ import annotations

import contextlib
import warnings

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


def test_a_class_of_another_device_is_a_device_too() -> None:
    names = {"dtype": tenfold.float32, "device_type": "meta", "__module__": "tenfold"}
    made = type(tenfold.FloatTensor)("FloatTensor", (), names)
    assert tenfold.ones(2).type(made).device.type == "meta"
    assert tenfold.ones(2).double().type(tenfold.FloatTensor).dtype is tenfold.float32
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tenfold.set_default_tensor_type(made)
            assert tenfold.ones(1).device.type == "meta"
        finally:
            tenfold.set_default_tensor_type(tenfold.FloatTensor)
    assert tenfold.ones(1).device.type == "cpu"


@pytest.mark.parametrize("kind", ["torch.cuda.DoubleTensor", "cuda.DoubleTensor"])
def test_a_missing_device_is_refused(kind: str) -> None:
    with contextlib.suppress(RuntimeError):
        tenfold.ones(1, device="cuda")
        pytest.skip("there is such a device")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(RuntimeError, match="cuda"):
            tenfold.set_default_tensor_type(kind)
    assert tenfold.get_default_dtype() is tenfold.float32
