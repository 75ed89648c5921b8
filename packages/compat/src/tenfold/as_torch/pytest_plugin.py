"""`pytest -p tenfold.as_torch.pytest_plugin`: the tests' `import torch` is Tenfold.

Plugins named with -p are loaded before those of installed packages, some of which import PyTorch. In a project's own settings:
`addopts = "-p tenfold.as_torch.pytest_plugin"`.
"""

from __future__ import annotations

import tenfold
from tenfold.as_torch.installing import install


def pytest_plugin_registered(plugin: object) -> None:
    """The first call of all is about this plugin itself, before those of installed packages are imported."""
    if getattr(plugin, "__name__", None) == __name__:
        install()


def pytest_report_header() -> str:
    """A line at the head of pytest's report."""
    return f"torch: Tenfold {tenfold.__version__}, by tenfold.as_torch"
