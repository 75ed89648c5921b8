"""Values that hurt, on every kind of kernel: special numbers, the ends of integers, slices that are not aligned.

The same tests run in Triton's interpreter, on a GPU and, in a process of its own, on compiled code (ptx/emulated.py): what the
compiler makes of conversions, masked loads, exchanges between warps and wide loads is seen there only.
"""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import tenfold
from tenfold import nn, optim
from tenfold.nn import functional as F
from tenfold.testing.tolerances import implementation

pytest.importorskip("triton")

# What runs on compiled code with the other tests, in 40 s of one core; the rest, and the tests of other files, with --compiled.
SOME = (
    "exp or rsqrt or floor_divide or pow or int64 or conversions or sum or argmax or cumsum or softmax or layer or at_one_place"
)
FLOATS = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1e-40, -1e-40, 3e38, -3e38, 1e10, -1e10, 7.3, -7.3, 1e-5, 88.8, -88.8, 104.0,
    float("inf"), float("-inf"), float("nan"), 0.9999999, 1.0000001, 65504.0, 65536.0, -104.0, 3.1415927, 1e5, 2.0, 3.0, -3.0,
]  # fmt: skip
HALVES = [tenfold.bfloat16, tenfold.float16]


def hard(dtype, shift=0):
    """All hard numbers, beginning with another one."""
    if dtype.is_floating_point:
        return tenfold.tensor(np.roll(np.array(FLOATS), shift)).to(dtype)
    limits = np.iinfo(dtype.numpy)
    numbers = [
        0,
        1,
        2,
        3,
        7,
        15,
        16,
        limits.max,
        limits.max - 1,
        limits.min,
        limits.min + 1,
        100,
        33,
        *[-1, -2, -7] * (limits.min < 0),
    ]
    return tenfold.tensor(np.roll(np.array(numbers, dtype.numpy), shift))


def pairs(dtype):
    """(each hard number, each other one)."""
    x = hard(dtype)
    return x.repeat_interleave(len(x)), x.repeat(len(x))


def same(got, expected, scale=1.0):
    assert got.device.type == "cuda"
    assert got.dtype is expected.dtype
    rtol, atol = implementation(expected.dtype)
    a, b = (t.detach().cpu() for t in (got, expected))
    if a.dtype.is_floating_point:
        a, b = a.double(), b.double()
    np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=scale * rtol, atol=scale * atol, equal_nan=True)


def check(function, *tensors, scale=1.0):
    """A function on the CPU and on the device; of slices that begin at their second element, too."""
    expected = function(*tensors)
    same(function(*[t.cuda() for t in tensors]), expected, scale)
    shifted = []
    for t in tensors:
        wide = tenfold.zeros(t.numel() + 1, dtype=t.dtype, device="cuda")
        wide[1:] = t.cuda().reshape(-1)
        shifted.append(wide[1:].view(t.shape))
    same(function(*shifted), expected, scale)


UNARY = ("exp", "log", "tanh", "sigmoid", "sin", "round", "sign", "reciprocal", "rsqrt", "expm1", "log1p", "erf", "trunc")
BINARY = ("floor_divide", "remainder", "fmod", "maximum", "pow", "atan2", "div", "hypot", "copysign", "nextafter")


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_hard_numbers(name):
    check(getattr(tenfold, name), hard(tenfold.float32))


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_hard_numbers(name):
    a, b = pairs(tenfold.float32)
    if name in ("floor_divide", "remainder", "fmod"):  # of which float32 says little where the quotient is large
        few = (a / b).abs() < 1e6
        a, b = a[few | ~few.isfinite() if name == "fmod" else few], b[few | ~few.isfinite() if name == "fmod" else few]
    check(getattr(tenfold, name), a, b)


@pytest.mark.parametrize("dtype", HALVES, ids=lambda d: d.name)
def test_halves(dtype):
    a, b = pairs(dtype)
    check(tenfold.maximum, a, b)
    check(lambda x, y: x * y + x, a, b)
    check(F.gelu, hard(dtype))
    check(lambda x: x.relu(), hard(dtype))


@pytest.mark.parametrize("dtype", [tenfold.int32, tenfold.int64, tenfold.uint8, tenfold.int8], ids=lambda d: d.name)
def test_whole_numbers(dtype):
    a, b = pairs(dtype)
    check(tenfold.mul, a, b)
    check(tenfold.bitwise_left_shift, a, b)
    a, b = a[b != 0], b[b != 0]
    safe = ~((a == np.iinfo(dtype.numpy).min) & (b == -1))  # by which the host's processor stops
    for function in (tenfold.floor_divide, tenfold.remainder, tenfold.fmod):
        check(function, a[safe], b[safe])


def test_conversions():
    x = hard(tenfold.float32)
    check(lambda t: t.bool(), x)
    for dtype in (*HALVES, tenfold.float64):
        check(lambda t, dtype=dtype: t.to(dtype), x)
    whole = hard(tenfold.int64)
    for dtype in (tenfold.float32, tenfold.float16, tenfold.bfloat16, tenfold.int8, tenfold.uint8, tenfold.bool):
        check(lambda t, dtype=dtype: t.to(dtype), whole)
    inside = x[x.abs() < 1e9]
    check(lambda t: t.to(tenfold.int64), inside)
    check(lambda t: t.to(tenfold.int32), inside)


ROWS = {
    "sum": lambda x: x.sum(1), "max": lambda x: x.max(1).values, "argmax": lambda x: x.argmax(1), "argmin": lambda x: x.argmin(0),
    "prod": lambda x: x.prod(1), "any": lambda x: x.any(1), "norm": lambda x: x.norm(dim=1), "var": lambda x: x.var(1),
    "logsumexp": lambda x: x.logsumexp(1), "cumsum": lambda x: x.cumsum(1), "cummax": lambda x: x.cummax(1).indices,
    "sort": lambda x: x.sort(1, stable=True).indices, "median": lambda x: x.median(1).values,
    "softmax": lambda x: x.softmax(1), "layer norm": lambda x: F.layer_norm(x, x.shape[1:]),
    "rms norm": lambda x: F.rms_norm(x, x.shape[1:]), "transposed": lambda x: x.t().contiguous(),
    "sliced": lambda x: x[:, ::2] + 1,
}  # fmt: skip


def rows(dtype=tenfold.float32):
    """Plain numbers, and one hard number in each of some rows."""
    x = np.random.default_rng(0).standard_normal((9, 71))
    x[1, 3], x[2, 70], x[3, 0], x[4, 5], x[5, 6] = np.nan, np.inf, -np.inf, 1e30, -0.0
    x[6, 9], x[6, 10], x[7] = np.inf, -np.inf, 0.0
    return tenfold.tensor(x).to(dtype)


@pytest.mark.parametrize("name", ROWS)
def test_rows_with_hard_numbers(name):
    check(ROWS[name], rows(), scale=4)


@pytest.mark.parametrize("name", ["sum", "argmax", "cumsum", "sort", "softmax", "layer norm", "transposed"])
def test_rows_of_halves(name):
    x = rows(tenfold.bfloat16)
    check(ROWS[name], x[[0, 1, 5, 7]] if name == "layer norm" else x, scale=2)


def with_gradients(function, *tensors, scale=4.0):
    found = []
    for device in ("cpu", "cuda"):
        given = [t.detach().clone().to(device).requires_grad_(t.dtype.is_floating_point) for t in tensors]
        result = function(*given)
        result.sum().backward() if result.ndim else result.backward()
        found.append([result, *[t.grad for t in given if t.dtype.is_floating_point]])
    for expected, got in zip(*found, strict=True):
        same(got, expected, scale)


def test_gradients_of_modules():
    rng = np.random.default_rng(1)
    x, w = (tenfold.tensor(rng.standard_normal(s).astype(np.float32)) for s in ((13, 70), (70,)))
    classes = tenfold.tensor(rng.integers(0, 70, 13))
    with_gradients(lambda x, w: (F.layer_norm(x, (70,), w) * x).sum(), x, w)
    with_gradients(lambda x: F.cross_entropy(x, classes.to(x.device), label_smoothing=0.1), x)
    with_gradients(lambda t: F.embedding(classes.to(t.device), t).square().sum(), x.repeat(6, 1))
    image = tenfold.tensor(rng.standard_normal((2, 3, 9, 9)).astype(np.float32))
    with_gradients(lambda t: F.max_pool2d(t, 3, 2, 1).square().sum(), image)
    with_gradients(lambda t: F.interpolate(t, scale_factor=1.7, mode="bilinear").square().sum(), image)
    for align in (False, True):
        with_gradients(lambda t, a=align: F.affine_grid(t[:, :2, 0, :3], (2, 1, 5, 70), a).square().sum(), image)


def test_sums_at_one_place():
    rng = np.random.default_rng(2)
    at, x = tenfold.tensor(rng.integers(0, 5, 300)), tenfold.tensor(rng.standard_normal((300, 7)).astype(np.float32))
    check(lambda i, x: tenfold.zeros(5, 7, device=x.device).index_add(0, i, x), at, x, scale=8)
    check(lambda i, x: tenfold.zeros(5, device=x.device).scatter_add(0, i, x[:, 0]), at, x, scale=8)
    check(lambda i: i.bincount(minlength=9), at)
    few = at[:5]  # as many places as values
    for own in (True, False):
        for src in (x[:, 0].contiguous(), tenfold.view_as_complex(x[:, 1:3].contiguous())):
            check(
                lambda i, s, own=own: tenfold.ones(5, dtype=s.dtype, device=s.device).scatter_reduce(
                    0, i, s[:5], "prod", include_self=own
                ),
                few,
                src,
            )


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.bfloat16], ids=lambda d: d.name)
def test_a_step_of_adamw(dtype):
    found = []
    for device in ("cpu", "cuda"):
        parameters = [nn.Parameter(rows(dtype)[[0, k]].to(device)) for k in (5, 7)]
        step = optim.AdamW(parameters, lr=0.1)
        for p in parameters:
            p.grad = (p.detach() * 2).clone()
        step.step()
        found.append(parameters)
    for expected, got in zip(*found, strict=True):
        same(got, expected, 2)


def test_drawn_numbers_are_within_their_bounds():
    x = tenfold.rand(10001, device="cuda")
    assert 0 <= x.min().item() < 1e-3
    assert 0.999 < x.max().item() < 1
    assert abs(tenfold.randn(10001, device="cuda").std().item() - 1) < 0.05
    assert set(tenfold.randint(-3, 4, (1000,), device="cuda").tolist()) == set(range(-3, 4))


@pytest.mark.skipif(os.environ.get("TRITON_INTERPRET") != "1", reason="this process runs compiled code")
@pytest.mark.timeout(300)
def test_some_in_compiled_code(compiled_kernels):
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", __file__, "--compiled", "-k", SOME, "-q", "-p", "no:cacheprovider", "-p", "no:xdist"],
        capture_output=True, text=True, timeout=290, check=False,
        env={k: v for k, v in os.environ.items() if k not in ("TRITON_INTERPRET", "PYTEST_ADDOPTS")}
        | {"TRITON_CACHE_DIR": str(compiled_kernels), "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-2000:]
    assert " passed" in ran.stdout
