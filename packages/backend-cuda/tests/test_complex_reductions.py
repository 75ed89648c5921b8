"""Reductions and scans of complex numbers by one kernel each, against the CPU; both extremes at once; covariances."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import tenfold
from tenfold.cuda.kernels import statistics

INF, NAN = math.inf, math.nan
REDUCTIONS = {
    "sum": lambda x, d: x.sum(d), "mean": lambda x, d: x.mean(d, keepdim=True), "prod": lambda x, d: x.prod(d[0], keepdim=True),
    "any": lambda x, d: x.any(d[0]), "all": lambda x, d: x.all(d[0]), "count_nonzero": lambda x, d: x.count_nonzero(d),
    "norm": lambda x, d: x.norm(2, d), "norm 0": lambda x, d: x.norm(0, d), "norm 1": lambda x, d: x.norm(1, d, keepdim=True),
    "norm inf": lambda x, d: x.norm(INF, d), "norm 3": lambda x, d: x.norm(3, d), "norm 0.5": lambda x, d: x.norm(0.5, d),
    "norm -2.5": lambda x, d: x.norm(-2.5, d),
}  # fmt: skip
SCANS = ("cumsum", "cumprod", "logcumsumexp")
HARD = [complex(*parts) for parts in ((INF, 1), (1, -INF), (NAN, 1), (0, 0), (-INF, 2), (INF, NAN), (INF, 0), (-0.0, -0.0))]


def drawn(shape, dtype, seed=0):
    random = np.random.default_rng(seed)
    x = random.standard_normal(shape) + 1j * random.standard_normal(shape)
    return tenfold.tensor(np.where(random.random(shape) < 0.3, 0, x)).to(getattr(tenfold, dtype))


def same(got, expected, rtol):
    """Parts are compared each for itself: NumPy takes a number with an infinite part for equal to nothing but itself."""
    assert got.device.type == "cuda"
    assert got.dtype is expected.dtype
    assert got.shape == expected.shape
    a, b = ((t if t.is_complex() else t.double()).cpu().numpy() for t in (got, expected))
    for p, q in ((a.real, b.real), (a.imag, b.imag)):
        np.testing.assert_allclose(p, q, rtol=rtol, atol=rtol, equal_nan=True)


LAYOUTS = {
    "rows": (lambda x: x, (2,)), "columns": (lambda x: x, (0, 1)), "all": (lambda x: x, (0, 1, 2)),
    "expanded": (lambda x: x[:1].expand(3, 2, 37), (0, 2)), "transposed": (lambda x: x.permute(2, 0, 1)[::2], (0, 2)),
    "with gaps": (lambda x: x[:, 1:, ::2], (2, 1)),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout(small_tiles, layout):
    view, dims = LAYOUTS[layout]
    x = drawn((3, 2, 37), "complex64", 1)
    for name in ("sum", "mean", "prod", "norm", "any"):
        same(REDUCTIONS[name](view(x.cuda()), dims), REDUCTIONS[name](view(x), dims), 1e-5)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_every_reduction(small_tiles, name):
    for dtype, rtol in (("complex64", 1e-5), ("complex128", 1e-12)):
        x = drawn((3, 40), dtype, len(name))
        for dims in ((0,), (1,)):
            same(REDUCTIONS[name](x.cuda(), dims), REDUCTIONS[name](x, dims), rtol)


@pytest.mark.filterwarnings("ignore:invalid value encountered in divide")  # NumPy's, of the CPU's mean
@pytest.mark.parametrize("name", REDUCTIONS)
def test_hard_numbers(name):
    x = drawn((len(HARD), 40), "complex64", 7)
    for row, number in enumerate(HARD):
        x[row, 3 * row] = number
    same(REDUCTIONS[name](x.cuda(), (1,)), REDUCTIONS[name](x, (1,)), 1e-5)


def test_no_dimensions_and_no_elements():
    for x in (tenfold.tensor(2 - 1j), tenfold.zeros(0, 3, dtype=tenfold.complex64)):
        for name in ("sum", "mean", "prod", "norm", "any", "all", "count_nonzero"):
            same(getattr(tenfold, name)(x.cuda()), getattr(tenfold, name)(x), 1e-6)
    same(tenfold.tensor(2 - 1j).cuda().logcumsumexp(0), tenfold.tensor(2 - 1j), 0)
    same(tenfold.zeros(2, 0, dtype=tenfold.complex64, device="cuda").cumsum(1), tenfold.zeros(2, 0, dtype=tenfold.complex64), 0)


@pytest.mark.parametrize("name", SCANS)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_scans(small_tiles, name, dtype):
    x = drawn((2, 40, 3), dtype, 2) + 0.3
    views = (x.permute(0, 2, 1).contiguous(), 2), (x, 1), (x[:, ::2], 1), (x.permute(2, 1, 0), 1)
    for view, dim in views if dtype == "complex64" else views[:2]:
        same(getattr(view.cuda(), name)(dim), getattr(view, name)(dim), 2e-5 if dtype == "complex64" else 1e-11)


def test_what_lies_in_many_dimensions_is_copied_once(small_tiles):
    x = drawn((2, 2, 3, 2, 2, 3), "complex64").permute(5, 3, 1, 0, 4, 2)[::2]
    for name in SCANS:
        same(getattr(x.cuda(), name)(1), getattr(x, name)(1), 1e-5)


@pytest.mark.parametrize("name", ["cumsum", "logcumsumexp"])
def test_scans_of_hard_numbers(name):
    x = drawn((len(HARD) + 2, 40), "complex64", 5)
    for row, number in enumerate(HARD):
        x[row, 3] = x[row, 20 + row] = number
    x[-2, :20], x[-1] = -INF, -INF
    for t, dim in ((x, 1), (x.t().contiguous(), 0)):
        same(getattr(t.cuda(), name)(dim), getattr(t, name)(dim), 1e-5)


def test_phases_go_on():
    x = tenfold.tensor([0 + 3j, 1 + 3j, 2 + 3.1j, 3 + 9j, -INF + 5j, 2.9 + 9j], dtype=tenfold.complex128)
    same(x.cuda().logcumsumexp(0), x.logcumsumexp(0), 1e-12)


def test_gradients():
    pytest.importorskip("tenfold.autograd")
    calls = (lambda x: x.sum(1), lambda x: x.mean(), lambda x: x.prod(0), lambda x: x.norm(2, 1), lambda x: x.logcumsumexp(1))
    for call in calls:
        found = []
        for device in ("cpu", "cuda"):
            x = drawn((2, 5), "complex64", 3).add(0.5).to(device).requires_grad_()
            call(x).abs().sum().backward()
            found.append(x.grad)
        same(found[1], found[0], 1e-4)


def test_both_extremes():
    x = tenfold.tensor([[3.0, -INF, 2.0], [NAN, 1.0, INF], [-0.0, 4.0, 0.0]])
    for options in ({}, {"dim": 0}, {"dim": -1, "keepdim": True}):
        got, expected = x.cuda().aminmax(**options), x.aminmax(**options)
        assert type(got) is tenfold.return_types.aminmax
        same(got.min, expected.min, 0)
        same(got.max, expected.max, 0)
    assert tenfold.tensor(3, device="cuda").aminmax(dim=0).max.item() == 3
    large = tenfold.tensor(np.array([2**64 - 1, 0, 2**63], np.uint64)).cuda().aminmax()
    assert (large.min.item(), large.max.item()) == (0, 2**64 - 1)
    for wrong in (
        lambda t: t[:0].aminmax(), lambda t: t.aminmax(dim=2), lambda t: t.aminmax(dim=()), lambda t: t.cfloat().aminmax()
    ):  # fmt: skip
        with pytest.raises((RuntimeError, IndexError, TypeError)):
            wrong(x.cuda())
    pytest.importorskip("tenfold.autograd")
    y = x.cuda().requires_grad_()
    low, high = y[2].aminmax()
    (high - low).backward()
    assert y.grad[2].tolist() == [-0.5, 1.0, -0.5]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_covariances(dtype):
    pytest.importorskip("tenfold.scientific")
    assert statistics.cov
    rtol = {"float32": 1e-5, "float64": 1e-12, "float16": 4e-3, "bfloat16": 3e-2}[dtype]
    x = tenfold.tensor(np.random.default_rng(3).standard_normal((4, 30))).to(getattr(tenfold, dtype))
    x[3, 2] = INF
    weights = tenfold.arange(30)
    views = lambda t: (t[:3], t[1:, ::2], t[:, :3].t(), t[0], t[:2, :2], t[0, 1])  # noqa: E731
    for here, there in zip(views(x), views(x.cuda()), strict=True):
        for call in (tenfold.cov, tenfold.corrcoef, lambda t: tenfold.cov(t, correction=0)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of a single observation
                same(call(there), call(here), rtol)
    same(tenfold.cov(x[:2].cuda(), fweights=weights.cuda()), tenfold.cov(x[:2], fweights=weights), rtol)
    assert tenfold.corrcoef(x[:2].cuda()).diagonal().abs().max().item() <= 1
