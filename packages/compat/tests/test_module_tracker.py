"""Which modules run, as `ModuleTracker` sees it, in both passes and in each of several."""

from __future__ import annotations

import pytest

import tenfold
from tenfold.utils.module_tracker import ModuleTracker

nn = pytest.importorskip("tenfold.nn")


class _Seen(nn.Module):
    def __init__(self, tracker, forward, backward):
        super().__init__()
        self.tracker, self.told, self.heard = tracker, forward, backward

    def forward(self, x):
        self.told.append((sorted(self.tracker.parents), self.tracker.is_bw))
        inner = x * x
        inner.register_hook(lambda _: self.heard.append((sorted(self.tracker.parents), self.tracker.is_bw)))
        return inner + 1


def test_each_module_is_seen_in_both_passes():
    tracker, forward, backward = ModuleTracker(), [], []
    net = nn.Sequential(_Seen(tracker, forward, backward), _Seen(tracker, forward, backward))
    with tracker:
        for _ in range(2):
            net(tenfold.ones(2, requires_grad=True).clone()).sum().backward()
            assert not tracker.is_bw
    first, second = (["Global", "Sequential", f"Sequential.{i}"] for i in range(2))
    assert forward == [(first, False), (second, False)] * 2
    assert backward == [(second, True), (first, True)] * 2
