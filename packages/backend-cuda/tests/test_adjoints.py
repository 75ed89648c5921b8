"""Gradients that are made in one launch, against the CPU's: of views, masks, complex sizes, cumulative products, extremes."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.testing.tolerances import implementation

DTYPES = [tenfold.float32, tenfold.float64, tenfold.bfloat16, tenfold.complex64]


def drawn(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(shape)
    return tenfold.tensor(values + 1j * rng.standard_normal(shape) if dtype.is_complex else values).to(dtype)


def same(call, *given, scale=4.0):
    """Results and gradients of the call on the device, which are the CPU's."""
    found = []
    for device in ("cpu", "cuda"):
        leaves = [x.to(device) for x in given]
        leaves = [x.requires_grad_() if x.is_floating_point() or x.is_complex() else x for x in leaves]
        out = call(*leaves)
        g = drawn(tuple(out.shape), out.dtype, 1).to(device)
        found.append([out, *tenfold.autograd.grad(out, [x for x in leaves if x.requires_grad], g)])
    for expected, got in zip(*found, strict=True):
        assert got.device.type == "cuda"
        assert got.dtype is expected.dtype
        assert got.shape == expected.shape
        wide = tenfold.complex128 if expected.is_complex() else tenfold.float64
        rtol, atol = implementation(expected.dtype)
        a, b = (x.detach().cpu().to(wide).numpy() for x in (got, expected))
        np.testing.assert_allclose(a, b, rtol=scale * rtol, atol=scale * atol)


VIEWS = {
    "windows": lambda x: x.unfold(1, 4, 2), "windows one apart": lambda x: x.unfold(1, 4, 1),
    "windows of windows": lambda x: x.unfold(0, 3, 2).unfold(1, 5, 1), "windows with gaps": lambda x: x.unfold(1, 2, 5),
    "slice": lambda x: x[:, 1:3], "steps": lambda x: x[1::2, ::3], "row": lambda x: x[1], "last": lambda x: x[..., -1],
    "dimensions of one": lambda x: x[:, None, :, None], "slice of one": lambda x: x[None, 2:],
    "element": lambda x: x[1, 2], "nothing": lambda x: x[3:3], "diagonal": lambda x: x.diagonal(),
    "any strides": lambda x: x.as_strided((4, 3, 5), (7, 2, 3), 1), "transposed": lambda x: x.t()[1:].t()[2:],
    "the same place": lambda x: x.as_strided((4, 3), (0, 2), 1),
}  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.name)
@pytest.mark.parametrize("name", VIEWS)
def test_gradients_of_views(name, dtype):
    same(VIEWS[name], drawn((7, 13), dtype), scale=8)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.name)
@pytest.mark.parametrize("mask", [(7, 13), (7,), "nothing"], ids=str)
def test_gradients_of_what_masks_choose(mask, dtype):
    chosen = drawn((7,) if mask == "nothing" else mask, tenfold.float32, 3) > (99 if mask == "nothing" else 0)
    same(lambda x, m: x[m], drawn((7, 13), dtype), chosen)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.name)
@pytest.mark.parametrize("value", [(), (1,), (13,)], ids=str)
def test_gradients_of_a_value_where_a_mask_holds(value, dtype):
    def put(x, y, mask):
        x = x.clone()
        x[mask] = y
        return x

    same(put, drawn((7, 13), dtype), drawn(value, dtype, 2), drawn((7,), tenfold.float32, 3) > 0, scale=8)


@pytest.mark.parametrize("dtype", DTYPES[:3], ids=lambda d: d.name)
@pytest.mark.parametrize("zeros", [0, 1, 3, 40])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_gradients_of_cumulative_products(dim, zeros, dtype):
    x = drawn((4, 9, 6), dtype)
    x.view(-1)[tenfold.tensor(np.random.default_rng(5).permutation(x.numel())[:zeros])] = 0
    same(lambda x: x.cumprod(dim), x, scale=16)


def test_gradients_of_long_cumulative_products_are_the_rules():
    same(lambda x: x.cumprod(0), 1 + drawn((5000,), tenfold.float64) / 100, scale=100)


@pytest.mark.parametrize("dtype", [tenfold.complex64, tenfold.complex128], ids=lambda d: d.name)
def test_signs_and_sizes_of_complex_numbers(dtype):
    x = drawn((4, 5), dtype)
    large = 3e30 if dtype is tenfold.complex64 else 1e200
    x[0, 0], x[1, 1], x[2, 2], x[3, 3] = 0, complex(large, large), 1j / large, complex(float("inf"), 1)
    same(lambda x: x.abs(), x)
    same(lambda x: x.t().abs(), x)
    same(lambda x: x.angle(), drawn((4, 5), dtype), scale=16)
    for call in (tenfold.sgn, tenfold.square):
        same(call, drawn((4, 5), dtype), scale=16)
    assert tenfold.equal(x.cuda().sgn().cpu().isnan(), x.sgn().isnan())


@pytest.mark.parametrize("dtype", DTYPES[:3], ids=lambda d: d.name)
@pytest.mark.parametrize("call", [tenfold.max, tenfold.min, tenfold.median], ids=lambda f: f.__name__)
def test_an_extreme_of_all_shares_its_gradient(call, dtype):
    x = drawn((5, 5), dtype)
    x[1, 2] = x[3, 3] = call(x)
    same(call, x.clone())
    x[0, 0] = x[4, 4] = float("nan")
    same(call, x)


ROLLS = [((1, -2), (1, 2)), ((3,), None), ((1, 2, 3, 1, 1), (0, 1, 2, 3, 4)), ((1, 1), (0, 0)), ((-1,), (-1,))]


@pytest.mark.parametrize("dtype", [*DTYPES, tenfold.int64, tenfold.bool], ids=lambda d: d.name)
@pytest.mark.parametrize(("shifts", "dims"), ROLLS, ids=str)
def test_rolled_dimensions(shifts, dims, dtype):
    x = drawn((2, 3, 4, 2, 3), dtype) if dtype in DTYPES else (drawn((2, 3, 4, 2, 3), tenfold.float32) * 9).to(dtype)
    got = x.cuda().transpose(1, 2).roll(shifts if dims else shifts[0], dims)
    assert got.cpu().equal(x.transpose(1, 2).roll(shifts if dims else shifts[0], dims))


def test_more_dimensions_than_the_kernel_rolls():
    x = tenfold.arange(64 * 3.0).reshape(2, 2, 2, 2, 2, 2, 3)
    assert x.cuda().roll((1,) * 7, tuple(range(7))).cpu().equal(x.roll((1,) * 7, tuple(range(7))))


@pytest.mark.parametrize("dtype", DTYPES[:3], ids=lambda d: d.name)
@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 2, 4), (2, 3000), (2, 1, 3, 2, 3, 2)], ids=str)
def test_gradients_of_running_sums(shape, dtype):
    x = drawn(shape, dtype)
    for dim in range(-1, len(shape)):
        same(lambda x, d=dim: x.cumsum(d), x, scale=16)
        same(lambda x, d=dim: x.logcumsumexp(d), x, scale=64)
        same(lambda x, d=dim: x.transpose(0, -1).cumsum(d), x, scale=16)
