"""Gradients of conversions between dtypes: what comes back from complex numbers is real, and nobody is told of a loss."""

import warnings

import tenfold
from tenfold.settings import warnings as once


def test_the_gradient_of_a_real_number_made_complex_is_real_without_a_warning(monkeypatch):
    monkeypatch.setattr(once, "_seen", set())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for half in (tenfold.float32, tenfold.float64):
            x = tenfold.tensor([3.0, 0.5], dtype=half, requires_grad=True)
            (x.to(tenfold.complex128) * (3 + 4j)).abs().sum().backward()
            assert x.grad.dtype is half
            assert x.grad.allclose(tenfold.tensor([5.0, 5.0], dtype=half))
            y = tenfold.zeros(2, dtype=tenfold.complex64)
            y.copy_(x)
            (x.grad,) = tenfold.autograd.grad((y * 1j).imag.sum(), x)
            assert x.grad.tolist() == [1, 1]
