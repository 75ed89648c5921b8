from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def own_registries() -> Iterator[None]:
    """What a test registers is gone after it."""
    from tenfold.testing import temporary_registrations

    with temporary_registrations():
        yield
