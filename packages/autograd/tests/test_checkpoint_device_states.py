"""The random states of devices, which programs keep themselves when they run a part again."""

from __future__ import annotations

import pytest

import tenfold
from tenfold.random.generator import get_rng_state
from tenfold.utils.checkpoint import get_device_states, set_device_states


def test_the_cpu_and_meta_are_none_of_the_devices():
    assert get_device_states(tenfold.ones(2), {"x": [tenfold.empty(2, device="meta")]}, 3, None) == ([], [])


def test_nothing_is_put_back_for_no_devices():
    before = get_rng_state().tolist()
    set_device_states(*get_device_states(tenfold.rand(2)))
    assert get_rng_state().tolist() != before  # the draw stays


def test_each_device_needs_a_state():
    with pytest.raises(ValueError, match="1 devices and 0 states"):
        set_device_states([0], [])
