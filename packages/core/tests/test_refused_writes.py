"""Writes into memory that the same operator reads elsewhere, into expanded tensors, and with what is no number."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold

SHARED = "unsupported operation: some elements of the input tensor and the written-to tensor"
PLACES = [2, 1, 0]


def numbers(n=6):
    return tenfold.arange(float(n))


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x[:-1].copy_(x[1:]),
        lambda x: x[1:].add_(x[:-1]),
        lambda x: x[1:].mul_(x[:-1].detach()),
        lambda x: x[1:].lerp_(tenfold.ones(5), x[:-1]),
        lambda x: x.__setitem__(slice(1, None), x[:-1]),
        lambda x: tenfold.exp(x[:-1], out=x[1:]),
        lambda x: tenfold.exp(x[:4].view(2, 2), out=x[:4].view(2, 2).t()),
        lambda x: x.index_put_((tenfold.tensor(PLACES),), x[:3]),
        lambda x: x.index_copy_(0, tenfold.tensor(PLACES), x[:3]),
        lambda x: x.index_add_(0, tenfold.tensor(PLACES), x[:3]),
        lambda x: x.scatter_(0, tenfold.tensor(PLACES), x[:3]),
        lambda x: tenfold.gather(x, 0, tenfold.tensor(PLACES), out=x[:3]),
    ],
)
def test_shared_memory_is_refused_and_unchanged(write):
    x = numbers()
    with pytest.raises(RuntimeError, match=SHARED):
        write(x)
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def test_a_tensor_is_not_its_own_index():
    i = tenfold.tensor(PLACES)
    with pytest.raises(RuntimeError, match=SHARED):
        i.index_put_((i,), i.clone())


def test_the_same_place_and_other_places_are_fine():
    x = numbers()
    x.add_(x)
    x[:3].add_(x[3:])
    x[1:4].mul_(x[1:4])
    tenfold.neg(x, out=x)
    x[0:1].copy_(x[5])
    assert x.tolist() == [-10.0, -100.0, -196.0, -36.0, -8.0, -10.0]


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("index_put_", lambda x: x.index_put_((tenfold.tensor(PLACES),), tenfold.ones(3))),
        ("index_put_", lambda x: x.__setitem__(tenfold.tensor(PLACES), tenfold.ones(3))),
        ("masked_fill_", lambda x: x.masked_fill_(tenfold.ones(6, dtype=tenfold.bool), 1.0)),
    ],
)
def test_expanded_tensors_are_written_with_a_warning(name, write):
    x = tenfold.zeros(1)
    with pytest.warns(UserWarning, match=f"Use of {name} on expanded tensors is deprecated"):
        write(x.expand(6))
    assert x.tolist() == [1.0]


@pytest.mark.parametrize(
    ("error", "words", "call"),
    [
        (RuntimeError, "Device index must not be negative", lambda: tenfold.device(-1)),
        (TypeError, "must be real number, not str", lambda: numbers().apply_(lambda v: "three")),
        (RuntimeError, "self indexing axis dim should be positive", lambda: tenfold.zeros(0, 3).index_select(
            0, tenfold.tensor([0]))),
        (RuntimeError, "INDICES element is out of DATA bounds, id=5 axis_dim=3", lambda: tenfold.zeros(0, 3).index_select(
            1, tenfold.tensor([0, 5]))),
        (RuntimeError, "Index to scalar can have only 1 value, got 2", lambda: tenfold.ones(()).index_select(
            0, tenfold.tensor([0, 0]))),
        (RuntimeError, "Index to scalar can have only 1 value, got 2", lambda: tenfold.ones(()).index_select(
            -1, tenfold.tensor([-1, 5]))),
        (RuntimeError, "^output with shape", lambda: tenfold.empty(2, 3).copy_(tenfold.ones(4, 2, 3))),
        (RuntimeError, "cannot be converted", lambda: float(tenfold.tensor(1.5j))),
        (RuntimeError, "cannot be converted", lambda: int(tenfold.tensor(1.5j))),
        (RuntimeError, "Legacy tensor constructor", lambda: tenfold.Tensor(numbers(), device="cpu")),
        (RuntimeError, "dtype Long does not match dtype of out", lambda: tenfold.zeros(
            2, dtype=tenfold.int64, out=tenfold.empty(2))),
        (TypeError, "^_set_deterministic_algorithms.*'warn_only' must", lambda: tenfold.use_deterministic_algorithms(
            True, warn_only=1)),
        (TypeError, r"^_set_deterministic_algorithms.*'mode' \(position 1\)", lambda: tenfold.use_deterministic_algorithms(1)),
    ],
)  # fmt: skip
def test_refusals(error, words, call):
    with pytest.raises(error, match=words):
        call()


def test_a_number_that_requires_a_gradient_is_refused():
    pytest.importorskip("tenfold.autograd")
    with pytest.raises(TypeError, match="argument 'atol'"):
        tenfold.isclose(numbers(), numbers(), 1, tenfold.ones((), requires_grad=True))


class Sequence:
    def __init__(self, error):
        self.error = error

    def __len__(self):
        return 3

    def __getitem__(self, i):
        raise self.error


@pytest.mark.parametrize("error", [IndexError, TypeError])
def test_sequences_that_fail(error):
    with pytest.raises(ValueError, match="could not determine the shape of object type 'Sequence'"):
        tenfold.tensor(Sequence(error))


def test_a_list_that_holds_itself():
    endless = []
    endless.append(endless)
    with pytest.raises(ValueError, match="too many dimensions 'list'"):
        tenfold.tensor(endless)


def test_warnings_of_factories():
    tenfold.set_warn_always(True)
    try:
        fixed = np.arange(3)
        fixed.flags.writeable = False
        with pytest.warns(UserWarning, match="not writable"):
            tenfold.from_numpy(fixed)
    finally:
        tenfold.set_warn_always(False)


def test_conversions_that_were_missing():
    x = numbers()
    assert tenfold.Tensor(x).data_ptr() == x.data_ptr()
    assert int(tenfold.tensor(2 + 0j)) == 2
    assert tenfold.ones(2, dtype=tenfold.int32).type(tenfold.Tensor).dtype is tenfold.float32
    assert tenfold.zeros(3).new(size=(3, 4)).shape == (3, 4)
    assert tenfold.multinomial(tenfold.ones(0, 3), 2, True).shape == (0, 2)


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x[None].mul_(x),
        lambda x: x[:1][None, None, 0].mul_(x[:1]),
        lambda x: x[0][None].add_(x[0]),
        lambda x: x.view(1, 6)[0].copy_(x.view(1, 6)),
        lambda x: x.view(6, 1).squeeze().copy_(x.view(6, 1)),
    ],
)
def test_the_same_memory_in_another_number_of_dimensions_is_refused(write):
    x = numbers()
    with pytest.raises(RuntimeError, match=SHARED):
        write(x)
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def test_the_same_tensor_may_be_read_and_written():
    x = numbers(3)
    assert x.mul_(x).tolist() == [0.0, 1.0, 4.0]
    assert x[:, None].mul_(x[:, None]).tolist() == [[0.0], [1.0], [16.0]]
