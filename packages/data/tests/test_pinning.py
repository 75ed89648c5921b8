from __future__ import annotations

from collections import OrderedDict
from typing import Any, NamedTuple

from tenfold.data.pinning import pin


class Pinned:
    def __init__(self, pinned=False):
        self.pinned = pinned

    def pin_memory(self):
        return Pinned(True)


class Pair(NamedTuple):
    x: Any
    y: Any


def test_everything_that_can_be_pinned_is():
    batch = OrderedDict(a=[Pinned(), "text", 1], b=Pair(Pinned(), None), c=(Pinned(),))
    result = pin(batch)
    assert type(result) is OrderedDict
    assert type(result["b"]) is Pair
    assert all(part.pinned for part in (result["a"][0], result["b"].x, result["c"][0]))
    assert (result["a"][1:], result["b"].y) == (["text", 1], None)
    assert not batch["a"][0].pinned
