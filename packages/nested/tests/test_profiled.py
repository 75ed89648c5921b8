"""Nested tensors under a profiler that keeps shapes."""

from __future__ import annotations

import pytest

import tenfold


@pytest.mark.parametrize("layout", ["strided", "jagged"])
def test_calls_of_nested_tensors_are_recorded(layout):
    nested = tenfold.nested.nested_tensor([tenfold.ones(2, 3), tenfold.ones(4, 3)], layout=getattr(tenfold, layout))
    with tenfold.profiler.profile(record_shapes=True) as prof:
        tenfold.nn.functional.linear(nested, tenfold.ones(5, 3))
    assert any(event.name == "linear" for event in prof.events())
