"""The order of memory of what an index selects, against PyTorch's: programs take views of it."""

from __future__ import annotations

import random
from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")

I, J, M = [0, 2], [[1], [0]], [True, False, True]
ALL = slice(None)


def both(shape: tuple[int, ...], order: tuple[int, ...]) -> tuple[Any, Any]:
    count = 1
    for n in shape:
        count *= n
    return tuple(lib.arange(count).view(shape).permute(order) for lib in (tenfold, torch))


def steps(x: Any) -> list[int]:
    """The strides along which there are two elements."""
    return [stride for stride, n in zip(x.stride(), x.shape, strict=True) if n > 1]


def compare(ours: Any, theirs: Any, index: list[Any]) -> None:
    libraries = ((tenfold, ours), (torch, theirs))
    mine, its = (x[tuple(lib.tensor(i) if isinstance(i, list) else i for i in index)] for lib, x in libraries)
    assert mine.tolist() == its.tolist()
    assert steps(mine) == steps(its), index


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0), (2, 1, 0)])
@pytest.mark.parametrize(
    "index",
    [
        [I], [M], [ALL, I], [ALL, M], [ALL, ALL, I], [..., M], [I, ALL, I], [ALL, I, I], [ALL, J, I], [J], [ALL, None, J], [J, 1],
        [slice(0, 2), J, slice(1, None)], [1, ALL, I], [None, ALL, J, ALL],
    ],
)  # fmt: skip
def test_strides(index: list[Any], order: tuple[int, ...]) -> None:
    compare(*both((3, 3, 3), order), index)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
@pytest.mark.parametrize("dtype", ["float32", "bool", "bfloat16", "int64"])
def test_strides_of_places(dtype: str, order: tuple[int, ...]) -> None:
    ours, theirs = (x.to(getattr(lib, dtype)).nonzero() for lib, x in zip((tenfold, torch), both((2, 3, 4), order), strict=True))
    assert ours.tolist() == theirs.tolist()
    assert ours.stride() == theirs.stride()


def test_strides_of_random_selections() -> None:
    drawn = random.Random(0)
    for _ in range(200):
        dims = drawn.randint(2, 4)
        ours, theirs = both(tuple(drawn.randint(2, 4) for _ in range(dims)), tuple(drawn.sample(range(dims), dims)))
        index: list[Any] = [drawn.choice([ALL, slice(0, 2), [0, 1, 1], [[1, 0], [0, 1]]]) for _ in range(dims)]
        if any(isinstance(i, list) and len({len(str(j)) for j in index if isinstance(j, list)}) == 1 for i in index):
            compare(ours, theirs, index)


def test_a_mask_of_several_dimensions() -> None:
    ours, theirs = both((3, 3, 2), (0, 1, 2))
    mask = [[True, False, True], [False, True, False], [True, True, False]]
    compare(ours, theirs, [mask])
    ours, theirs = both((2, 3, 3), (0, 1, 2))
    compare(ours, theirs, [ALL, mask])


def test_a_selection_of_columns_can_be_viewed() -> None:
    edges = tenfold.arange(12).view(2, 6)
    kept = edges[:, edges[0] > 2]
    assert kept.is_contiguous()
    assert kept.view(-1).tolist() == [3, 4, 5, 9, 10, 11]


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 1, 0)])
@pytest.mark.parametrize("dtype", ["int64", "float64"])
@pytest.mark.parametrize("form", ["contiguous_format", "preserve_format"])
def test_conversions_with_a_memory_format(form: str, dtype: str, order: tuple[int, ...]) -> None:
    libraries = zip((tenfold, torch), both((2, 3, 4), order), strict=True)
    mine, its = (x.to(getattr(lib, dtype), memory_format=getattr(lib, form)) for lib, x in libraries)
    assert mine.tolist() == its.tolist()
    assert mine.stride() == its.stride()


@pytest.mark.parametrize("dim", range(4))
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 3, 1, 2), (0, 2, 1, 3), (2, 3, 1, 0)])
@pytest.mark.parametrize("shape", [(2, 5, 1, 4), (3, 3, 3, 1), (2, 1, 3, 4), (1, 1, 1, 3), (2, 3, 4, 5), (2, 3, 1, 1)])
def test_joined_images_of_size_one(shape: tuple[int, ...], order: tuple[int, ...], dim: int) -> None:
    """Where strides allow two readings, channels last or row by row, the parts' steps along sizes of 1 tell."""
    mine, its = both(shape, order)
    for count in (1, 3):
        ours, theirs = tenfold.cat([mine] * count, dim), torch.cat([its] * count, dim)
        assert ours.tolist() == theirs.tolist()
        assert ours.stride() == theirs.stride()


def test_an_empty_part_without_dimensions_is_no_image() -> None:
    ours, theirs = (lib.cat([lib.zeros(0), lib.zeros(2, 4, 5, 6).permute(0, 3, 1, 2)], 0).stride() for lib in (tenfold, torch))
    assert ours == theirs


@pytest.mark.filterwarnings("ignore:ComplexHalf")
@pytest.mark.parametrize("shape", [(1, 4), (4, 1), (4, 1, 1)])
def test_half_precision_that_is_expanded_beside_complex_numbers(shape: tuple[int, ...]) -> None:
    found = []
    for lib in (torch, tenfold):
        x = lib.ones(4, dtype=lib.float16).view(shape).expand(*(4 if n == 1 else n for n in shape))
        results = [x == 2j, x + 2j, x == lib.tensor(2j), x * lib.tensor(2j), x.mT == 2j]
        found.append([result.stride() for result in results])
    assert found[1] == found[0]
