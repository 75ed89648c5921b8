from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def site(tmp_path):
    """A folder of made-up distributions beside tenfold-core alone."""
    from fake_plugins import Site

    return Site(tmp_path)
