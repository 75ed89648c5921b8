"""Samplers of clips: how many of each film, and every process's share."""

import pytest

import tenfold
from tenfold.data import SequentialSampler
from tenfold.vision.datasets.samplers import DistributedSampler, RandomClipSampler, UniformClipSampler
from tenfold.vision.datasets.video_utils import VideoClips


def clips_of(*lengths):
    """Films of so many pictures, of which five make a clip, five apart."""
    metadata = {
        "video_paths": [str(number) for number in range(len(lengths))],
        "video_pts": [tenfold.arange(length) for length in lengths],
        "video_fps": [25.0] * len(lengths),
    }
    with pytest.warns(UserWarning, match="enough frames") if min(lengths) < 5 else _nothing():
        return VideoClips([], 5, 5, _precomputed_metadata=metadata)


class _nothing:
    def __enter__(self):
        pass

    def __exit__(self, *error):
        pass


def test_clips_at_even_distances():
    sampler = UniformClipSampler(clips_of(25, 3, 10), 3)
    assert len(sampler) == 6
    assert list(sampler) == [0, 2, 4, 5, 5, 6]


def test_clips_at_random():
    sampler = RandomClipSampler(clips_of(25, 3, 10), 3)
    tenfold.manual_seed(0)
    drawn = list(sampler)
    assert len(sampler) == len(drawn) == len(set(drawn)) == 5
    assert sum(clip >= 5 for clip in drawn) == 2  # both of the last film
    assert list(sampler) != drawn
    tenfold.manual_seed(0)
    assert list(sampler) == drawn
    assert list(RandomClipSampler(clips_of(25), 2)) != sorted(drawn)


def test_only_clips_of_films():
    for kind in (UniformClipSampler, RandomClipSampler):
        with pytest.raises(TypeError, match="instance of VideoClips"):
            kind([1, 2], 2)


def test_shares_of_processes():
    shares = [list(DistributedSampler(range(14), 4, rank)) for rank in range(4)]
    assert shares == [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 0], [3, 7, 11, 1]]
    shares = [list(DistributedSampler(range(14), 4, rank, group_size=2)) for rank in range(4)]
    assert shares == [[0, 1, 8, 9], [2, 3, 10, 11], [4, 5, 12, 13], [6, 7, 0, 1]]
    sampler = DistributedSampler(SequentialSampler(range(10, 16)), 2, 1)
    assert (list(sampler), len(sampler)) == ([1, 3, 5], 3)
    with pytest.raises(ValueError, match="multiplier of group size"):
        DistributedSampler(range(5), 2, 0, group_size=2)


def test_shuffled_shares_are_disjoint_and_change_with_the_epoch():
    samplers = [DistributedSampler(range(20), 2, rank, shuffle=True) for rank in range(2)]
    first = [list(sampler) for sampler in samplers]
    assert sorted(first[0] + first[1]) == list(range(20))
    samplers[0].set_epoch(1)
    assert list(samplers[0]) != first[0]
