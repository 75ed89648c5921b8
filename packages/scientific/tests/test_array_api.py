"""The array API standard's namespace: its dtypes, its signatures where they differ from Tenfold's, and who uses it."""

import numpy as np
import pytest

import tenfold
from tenfold import array_api as xp


def test_the_namespace_of_a_tensor():
    assert tenfold.ones(2).__array_namespace__() is xp
    assert tenfold.ones(2).__array_namespace__(api_version="2024.12") is xp
    with pytest.raises(ValueError, match=r"2019\.01"):
        tenfold.ones(2).__array_namespace__(api_version="2019.01")
    assert tenfold.ones(2).to_device("cpu").device.type == "cpu"


@pytest.mark.parametrize(
    ("a", "b", "result"),
    [
        (xp.int8, xp.int64, xp.int64),
        (xp.uint8, xp.int8, xp.int16),
        (xp.uint16, xp.uint32, xp.uint32),
        (xp.uint32, xp.int8, xp.int64),
        (xp.float32, xp.float64, xp.float64),
        (xp.float64, xp.complex64, xp.complex128),
    ],
)
def test_a_tensor_without_dimensions_counts_like_any_other(a, b, result):
    for shape_a, shape_b in (((), (2,)), ((2,), ()), ((2,), (2,))):
        assert xp.add(xp.ones(shape_a, dtype=a), xp.ones(shape_b, dtype=b)).dtype is result
    assert xp.result_type(a, b) is result
    with pytest.raises(TypeError, match="no common dtype"):
        xp.result_type(xp.uint64, xp.int8)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int64", "float32"])
@pytest.mark.parametrize("name", ["sum", "prod", "cumulative_sum", "max", "sort", "argsort", "square"])
def test_like_numpy(name, dtype):
    data = np.array([3, 1, 2, 3, 0, 1]).astype(dtype)
    expected = getattr(np, name)(data, stable=True) if name == "argsort" else getattr(np, name)(data)
    made = getattr(xp, name)(xp.asarray(data))
    assert made.numpy().tolist() == expected.tolist()
    assert made.dtype.name == expected.dtype.name


def test_signatures_of_its_own():
    x = xp.reshape(xp.arange(6), (2, 3))
    assert xp.take(x, xp.asarray([-1, 0]), axis=1).tolist() == [[2, 0], [5, 3]]
    assert xp.expand_dims(x, axis=(0, -1)).shape == (1, 2, 3, 1)
    assert xp.concat([x, x], axis=None).shape == (12,)
    assert xp.linspace(0, 1, 2, endpoint=False).tolist() == [0.0, 0.5]
    assert xp.cumulative_sum(x, axis=1, include_initial=True).tolist() == [[0, 0, 1, 3], [0, 3, 7, 12]]
    assert xp.unique_all(xp.asarray([2, 1, 2])).indices.tolist() == [1, 0]
    assert xp.arange(3, 0).tolist() == []
    assert xp.eye(2, 3, k=1).tolist() == [[0, 1, 0], [0, 0, 1]]
    assert xp.clip(x, 1, xp.asarray(3)).tolist() == [[1, 1, 2], [3, 3, 3]]
    assert xp.sum(x, axis=()).tolist() == x.tolist()
    assert xp.linalg.solve(xp.eye(2), xp.asarray([1.0, 2.0])).tolist() == [1.0, 2.0]
    assert xp.fft.fftn(xp.ones((2, 2)), s=(2,)).shape == (2, 2)
    with pytest.raises(ValueError, match="size 3"):
        xp.squeeze(x, axis=1)
    with pytest.raises(ValueError, match="copy"):
        xp.asarray([1], copy=False)


def test_what_it_says_of_itself():
    info = xp.__array_namespace_info__()
    assert info.default_device() in info.devices()
    assert info.dtypes(kind="real floating") == {"float32": xp.float32, "float64": xp.float64}
    assert xp.isdtype(xp.int8, ("bool", "signed integer"))
    assert not xp.isdtype(xp.float32, "integral")
    assert xp.finfo(xp.complex64).bits == 32
    assert xp.iinfo(xp.ones(2, dtype=xp.uint8)).max == 255


def test_gradients_go_through():
    x = tenfold.ones(3, requires_grad=True)
    xp.sum(xp.multiply(x, x)).backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def test_limits_that_the_standard_names():
    inf, nan = float("inf"), float("nan")
    assert xp.floor_divide(xp.asarray([inf, -inf, 1.0, 7.0]), xp.asarray([2.0, 2.0, -inf, 2.0])).tolist() == [
        inf,
        -inf,
        -0.0,
        3.0,
    ]
    assert xp.signbit(xp.remainder(xp.asarray([0.0, -0.0]), xp.asarray([-1.0, 1.0]))).tolist() == [True, False]
    assert xp.isnan(xp.sign(xp.asarray(nan)))
    assert xp.isnan(xp.var(xp.asarray(nan)))
    assert xp.expm1(xp.asarray([complex(inf, 0.0), complex(-inf, inf)])).tolist() == [complex(inf, 0.0), complex(-1.0, 0.0)]
    small = xp.expm1(xp.asarray([1e-9 + 1e-9j], dtype=xp.complex128))
    assert abs(small.item() - (1e-9 + 1e-9j)) < 1e-17
