"""Compiled prelu and glu with their gradients, against PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.llvm import session
from tenfold.llvm.kernels import gated_units

torch = pytest.importorskip("torch")
RNG = np.random.default_rng(0)
ENDS = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e30, -1e30]


@pytest.fixture(params=[1, 2], autouse=True)
def threads(request):
    before = tenfold.get_num_threads()
    tenfold.set_num_threads(request.param)
    yield
    tenfold.set_num_threads(before)


def drawn(shape, dtype, special):
    x = RNG.standard_normal(shape)
    if special and x.size:
        x.reshape(-1)[:: max(1, x.size // 9)][:7] = ENDS[: len(x.reshape(-1)[:: max(1, x.size // 9)][:7])]
    return x.astype(dtype)


def compared(call, *arrays, dtype="float32", layout=lambda t: t):
    """Results and gradients of one call in both libraries."""
    found = []
    for library in (tenfold, torch):
        tensors = [library.from_numpy(a.copy()).to(getattr(library, dtype)) for a in arrays]
        tensors = [layout(t) if k == 0 else t for k, t in enumerate(tensors)]
        leaves = [t.detach() for t in tensors]
        wanted = leaves[:1] if "16" in dtype else leaves  # PyTorch rounds each of the many shares of a weight's gradient
        for leaf in wanted:
            leaf.requires_grad_()
        out = call(library, *leaves)
        share = library.from_numpy(np.random.default_rng(3).standard_normal(tuple(out.shape))).to(out.dtype)
        out.backward(share)
        found.append([v.detach().double().numpy() for v in (out, *(leaf.grad for leaf in wanted))] + [out.stride()])
    (*ours, strides), (*theirs, expected_strides) = found
    tolerance = {"float32": 2e-5, "float64": 1e-10, "float16": 2e-3, "bfloat16": 1.6e-2}[dtype]
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
    if 0 not in ours[0].shape:
        assert strides == expected_strides
    assert session.failures() == []


LAYOUTS = {
    "rows": lambda t: t,
    "channels last": lambda t: t.movedim(1, -1).contiguous().movedim(-1, 1) if t.dim() > 1 else t,
    "strided": lambda t: t.repeat_interleave(2, -1)[..., ::2] if t.dim() else t,
    "expanded": lambda t: t[:1].expand(t.shape) if t.dim() else t,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize(
    "shape", [(), (7,), (4, 3), (2, 5, 6), (2, 3, 4, 5), (3, 16, 20, 20), (2, 3, 2, 3, 4), (0, 3), (2, 3, 0)]
)
def test_prelu(shape, dtype, layout):
    for special in (False, dtype in ("float32", "float64")):
        x = drawn(shape, np.float64, special)
        for weight in (np.array([0.25]), np.array(-0.5), RNG.standard_normal(shape[1]) if len(shape) > 1 else np.array([2.0])):
            if special and np.isfinite(x).all():
                continue
            compared(lambda L, t, w: L.nn.functional.prelu(t, w), x, weight, dtype=dtype, layout=LAYOUTS[layout])


@pytest.mark.parametrize("layout", ["rows", "channels last", "strided"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize(
    ("shape", "dim"),
    [((6,), 0), ((4, 6), 1), ((4, 6), 0), ((2, 4, 3), 1), ((2, 4, 3, 6), -1), ((64, 256), -1), ((0, 4), 1), ((2, 0), 1)],
)
def test_glu(shape, dim, dtype, layout):
    for special in (False, dtype in ("float32", "float64")):
        x = drawn(shape, np.float64, special)
        compared(lambda L, t: L.nn.functional.glu(t, dim), x, dtype=dtype, layout=LAYOUTS[layout])


def test_they_are_served():
    x, w = RNG.standard_normal((2, 3, 8, 8)).astype(np.float32), np.ones(3, np.float32)
    for a in (x, x.transpose(0, 3, 1, 2)[:, :3]):
        if a.flags.c_contiguous:
            assert gated_units.prelu(a, w) is not NotImplemented
    last = np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    for a in (x, last):
        assert gated_units.prelu(a, w) is not NotImplemented
        assert gated_units.fused_prelu_grad(a, a, w) is not NotImplemented
    assert gated_units.glu(x, 2) is not NotImplemented
    assert gated_units.fused_glu_grad(x[:, :, :4].copy(), x, 2) is not NotImplemented
    assert gated_units.glu(last, 2) is NotImplemented
    assert gated_units.prelu(x, np.ones(2, np.float32)) is NotImplemented


def test_second_derivatives():
    weight = tenfold.tensor([0.3], dtype=tenfold.float64)
    for call in (tenfold.nn.functional.glu, lambda t: tenfold.nn.functional.prelu(t, weight)):
        x = tenfold.tensor(RNG.standard_normal((3, 4)), requires_grad=True)
        assert tenfold.autograd.gradcheck(call, (x,))
        assert tenfold.autograd.gradgradcheck(call, (x,))
