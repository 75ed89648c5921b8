"""Matrix products against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    "shapes", [((4, 5), (5, 3)), ((7, 4, 5), (5, 3)), ((2, 1, 4, 5), (3, 5, 3)), ((5,), (5, 3)), ((5,), (5,))]
)
def test_matmul(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    a, b = (RNG.standard_normal(s) for s in shapes)
    np.testing.assert_allclose((tenfold.from_numpy(a) @ tenfold.from_numpy(b)).numpy(), a @ b)


def test_transposed_and_strided_operands() -> None:
    a, b = RNG.standard_normal((6, 8)), RNG.standard_normal((3, 8))
    x = tenfold.from_numpy(a)[::2, ::2]
    np.testing.assert_allclose(x.mm(tenfold.from_numpy(b)[:, ::2].transpose(0, 1)).numpy(), a[::2, ::2] @ b[:, ::2].T)


def test_half_is_rounded_once() -> None:
    a = RNG.standard_normal((16, 64)).astype(np.float16)
    expected = (a.astype(np.float32) @ a.T.astype(np.float32)).astype(np.float16)
    np.testing.assert_array_equal(tenfold.from_numpy(a).mm(tenfold.from_numpy(a).transpose(0, 1)).numpy(), expected)


def test_errors_name_the_shapes() -> None:
    with pytest.raises(RuntimeError, match=r"cannot be multiplied \(2x3 and 2x3\)"):
        tenfold.ones(2, 3).mm(tenfold.ones(2, 3))


def test_meta() -> None:
    x = tenfold.empty(7, 2, 3, device="meta")
    assert (x @ tenfold.empty(3, 4, device="meta")).shape == (7, 2, 4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.complex64])
@pytest.mark.parametrize("shape", [(2, 3, 4), (4, 64, 96), (64, 32, 32)])
def test_products_of_a_column_and_a_row_are_their_elements_products(dtype, shape):
    B, M, N = shape
    rng = np.random.default_rng(0)
    a, b = ((rng.normal(size=s) * 8).astype(dtype) for s in ((B, M, 1), (B, 1, N)))
    if a.dtype.kind == "f":
        a[0, 0], a[-1, 1], b[0, 0, 1] = np.inf, np.nan, 0
    with np.errstate(invalid="ignore"):
        expected = a * b
    x, y = tenfold.from_numpy(a), tenfold.from_numpy(b)
    for made in (x @ y, tenfold.bmm(x, y), (x[:, None] @ y[:, None])[:, 0], x.transpose(1, 2).contiguous().transpose(1, 2) @ y):
        np.testing.assert_array_equal(made.numpy(), expected)
    np.testing.assert_array_equal((x @ y[:1]).numpy()[0], expected[0])
