from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

# Spawned workers import the cases by name, and inherit this path.
sys.path.insert(0, str(Path(__file__).parent))

from data_cases import blocks_of

from tenfold.testing.file_server import file_server, offline

__all__ = ["file_server", "offline"]


@pytest.fixture
def no_leaks():
    """Fails a test that leaves shared memory behind."""
    yield
    assert blocks_of(os.getpid()) == []
