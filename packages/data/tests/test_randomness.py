"""The snapshots of random states that workers take at each batch."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.data.randomness import get_random_state, portable, set_random_state


def drawn(kind):
    return {
        "words": lambda: np.random.randint(2**32, size=3).tolist(),
        "one normal": lambda: [np.random.normal()],  # the second of a pair is kept for the next call
        "nothing": list,
        "numbers": lambda: np.random.random(700).tolist(),
        "permutation": lambda: np.random.permutation(5).tolist(),
    }[kind]()


KINDS = ["words", "one normal", "nothing", "numbers", "permutation"]


@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize("second", KINDS)
def test_each_snapshot_tells_where_numpy_was(first, second):
    """Whatever was drawn between two snapshots, the cached normal sample included."""
    np.random.seed(5)
    snapshots, followed = [], []
    for kind in (first, second, first, second, second):
        snapshots.append(get_random_state())
        followed.append(np.random.get_state())
        drawn(kind)
    for snapshot, (_, words, *rest) in zip(snapshots, followed, strict=True):
        assert (snapshot["numpy"][1] == words).all()
        assert list(snapshot["numpy"][2:]) == rest


def test_another_bit_generator_is_asked_itself():
    before = np.random.get_bit_generator()
    try:
        np.random.set_bit_generator(np.random.PCG64(1))
        state = get_random_state()
        expected = np.random.random(), np.random.normal()
        set_random_state(portable(state))
        assert (np.random.random(), np.random.normal()) == expected
    finally:
        np.random.set_bit_generator(before)


def test_a_state_set_back_gives_the_same_numbers():
    np.random.seed(3)
    tenfold.manual_seed(3)
    np.random.normal()
    state = get_random_state()
    expected = np.random.normal(), np.random.random(), tenfold.randn(3).tolist(), tenfold.rand(700).tolist()
    set_random_state(state)
    assert (np.random.normal(), np.random.random(), tenfold.randn(3).tolist(), tenfold.rand(700).tolist()) == expected


def test_a_state_that_differs_by_its_cached_sample_alone():
    np.random.seed(3)
    state = get_random_state()
    name, words, position, _, _ = state["numpy"]
    set_random_state({**state, "numpy": (name, words, position, 1, 0.25)})
    assert get_random_state()["numpy"][3:] == (1, 0.25)
