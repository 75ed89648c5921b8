from __future__ import annotations

from collections import OrderedDict, UserDict, UserList
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest

import tenfold
from tenfold.data import collate, default_collate, default_collate_fn_map, default_convert


class Pair(NamedTuple):
    x: Any
    y: Any


class Named(dict):
    name = None


@pytest.mark.parametrize(
    ("batch", "values", "dtype"),
    [
        ([1, 2], [1, 2], "int64"),
        ([1.0, 2.5], [1.0, 2.5], "float64"),
        ([True, False], [True, False], "bool"),
        ([np.float32(1), np.float32(2)], [1, 2], "float32"),
        ([np.array([1, 2], np.int16)] * 2, [[1, 2], [1, 2]], "int16"),
        ([np.array(1.5)] * 2, [1.5, 1.5], "float64"),
        ([np.bool_(True)], [True], "bool"),
        ([np.float32(1), 2.0], [1, 2], "float32"),
        ([np.int32(1), 2.5], [1, 2.5], "float32"),
        ([np.float32(1), 1j], [1, 1j], "complex64"),
    ],
)
def test_numbers_and_arrays(batch, values, dtype):
    result = default_collate(batch)
    assert isinstance(result, tenfold.Tensor)
    assert (result.tolist(), result.dtype) == (values, getattr(tenfold, dtype))


def test_tensors_are_stacked():
    assert default_collate([tenfold.ones(2, 3), tenfold.zeros(2, 3)]).shape == (2, 2, 3)


def test_containers_keep_their_type_where_they_can():
    assert default_collate(["a", "b"]) == ["a", "b"]
    assert default_collate([b"a"]) == [b"a"]
    first = Named(a=1)
    first.name = "kept"
    merged = default_collate([first, Named(a=2)])
    assert (type(merged), merged.name, merged["a"].tolist(), first["a"]) == (Named, "kept", [1, 2], 1)
    pair = default_collate([Pair(1, "p"), Pair(2, "q")])
    assert (type(pair), pair.x.tolist(), pair.y) == (Pair, [1, 2], ("p", "q"))
    assert [part.tolist() for part in default_collate([(1, 2), (3, 4)])] == [[1, 3], [2, 4]]
    assert type(default_collate([UserList([1]), UserList([2])])) is UserList
    assert type(default_collate([OrderedDict(a=1)])) is OrderedDict
    assert type(default_collate([MappingProxyType({"a": 1})])) is MappingProxyType
    assert [part.tolist() for part in default_collate([range(2), range(2)])] == [[0, 0], [1, 1]]


@pytest.mark.parametrize("sample", [object(), None, {1}, 1j, np.array("a"), np.array([None])])
def test_other_types_are_refused(sample):
    with pytest.raises(TypeError, match="default_collate: batch must contain tensors"):
        default_collate([sample])


def test_unequal_sizes_are_refused():
    with pytest.raises(RuntimeError, match="should be of equal size"):
        default_collate([[1], [1, 2]])
    with pytest.raises(RuntimeError):
        default_collate([tenfold.ones(2), tenfold.ones(3)])
    with pytest.raises(KeyError):
        default_collate([{"a": 1}, {"b": 1}])


def test_own_functions_by_type_and_by_base():
    class Point:
        pass

    class Subpoint(Point):
        pass

    def count(batch, *, collate_fn_map=None):
        return len(batch)

    functions = {**default_collate_fn_map, Point: count}
    assert collate([{"p": Subpoint(), "n": 1}] * 3, collate_fn_map=functions)["p"] == 3
    with pytest.raises(TypeError):
        collate([Point()])


def test_convert_goes_through_containers():
    result = default_convert({"a": np.float32(2), "b": [np.ones(1), "s", 1], "c": Pair(np.ones(1), None)})
    assert result["a"].item() == 2
    assert isinstance(result["b"][0], tenfold.Tensor)
    assert result["b"][1:] == ["s", 1]
    assert isinstance(result["c"].x, tenfold.Tensor)
    assert type(default_convert(UserDict(a=1))) is UserDict
    text = np.array(["a"])
    assert default_convert(text) is text
    assert default_convert((np.ones(1),))[0].tolist() == [1.0]
