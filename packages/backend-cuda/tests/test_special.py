"""Special functions against SciPy's, over wide grids: in float64, in float32, and half precision rounded once."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold

scipy_special = pytest.importorskip("scipy.special")
inf, nan = float("inf"), float("nan")


def erfcx(x):
    """SciPy's but for negative numbers, whose squares it rounds: 300 units where the result is 1e250."""
    square = np.square(np.minimum(x, 0).astype(np.longdouble))
    return np.where(x < -1, 2 * np.exp(square) - scipy_special.erfcx(np.abs(x)), scipy_special.erfcx(x)).astype(np.float64)


WHOLE = np.concatenate([np.linspace(-30, 30, 1201), np.linspace(-2, 2, 401), np.geomspace(1e-8, 600, 200)])
POSITIVE = np.concatenate([np.linspace(0.01, 30, 1201), np.geomspace(1e-8, 600, 200)])
UNARY = {
    "lgamma": ("gammaln", POSITIVE), "digamma": ("psi", WHOLE), "i0": ("i0", WHOLE), "special_i0e": ("i0e", WHOLE),
    "special_i1": ("i1", WHOLE), "special_i1e": ("i1e", WHOLE), "special_bessel_j0": ("j0", WHOLE),
    "special_bessel_j1": ("j1", WHOLE), "special_bessel_y0": ("y0", POSITIVE), "special_bessel_y1": ("y1", POSITIVE),
    "special_modified_bessel_k0": ("k0", POSITIVE), "special_modified_bessel_k1": ("k1", POSITIVE),
    "special_scaled_modified_bessel_k0": ("k0e", POSITIVE), "special_scaled_modified_bessel_k1": ("k1e", POSITIVE),
    "special_log_ndtr": ("log_ndtr", WHOLE), "special_ndtr": ("ndtr", WHOLE), "special_entr": ("entr", POSITIVE),
    "special_erfcx": (erfcx, WHOLE), "special_ndtri": ("ndtri", np.linspace(0, 1, 401)),
    "special_airy_ai": (lambda x: scipy_special.airy(x)[0], np.linspace(-30, 20, 1501)),
    "special_spherical_bessel_j0": (lambda x: scipy_special.spherical_jn(0, np.abs(x)), WHOLE),
}  # fmt: skip


def on_device(name, *operands, dtype):
    return getattr(tenfold.op, name)(*[tenfold.tensor(x).to(dtype).cuda() if isinstance(x, np.ndarray) else x for x in operands])


WAVES = [f"special_bessel_{kind}{order}" for kind in "jy" for order in (0, 1)]


def assert_near(got, expected, dtype, units, words):
    """Within some units in the last place: of the value, or of 0.1 where it is less, as near zeros of waves."""
    assert got.dtype is dtype, words
    found, limits = got.cpu().double().numpy(), tenfold.finfo(dtype)
    kept = np.isfinite(expected) & (np.abs(expected) < float(limits.max))  # what the dtype holds
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected), err_msg=words)
    error = np.abs(found - expected)[kept] / (np.maximum(np.abs(expected[kept]), 0.1) * float(limits.eps))
    worst = error.argmax()
    assert error[worst] <= units, f"{words}: {found[kept][worst]}, not {expected[kept][worst]}: {error[worst]} units"


# Of reflection beside the poles of psi, the phase 2 / 3 |x|^(3/2) up to 110 of Ai, and a logarithm of up to 30 in log_ndtr.
# Of waves: the sine and cosine of NumPy, which kernels call in the interpreter, are off by up to 4 units of 1 each.
UNITS = {"digamma": 300, "special_airy_ai": 400, "special_log_ndtr": 40, **dict.fromkeys(WAVES, 80)}


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_variable(name):
    function, grid = UNARY[name]
    function = getattr(scipy_special, function) if isinstance(function, str) else function
    single = grid.astype(np.float32).astype(np.float64)
    with np.errstate(all="ignore"):
        units = UNITS.get(name, 40)
        assert_near(on_device(name, grid, dtype=tenfold.float64), function(grid), tenfold.float64, units, name)
        assert_near(on_device(name, single, dtype=tenfold.float32), function(single), tenfold.float32, units, name)
        for dtype in (tenfold.float16, tenfold.bfloat16):
            x = tenfold.tensor(grid[::40]).to(dtype).cuda()
            once = getattr(tenfold.op, name)(x.float()).to(dtype)
            assert getattr(tenfold.op, name)(x).cpu().float().numpy().tobytes() == once.cpu().float().numpy().tobytes(), name


RANDOM = np.random.default_rng(7)
SHAPES = np.concatenate([RANDOM.uniform(0.01, 5, 300), 10 ** RANDOM.uniform(-8, 0, 100), RANDOM.uniform(5, 60, 300),
                         10 ** RANDOM.uniform(1.3, 5, 200)])  # fmt: skip
PLACES = SHAPES * np.exp(RANDOM.normal(0, 1, SHAPES.size) * 3 / np.maximum(np.sqrt(SHAPES), 0.3))
PLACES[:200] = RANDOM.uniform(0.01, 3, 200)


@pytest.mark.parametrize("dtype", [tenfold.float64, tenfold.float32], ids=str)
def test_incomplete_gamma_functions(dtype):
    a, x = (tenfold.tensor(v).to(dtype).double().numpy() for v in (SHAPES, PLACES))
    kept = scipy_special.gammaincc(a, x) > 1e-250
    a, x = a[kept], x[kept]
    for name, function in (("igamma", scipy_special.gammainc), ("igammac", scipy_special.gammaincc)):
        expected = function(a, x)
        got = on_device(name, a, x, dtype=dtype).cpu().double().numpy()
        large = expected > 1e-30  # float32 ends there; SciPy's own error grows with the logarithm
        np.testing.assert_allclose(got[large], expected[large], rtol=2e-13 if dtype is tenfold.float64 else 1e-6, err_msg=name)


def test_edges_of_incomplete_gamma_functions():
    a = np.array([0.0, 0, 0, 1, 1, -1, 1, inf, inf, nan, 1, 3])
    x = np.array([0.0, 1, inf, 0, inf, 1, -1, 1, inf, 1, nan, 1e300])
    lower = [nan, 1, 1, 0, 1, nan, nan, 0, nan, nan, nan, 1]
    np.testing.assert_array_equal(on_device("igamma", a, x, dtype=tenfold.float64).cpu().numpy(), lower)
    np.testing.assert_array_equal(on_device("igammac", a, x, dtype=tenfold.float64).cpu().numpy(), 1 - np.array(lower))


def test_zeta_and_polygamma():
    s, q = (
        np.concatenate([RANDOM.uniform(1.01, 5, 300), RANDOM.uniform(5, 60, 300), RANDOM.integers(2, 9, 300)]),
        RANDOM.uniform(0.1, 50, 900),
    )
    q[600:] = -RANDOM.uniform(0, 9, 300)
    for dtype, tolerance in ((tenfold.float64, 1e-12), (tenfold.float32, 1e-4)):
        a, b = (tenfold.tensor(v).to(dtype).double().numpy() for v in (s, q))
        expected = scipy_special.zeta(a, b)
        kept = (np.abs(expected) < 1e30) & (np.abs(expected) > 1e-30)
        found = on_device("special_zeta", a, b, dtype=dtype).cpu().double().numpy()
        np.testing.assert_allclose(found[kept], expected[kept], rtol=tolerance, atol=tolerance)
        for order in (0, 1, 2, 5):
            x = np.concatenate([b[:100], b[600:650]])
            expected = scipy_special.polygamma(order, x)
            found = on_device("polygamma", x, order, dtype=dtype).cpu().double().numpy()
            np.testing.assert_allclose(found, expected, rtol=tolerance * 20, atol=tolerance)
    edges = on_device(
        "special_zeta", np.array([1.0, 0.5, 2, 2, 2, 2.5, 3]), np.array([2.0, 2, 0, -3, nan, -1.5, -0.5]), dtype=tenfold.float64
    )
    np.testing.assert_allclose(edges.cpu().numpy(), [inf, nan, inf, inf, nan, nan, scipy_special.zeta(3, 0.5) - 8], rtol=1e-13)
    assert on_device("polygamma", np.array([1e20, -inf, -2.0, 0.0]), 1, dtype=tenfold.float32).tolist() == pytest.approx(
        [1e-20, nan, inf, inf], nan_ok=True
    )


POLYNOMIALS = {
    **{f"special_chebyshev_polynomial_{k}": f"eval_cheby{k}" for k in "tu"},
    **{f"special_shifted_chebyshev_polynomial_{k}": f"eval_sh_cheby{k}" for k in "tu"},
    **{f"special_{shifted}chebyshev_polynomial_{k}": k for shifted in ("", "shifted_") for k in "vw"},
    "special_hermite_polynomial_h": "eval_hermite", "special_hermite_polynomial_he": "eval_hermitenorm",
    "special_laguerre_polynomial_l": "eval_laguerre", "special_legendre_polynomial_p": "eval_legendre",
}  # fmt: skip


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials(name):
    function = POLYNOMIALS[name]
    x = np.array([-1.5, -1.0, -0.7, -0.0, 0.3, 0.5, 0.9999, 1.0, 1.25, nan])[:, None]
    n = np.array([-1.0, 0, 1, 2, 3.7, 6, 7, 8, 9, 12, inf, nan])
    whole = np.where(np.isfinite(n), np.trunc(n), -1)
    if function in ("v", "w"):  # of the sine or cosine of half the angle: V_n = U_n - U_(n-1), W_n = U_n + U_(n-1)
        y = 2 * x - 1 if "shifted" in name else x
        before = np.where(whole > 0, scipy_special.eval_chebyu(np.maximum(whole, 1).astype(int) - 1, y), 0)
        expected = scipy_special.eval_chebyu(np.maximum(whole, 0).astype(int), y) + (-before if function == "v" else before)
    else:
        expected = getattr(scipy_special, function)(np.maximum(whole, 0).astype(int), x)
    expected = np.where(whole < 0, 0, np.where(whole == 0, 1, expected))
    for dtype, tolerance in ((tenfold.float64, 1e-12), (tenfold.float32, 3e-4)):
        got = on_device(name, x, n, dtype=dtype)
        assert got.dtype is dtype
        np.testing.assert_allclose(got.cpu().numpy(), expected, rtol=tolerance, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("dtype", [tenfold.float64, tenfold.float32, tenfold.float16, tenfold.bfloat16], ids=str)
def test_mantissas(dtype):
    x = tenfold.tensor([0.0, -0.0, 1, -1, 0.75, inf, -inf, nan, 3, 1e-3, 5e-324, 1e-310, 1e-40, 6e-8, 1e30, -7]).to(dtype)
    mantissa, exponent = tenfold.frexp(x.cuda())
    expected = np.frexp(x.double().numpy())
    assert mantissa.dtype is dtype
    assert exponent.dtype is tenfold.int32
    np.testing.assert_array_equal(mantissa.cpu().double().numpy(), expected[0])
    np.testing.assert_array_equal(np.signbit(mantissa.cpu().double().numpy()), np.signbit(expected[0]))
    np.testing.assert_array_equal(exponent.cpu().numpy(), expected[1])


def test_numbers_and_layouts():
    x = tenfold.tensor(np.linspace(0.5, 6, 24).reshape(4, 6))
    y = x.cuda()
    calls = (
        lambda t: tenfold.special.zeta(2.5, t), lambda t: tenfold.special.zeta(t + 1, 0.5),
        lambda t: tenfold.special.xlog1py(t, 3.0),
        lambda t: tenfold.special.hermite_polynomial_h(0.25, t.round()), lambda t: tenfold.igamma(t.t(), t.t()[:, :1]),
        lambda t: tenfold.igammac(t[0, 0].expand(3, 2), t[1, 1]), lambda t: t.t().digamma(), lambda t: t[1:, ::2].polygamma(3),
        lambda t: t[:0].i0(), lambda t: t[1, 2].mvlgamma(2), lambda t: t.flip(0).clone().lgamma_(), lambda t: t.mvlgamma(4),
        lambda t: tenfold.view_as_real(tenfold.polar(t, t.flip(1))), lambda t: t.clone().igamma_(t.flip(1)),
    )  # fmt: skip
    for number, call in enumerate(calls):
        got, expected = call(y), call(x)
        assert got.stride() == expected.stride() or not number
        np.testing.assert_allclose(got.cpu().numpy(), expected.numpy(), rtol=1e-12, atol=1e-13, err_msg=str(number))


def test_gradients():
    pytest.importorskip("tenfold.autograd")
    calls = (
        lambda t: t.lgamma(), lambda t: t.digamma(), lambda t: t.polygamma(2), lambda t: t.i0(), lambda t: tenfold.special.i1e(t),
        lambda t: tenfold.special.erfcx(t), lambda t: tenfold.special.entr(t),
        lambda t: tenfold.igamma(tenfold.full_like(t.detach(), 2.5), t),
        lambda t: tenfold.special.zeta(2.5, t), lambda t: tenfold.special.log_ndtr(t),
        lambda t: t.mvlgamma(1), lambda t: t.frexp()[0],
    )  # fmt: skip
    for call in calls:
        found = []
        for place in ("cpu", "cuda"):
            x = tenfold.tensor([0.3, 0.9, 2.6], dtype=tenfold.float64).to(place).requires_grad_(True)
            call(x).sum().backward()
            found.append(x.grad.tolist())
        assert found[1] == pytest.approx(found[0], rel=1e-10)
