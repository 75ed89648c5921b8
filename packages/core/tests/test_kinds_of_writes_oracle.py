"""Writes whose kind of number does not fit are refused by PyTorch and here alike."""

import pytest

import tenfold

torch = pytest.importorskip("torch")

REFUSED = {
    "addcdiv of integers": lambda t: t.ones(2, dtype=t.int64).addcdiv(t.ones(2, dtype=t.int64), t.ones(2, dtype=t.int64)),
    "addcdiv by integers": lambda t: t.addcdiv(t.ones(2), t.ones(2, dtype=t.int64), t.ones(2, dtype=t.int32)),
    "addcdiv_ by integers": lambda t: t.ones(2).addcdiv_(t.ones(2, dtype=t.int64), t.ones(2, dtype=t.int64)),
    "addcdiv by bools": lambda t: t.addcdiv(t.ones(2), t.ones(2, dtype=t.bool), t.ones(2, dtype=t.bool)),
    "cumsum_ in double": lambda t: t.ones(3).cumsum_(0, dtype=t.float64),
    "cumsum_ of integers in double": lambda t: t.ones(3, dtype=t.int32).cumsum_(0, dtype=t.float64),
    "cumprod_ in half": lambda t: t.ones(3).cumprod_(0, dtype=t.float16),
    "lerp to double": lambda t: t.lerp(t.ones(2), t.zeros(2), t.ones(2), out=t.empty(2, dtype=t.float64)),
    "lerp to half": lambda t: t.lerp(t.ones(2), t.zeros(2), t.ones(2), out=t.empty(2, dtype=t.float16)),
}
TAKEN = {
    "addcdiv by one integer": lambda t: t.addcdiv(t.ones(2), t.ones(2, dtype=t.int64), t.full((2,), 4.0)),
    "addcdiv_ by one integer": lambda t: t.ones(2).addcdiv_(t.ones(2), t.full((2,), 4)),
    "cumsum_ in its own dtype": lambda t: t.ones(3).cumsum_(0, dtype=t.float32),
    "cumprod_ in its own dtype": lambda t: t.full((3,), 2).cumprod_(0, dtype=t.int64),
    "lerp by a number to double": lambda t: t.lerp(t.ones(2), t.zeros(2), 0.25, out=t.empty(2, dtype=t.float64)),
}


@pytest.mark.parametrize("write", REFUSED.values(), ids=REFUSED)
def test_what_both_refuse(write):
    for t in (torch, tenfold):
        with pytest.raises(RuntimeError):
            write(t)


@pytest.mark.parametrize("write", TAKEN.values(), ids=TAKEN)
def test_what_both_take(write):
    expected, found = write(torch), write(tenfold)
    assert str(found.dtype)[8:] == str(expected.dtype)[6:]
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("of", ["int64", "float32"])
def test_what_is_said_of_integers(of):
    one = tenfold.ones(2, dtype=tenfold.int64)
    with pytest.raises(RuntimeError, match=r"^Integer division"):
        tenfold.addcdiv(one.to(getattr(tenfold, of)), one, one)
