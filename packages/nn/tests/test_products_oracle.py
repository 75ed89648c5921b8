"""PyTorch's private products, with an activation and of 8-bit numbers, compared with PyTorch's own."""

from __future__ import annotations

import pytest

import tenfold

torch = pytest.importorskip("torch", reason="the oracle is not a dependency")

LIBRARIES = (tenfold, torch)


def matrices(lib, dtype):
    return [((lib.arange(m * n) * 7 % 11) - 5).reshape(m, n).to(getattr(lib, dtype)) for m, n in ((16, 32), (48, 32))]


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_products_with_an_activation(dtype):
    for options in ({}, {"use_gelu": True}, {"beta": 0.5, "alpha": 2.0}):
        found = []
        for lib in LIBRARIES:
            a, b = matrices(lib, dtype)
            found.append(lib._addmm_activation(a[0, :1].expand(48), a / 8, b.t() / 8, **options).float())
        off = abs(found[0].numpy() - found[1].numpy())
        assert (off <= abs(found[1].numpy()) * (0.016 if dtype == "bfloat16" else 1e-6) + 1e-4).all()


@pytest.mark.parametrize("dtypes", [("float8_e4m3fn", "float8_e4m3fn"), ("float8_e5m2", "float8_e4m3fn")], ids=str)
def test_scaled_products(dtypes):
    for out, biased in (("float32", True), ("bfloat16", False), (None, False)):
        for rows in (False, True):
            found = []
            for lib in LIBRARIES:
                a, b = (x.to(getattr(lib, d)) for x, d in zip(matrices(lib, "float32"), dtypes))
                scales = (lib.arange(1.0, 17).reshape(16, 1) / 64, lib.arange(1.0, 49).reshape(1, 48) / 64)
                scales = scales if rows else (lib.tensor(0.25), lib.tensor(0.5))
                bias = lib.arange(48.0) if biased else None
                kind = None if out is None else getattr(lib, out)
                found.append(lib._scaled_mm(a, b.t(), *scales, bias=bias, out_dtype=kind).float())
            off = abs(found[0].numpy() - found[1].numpy())
            assert (off <= abs(found[1].numpy()) * (1e-6 if out == "float32" else 0.13 if out is None else 8e-3) + 1e-4).all()


def test_refusals():
    for call in (
        lambda lib, a, b, one: lib._scaled_mm(a, b[:, :16].t(), one, one),
        lambda lib, a, b, one: lib._scaled_mm(a, b.t(), lib.ones(3), one),
        lambda lib, a, b, one: lib._scaled_mm(a.float(), b.t(), one, one),
        lambda lib, a, b, one: lib._scaled_mm(a, b.t(), one, one, bias=lib.ones(3), out_dtype=lib.float32),
        lambda lib, a, b, one: lib._scaled_mm(a[0], b.t(), one, one),
    ):
        kinds = []
        for lib in LIBRARIES:
            a, b = (x.to(lib.float8_e4m3fn) for x in matrices(lib, "float32"))
            with pytest.raises((RuntimeError, ValueError)) as error:
                call(lib, a, b, lib.tensor(1.0))
            kinds.append(error.type)
        assert kinds[0] is kinds[1]


def test_scales_of_double_precision_are_refused():
    a, b = (x.to(tenfold.float8_e4m3fn) for x in matrices(tenfold, "float32"))
    one = tenfold.tensor(1.0)
    with pytest.raises(ValueError, match="scal"):  # as PyTorch does on processors without products of 8-bit numbers
        tenfold._scaled_mm(a, b.t(), one.double(), one)
