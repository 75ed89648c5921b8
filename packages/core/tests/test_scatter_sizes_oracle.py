"""An index of gather and scatter that is larger than the tensor beside the dimension is refused, and writes nowhere."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")

CALLS = {
    "gather": lambda x, dim, i, s: x.gather(dim, i),
    "scatter": lambda x, dim, i, s: x.scatter(dim, i, s),
    "scatter_": lambda x, dim, i, s: x.scatter_(dim, i, s),
    "scatter_ of a number": lambda x, dim, i, s: x.scatter_(dim, i, 1),
    "scatter of a 0-d source": lambda x, dim, i, s: x.scatter(dim, i, s.sum()),
    "scatter_add": lambda x, dim, i, s: x.scatter_add(dim, i, s),
    "scatter_add_": lambda x, dim, i, s: x.scatter_add_(dim, i, s),
    "scatter_reduce": lambda x, dim, i, s: x.scatter_reduce(dim, i, s, "sum"),
}
SHAPES = ((4, 2), (2, 4), (3, 3, 2), (6,))
INDICES = ((3, 4), (2, 2), (5, 2), (2, 5), (3, 3, 3), (2, 3, 2), (5,), (7,))


def outcome(lib: Any, call: Any, dtype: str, shape: Any, places: Any, dim: int) -> Any:
    d = getattr(lib, dtype)
    x = lib.arange(prod(shape)).reshape(shape).to(d)
    try:
        return call(x, dim, lib.zeros(places, dtype=lib.int64), lib.ones(places, dtype=d)).tolist()
    except RuntimeError:
        return RuntimeError


@pytest.mark.parametrize("dtype", ["float32", "int64", "float16"])
@pytest.mark.parametrize("name", CALLS)
def test_sizes(name: str, dtype: str) -> None:
    for shape, places in product(SHAPES, INDICES):
        for dim in range(len(shape)):
            ours, theirs = (outcome(lib, CALLS[name], dtype, shape, places, dim) for lib in (tenfold, torch))
            assert ours == theirs, (shape, places, dim)


@pytest.mark.parametrize("dim", [2, -3, 5, -1])
@pytest.mark.parametrize("name", CALLS)
def test_dimensions(name: str, dim: int) -> None:
    found = []
    for lib in (tenfold, torch):
        try:
            x = lib.arange(9.0).reshape(3, 3)
            found.append(CALLS[name](x, dim, lib.zeros(2, 2, dtype=lib.int64), lib.ones(2, 2)).tolist())
        except (IndexError, RuntimeError) as error:
            found.append(type(error))
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", ["uint8", "int8", "int16", "bool", "float32", "int32"])
@pytest.mark.parametrize("name", CALLS)
def test_dtypes_of_an_index(name: str, kind: str) -> None:
    """Of int32 or int64; others only where there is nothing to do."""
    for size in (2, 0):
        found = []
        for lib in (tenfold, torch):
            index = lib.zeros(size, dtype=getattr(lib, kind))
            try:
                found.append(CALLS[name](lib.arange(3.0), 0, index, lib.ones(size)).tolist())
            except RuntimeError:
                found.append(RuntimeError)
        assert found[0] == found[1]
