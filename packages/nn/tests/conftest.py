"""What the tests of this package share: a call in both libraries, and what has to agree."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def oracle() -> Any:
    """The module `oracle` beside this file, which needs PyTorch."""
    sys.path.insert(0, str(Path(__file__).parent))
    try:
        import oracle
    finally:
        sys.path.pop(0)
    return oracle


@pytest.fixture(scope="session")
def agree(oracle: Any) -> Any:
    """`oracle.agree`: the same call in Tenfold and PyTorch has to give the same."""
    return oracle.agree
