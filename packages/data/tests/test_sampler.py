from __future__ import annotations

import pytest

import tenfold
from tenfold.data import (
    BatchSampler,
    DistributedSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)


def test_sequential_counts():
    assert list(SequentialSampler("abc")) == [0, 1, 2]
    assert len(SequentialSampler("abc")) == 3


def test_random_sampler_is_a_permutation_and_repeats_under_a_seed():
    tenfold.manual_seed(3)
    first = list(RandomSampler(range(20)))
    tenfold.manual_seed(3)
    assert first == list(RandomSampler(range(20)))
    assert sorted(first) == list(range(20))


def test_random_sampler_goes_through_whole_permutations():
    indices = list(RandomSampler(range(4), num_samples=10))
    assert sorted(indices[:4]) == sorted(indices[4:8]) == [0, 1, 2, 3]
    assert len(set(indices[8:])) == 2


def test_random_sampler_with_replacement():
    sampler = RandomSampler(range(3), replacement=True, num_samples=70)
    indices = list(sampler)
    assert (len(indices), len(sampler), set(indices)) == (70, 70, {0, 1, 2})


def test_random_sampler_follows_a_growing_dataset():
    data = [0, 1]
    sampler = RandomSampler(data)
    data.append(2)
    assert (len(sampler), sorted(sampler)) == (3, [0, 1, 2])


def test_random_sampler_refuses():
    with pytest.raises(TypeError, match="replacement should be a boolean value, but got replacement=1"):
        RandomSampler([1], replacement=1)
    for wrong in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="num_samples should be a positive integer"):
            RandomSampler([1], num_samples=wrong)
    with pytest.raises(ValueError, match="num_samples=0"):
        RandomSampler([])


def test_subset_random_sampler():
    sampler = SubsetRandomSampler([9, 4, 7], generator=tenfold.Generator().manual_seed(0))
    assert (sorted(sampler), len(sampler)) == ([4, 7, 9], 3)


def test_weighted_sampler_never_draws_weight_zero():
    drawn = list(WeightedRandomSampler([0.0, 3.0, 1.0], 50))
    assert set(drawn) == {1, 2}
    assert sorted(WeightedRandomSampler([1.0, 1.0, 1.0], 3, replacement=False)) == [0, 1, 2]


@pytest.mark.parametrize("arguments", [([1.0], 0), ([1.0], True), ([1.0], 1, 1), ([[1.0]], 1)])
def test_weighted_sampler_refuses(arguments):
    with pytest.raises(ValueError, match="WeightedRandomSampler"):
        WeightedRandomSampler(*arguments)


@pytest.mark.parametrize(("drop_last", "batches"), [(False, [[0, 1], [2, 3], [4]]), (True, [[0, 1], [2, 3]])])
def test_batch_sampler(drop_last, batches):
    sampler = BatchSampler(SequentialSampler(range(5)), 2, drop_last)
    assert (list(sampler), len(sampler)) == (batches, len(batches))


@pytest.mark.parametrize("arguments", [(0, False), (True, False), (1.0, False), (1, 0)])
def test_batch_sampler_refuses(arguments):
    with pytest.raises(ValueError, match="BatchSampler"):
        BatchSampler(range(3), *arguments)


@pytest.mark.parametrize("drop_last", [False, True])
def test_distributed_shares_cover_the_dataset(drop_last):
    samplers = [DistributedSampler(range(10), 3, rank, drop_last=drop_last) for rank in range(3)]
    shares = [list(sampler) for sampler in samplers]
    assert {len(share) for share in shares} == {len(samplers[0])} == {3 if drop_last else 4}
    assert len(set().union(*shares)) == (9 if drop_last else 10)


def test_distributed_order_depends_on_the_epoch():
    sampler = DistributedSampler(range(50), 2, 0)
    first = list(sampler)
    assert first == list(sampler)
    sampler.set_epoch(1)
    assert first != list(sampler)


def test_distributed_refuses():
    with pytest.raises(ValueError, match=r"Invalid rank 2.*\[0, 1\]"):
        DistributedSampler(range(4), 2, 2)


def test_sampler_asks_for_iter():
    with pytest.raises(NotImplementedError, match="__iter__"):
        iter(Sampler())
