"""Elementwise kernels on arrays of every layout, against NumPy: strides, broadcasting, alignment, overlap, dtypes."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import tenfold
from tenfold.dispatch import kernels
from tenfold.llvm import elementwise
from tenfold.llvm.kernels.attaching import ACCELERATED
from tenfold.llvm.session import session

RNG = np.random.default_rng(0)
LARGE = elementwise.STRIDED_FROM


def numbers(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


def exp(x):
    return np.exp(x.astype(np.float64)).astype(x.dtype)


def compiled(name):
    """How often the operator's compiled loops ran, and its kernel as the call paths find it."""
    return getattr(kernels.table("cpu"), name)


@pytest.fixture
def launched(monkeypatch):
    """The number of launches from Python."""
    calls = []
    real = session().launch

    def launch(*arguments):
        calls.append(arguments)
        return real(*arguments)

    monkeypatch.setattr(session(), "launch", launch)
    return calls


VIEWS = {
    "transposed": lambda a: a.T,
    "every second": lambda a: a[:, ::2],
    "every third row": lambda a: a[::3],
    "backwards": lambda a: a[::-1, ::-1],
    "permuted": lambda a: a.reshape(4, -1, 32).transpose(1, 0, 2),
    "expanded": lambda a: np.broadcast_to(a[:, :1], a.shape),
    "one row": lambda a: np.broadcast_to(a[0], a.shape),
    "inner columns": lambda a: a[1:-1, 3:-5],
    "one dimension more": lambda a: a[None, :, None],
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("view", VIEWS)
def test_strided_arrays(view, dtype, launched):
    x = VIEWS[view](numbers(128, 256, dtype=dtype))
    got = compiled("exp")(x)
    dense = x.flags.c_contiguous or view in ("transposed", "permuted")
    assert launched or dense  # those the native gate serves, in whichever order they lie
    tolerance = {2: 8e-3, 4: 2e-7, 8: 3e-16}[x.dtype.itemsize]
    np.testing.assert_allclose(got.astype(np.float64), np.exp(x.astype(np.float64)), rtol=tolerance)
    assert got.dtype == x.dtype
    assert got.strides == np.positive(x.astype(np.float32)).astype(x.dtype, order="K").strides or not x.flags.forc


@pytest.mark.parametrize(
    "shapes", [((64, 256), (256,)), ((64, 1, 32), (8, 1)), ((300, 1), (1, 100)), ((32768,), ()), ((0, 5), (5,))]
)
def test_broadcasting(shapes, launched):
    x, y = (numbers(*s) for s in shapes)
    for name, plain in (("add", np.add), ("div", np.divide), ("gt", np.greater)):
        np.testing.assert_array_equal(compiled(name)(x, y), plain(x, y))
    np.testing.assert_allclose(compiled("lerp")(x, y, 0.25), x + np.float32(0.25) * (y - x), rtol=1e-5, atol=1e-6)
    stays = ("next", *("same" if a.ndim < 1 or a.shape[-1] == 1 else "next" for a in (x, y)))
    native = ACCELERATED["add"]._loops.get(("float", (False,), stays), 0)  # which the gate takes where it is there
    assert launched or native or not x.size


def test_the_result_lies_in_memory_as_numpys():
    x, y = numbers(64, 32, 16), numbers(64, 32, 16)
    for view in (lambda a: a.transpose(2, 0, 1), lambda a: a.T, lambda a: a[:, ::-1]):
        a, b = view(x), view(y)
        assert compiled("add")(a, b).strides == np.add(a, b).strides


def test_misaligned_and_foreign_arrays():
    raw = np.zeros(4 * LARGE + 4, np.uint8)
    x = raw[1:-3].view(np.float32)
    x[:] = numbers(LARGE)
    assert not x.flags.aligned
    np.testing.assert_allclose(compiled("exp")(x), exp(x), rtol=2e-7)
    swapped = numbers(LARGE).astype(">f4")
    np.testing.assert_allclose(compiled("exp")(swapped), np.exp(swapped), rtol=2e-7)
    whole = np.arange(LARGE)
    np.testing.assert_array_equal(compiled("add")(whole, whole), whole + whole)


def test_writing_into_an_array():
    x, y = numbers(100, 300), numbers(100, 300)
    kernel = kernels.table("cpu").add__into
    into = np.empty_like(x)
    assert kernel(x, y, out=into) is into
    np.testing.assert_array_equal(into, x + y)
    expected = x + y
    assert kernel(x, y, out=x) is x
    np.testing.assert_array_equal(x, expected)
    strided = np.zeros((300, 200), np.float32)[:, ::2].T
    kernel(x, y, out=strided)
    np.testing.assert_array_equal(strided, x + y)


def test_memory_that_overlaps():
    for shift in (1, 7, 64):
        base = numbers(2 * LARGE)
        x, out = base[shift : LARGE + shift], base[:LARGE]
        expected = x + x
        kernels.table("cpu").add__into(x, x, out=out)
        np.testing.assert_array_equal(out, expected)
        base = numbers(2 * LARGE)
        x, out = base[:LARGE], base[shift : LARGE + shift]
        expected = x * 2
        kernels.table("cpu").mul__into(x, 2.0, out=out)
        np.testing.assert_array_equal(out, expected)
    square = numbers(128, 128)
    expected = square + square.T
    kernels.table("cpu").add__into(square, square.T, out=square)
    np.testing.assert_array_equal(square, expected)


@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 0, 2), (1, 1)])
def test_few_elements(shape):
    x = tenfold.tensor(numbers(*shape))
    assert x.exp().shape == shape
    np.testing.assert_allclose(x.exp().numpy(), exp(x.numpy()), rtol=2e-7)
    np.testing.assert_array_equal((x + x).numpy(), x.numpy() * 2)


def test_the_same_number_has_the_same_result_in_every_size_and_layout():
    x = numbers(300, 200) * 8
    for name in ("exp", "log1p", "tanh", "sigmoid", "erf", "expm1"):
        kernel = compiled(name)
        whole = kernel(np.abs(x))
        for part in ((slice(0, 1), slice(0, 3)), (slice(5, 9), slice(None, None, 7)), (slice(17, 18), slice(33, 34))):
            np.testing.assert_array_equal(kernel(np.abs(x)[part]), whole[part])
        np.testing.assert_array_equal(kernel(np.abs(x).T).T, whole)


def test_numbers_beside_arrays():
    x = numbers(LARGE)
    for number in (2, -3.5, 0.1, 2**60, float("inf"), float("nan"), 1e300, True):
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(compiled("mul")(x, number), np.multiply(x, number))
    with pytest.raises(OverflowError):
        compiled("mul")(x, 10**400)


def test_signed_zeros_and_nan():
    x = np.tile(np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0], np.float32), 1000)
    y = np.repeat(np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0], np.float32), 1000)
    with np.errstate(all="ignore"):
        for name, plain in (("add", np.add), ("mul", np.multiply), ("div", np.divide), ("maximum", np.maximum), ("lt", np.less)):
            got, expected = compiled(name)(x, y), plain(x, y)
            np.testing.assert_array_equal(got, expected)
            if name != "maximum" and got.dtype == np.float32:
                kept = ~np.isnan(expected)
                np.testing.assert_array_equal(np.signbit(got)[kept], np.signbit(expected)[kept])
        for name in ("floor", "ceil", "trunc", "round", "neg", "abs", "sqrt", "reciprocal"):
            got = getattr(tenfold.from_numpy(x), name)().numpy()
            plain = {"round": np.rint, "neg": np.negative}.get(name) or getattr(np, name)
            np.testing.assert_array_equal(np.signbit(got), np.signbit(plain(x)))


def test_inputs_stay_as_they_are():
    x, y = numbers(40, 300), numbers(300)
    before = x.copy(), y.copy()
    for name in ("add", "maximum"):
        compiled(name)(x, y if name == "add" else x)
    np.testing.assert_array_equal(x, before[0])
    np.testing.assert_array_equal(y, before[1])


def test_plans_of_broadcast_calls_are_for_their_shapes_dtypes_and_layouts():
    """The second call of two shapes runs a plan that the first has left."""
    add = kernels.table("cpu").add
    for shapes in (((256, 512), (512,)), ((512,), (256, 512)), ((40, 1, 300), (20, 300)), ((300, 1), (1, 300))):
        for dtypes in ((np.float32,) * 2, (np.float64,) * 2, (np.float32,) * 2):
            for _ in range(3):
                a, b = (numbers(*shape, dtype=dtype) for shape, dtype in zip(shapes, dtypes, strict=True))
                np.testing.assert_array_equal(add(a, b), a + b)
        a, b = (numbers(*shape) for shape in shapes)
        for x, y in (
            (np.asfortranarray(a), b),
            (a, np.repeat(b, 2, -1)[..., ::2]),
            (a[..., ::-1], b),
            (a, b.astype(np.float64).astype(np.float32)[...]),
        ):
            np.testing.assert_array_equal(add(x, y), x + y)
        a.flags.writeable = False
        memory = np.zeros(b.nbytes + 1, np.uint8)
        misaligned = memory[1:].view(np.float32).reshape(b.shape)
        misaligned[...] = b
        np.testing.assert_array_equal(add(a, misaligned), a + b)
        np.testing.assert_array_equal(add(a, b), a + b)
    mul = kernels.table("cpu").mul
    a, b = numbers(256, 512), numbers(512)
    np.testing.assert_array_equal(mul(a, b), a * b)  # each operator has its own
