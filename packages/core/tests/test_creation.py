"""Factories: values, dtypes, devices, `out=`."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import tenfold
from tenfold.types.numeric_limits import finfo, iinfo


def test_ranges() -> None:
    assert tenfold.arange(5, 1, -2).tolist() == [5, 3]
    assert tenfold.arange(0, 1, 0.25).dtype is tenfold.float32
    assert tenfold.linspace(3, -3, 4).tolist() == [3, 1, -1, -3]
    assert tenfold.eye(2, 3).tolist() == [[1, 0, 0], [0, 1, 0]]
    with pytest.raises(RuntimeError, match="inconsistent"):
        tenfold.arange(3, 1)


def test_default_dtype_and_device() -> None:
    try:
        tenfold.set_default_dtype(tenfold.float64)
        assert tenfold.ones(1).dtype is tenfold.float64
        assert tenfold.full((1,), 1 + 0j).dtype is tenfold.complex128
    finally:
        tenfold.set_default_dtype(tenfold.float32)
    with tenfold.device("meta"):
        assert tenfold.zeros(3).device.type == "meta"
        assert tenfold.rand(3).device.type == "meta"


@pytest.mark.parametrize("make", [tenfold.zeros, tenfold.ones, tenfold.empty])
def test_sizes(make: object) -> None:
    assert make(2, 3).shape == make((2, 3)).shape == make(size=(2, 3)).shape == (2, 3)  # type: ignore[operator]
    assert make(()).shape == ()  # type: ignore[operator]
    with pytest.raises(RuntimeError, match="negative"):
        make(-1)  # type: ignore[operator]


def test_out_is_written() -> None:
    out = tenfold.ones(2)
    assert tenfold.zeros(2, out=out) is out
    assert out.tolist() == [0, 0]


def test_like_keeps_kind_and_order_of_strides() -> None:
    x = tenfold.zeros(2, 3, dtype=tenfold.int32).transpose(0, 1)
    assert tenfold.empty_like(x).stride() == (1, 3)
    assert tenfold.ones_like(x).dtype is tenfold.int32
    assert tenfold.full_like(x, 2.7).tolist()[0] == [2, 2]
    assert x.new_full((1,), 5).tolist() == [5]
    assert x.new_tensor([1.5]).tolist() == [1]
    assert tenfold.empty_strided((2, 2), (1, 4)).stride() == (1, 4)


def test_memory_is_shared_or_not() -> None:
    a = np.zeros(2, np.float32)
    assert tenfold.asarray(a).data_ptr() == a.ctypes.data
    assert tenfold.asarray(a, copy=True).data_ptr() != a.ctypes.data
    with pytest.raises(ValueError, match="alias"):
        tenfold.asarray(a, dtype=tenfold.float64, copy=False)
    data = bytearray(8)
    tenfold.frombuffer(data, dtype=tenfold.int32, offset=4).add_(1)
    assert data[4] == 1


def test_limits() -> None:
    assert finfo(tenfold.float32).eps == np.finfo(np.float32).eps
    assert finfo(tenfold.bfloat16).max == 3.3895313892515355e38
    limits = finfo(tenfold.float8_e5m2)
    assert (limits.bits, limits.eps, limits.max, limits.resolution) == (8, 0.25, 57344.0, 1.0)
    assert [finfo(kind).resolution for kind in (tenfold.float8_e4m3fn, tenfold.bfloat16, tenfold.float64)] == [1.0, 0.01, 1e-15]
    assert (iinfo(tenfold.uint8).min, iinfo(tenfold.uint8).max) == (0, 255)
    for kind in (float, complex):  # Python's types are the widest, whatever the default dtype
        assert finfo(kind) == finfo(tenfold.float64)
    assert iinfo(int) == iinfo(tenfold.int64)
    for limits_of, kinds in ((finfo, (tenfold.int32, int, bool)), (iinfo, (float, bool, tenfold.float32))):
        for kind in kinds:
            with pytest.raises(TypeError):
                limits_of(kind)


class Countdown:
    """A sequence that is no list."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, i: int) -> float:
        if i > 1:
            raise IndexError(i)
        return 1.5 - i


@pytest.mark.filterwarnings("ignore:Creating a tensor from a list of numpy")
def test_tensor_reads_every_kind_of_sequence() -> None:
    for data, values in (([range(2), (3, 4)], [[0, 1], [3, 4]]), ([np.array([1, 2])], [[1, 2]]), (bytearray(b"ab"), [97, 98])):
        made = tenfold.tensor(data)
        assert made.tolist() == values
        assert made.dtype is tenfold.int64
    assert tenfold.tensor([Countdown(), [True, 2]]).tolist() == [[1.5, 0.5], [1, 2]]


@pytest.mark.parametrize("dtype", [None, tenfold.float32])
@pytest.mark.parametrize(
    ("data", "error"),
    [([1, None], RuntimeError), ([1, "a"], TypeError), ({"a": 1}, RuntimeError), ([[1], [b"x"]], TypeError), (["a"], ValueError)],
)
def test_tensor_refuses_what_is_no_number(data: object, error: type[Exception], dtype: object) -> None:
    with pytest.raises(error, match=r"Could not infer dtype of (NoneType|dict)|invalid data type|too many dimensions"):
        tenfold.tensor(data, dtype=dtype)


def test_a_dtype_that_was_pickled_is_the_one_that_kernels_know() -> None:
    """An array from another process has a dtype of its own, equal to NumPy's; a kernel may compare by identity."""
    for dtype in (np.float32, np.float64, np.int64, np.bool_):
        array = pickle.loads(pickle.dumps(np.ones((2, 3), dtype)))
        assert array.dtype is not np.dtype(dtype)
        for made in (tenfold.from_numpy(array), tenfold.tensor(array), tenfold.as_tensor(array), tenfold.from_numpy(array.T)):
            assert made.numpy().dtype is np.dtype(dtype)
    array = pickle.loads(pickle.dumps(np.zeros(2)))
    tenfold.from_numpy(array)[0] = 5
    assert array.tolist() == [5.0, 0.0]
