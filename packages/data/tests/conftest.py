from __future__ import annotations

import sys
from pathlib import Path

import pytest

# Spawned workers import the cases by name, and inherit this path.
sys.path.insert(0, str(Path(__file__).parent))

_SHARED = Path("/dev/shm")


def _ours() -> set[str]:
    return {path.name for path in _SHARED.glob("tf*_*")} if _SHARED.is_dir() else set()


@pytest.fixture
def no_leaks():
    """Fails a test that leaves shared memory behind."""
    before = _ours()
    yield
    assert _ours() <= before
