"""Memory that a NumPy array shares stays where it is, and what is slow about arrays is said once."""

import numpy as np
import pytest

import tenfold
from tenfold.settings import warnings as once


def test_a_tensor_given_to_numpy_does_not_grow_away_from_the_array() -> None:
    x = tenfold.ones(2)
    array = x.numpy()
    with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
        x.resize_(5)
    x.resize_(1).fill_(3.0)  # what fits stays in the same memory
    assert array.tolist() == [3.0, 1.0]


def test_a_tensor_of_a_numpy_array_does_not_grow_away_from_it() -> None:
    with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
        tenfold.from_numpy(np.ones(2)).resize_(5)
    assert tenfold.from_numpy(np.ones(2)).clone().resize_(5).shape == (5,)


def test_a_list_of_arrays_is_called_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(once, "_seen", set())
    with pytest.warns(UserWarning, match="Creating a tensor from a list of numpy.ndarrays is extremely slow"):
        assert tenfold.tensor([np.ones(2), np.zeros(2)]).tolist() == [[1.0, 1.0], [0.0, 0.0]]


def test_a_search_in_what_is_not_contiguous_is_called_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(once, "_seen", set())
    rows, values = tenfold.arange(6.0).view(3, 2).t(), tenfold.ones(2, 1)
    with pytest.warns(UserWarning, match="boundary tensor is non-contiguous"):
        tenfold.searchsorted(rows, values)
    with pytest.warns(UserWarning, match="input value tensor is non-contiguous"):
        tenfold.searchsorted(tenfold.arange(6.0).view(2, 3), tenfold.arange(4.0).view(2, 2).t())
