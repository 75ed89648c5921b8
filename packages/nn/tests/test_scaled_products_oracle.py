"""Products of 8-bit floats with scales: those that PyTorch's CPU has against it, the others against NumPy in float64."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.nn import functional as F

torch = pytest.importorskip("torch", reason="the oracle is not a dependency")

LIBRARIES = (tenfold, torch)
KINDS = {"tensor": ("TensorWise", (), ()), "rows": ("RowWise", (32, 1), (1, 64))}
GENERATOR = np.random.default_rng(0)
A, B, BIAS = (GENERATOR.standard_normal(s).astype("f4") for s in ((32, 256), (64, 256), 64))


def product(lib, name, dtypes=("float8_e4m3fn", "float8_e4m3fn"), out="float32", bias=None, **options):
    kind, *shapes = KINDS[name]
    functional = lib.nn.functional
    a, b = (lib.from_numpy(x).to(getattr(lib, d)) for x, d in zip((A, B), dtypes))
    scales = [lib.from_numpy(np.linspace(0.1, 2, int(np.prod(s)), dtype="f4").reshape(s)) for s in shapes]
    recipe = getattr(functional.ScalingType, kind)
    bias = None if bias is None else lib.from_numpy(BIAS).to(getattr(lib, bias))
    kind = None if out is None else getattr(lib, out)
    return functional.scaled_mm(a, b.t(), scales[0], recipe, scales[1], recipe, bias=bias, output_dtype=kind, **options)


CASES = [
    {}, {"out": "bfloat16", "bias": "bfloat16"}, {"out": "float16", "bias": "float32"}, {"out": None},
    {"dtypes": ("float8_e5m2", "float8_e4m3fn")}, {"dtypes": ("float8_e5m2", "float8_e5m2")}, {"contraction_dim": [-1, 0]},
    {"use_fast_accum": True},
]  # fmt: skip
TOLERANCE = {"float32": 2e-6, "bfloat16": 8e-3, "float16": 1e-3, "float8_e4m3fn": 0.13}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("options", CASES, ids=str)
def test_recipes(name, options):
    got, expected = (product(lib, name, **options) for lib in LIBRARIES)
    dtype = str(expected.dtype).rpartition(".")[2]
    assert got.dtype.name == dtype
    limit = TOLERANCE[dtype]
    expected = expected.float().numpy()
    np.testing.assert_allclose(got.float().numpy(), expected, rtol=limit, atol=limit * abs(expected).max())


REFUSED = {
    "sizes": lambda lib, F, S, a, b, one: F.scaled_mm(a, b[:, :16].t(), one, S.TensorWise, one, S.TensorWise),
    "no matrix": lambda lib, F, S, a, b, one: F.scaled_mm(a[None], b.t(), one, S.TensorWise, one, S.TensorWise),
    "scales": lambda lib, F, S, a, b, one: F.scaled_mm(a, b.t(), lib.ones(3), S.TensorWise, one, S.TensorWise),
    "wide scales": lambda lib, F, S, a, b, one: F.scaled_mm(a, b.t(), one.double(), S.TensorWise, one, S.TensorWise),
    "two recipes": lambda lib, F, S, a, b, one: F.scaled_mm(a, b.t(), one, S.TensorWise, lib.ones(1, 64), S.RowWise),
    "no 8 bits": lambda lib, F, S, a, b, one: F.scaled_mm(a.float(), b.t(), one, S.TensorWise, one, S.TensorWise),
    "bias": lambda lib, F, S, a, b, one: F.scaled_mm(a, b.t(), one, S.TensorWise, one, S.TensorWise, bias=lib.ones(3)),
    "wide bias": lambda lib, F, S, a, b, one: F.scaled_mm(
        a, b.t(), one, S.TensorWise, one, S.TensorWise, bias=lib.ones(64).double()
    ),
    "swizzles": lambda lib, F, S, a, b, one: F.scaled_mm(
        a, b.t(), one, S.TensorWise, one, S.TensorWise, F.SwizzleType.SWIZZLE_32_4_4, F.SwizzleType.SWIZZLE_32_4_4
    ),
    "contraction": lambda lib, F, S, a, b, one: F.scaled_mm(a, b.t(), one, S.TensorWise, one, S.TensorWise, contraction_dim=[1]),
    "two scales": lambda lib, F, S, a, b, one: F.scaled_mm(a, b.t(), [one, one], [S.TensorWise] * 2, one, S.TensorWise),
    "neighbours": lambda lib, F, S, a, b, one: F.scaled_mm(
        a, b.t(), lib.ones(32, 8), S.BlockWise1x32, lib.ones(64, 8), S.BlockWise1x32
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    for lib in LIBRARIES:
        a, b = (lib.from_numpy(x).to(lib.float8_e4m3fn) for x in (A, B))
        functional = lib.nn.functional
        with pytest.raises(ValueError):
            REFUSED[name](lib, functional, functional.ScalingType, a, b, lib.tensor(1.0))


def wide(x):
    return x.float().numpy().astype("f8")


def drawn(*shape):
    return tenfold.from_numpy(np.random.default_rng(len(shape)).standard_normal(shape).astype("f4")).to(tenfold.float8_e4m3fn)


def spread(scale, square, shape):
    scale, high = (wide(scale).T, 128) if square else (wide(scale), 1)
    return np.kron(scale, np.ones((high, 128)))[: shape[0], : shape[1]]


@pytest.mark.parametrize("sizes", [(32, 256, 64), (5, 130, 7), (140, 640, 144)], ids=str)
@pytest.mark.parametrize("squares", [(False, False), (False, True), (True, False)], ids=str)
def test_blocks(sizes, squares):
    """PyTorch has these on GPUs alone: against the definition."""
    (M, K, N), scales, recipes = sizes, [], []
    blocks = -(-K // 128)
    for outer, square in zip((M, N), squares):
        shape = (-(-blocks // 4) * 4, -(-outer // 128)) if square else (outer, blocks)
        scales.append(tenfold.from_numpy(np.random.default_rng(outer).random(shape, "f4")))
        recipes.append(F.ScalingType.BlockWise128x128 if square else F.ScalingType.BlockWise1x128)
    a, b, bias = drawn(M, K), drawn(N, K), tenfold.linspace(-1, 1, N)
    got = F.scaled_mm(a, b.t(), scales[0], recipes[0], scales[1], recipes[1], bias=bias, output_dtype=tenfold.float32)
    left, right = (wide(x) * spread(s, q, x.shape) for x, s, q in zip((a, b), scales, squares))
    expected = left @ right.T + wide(bias)
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-5, atol=1e-5 * abs(expected).max())


def test_blocks_of_both_are_refused():
    a, scale, square = drawn(128, 128), tenfold.ones(1, 1), F.ScalingType.BlockWise128x128
    with pytest.raises(ValueError, match="at most one BlockWise128x128"):
        F.scaled_mm(a, a.t(), scale, square, scale, square)
    with pytest.raises(ValueError, match=r"shape \[128, 1\] by the recipe BlockWise1x128"):
        F.scaled_mm(a, a.t(), scale, F.ScalingType.BlockWise1x128, scale, square)


@pytest.mark.parametrize("out", [None, "float32"])
def test_slices(out):
    """PyTorch has these on GPUs alone: against the definition, slice by slice."""
    x, experts, offs = drawn(32, 48), drawn(3, 16, 48), tenfold.tensor([8, 20, 30], dtype=tenfold.int32)
    rows, columns = tenfold.linspace(0.1, 1, 32), tenfold.linspace(0.1, 2, 48).view(3, 16)
    recipe, to = F.ScalingType.RowWise, {} if out is None else {"output_dtype": getattr(tenfold, out)}
    got = F.scaled_grouped_mm(x, experts.mT, rows, recipe, columns, recipe, offs=offs, **to)
    assert got.dtype is (tenfold.bfloat16 if out is None else tenfold.float32)
    a, b, begin = wide(x) * wide(rows)[:, None], wide(experts) * wide(columns)[..., None], 0
    for g, end in enumerate(offs.tolist()):
        np.testing.assert_allclose(wide(got[begin:end]), a[begin:end] @ b[g].T, rtol=0.01, atol=0.02)
        begin = end
    assert not got[30:].any()
    flipped = F.scaled_grouped_mm(experts, x.mT, columns, recipe, rows, recipe, offs=offs, **to)
    np.testing.assert_allclose(wide(flipped), wide(got).T, rtol=0.01, atol=1e-3)


def test_sums_and_stacks():
    x, y, offs = drawn(16, 32), drawn(32, 24), tenfold.tensor([8, 8, 32], dtype=tenfold.int32)
    rows, columns = tenfold.linspace(0.1, 1, 48), tenfold.linspace(0.1, 2, 72)
    got = tenfold._scaled_grouped_mm(x, y, rows, columns, offs, out_dtype=tenfold.float32)
    ends = [0, *offs.tolist()]
    for g in range(3):
        s = slice(ends[g], ends[g + 1])
        expected = wide(x)[:, s] @ wide(y)[s] * wide(rows).reshape(3, 16, 1)[g] * wide(columns).reshape(3, 1, 24)[g]
        np.testing.assert_allclose(wide(got[g]), expected, rtol=1e-5, atol=1e-5)
    stack, scales = drawn(3, 16, 32), rows.view(3, 16)
    got = tenfold._scaled_grouped_mm(stack, stack.mT, scales, scales, out_dtype=tenfold.float32)
    scaled = wide(stack) * wide(scales)[..., None]
    np.testing.assert_allclose(wide(got), scaled @ scaled.swapaxes(1, 2), rtol=1e-5, atol=1e-5)


def test_slices_refused():
    x, experts, offs = drawn(32, 48), drawn(3, 48, 16), tenfold.tensor([8, 20, 30], dtype=tenfold.int32)
    rows, columns, S = tenfold.ones(32), tenfold.ones(3, 16), F.ScalingType
    with pytest.raises(ValueError, match="RowWise"):
        F.scaled_grouped_mm(x, experts, rows, S.TensorWise, columns, S.RowWise, offs=offs)
    for given, words in (
        ((x, experts, rows[:3], columns, offs), "scale_a"),
        ((x, experts, rows, columns.double(), offs), "scale_b"),
        ((x.to(tenfold.float8_e5m2), experts, rows, columns, offs), "Float8_e4m3"),
        ((x, experts, rows, columns, None), "offsets"),
        ((x, experts, rows, columns, offs, tenfold.ones(16)), "Bias"),
        ((x, experts, rows, columns, offs, None, None, tenfold.float64), "out_dtype"),
    ):
        with pytest.raises(RuntimeError, match=words):
            tenfold._scaled_grouped_mm(*given)
