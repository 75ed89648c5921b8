"""Indexing and its kin against NumPy: random indices where the semantics agree, stated numbers elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import tenfold

FAST = settings(max_examples=150, deadline=None)
SHAPES = st.lists(st.integers(1, 4), min_size=1, max_size=4)


def fresh(shape: list[int]) -> tuple[Any, Any]:
    a = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    return tenfold.tensor(a), a.copy()


@st.composite
def basic(draw: Any, shape: list[int]) -> Any:
    """Ints, slices, None and at most one ..., for some of the dimensions."""
    used = draw(st.integers(0, len(shape)))
    items: list[Any] = []
    for n in shape[:used]:
        if draw(st.booleans()):
            items.append(draw(st.integers(-n, n - 1)))
        else:
            step = draw(st.none() | st.integers(1, 3))
            items.append(slice(draw(st.none() | st.integers(-5, 5)), draw(st.none() | st.integers(-5, 5)), step))
    for _ in range(draw(st.integers(0, 2))):
        items.insert(draw(st.integers(0, len(items))), None)
    if draw(st.booleans()):
        items.append(Ellipsis)
    return items[0] if len(items) == 1 and draw(st.booleans()) else tuple(items)


@st.composite
def advanced(draw: Any, shape: list[int]) -> tuple[Any, Any]:
    """Slices and arrays (or one mask); the same index for both libraries."""
    if draw(st.booleans()) and draw(st.booleans()):
        k = draw(st.integers(1, len(shape)))
        mask = np.array(
            draw(st.lists(st.booleans(), min_size=int(np.prod(shape[:k])), max_size=int(np.prod(shape[:k]))))
        ).reshape(shape[:k])
        return tenfold.tensor(mask), mask
    common = draw(st.sampled_from([(2,), (2, 3), (1, 3), (0,)]))
    ours: list[Any] = []
    theirs: list[Any] = []
    for n in shape[: draw(st.integers(1, len(shape)))]:
        if draw(st.booleans()):
            where = draw(st.lists(st.integers(-n, n - 1), min_size=int(np.prod(common)), max_size=int(np.prod(common))))
            array = np.array(where, np.int64).reshape(common)
            theirs.append(array)
            ours.append(draw(st.sampled_from([tenfold.tensor(array), array, array.tolist() if array.size else array])))
        else:
            ours.append(slice(draw(st.none() | st.integers(0, 2)), None))
            theirs.append(ours[-1])
    return tuple(ours), tuple(theirs)


@FAST
@given(SHAPES, st.data())
def test_basic_indices_give_numpys_views(shape: list[int], data: Any) -> None:
    x, a = fresh(shape)
    index = data.draw(basic(shape))
    part = x[index]
    np.testing.assert_array_equal(part.numpy(), a[index])
    assert part._is_view()
    there = tenfold.empty(shape, dtype=tenfold.int64, device="meta")[index]
    assert there.shape == part.shape
    if part.numel():
        assert there.storage_offset() == part.storage_offset()


@FAST
@given(SHAPES, st.data())
def test_advanced_indices_gather_as_numpys(shape: list[int], data: Any) -> None:
    x, a = fresh(shape)
    ours, theirs = data.draw(advanced(shape))
    found = x[ours]
    np.testing.assert_array_equal(found.numpy(), a[theirs])
    if any(isinstance(i, np.ndarray) for i in theirs):
        assert not found._is_view()
        if theirs is not ours and isinstance(theirs, tuple):
            there = tenfold.empty(shape, dtype=tenfold.int64, device="meta")
            moved = tuple(i.to("meta") if isinstance(i, tenfold.Tensor) else i for i in ours)
            assert there[moved].shape == found.shape


@FAST
@given(SHAPES, st.data())
def test_assignment_writes_as_numpys(shape: list[int], data: Any) -> None:
    x, a = fresh(shape)
    ours, theirs = data.draw(advanced(shape) | basic(shape).map(lambda i: (i, i)))
    if data.draw(st.booleans()):
        value: Any = -7
        x[ours] = value
        a[theirs] = value
    else:  # the same value wherever two indices meet one place
        value = -np.arange(a[theirs].size).reshape(a[theirs].shape)
        if len(np.unique(np.arange(a.size).reshape(a.shape)[theirs])) != a[theirs].size:
            value = np.full(a[theirs].shape, -3)
        x[ours] = tenfold.tensor(value.copy())
        a[theirs] = value
    np.testing.assert_array_equal(x.numpy(), a)
    assert x._version >= 1


@FAST
@given(SHAPES, st.data())
def test_accumulating_writes_add_at_every_place(shape: list[int], data: Any) -> None:
    x, a = fresh(shape)
    rows = np.array(data.draw(st.lists(st.integers(-shape[0], shape[0] - 1), min_size=1, max_size=6)))
    values = np.arange(a[rows].size).reshape(a[rows].shape)
    np.add.at(a, (rows,), values)
    place = tenfold.tensor(rows)
    np.testing.assert_array_equal(x.index_put((place,), tenfold.tensor(values), accumulate=True).numpy(), a)
    np.testing.assert_array_equal(x.index_add(0, tenfold.tensor(rows % shape[0]), tenfold.tensor(values)).numpy(), a)
    np.testing.assert_array_equal(x.index_put_((place,), tenfold.tensor(values), accumulate=True).numpy(), a)


@FAST
@given(SHAPES, st.data())
def test_gather_and_scatter_follow_the_index(shape: list[int], data: Any) -> None:
    x, a = fresh(shape)
    d = data.draw(st.integers(-len(shape), len(shape) - 1))
    cells = data.draw(st.lists(st.integers(0, shape[d] - 1), min_size=a.size, max_size=a.size))
    index = np.array(cells).reshape(shape)
    np.testing.assert_array_equal(x.gather(d, tenfold.tensor(index)).numpy(), np.take_along_axis(a, index, d))
    added = a.copy()
    for place in np.ndindex(*shape):
        target = list(place)
        target[d] = index[place]
        added[tuple(target)] += a[place]
    np.testing.assert_array_equal(x.scatter_add(d, tenfold.tensor(index), x).numpy(), added)


@FAST
@given(SHAPES, st.data())
def test_rearrangements_are_numpys(shape: list[int], data: Any) -> None:
    x, a = fresh(shape)
    d = data.draw(st.integers(-len(shape), len(shape) - 1))
    k = data.draw(st.integers(-5, 5))
    times = data.draw(st.lists(st.integers(0, 2), min_size=len(shape), max_size=len(shape) + 1))
    counts = data.draw(st.lists(st.integers(0, 3), min_size=shape[d], max_size=shape[d]))
    pairs = [
        (x.flip(d), np.flip(a, d)), (x.roll(k), np.roll(a, k)), (x.roll(k, d), np.roll(a, k, d)),
        (x.repeat(*times), np.tile(a, times)), (x.repeat_interleave(2, d), np.repeat(a, 2, d)),
        (x.repeat_interleave(tenfold.tensor(counts, dtype=tenfold.int64), d), np.repeat(a, counts, d)),
        (tenfold.cat([x, x[:1]], 0), np.concatenate([a, a[:1]], 0)), (tenfold.stack([x, x], d), np.stack([a, a], d)),
        (x.nonzero(), np.argwhere(a)), (x.take(tenfold.tensor([0, -1])), a.take([0, -1])),
    ]  # fmt: skip
    if a.ndim >= 2:
        pairs += [(x.tril(k), np.tril(a, k)), (x.triu(k), np.triu(a, k))]
    for ours, theirs in pairs:
        np.testing.assert_array_equal(ours.numpy(), theirs)


def test_where_indexed_dimensions_go() -> None:
    x, i = tenfold.zeros(2, 3, 4, 5), tenfold.tensor([0, 1])
    assert x[:, i, i].shape == (2, 2, 5)
    assert x[i, :, i].shape == (2, 3, 5)
    assert x[0, :, i].shape == (3, 2, 5)  # NumPy would give (2, 3, 5): PyTorch takes the int first
    assert x[:, None, i].shape == (2, 1, 2, 4, 5)
    assert x[..., i].shape == (2, 3, 4, 2)
    assert x[True].shape == (1, 2, 3, 4, 5)
    assert x[False].shape == (0, 2, 3, 4, 5)
    assert x[tenfold.tensor(1)].shape == (3, 4, 5)
    assert x[tenfold.tensor(1)]._is_view()
    assert x[[0, 1]].shape == x[np.array([0, 1])].shape == (2, 3, 4, 5)
    assert x[np.int64(1), np.array(2)].shape == (4, 5)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: x[0, 0, 0], IndexError, "too many indices for tensor of dimension 2"),
        (lambda x: x[5], IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
        (lambda x: x[0, -4], IndexError, "index -4 is out of bounds for dimension 1 with size 3"),
        (lambda x: x[::-1], ValueError, "step must be greater than zero"),
        (lambda x: x[0, 0][0], IndexError, "invalid index of a 0-dim tensor"),
        (lambda x: x["a"], TypeError, "invalid data type 'str'"),
        (lambda x: x[tenfold.tensor([0.5])], IndexError, "must be long, int, byte or bool"),
        (lambda x: x[tenfold.tensor([2])], IndexError, "index 2 is out of bounds for dimension 0 with size 2"),
        (lambda x: x[tenfold.tensor([True])], IndexError, r"shape of the mask \[1\] at index 0 does not match"),
        (lambda x: x[tenfold.tensor([0, 1]), tenfold.tensor([0, 1, 2])], IndexError, "shape mismatch: indexing tensors"),
        (lambda x: x.__setitem__(0, tenfold.ones(2)), RuntimeError, r"expanded size of the tensor \(3\)"),
        (lambda x: x.__setitem__(9, 1), IndexError, "index 9 is out of bounds"),
        (lambda x: x.__setitem__(slice(None, None, -1), 1), ValueError, "step must be greater than zero"),
        (lambda x: x.gather(0, tenfold.tensor([[3]])), RuntimeError, "index 3 is out of bounds for dimension 0 with size 2"),
        (lambda x: x.gather(0, tenfold.tensor([0])), RuntimeError, "same number of dimensions as input"),
        (lambda x: x.scatter(0, tenfold.tensor([[0]]), tenfold.ones(1, 1)), RuntimeError, "self.dtype to be equal to src.dtype"),
        (lambda x: x.scatter_reduce(0, tenfold.tensor([[0]]), x, "max"), RuntimeError, "must be either sum, prod"),
        (lambda x: x.index_select(0, tenfold.tensor([[0]])), IndexError, "supposed to be a vector"),
        (lambda x: x.masked_select(tenfold.ones(2, 3)), RuntimeError, "expected BoolTensor"),
        (lambda x: x.tril().repeat(2), RuntimeError, "can not be smaller than number of dimensions"),
        (lambda x: x[0].tril(), RuntimeError, "at least 2 dimensions"),
        (lambda x: tenfold.cat([]), ValueError, "non-empty list"),
        (lambda x: tenfold.cat([x, x[:1]], 1), RuntimeError, "Sizes of tensors must match except in dimension 1"),
        (lambda x: tenfold.cat([x[0, 0]]), RuntimeError, "zero-dimensional tensor"),
        (lambda x: tenfold.stack([x, x[0]]), RuntimeError, "each tensor to be equal size"),
    ],
)  # fmt: skip
def test_errors(call: Any, error: type, text: str) -> None:
    with pytest.raises(error, match=text):
        call(tenfold.arange(6).view(2, 3))


def test_assignment_converts_and_broadcasts() -> None:
    x = tenfold.zeros(2, 3, dtype=tenfold.int64)
    x[0] = 2.9
    x[:, 1] = tenfold.tensor([True, False])
    x[1, tenfold.tensor([0, 2])] = tenfold.tensor([5])
    x[0:1] += 1
    assert x.tolist() == [[3, 2, 3], [5, 0, 5]]
    x[...] = tenfold.tensor([[[7, 8, 9]]])
    assert x.tolist() == [[7, 8, 9], [7, 8, 9]]
    x[1] = np.array([1, 2, 3])
    x[0] = [4, 5, 6]
    assert x.tolist() == [[4, 5, 6], [1, 2, 3]]


def test_assignment_between_overlapping_parts() -> None:
    x = tenfold.arange(5)
    x[1:] = x[:-1].clone()
    assert x.tolist() == [0, 0, 1, 2, 3]


def test_empty_parts_are_left_out_of_cat() -> None:
    x = tenfold.ones(2, 3)
    assert tenfold.cat([tenfold.empty(0), x, tenfold.empty(0)]).shape == (2, 3)
    assert tenfold.cat([x, tenfold.ones(1, 3, dtype=tenfold.float64)]).dtype is tenfold.float64


def test_half_types_round_once_in_scatter_add_and_each_time_in_index_put() -> None:
    """As PyTorch's, to the bit; a sum that is rounded each time stops where an addition is less than half of its last bit."""
    x, at = tenfold.zeros(2, dtype=tenfold.bfloat16), tenfold.zeros(1000, dtype=tenfold.int64)
    many = tenfold.full((1000,), 0.01).to(tenfold.bfloat16)
    once, each = x.scatter_add(0, at, many), x.index_put((at,), many, accumulate=True)
    assert abs(float(once[0]) - 10.0) < 0.1
    assert float(each[0]) == 4.0
    assert once.tolist()[1] == each.tolist()[1] == 0.0


@pytest.mark.parametrize(
    ("shape", "pick"),
    [((0, 0, 4), lambda x: x[:, None, tenfold.tensor([0, 0])]), ((0, 4), lambda x: x[tenfold.tensor([0])]),
     ((0, 0, 4), lambda x: x[:, tenfold.tensor([0])])],
)  # fmt: skip
def test_positions_in_an_empty_dimension_are_refused_though_nothing_is_found(shape, pick):
    with pytest.raises(IndexError, match="index is out of bounds for dimension with size 0"):
        pick(tenfold.zeros(shape))


def test_complex_views_begin_at_a_pair():
    x = tenfold.arange(6.0)
    assert tenfold.view_as_complex(x[2:4]).item() == 2 + 3j
    with pytest.raises(RuntimeError, match="storage_offset divisible by 2"):
        tenfold.view_as_complex(x[1:3])
    assert tenfold.view_as_complex(tenfold.zeros(0, 2, dtype=tenfold.complex64).imag).shape == (0,)


def test_a_byte_without_dimensions_beside_other_indices_of_a_transposed_tensor():
    x, yes = tenfold.arange(24.0).reshape(2, 3, 4).transpose(0, 2), tenfold.tensor(1, dtype=tenfold.uint8)
    with pytest.warns(UserWarning, match="indexing with dtype"):
        found = x[-3, tenfold.tensor([True, True, False]), None, yes, -1:]
    assert found.shape == (2, 1, 1)
    assert found.flatten().tolist() == x[-3, :2, -1].tolist()


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_sums_that_overflow_at_one_place_are_infinite_without_a_warning(dtype):
    largest = tenfold.finfo(getattr(tenfold, dtype)).max
    x, at = tenfold.full((3,), largest, dtype=getattr(tenfold, dtype)), tenfold.tensor([0, 0, 1])
    for found in (
        x.index_put((at,), x, accumulate=True), x.scatter_add(0, at, x), x.index_add(0, at, x),
        x.scatter_reduce(0, at, x, "sum"), x.scatter_reduce(0, at, x, "prod"),
    ):  # fmt: skip
        assert found.isinf().tolist() == [True, True, False]


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("name", ["index_put", "index_put_"])
def test_bytes_are_masks_wherever_elements_are_written(name, accumulate):
    eye, values = tenfold.eye(2), tenfold.tensor([5.0, 6.0])
    with pytest.warns(UserWarning, match="indexing with dtype torch.uint8 is now deprecated"):
        found = getattr(eye.clone(), name)((eye.to(tenfold.uint8),), values, accumulate)
    assert found.tolist() == [[5.0 + accumulate, 0.0], [0.0, 6.0 + accumulate]]


def test_short_integers_are_no_positions():
    with pytest.raises(IndexError, match="must be long, int, byte or bool tensors"):
        tenfold.eye(2).index_put((tenfold.tensor([0], dtype=tenfold.int16),), tenfold.ones(2))


def test_strides_of_one_element_are_no_matter_to_complex_views():
    x = tenfold.arange(6.0).view(3, 2, 1).transpose(1, 2)  # strides 2, 1, 1
    assert tenfold.view_as_complex(x).tolist() == [[1j], [2 + 3j], [4 + 5j]]
