"""Reductions and scans by one kernel each, in all its geometries, against the CPU: values, positions, dtypes, hard numbers."""

from __future__ import annotations

import math
import os
from collections import defaultdict

import numpy as np
import pytest

import tenfold
from tenfold.cuda import interpreter
from tenfold.cuda.kernels import counters, folds, reducing, scanning
from tenfold.cuda.kernels.folds import Fold, lines, tile_of
from tenfold.cuda.kernels.scanning import Scan

HARD = [math.nan, math.inf, -math.inf, 0.0, -0.0]
REDUCTIONS = {
    "sum": lambda x, d: x.sum(d), "mean": lambda x, d: x.mean(d), "amax": lambda x, d: x.amax(d), "amin": lambda x, d: x.amin(d),
    "any": lambda x, d: x.any(d), "all": lambda x, d: x.all(d), "count_nonzero": lambda x, d: x.count_nonzero(d),
    "var": lambda x, d: x.var(d), "std": lambda x, d: x.std(d, correction=0, keepdim=True), "norm": lambda x, d: x.norm(2, d),
    "norm 0": lambda x, d: x.norm(0, d), "norm inf": lambda x, d: x.norm(math.inf, d), "norm 2.5": lambda x, d: x.norm(2.5, d),
    "norm 3": lambda x, d: x.norm(3, d), "norm -1": lambda x, d: x.norm(-1, d), "logsumexp": lambda x, d: x.logsumexp(d),
    "nansum": lambda x, d: x.nansum(d), "prod": lambda x, d: x.prod(d[0]), "argmax": lambda x, d: x.argmax(d[-1]),
    "var_mean": lambda x, d: tenfold.var_mean(x, d), "std_mean": lambda x, d: tenfold.std_mean(x, d, correction=2, keepdim=True),
    "aminmax": lambda x, d: x.aminmax(dim=d[0]),
    "max": lambda x, d: x.max(d[0]), "min": lambda x, d: x.min(d[-1], keepdim=True), "argmin": lambda x, d: x.argmin(),
}  # fmt: skip
WHOLE = ("sum", "amax", "amin", "aminmax", "any", "all", "count_nonzero", "prod", "argmax", "max", "min", "argmin")
SCANS = ("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp")


def drawn(shape, dtype, seed=0):
    random = np.random.default_rng(seed)
    x = random.standard_normal(shape) if dtype.is_floating_point else random.integers(0, 5, shape)
    return tenfold.tensor(x).to(dtype)


def same(got, expected, rtol, atol=1e-6):
    pairs = zip(got, expected, strict=True) if isinstance(expected, tuple) else [(got, expected)]
    for g, e in pairs:
        assert g.device.type == "cuda"
        assert g.dtype is e.dtype
        assert g.shape == e.shape
        a, b = (t.cpu().double().numpy() for t in (g, e))
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, equal_nan=True)


LAYOUTS = {
    "rows": (lambda x: x, (2,)), "columns": (lambda x: x, (0, 1)), "the middle": (lambda x: x, (1,)),
    "all": (lambda x: x, (0, 1, 2)), "around": (lambda x: x, (0, 2)), "expanded": (lambda x: x[:1].expand(3, 2, 37), (0, 2)),
    "transposed": (lambda x: x.permute(2, 0, 1)[::2], (0, 2)), "with gaps": (lambda x: x[:, 1:, ::2], (2, 1)),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout(small_tiles, layout):
    view, dims = LAYOUTS[layout]
    x = drawn((3, 2, 37), tenfold.float32, 1)
    for name in ("sum", "max", "var", "aminmax"):
        same(REDUCTIONS[name](view(x.cuda()), dims), REDUCTIONS[name](view(x), dims), 1e-5)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_every_reduction(small_tiles, name):
    x = drawn((3, 40), tenfold.float32, len(name))
    for dims in ((0,), (1,)):
        same(REDUCTIONS[name](x.cuda(), dims), REDUCTIONS[name](x, dims), 1e-5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_other_floats(dtype):
    x = drawn((2, 40), getattr(tenfold, dtype), 3)
    rtol = {"float64": 1e-12, "float16": 1e-3, "bfloat16": 8e-3}[dtype]
    for call in REDUCTIONS.values():
        same(call(x.cuda(), (1,)), call(x, (1,)), rtol, rtol)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "int64"])
def test_whole_numbers(dtype):
    x = drawn((2, 30), getattr(tenfold, dtype), 5)
    if dtype == "int64":
        x[0] += 2**62  # sums and products wrap around
    if dtype in ("int32", "int8"):
        x[1] = {"int32": -(2**31), "int8": -128}[dtype]
    for name in WHOLE:
        if dtype == "bool" and name in ("argmax", "argmin"):
            continue
        same(REDUCTIONS[name](x.cuda(), (1,)), REDUCTIONS[name](x, (1,)), 0, 0)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_hard_numbers(name):
    random = np.random.default_rng(7)
    x = random.standard_normal((6, 40)).astype(np.float32)
    for row in range(5):
        x[row, random.integers(0, 40, 3)] = HARD[row]
    x[4] = np.where(x[4] > 0, 0.0, -0.0)  # of equals the first
    x[5, :20], x[5, 20:] = math.inf, math.nan
    x = tenfold.tensor(x)
    same(REDUCTIONS[name](x.cuda(), (1,)), REDUCTIONS[name](x, (1,)), 1e-5)


def test_large_means_do_not_spoil_a_variance(small_tiles):
    x = drawn((2, 100), tenfold.float32) + 1e4
    same(x.cuda().var(1), x.double().var(1).float(), 1e-4)
    assert tenfold.full((2, 77), 1e4 / 3, device="cuda").std(1).abs().max().item() == 0.0


def test_sums_of_floats_are_accurate(small_tiles):
    x = tenfold.full((1, 1000), 0.1)
    assert abs(x.cuda().sum().item() - 100.0) < 1e-4
    assert abs(x.cuda().cumsum(1)[0, -1].item() - 100.0) < 3e-5


def test_what_the_kernel_does_not_serve_is_served(small_tiles):
    x = drawn((2, 3, 2, 3, 2, 3, 2, 2), tenfold.float32)
    dims = (0, 2, 4, 6)  # no two of them lie one in the other
    same(x.cuda().sum(dims), x.sum(dims), 1e-5)
    same(x.cuda()[:, :0].sum(1), x[:, :0].sum(1), 0)
    same(x.cuda().to(tenfold.complex64).real.sum(), x.sum(), 1e-5)
    for wrong in (
        lambda y: y.sum(9),
        lambda y: y.amax((0, 0)),
        lambda y: y[:0].amax(0),
        lambda y: y[:0].argmax(),
        lambda y: y.cumsum(8),
    ):
        for t in (x, x.cuda()):
            with pytest.raises((IndexError, RuntimeError)):
                wrong(t)
    assert tenfold.tensor(3.0, device="cuda").max(0).indices.item() == 0


OF_SCANS = [
    *[(name, "float32") for name in SCANS], ("cumsum", "bfloat16"), ("cumsum", "int64"), ("cumsum", "float64"),
    ("cumprod", "uint8"), ("cummax", "uint8"), ("cummin", "int64"), ("logcumsumexp", "float64"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "dtype"), OF_SCANS)
def test_scans(small_tiles, name, dtype):
    dtype = getattr(tenfold, dtype)
    x = drawn((2, 40, 3), dtype, 2)
    views = (x.permute(0, 2, 1).contiguous(), 2), (x, 1), (x[:, ::2], 1), (x.permute(2, 1, 0), 1)
    rtol = {"float64": 1e-12, "bfloat16": 1.6e-2}.get(dtype.name, 2e-5)
    for view, dim in views if dtype is tenfold.float32 else views[:2]:
        same(getattr(view.cuda(), name)(dim), getattr(view, name)(dim), rtol, 1e-5)


@pytest.mark.parametrize("name", SCANS)
def test_scans_of_hard_numbers(name):
    rows = [[1.0, h, 2.0, 0.0, -0.0, 3.0, h, 1.0] * 5 for h in HARD]
    x = tenfold.tensor([*rows, [-math.inf] * 40])
    for t, dim in ((x, 1), (x.t().contiguous(), 0)):
        same(getattr(t.cuda(), name)(dim), getattr(t, name)(dim), 1e-5)


def test_programs_that_share_a_result_leave_their_counters_at_zero(small_tiles):
    x = drawn((300,), tenfold.float32)
    x.cuda().sum()
    (plan,) = (p for key, p in folds.PLANS.items() if key[0] == Fold("sum", result="whole") and key[2] == (300,))
    assert plan.grid[1] == 4
    assert not counters.counters(0).any()


@pytest.mark.skipif(os.environ.get("TRITON_INTERPRET") != "1", reason="a GPU ends what it has begun")
def test_a_launch_that_is_cut_off_leaves_no_program_counted(monkeypatch):
    x, counted = drawn((300,), tenfold.float32), counters.counters(0)

    def cut_off(*operands, **numbers):
        counted[:] = 1  # as where one of four programs has been
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(interpreter, "interpreted", lambda kernel: defaultdict(lambda: cut_off))  # whatever the grid
        with pytest.raises(KeyboardInterrupt):
            x.cuda().sum()
    assert not counted.any()
    same(x.cuda().sum(), x.sum(), 1e-5)


def test_large_arrays_are_dealt_to_a_whole_gpu():
    for shape, dims, item in (
        ((1 << 26,), (0,), 4),
        ((1 << 20, 64), (0,), 4),
        ((8192, 4096), (0,), 2),
        ((256, 1 << 18), (1,), 4),
    ):
        steps = tuple(math.prod(shape[d + 1 :]) for d in range(len(shape)))
        kept = lines(shape, steps, [d for d in range(len(shape)) if d not in dims])
        tile = tile_of(kept, lines(shape, steps, dims), item, folds.LAST)
        programs = -(-math.prod(kept.sizes) // tile.rows) * tile.parts
        assert 512 <= programs <= 2048, shape
        assert tile.rows * tile.block * item >= 8192, shape
        assert tile.parts * tile.rows <= folds.LAST


def test_positions_need_64_bits_where_arrays_are_large():
    class Described:
        def __init__(self, *shape):
            self.shape, self.dtype, self.size, self.ndim = shape, np.dtype(np.uint8), math.prod(shape), len(shape)
            self.strides = tuple(math.prod(shape[d + 1 :]) for d in range(self.ndim))

    for x, expected in ((Described(2, 1 << 30), "i64"), (Described(2, 1 << 20), "i32")):
        for kernel in (
            folds.Plan(Fold("top", at=1), x, (1,), False, 1.0, 1.0).kernel,
            scanning.Plan(Scan("sum"), x, 1).kernels[1],
        ):
            assert dict(kernel.fixed)["INDEX"] == expected


def test_numbers_that_are_equal_but_no_dimensions_share_no_plan():
    x = tenfold.ones(3, 4, device="cuda")
    x.sum(1)
    x.sum((1,))
    for wrong in ((True,), (1.0,)):
        with pytest.raises((TypeError, IndexError)):
            x.sum(wrong)
    assert reducing._is_plain((0, 1))
    assert not reducing._is_plain((True,))
