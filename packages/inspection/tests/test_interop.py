"""Threads between operators: a number that is kept, once."""

from __future__ import annotations

import pytest

import tenfold
from tenfold.inspection import interop


def test_threads_between_operators_are_set_once(monkeypatch):
    monkeypatch.setattr(interop, "_requested", [])
    assert tenfold.get_num_interop_threads() >= 1
    tenfold.set_num_interop_threads(3)
    assert tenfold.get_num_interop_threads() == 3
    with pytest.raises(RuntimeError, match="cannot set number of interop threads"):
        tenfold.set_num_interop_threads(2)
