"""Special functions against PyTorch: values at ordinary and at singular arguments, dtypes, gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")
pytest.importorskip("scipy")
pytest.importorskip("tenfold.autograd")

inf, nan = float("inf"), float("nan")
ORDINARY = np.array([-2.5, -1.3, -0.6, -0.2, 0.1, 0.5, 0.9, 1.7, 3.2, 7.5])
EDGES = np.array([0.0, -0.0, 1.0, -1.0, 2.0, -3.0, inf, -inf, nan])
UNARY = (
    "gammaln digamma psi erf erfc erfcx erfinv exp2 expit expm1 log1p log_ndtr ndtr ndtri i0 i0e i1 i1e entr logit sinc round "
    "bessel_j0 bessel_j1 bessel_y0 bessel_y1 modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 "
    "scaled_modified_bessel_k0 scaled_modified_bessel_k1 spherical_bessel_j0 airy_ai"
).split()
POLYNOMIALS = (
    "chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w "
    "shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v "
    "shifted_chebyshev_polynomial_w hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p"
).split()
# At -inf and in the poles of negative integers the libraries differ in what has no value.
INSIDE = {"entr", "logit"}  # outside of 0 to 1 they have no derivative
NO_EDGES = {"bessel_y0", "bessel_y1", "airy_ai", "bessel_j0", "bessel_j1", "sinc", "spherical_bessel_j0", "digamma", "psi"}


def close(ours: Any, theirs: Any, tolerance: float = 1e-9) -> None:
    assert str(ours.dtype).removeprefix("tenfold.") == str(theirs.dtype).removeprefix("torch.")
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=tolerance, atol=tolerance)


def derivatives(lib: Any, function: Any, values: Any) -> list[Any]:
    """Value, first and second derivative."""
    x = lib.from_numpy(values.copy()).requires_grad_(True)
    found = [function(x)]
    for _ in range(2):
        if not found[-1].requires_grad:
            break
        found.append(lib.autograd.grad(found[-1].sum(), x, create_graph=True)[0])
    return [f.detach() for f in found]


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_variable(name: str) -> None:
    values = ORDINARY[(ORDINARY > 0) & (ORDINARY < 1)] if name in INSIDE else ORDINARY
    ours, theirs = (derivatives(lib, getattr(lib.special, name), values) for lib in (tenfold, torch))
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        close(a, b, 1e-5 if name == "airy_ai" else 1e-7)  # PyTorch's has five digits at -2.5
    if name not in NO_EDGES:
        close(getattr(tenfold.special, name)(tenfold.from_numpy(EDGES)), getattr(torch.special, name)(torch.from_numpy(EDGES)))
    if name == "round":  # PyTorch's takes no integers under this name
        return
    whole = [1, 2]
    close(getattr(tenfold.special, name)(tenfold.tensor(whole)), getattr(torch.special, name)(torch.tensor(whole)), 1e-5)


@pytest.mark.parametrize("name", ["gammaln", "digamma", "erfcx", "i0", "i1e", "ndtri", "entr"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_is_rounded_once(name: str, dtype: str) -> None:
    x = tenfold.tensor([0.3, 0.6, 0.9], dtype=getattr(tenfold, dtype))
    result = getattr(tenfold.special, name)(x)
    assert result.dtype is x.dtype
    assert result.tolist() == getattr(tenfold.special, name)(x.float()).to(x.dtype).tolist()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_entropy_terms_keep_the_dtype_of_their_gradient(dtype: str) -> None:
    found = []
    for lib in (torch, tenfold):
        x = lib.tensor([1.0, 0.5, 0.0, -0.0, -1.0, float("nan")], dtype=getattr(lib, dtype), requires_grad=True)
        lib.special.entr(x).sum().backward()
        assert x.grad.dtype is x.dtype
        found.append(x.grad.tolist())
    np.testing.assert_allclose(found[1], found[0])


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials(name: str) -> None:
    x, n = (
        np.array([-1.5, -1.0, -0.3, 0.0, 0.4, 1.0, 2.0])[:, None],
        np.array([-1.0, 0.0, 1.0, 2.0, 3.7, 5.0, 8.0, inf, -inf, nan]),
    )
    ours, theirs = (getattr(lib.special, name)(lib.from_numpy(x), lib.from_numpy(n)) for lib in (tenfold, torch))
    close(ours, theirs, 1e-8)
    close(getattr(tenfold.special, name)(0.5, tenfold.tensor([2])), getattr(torch.special, name)(0.5, torch.tensor([2])), 1e-5)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_polygamma(n: int) -> None:
    values = np.array([0.3, 1.0, 2.5, 7.0])
    for a, b in zip(*(derivatives(lib, lambda x, lib=lib: lib.polygamma(n, x), values) for lib in (tenfold, torch)), strict=True):
        close(a, b, 1e-8)
    assert tenfold.tensor([2.0]).polygamma(n).tolist() == tenfold.special.polygamma(n, tenfold.tensor([2.0])).tolist()
    with pytest.raises(RuntimeError, match="negative n"):
        tenfold.polygamma(-1, tenfold.ones(1))


@pytest.mark.parametrize("name", ["gammainc", "gammaincc", "zeta", "xlog1py", "xlogy"])
def test_functions_of_two_variables(name: str) -> None:
    a, x = np.array([1.5, 2.0, 3.5]), np.array([0.4, 1.0, 2.5])
    ours, theirs = (
        derivatives(lib, lambda x, lib=lib: getattr(lib.special, name)(lib.from_numpy(a), x), x) for lib in (tenfold, torch)
    )
    for p, q in zip(ours, theirs, strict=True):
        close(p, q, 1e-7)


def test_further_forms() -> None:
    x = np.array([2.5, 3.5])
    for p in (1, 2, 4):
        for a, b in zip(*(derivatives(lib, lambda t, p=p: t.mvlgamma(p), x) for lib in (tenfold, torch)), strict=True):
            close(a, b, 1e-8)
    mantissa, exponent = tenfold.frexp(tenfold.tensor([5.0, 0.0, -0.3]))
    assert (mantissa * 2.0**exponent).allclose(tenfold.tensor([5.0, 0.0, -0.3]))
    y = tenfold.tensor([2.0, 3.0])
    assert y.lgamma_() is y
    assert y[1].item() == pytest.approx(np.log(2.0))
    close(tenfold.special.zeta(2, tenfold.tensor([1, 2])), torch.special.zeta(2, torch.tensor([1, 2])), 1e-6)


def test_the_trigamma_function_has_no_value_at_minus_infinity() -> None:
    for order in (0, 1):
        assert np.isnan(tenfold.polygamma(order, tenfold.tensor(-inf)).item())
        assert np.isnan(torch.polygamma(order, torch.tensor(-inf)).item())


def test_without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "scipy.special", None)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "tenfold-scientific\[scipy\]"'):
        tenfold.lgamma(tenfold.ones(1))


@pytest.mark.parametrize("call", ["special.zeta(a, b)", "special.zeta(a, 2.0)", "igamma(a, b)", "igammac(a, b.detach())"])
def test_a_derivative_that_does_not_exist_is_an_error_and_not_nothing(call: str) -> None:
    said = []
    for lib in (torch, tenfold):
        a, b = lib.tensor([2.5, 3.0], requires_grad=True), lib.tensor([0.5, 1.5], requires_grad=True)
        result = eval(call, {**vars(lib), "special": lib.special, "igamma": lib.igamma, "igammac": lib.igammac, "a": a, "b": b})
        with pytest.raises(NotImplementedError) as caught:
            result.sum().backward()
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_the_derivatives_that_exist_beside_them() -> None:
    found = []
    for lib in (torch, tenfold):
        b = lib.tensor([0.5, 1.5], requires_grad=True)
        (lib.igamma(lib.tensor([2.5, 3.0]), b) + lib.special.zeta(2.0, b) + lib.igammac(lib.tensor(1.5), b)).sum().backward()
        found.append(b.grad.numpy())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-5)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of PyTorch's own forward mode
def test_forward_mode_says_what_it_does_not_know():
    for t in (torch, tenfold):
        ad = t.autograd.forward_ad
        with (
            ad.dual_level(),
            pytest.raises(NotImplementedError, match="Trying to use forward AD with igamma that does not support"),
        ):
            t.igamma(ad.make_dual(t.ones(2), t.ones(2)), t.ones(2))
