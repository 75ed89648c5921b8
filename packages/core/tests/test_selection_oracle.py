"""What is selected along a dimension, and where: quick ways must name the same elements as PyTorch, with equals and nan, too."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")

KINDS = ("plain", "equals", "nan", "integers", "transposed", "half")


def arrays(kind: str, seed: int) -> Any:
    """An array, a dimension of it, and what made it so."""
    rng, choose = np.random.default_rng(seed), random.Random(seed)
    shape = choose.choice([(7,), (600,), (5, 17), (17, 9), (3, 1, 8), (4, 9, 5)])
    data: Any = rng.standard_normal(shape).astype(np.float16 if kind == "half" else np.float32)
    if kind == "equals":
        data = np.round(data)
    elif kind == "integers":
        data = rng.integers(-9, 9, shape)
    elif kind == "nan":
        data.reshape(-1)[choose.randrange(data.size)] = np.nan  # one: among several PyTorch may name any
    elif kind == "transposed":
        data = np.ascontiguousarray(data.T).T
    return data, choose.randrange(-len(shape), len(shape)), choose, rng


def same(ours: Any, theirs: Any) -> None:
    np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("kind", KINDS)
def test_greatest_and_kth(kind: str, seed: int) -> None:
    data, dim, choose, _ = arrays(kind, seed)
    ours, theirs = tenfold.from_numpy(data), torch.from_numpy(data)
    count = data.shape[dim]
    k, largest = choose.randint(1, count), choose.random() < 0.5
    mine, its = [x.topk(k, dim, largest) for x in (ours, theirs)], [x.kthvalue(k, dim) for x in (ours, theirs)]
    named = count <= 512  # where several are equal, PyTorch's choice is known for rows up to here
    for (values, places), (their_values, their_places) in (mine, its):
        same(values, their_values)
        if named or kind in ("plain", "nan", "transposed"):
            same(places, their_places)
        else:
            same(ours.gather(dim, places if places.dim() == ours.dim() else places.unsqueeze(dim)).view(values.shape), values)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("kind", KINDS)
def test_places_along_a_dimension(kind: str, seed: int) -> None:
    data, dim, choose, rng = arrays(kind, seed)
    shape = [choose.randint(1, n) for n in data.shape]
    shape[dim] = choose.randint(1, 9)
    index, source = rng.integers(0, data.shape[dim], shape), np.round(rng.standard_normal(shape) * 4).astype(data.dtype)
    results = []
    for lib in (tenfold, torch):
        x, places, src = lib.from_numpy(data), lib.from_numpy(index), lib.from_numpy(source)
        added = lib.zeros_like(x).scatter_add(dim, places, src)  # whole numbers: sums are exact in any order
        results.append([x.gather(dim, places), x.scatter(dim, places, 2), added, x.roll(seed - 20, dim)])
    for ours, theirs in zip(*results, strict=True):
        same(ours, theirs)


@pytest.mark.parametrize("bad", [-1, 4])
@pytest.mark.parametrize("transposed", [False, True])
def test_a_place_beyond_the_end_is_refused(bad: int, transposed: bool) -> None:
    x, index = tenfold.zeros(3, 4), tenfold.tensor([[0, 1, bad], [0, 0, 0]])
    index = tenfold.tensor([[0, 0], [1, 0], [bad, 0]]).t() if transposed else index
    for call in (
        lambda: x.gather(1, index),
        lambda: x.scatter(1, index, 1.0),
        lambda: x.scatter_add(1, index, tenfold.ones(2, 3)),
    ):
        with pytest.raises(RuntimeError, match=f"index {bad} is out of bounds for dimension 1 with size 4"):
            call()


def test_equals_in_one_row_and_nan_in_another() -> None:
    rows = [[5.0, 5.0, 1.0, 0.0], [float("nan"), 2.0, 1.0, 0.0]]
    for k in (1, 2, 3):
        for largest in (True, False):
            ours, theirs = (lib.tensor(rows).topk(k, 1, largest) for lib in (tenfold, torch))
            same(ours[0], theirs[0])
        ours, theirs = (lib.tensor(rows).kthvalue(5 - k, 1) for lib in (tenfold, torch))
        same(ours[0], theirs[0])


def test_a_row_of_nan_beside_a_row_of_equals() -> None:
    """The elements that are no greater than a row's k-th are none in one row and too many in the other: k in each on average."""
    nan = float("nan")
    rows = [[nan, nan, nan], [5.0, 6.0, 2.0], [1.0, 3.0, 1.0]]
    for k in (1, 2):
        for largest in (True, False):
            ours, theirs = (lib.tensor(rows).topk(k, 1, largest) for lib in (tenfold, torch))
            same(ours[0], theirs[0])
            np.testing.assert_array_equal(tenfold.tensor(rows).gather(1, ours[1]).numpy(), ours[0].numpy())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("width", [1, 4, 9])
def test_what_meets_at_one_place_in_half_precision_is_rounded_once(dtype: str, width: int) -> None:
    def sums(lib: Any) -> list[float]:
        t = getattr(lib, dtype)
        x, at = lib.zeros(2, width, dtype=t), lib.tensor([0, 0, 0])
        source = lib.tensor([10000.0, -2.711, -10000.0], dtype=t).view(3, 1).expand(3, width).contiguous()
        w = lib.zeros(2, width, dtype=t, requires_grad=True)
        w.index_select(0, at).backward(source)
        places = at.view(3, 1).expand(3, width)
        found = [x.index_add(0, at, source), x.t().index_add(1, at, source.t()), x.scatter_add(0, places, source), w.grad]
        return [float(y.reshape(-1)[0]) for y in found]

    assert sums(tenfold) == sums(torch)
