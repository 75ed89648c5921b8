from __future__ import annotations

import pytest

import tenfold
from tenfold.data import (
    ChainDataset,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    default_collate,
    random_split,
)
from tenfold.data.collation import default_collate_fn_map


class Letters(IterableDataset):
    def __iter__(self):
        return iter("ab")

    def __len__(self):
        return 2


class Doubles(Dataset):
    def __len__(self):
        return 5

    def __getitem__(self, index):
        return 2 * index

    def __getitems__(self, indices):
        return [2 * index + 0.5 for index in indices]


def test_base_classes_ask_for_their_methods():
    with pytest.raises(NotImplementedError, match="__getitem__"):
        Dataset()[0]
    with pytest.raises(NotImplementedError, match="__iter__"):
        iter(IterableDataset())


def test_tensor_dataset_gives_rows_and_wants_equal_sizes():
    dataset = TensorDataset(tenfold.arange(6).reshape(3, 2), tenfold.tensor([7, 8, 9]))
    x, y = dataset[2]
    assert (x.tolist(), y.item(), len(dataset)) == ([4, 5], 9, 3)
    with pytest.raises(AssertionError, match="Size mismatch"):
        TensorDataset(tenfold.ones(2), tenfold.ones(3))


def test_concat_indexes_through_its_parts():
    dataset = ConcatDataset([[1, 2], [], [3]])
    assert [dataset[i] for i in range(-3, 3)] == [1, 2, 3, 1, 2, 3]
    assert (len(dataset), dataset.cumulative_sizes) == (3, [2, 2, 3])
    with pytest.raises(ValueError, match="should not exceed"):
        dataset[-4]
    with pytest.raises(IndexError):
        dataset[3]


@pytest.mark.parametrize("parts", [[], [Letters()]])
def test_concat_refuses(parts):
    with pytest.raises(AssertionError):
        ConcatDataset(parts)


def test_plus_concatenates_or_chains():
    assert isinstance(Doubles() + Doubles(), ConcatDataset)
    chained = Letters() + Letters()
    assert (list(chained), len(chained)) == (["a", "b", "a", "b"], 4)
    with pytest.raises(AssertionError, match="only supports IterableDataset"):
        list(ChainDataset([Doubles()]))


def test_stack_in_tuples_and_dicts():
    assert StackDataset([1, 2], Doubles().__getitems__([0, 1]))[1] == (2, 2.5)
    stacked = StackDataset(a=[1, 2, 3, 4, 5], b=Doubles())
    assert stacked[1] == {"a": 2, "b": 2}
    assert stacked.__getitems__([1]) == [{"a": 2, "b": 2.5}]
    assert len(stacked) == 5


@pytest.mark.parametrize(("args", "kwargs"), [((), {}), (([1],), {"a": [2]}), (([1], [1, 2]), {}), ((), {"a": [1], "b": []})])
def test_stack_refuses(args, kwargs):
    with pytest.raises(ValueError, match="StackDataset"):
        StackDataset(*args, **kwargs)


def test_stack_checks_what_getitems_gives():
    class Short(Doubles):
        def __getitems__(self, indices):
            return []

    with pytest.raises(ValueError, match=r"Short\.__getitems__: Nested dataset's output size mismatch\. Expected 2, got 0"):
        StackDataset(Short()).__getitems__([0, 1])


def test_subset_maps_indices_and_keeps_batched_access():
    subset = Subset(Doubles(), [4, 0])
    assert ([subset[0], subset[1]], subset.__getitems__([1, 0]), len(subset)) == ([8, 0], [0.5, 8.5], 2)
    assert Subset([10, 20, 30], [2, 1]).__getitems__([0]) == [30]


def test_random_split_parts_cover_and_repeat_under_a_seed():
    def parts():
        return [part.indices for part in random_split(range(10), [3, 7], generator=tenfold.Generator().manual_seed(4))]

    assert parts() == parts()
    assert sorted(parts()[0] + parts()[1]) == list(range(10))


def test_random_split_by_fractions():
    assert [len(part) for part in random_split(range(10), [0.33, 0.33, 0.34])] == [4, 3, 3]
    with pytest.warns(UserWarning, match="index 1 is empty"):
        assert [len(part) for part in random_split(range(2), [0.9, 0.1])] == [2, 0]


@pytest.mark.parametrize("lengths", [[3, 3], [0.5, 0.6], [0.5, 0.4], [-0.5, 1.5]])
def test_random_split_refuses(lengths):
    with pytest.raises(ValueError, match="random_split"):
        random_split(range(10), lengths)


class Doubled(TensorDataset):
    """A dataset that changes what its base gives."""

    def __getitem__(self, index):
        return tuple(2 * part for part in super().__getitem__(index))


def test_batches_at_once_are_what_collation_makes():
    x, y, z = tenfold.arange(24.0).reshape(8, 3), tenfold.arange(8), tenfold.arange(8.0, requires_grad=False)
    plain = TensorDataset(x, y, z)
    stacked = {"a": plain, "b": list(range(8)), "c": Subset(plain, range(7, -1, -1))}
    cases = [
        plain,
        Subset(plain, [5, 1, 0, 7, 2]),
        StackDataset(plain, x),
        StackDataset(**stacked),
        Doubled(x, y),
        Subset(Doubled(x, y), [3, 1, 2]),
    ]
    for dataset in cases:
        for indices in ([0, 2, 1], [1], [-1, 0]):
            sampled = default_collate([dataset[index] for index in indices])
            at_once = next(iter(DataLoader(dataset, batch_sampler=[indices])))
            assert repr(at_once) == repr(sampled)
            assert type(at_once) is type(sampled)
    with pytest.raises(IndexError):
        next(iter(DataLoader(plain, batch_sampler=[[8]])))


def test_the_users_collation_of_tensors_is_heeded(monkeypatch):
    monkeypatch.setitem(default_collate_fn_map, tenfold.Tensor, lambda batch, *, collate_fn_map=None: tuple(batch))
    batch = next(iter(DataLoader(TensorDataset(tenfold.arange(4)), batch_size=2)))
    assert [type(part) for part in batch] == [tuple]


def test_the_first_name_of_the_sizes_of_a_concatenation():
    with pytest.warns(FutureWarning, match="cumulative_sizes"):
        assert ConcatDataset(["ab", "c"]).cummulative_sizes == ConcatDataset.cumsum(["ab", "c"]) == [2, 3]


def test_a_subset_passes_on_what_getitems_makes_of_a_batch():
    class Sums(Doubles):
        def __getitems__(self, indices):
            return [sum(indices)]

    assert [batch.tolist() for batch in DataLoader(Subset(Sums(), [0, 1, 2]), 2)] == [[1], [2]]
