"""`tenfold.__config__`: what the installation is made of."""

from __future__ import annotations

import os

import numpy as np

from tenfold.settings.threads import get_num_threads
from tenfold.version import __version__


def show() -> str:
    """The versions that count, as text.

    >>> show().startswith("Tenfold")
    True
    """
    return f"Tenfold {__version__} with:\n  - NumPy {np.__version__}\n"


def parallel_info() -> str:
    """How many threads products use, as text."""
    return f"threads: {get_num_threads()}\nprocessors: {os.cpu_count()}\n"


def _cxx_flags() -> str:
    return ""  # nothing is compiled
