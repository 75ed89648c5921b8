"""What the modules of libraries that are not there have in common."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any


def is_available() -> bool:
    """Whether the library is there: never."""
    return False


def is_built() -> bool:
    """Whether Tenfold was built with the library: never."""
    return False


def flags_of(module: str) -> Any:
    """A `flags(...)` for a module: a context in which its switches have other values."""

    @contextlib.contextmanager
    def flags(**switches: Any) -> Iterator[None]:
        here = sys.modules[module]
        before = {name: getattr(here, name) for name in switches}
        for name, value in switches.items():
            setattr(here, name, value)
        try:
            yield
        finally:
            for name, value in before.items():
                setattr(here, name, value)

    return flags
