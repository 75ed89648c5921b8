"""What is done as asked, and most likely not meant: it warns, as in PyTorch."""

import warnings

import pytest

import tenfold
from tenfold.settings import warnings as once

COMPLEX = tenfold.tensor([1 + 2j, 3 - 1j])


def _assigned():
    real = tenfold.zeros(2)
    real[0] = COMPLEX[0]
    return real[:1]


LOSSY = {
    "to": lambda: COMPLEX.to(tenfold.float64),
    "float": lambda: COMPLEX.float(),
    "long": lambda: COMPLEX.long(),
    "type_as": lambda: COMPLEX.type_as(tenfold.ones(1)),
    "copy_": lambda: tenfold.zeros(2).copy_(COMPLEX),
    "setitem": _assigned,
}


@pytest.mark.parametrize("name", LOSSY)
def test_a_lost_imaginary_part_warns_once(name, monkeypatch):
    monkeypatch.setattr(once, "_seen", set())
    with pytest.warns(UserWarning, match="^Casting complex values to real discards the imaginary part$"):
        real = LOSSY[name]()
    assert real.tolist() == [1, 3][: len(real)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LOSSY[name]()


def test_what_loses_nothing_does_not_warn(monkeypatch):
    monkeypatch.setattr(once, "_seen", set())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert COMPLEX.bool().tolist() == [True, True]
        COMPLEX.to(tenfold.complex128), COMPLEX.real.double(), tenfold.view_as_real(COMPLEX).int()


def test_a_tensor_made_of_a_tensor_warns_each_time():
    x = tenfold.ones(2)
    for _ in range(2):
        for call in (lambda: tenfold.tensor(x), lambda: tenfold.tensor(x, dtype=tenfold.int64), lambda: x.new_tensor(x)):
            with pytest.warns(UserWarning, match="^To copy construct from a tensor, it is recommended to use"):
                assert call().tolist() == [1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tenfold.as_tensor(x), tenfold.tensor(x.numpy()), tenfold.tensor([x[0], x[1]]), x.new_tensor([1])


def test_a_condition_of_bytes_warns_once(monkeypatch):
    monkeypatch.setattr(once, "_seen", set())
    condition = tenfold.tensor([1, 0], dtype=tenfold.uint8)
    with pytest.warns(UserWarning, match="where received a uint8 condition tensor"):
        assert tenfold.where(condition, 1.0, 2.0).tolist() == [1, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tenfold.where(condition, 1.0, 2.0), tenfold.where(condition)
