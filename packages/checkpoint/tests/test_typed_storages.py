"""Storages of one dtype."""

from __future__ import annotations

import copy
import pickle

import pytest

import tenfold
from tenfold import storage as storages

pytestmark = pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")


def test_elements_of_a_typed_storage() -> None:
    x = tenfold.tensor([1.0, 2.5, 3.0])
    s = x.storage()
    assert (s[1], len(s), s.dtype, s.nbytes()) == (2.5, 3, tenfold.float32, 12)
    s[1] = 7
    assert x.tolist() == [1, 7, 3]
    assert isinstance(s, tenfold.FloatStorage)
    assert not isinstance(s, tenfold.LongStorage)
    assert s.type() == "torch.FloatStorage"
    assert s.int().tolist() == [1, 7, 3]
    assert tenfold.IntStorage([1, -1]).byte().tolist() == [1, 255]
    assert tenfold.ShortStorage.from_buffer(bytes([1, 2, 3, 4]), "big").tolist() == [258, 772]
    with pytest.raises(IndexError, match="out of range"):
        s[3]


def test_the_warning_comes_once() -> None:
    storages._reset_warn_typed_storage_removal()
    with pytest.warns(UserWarning, match="^TypedStorage is deprecated"):
        tenfold.FloatStorage()
    tenfold.FloatStorage()


def test_deep_copies_share_as_before() -> None:
    x = tenfold.arange(3.0)
    copied, kept = copy.deepcopy([x, x.storage()])
    copied[0] = 9
    assert kept[0] == 9
    assert x[0] == 0


def test_tensors_are_set_on_storages_of_their_dtype() -> None:
    x = tenfold.zeros(1)
    assert x.set_(tenfold.ones(2).storage()).tolist() == [1, 1]
    assert tenfold.FloatTensor(tenfold.ones(2).storage()).tolist() == [1, 1]
    assert tenfold.tensor(tenfold.ones(2).storage()).tolist() == [1, 1]
    assert x.storage_type() is tenfold.FloatStorage
    with pytest.raises(RuntimeError, match="Expected a Storage of type Float"):
        x.set_(tenfold.arange(2).storage())


def test_pickled() -> None:
    made = pickle.loads(pickle.dumps(tenfold.arange(3).storage()))
    assert (made.dtype, made.tolist()) == (tenfold.int64, [0, 1, 2])


def test_storage_is_the_class_of_the_default_dtype():
    assert tenfold.Storage is tenfold.FloatStorage
    assert tenfold.Storage([1.0, 2.0]).tolist() == [1.0, 2.0]
