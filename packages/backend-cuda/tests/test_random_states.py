"""The device's random numbers go on where they were: forked blocks, checkpointed parts, states that programs keep."""

from __future__ import annotations

import types

import pytest

import tenfold
from tenfold.cuda import capturing, seeding
from tenfold.nn import functional as F
from tenfold.utils.checkpoint import checkpoint, get_device_states, set_device_states


@pytest.fixture(autouse=True)
def _seeded():
    tenfold.manual_seed(3)
    tenfold.rand(1, device="cuda")


@pytest.mark.parametrize("reentrant", [False, True])
def test_a_part_that_runs_again_drops_the_same(reentrant):
    x, seen = tenfold.ones(200, device="cuda", requires_grad=True), []

    def part(x):
        seen.append(F.dropout(x, 0.5))
        return seen[-1] * 1

    out = checkpoint(part, x, use_reentrant=reentrant)
    between = tenfold.rand(4, device="cuda")
    out.sum().backward()
    assert x.grad.tolist() == seen[0].tolist()
    after = tenfold.rand(4, device="cuda")
    tenfold.manual_seed(3)
    tenfold.rand(1, device="cuda")
    F.dropout(x, 0.5)
    assert tenfold.rand(4, device="cuda").tolist() == between.tolist()
    assert tenfold.rand(4, device="cuda").tolist() == after.tolist()  # the second run has drawn nothing of its own


def test_a_forked_block_leaves_the_devices_numbers():
    for devices, forked in ((None, True), ([0], True), (["cuda:0"], True), ([tenfold.device("cuda")], True), ([], False)):
        with tenfold.random.fork_rng(devices=devices):
            inside = tenfold.rand(4, device="cuda"), tenfold.rand(4)
        outside = tenfold.rand(4, device="cuda"), tenfold.rand(4)
        assert inside[0].equal(outside[0]) is forked
        assert inside[1].equal(outside[1])


def test_states_of_devices_are_put_back():
    devices, states = get_device_states(tenfold.ones(1, device="cuda"), [tenfold.ones(1)])
    assert devices == [0]
    drawn = tenfold.rand(3, device="cuda")
    set_device_states(devices, states)
    assert tenfold.rand(3, device="cuda").tolist() == drawn.tolist()
    set_device_states(devices, states, device_type="cuda")
    assert tenfold.rand(3, device="cuda").tolist() == drawn.tolist()


def test_draws_that_a_graph_records_are_put_back(monkeypatch):
    capture = types.SimpleNamespace(draws={(0, 1): types.SimpleNamespace(counters=8)})
    monkeypatch.setattr(capturing, "CAPTURES", [capture])
    monkeypatch.setattr(capturing, "current", lambda: capture)
    restore = seeding.kept([0])
    capture.draws[0, 1].counters = 24
    capture.draws[0, 2] = types.SimpleNamespace(counters=4)
    restore()
    assert [draws.counters for draws in capture.draws.values()] == [8, 0]
