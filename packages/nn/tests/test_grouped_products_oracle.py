"""Products of groups of matrices, and of matrices of bytes, compared with PyTorch's own."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.nn import functional as F

torch = pytest.importorskip("torch", reason="the oracle is not a dependency")

LIBRARIES = (tenfold, torch)
# PyTorch multiplies where every row lies at a multiple of 16 bytes, and leaves what is behind the last slice as it was.
CASES = {
    "rows": ((32, 16), (3, 16, 24), [8, 8, 32]),
    "columns": ((3, 16, 8), (8, 32), [8, 8, 32]),
    "sums": ((16, 32), (32, 24), [8, 8, 32]),
    "stacks": ((3, 16, 8), (3, 8, 24), None),
    "slices beyond the end": ((32, 16), (2, 16, 8), [16, 99]),
}


def drawn(lib, shape, dtype, seed):
    x = lib.from_numpy(np.random.default_rng(seed).standard_normal(shape).astype("f4"))
    return x.to(getattr(lib, dtype)).requires_grad_()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name, dtype):
    first, second, offs = CASES[name]
    found = []
    for lib in LIBRARIES:
        a, b = drawn(lib, first, dtype, 0), drawn(lib, second, dtype, 1)
        ends = None if offs is None else lib.tensor(offs, dtype=lib.int32)
        out = lib.nn.functional.grouped_mm(a, b, offs=ends)
        out.backward(lib.ones_like(out))
        found.append([out.detach(), a.grad, b.grad])
    tolerance = {"float32": 1e-5, "bfloat16": 0.02, "float16": 3e-3}[dtype]
    for got, expected in zip(*found):
        assert str(got.dtype).rpartition(".")[2] == str(expected.dtype).rpartition(".")[2]
        expected = expected.float().numpy()
        np.testing.assert_allclose(got.float().numpy(), expected, rtol=tolerance, atol=tolerance * abs(expected).max())


def test_behind_the_last_slice_there_is_nothing():
    a, b = drawn(tenfold, (32, 16), "float32", 0), drawn(tenfold, (2, 16, 8), "float32", 1)
    out = F.grouped_mm(a, b, offs=tenfold.tensor([4, 20], dtype=tenfold.int32))
    out.sum().backward()
    assert not out[20:].any()
    assert not a.grad[20:].any()


def test_second_derivatives():
    a, b = (drawn(tenfold, s, "float32", 0) for s in ((6, 3), (2, 3, 4)))
    offs = tenfold.tensor([2, 6], dtype=tenfold.int32)
    (g,) = tenfold.autograd.grad(F.grouped_mm(a, b, offs=offs).square().sum(), a, create_graph=True)
    (found,) = tenfold.autograd.grad(g.square().sum(), b)
    c, d = (drawn(tenfold, s, "float32", 0) for s in ((6, 3), (2, 3, 4)))
    (g,) = tenfold.autograd.grad(tenfold.cat([c[:2] @ d[0], c[2:] @ d[1]]).square().sum(), c, create_graph=True)
    (expected,) = tenfold.autograd.grad(g.square().sum(), d)
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-4)


REFUSED = {
    "no offsets": lambda lib, a, b, o: (a, b, None),
    "wide offsets": lambda lib, a, b, o: (a, b, o.long()),
    "too few offsets": lambda lib, a, b, o: (a, b, o[:1]),
    "offsets of stacks": lambda lib, a, b, o: (lib.ones(2, 8, 16), b, o),
    "stacks of two sizes": lambda lib, a, b, o: (lib.ones(3, 8, 16), b, None),
    "sizes": lambda lib, a, b, o: (a, lib.ones(2, 8, 8), o),
    "vectors": lambda lib, a, b, o: (a[0], b, o),
    "two dtypes": lambda lib, a, b, o: (a.half(), b, o),
    "float64": lambda lib, a, b, o: (a.double(), b.double(), o),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    for lib in LIBRARIES:
        a, b = drawn(lib, (32, 16), "float32", 0).detach(), drawn(lib, (2, 16, 8), "float32", 1).detach()
        *given, offs = REFUSED[name](lib, a, b, lib.tensor([8, 32], dtype=lib.int32))
        with pytest.raises(RuntimeError):
            lib.nn.functional.grouped_mm(*given, offs=offs)


def test_private_name_takes_all_by_position():
    for lib in LIBRARIES:
        a, b = drawn(lib, (32, 16), "float32", 0), drawn(lib, (2, 16, 8), "float32", 1)
        ends = lib.tensor([8, 32], dtype=lib.int32)
        assert lib._grouped_mm(a, b, ends, None, lib.float32).shape == (32, 8)
        with pytest.raises(RuntimeError, match="Bias"):
            lib._grouped_mm(a, b, ends, lib.ones(8), None)
        with pytest.raises(RuntimeError, match="dtype"):
            lib._grouped_mm(a, b, ends, None, lib.float64)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("inner", [0, 5, 514, 515, 3000])
def test_bytes(inner, dtype):
    found = []
    for lib in LIBRARIES:
        a = lib.full((3, inner), 255 if dtype == "uint8" else -128).to(getattr(lib, dtype))
        b = lib.full((inner, 4), -128).to(lib.int8)
        found.append(lib._int_mm(a, b).numpy())
    assert found[0].dtype == found[1].dtype
    np.testing.assert_array_equal(*found)


def test_bytes_refused():
    for a, b in (((2, 3), (2, 3)), ((3,), (3, 2))):
        for lib in LIBRARIES:
            with pytest.raises((RuntimeError, IndexError)):
                lib._int_mm(lib.ones(a, dtype=lib.int8), lib.ones(b, dtype=lib.int8))
    for first, second in (("float32", "float32"), ("int8", "uint8"), ("int64", "int8")):
        for lib in LIBRARIES:
            with pytest.raises(RuntimeError, match="int8"):
                lib._int_mm(lib.ones(2, 2, dtype=getattr(lib, first)), lib.ones(2, 2, dtype=getattr(lib, second)))
