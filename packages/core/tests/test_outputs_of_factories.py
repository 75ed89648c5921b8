"""Factories with `out=`: an output of another size is resized without a warning, but where rounding may have counted."""

import warnings

import pytest

import tenfold
from tenfold.settings import warnings as once

FACTORIES = {
    "zeros": lambda out: tenfold.zeros(2, 2, out=out),
    "ones": lambda out: tenfold.ones(2, 2, out=out),
    "full": lambda out: tenfold.full((2, 2), 1.0, out=out),
    "eye": lambda out: tenfold.eye(2, out=out),
    "rand": lambda out: tenfold.rand(2, 2, out=out),
    "randperm": lambda out: tenfold.randperm(4, out=out),
    "linspace": lambda out: tenfold.linspace(0, 3, 4, out=out),
}


@pytest.mark.parametrize("name", FACTORIES)
def test_a_factory_resizes_its_output_silently(name):
    out = tenfold.empty(7, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert FACTORIES[name](out) is out
    assert out.numel() == 4


def test_arange_says_when_its_output_has_another_number_of_elements(monkeypatch):
    monkeypatch.setattr(once, "_seen", set())
    out = tenfold.zeros(1, 49)
    with pytest.warns(
        UserWarning, match=r"shape \[1, 49\] is 49 .* computed number of elements 50.*The out tensor will be resized"
    ):
        tenfold.arange(-1, 1, 2.0 / 49, dtype=tenfold.float32, out=out)
    assert out.shape == (50,)


def test_operators_go_on_warning_of_outputs_of_another_size():
    with pytest.warns(UserWarning, match="An output with one or more elements was resized"):
        tenfold.add(tenfold.ones(2), 1, out=tenfold.ones(3))
    with pytest.warns(UserWarning, match="An output with one or more elements was resized"):
        tenfold.normal(tenfold.ones(2), 1.0, out=tenfold.ones(3))


def test_strides_that_no_address_holds_are_refused():
    with pytest.raises(RuntimeError, match="Stride calculation overflowed"):
        tenfold.empty([0, 4, 2305843009213693952])
    with pytest.raises(RuntimeError, match="Storage size calculation overflowed"):
        tenfold.empty([8, 8, 2**29, 2**29])


@pytest.mark.parametrize("name", ["T", "H", "mT", "mH"])
def test_a_number_transposed_warns_once(name, monkeypatch):
    monkeypatch.setattr(once, "_seen", set())
    with pytest.warns(UserWarning, match=f"Tensor.{name} is deprecated on 0-D tensors"):
        assert getattr(tenfold.tensor(2.0), name) == 2
    getattr(tenfold.tensor(2.0), name)


def test_dimensions_other_than_two_reversed_warn_once(monkeypatch):
    monkeypatch.setattr(once, "_seen", set())
    with pytest.warns(UserWarning, match="`x.T` on tensors of dimension other than 2"):
        assert tenfold.ones(2, 3, 4).T.shape == (4, 3, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tenfold.ones(2, 3, 4).T.shape == (4, 3, 2)
        assert tenfold.ones(2, 3).T.shape == (3, 2)


def test_a_mean_of_scattered_complex_numbers_is_divided_as_tensors_are():
    index = tenfold.arange(30).repeat(7)
    src = tenfold.complex(tenfold.linspace(-1.0, 3.3, 210), tenfold.linspace(5.1, 0.7, 210))
    zeros = tenfold.zeros(30, dtype=src.dtype)
    mean, total = (zeros.scatter_reduce(0, index, src, kind, include_self=False) for kind in ("mean", "sum"))
    assert tenfold.equal(mean, total / tenfold.full((30,), 7, dtype=src.dtype))
