"""Batches of samples of about one length."""

from __future__ import annotations

import pytest

import tenfold
from tenfold.data.buckets import BucketSampler

LENGTHS = [(7 * i) % 50 + 1 for i in range(230)]


@pytest.mark.parametrize("drop", [False, True])
def test_batches_of_about_one_length(drop):
    tenfold.manual_seed(0)
    sampler = BucketSampler(LENGTHS, batch_size=16, drop_last=drop)
    batches = list(sampler)
    assert len(batches) == len(sampler)
    seen = sorted(index for batch in batches for index in batch)
    assert len(seen) == (224 if drop else 230) == len(set(seen))
    spread = [max(LENGTHS[i] for i in batch) - min(LENGTHS[i] for i in batch) for batch in batches]
    assert max(spread) <= 6
    assert batches != sorted(batches, key=lambda batch: LENGTHS[batch[0]])
    tenfold.manual_seed(0)
    assert batches == list(sampler)
    assert batches != list(sampler)


def test_batches_of_at_most_so_many_tokens():
    sampler = BucketSampler(LENGTHS, batch_size=64, max_tokens=120, shuffle=False)
    batches = list(sampler)
    assert len(sampler) == len(batches)
    assert all(len(batch) * max(LENGTHS[i] for i in batch) <= 120 for batch in batches)
    assert sorted(index for batch in batches for index in batch) == list(range(230))
    with pytest.raises(TypeError, match="differs from pass to pass"):
        len(BucketSampler(LENGTHS, 64, max_tokens=120))


@pytest.mark.parametrize("wrong", [{"batch_size": 0}, {"batch_size": 2, "bucket_batches": 0}, {"batch_size": 2, "max_tokens": 3}])
def test_batches_that_cannot_be(wrong):
    with pytest.raises(ValueError, match="BucketSampler"):
        BucketSampler([5, 1], **wrong)
