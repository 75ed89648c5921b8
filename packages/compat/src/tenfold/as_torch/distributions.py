"""What `importlib.metadata` is told: `version("torch")` answers as if PyTorch were installed, and says by whom."""

from __future__ import annotations

import importlib.metadata
from typing import Any

from tenfold.as_torch.names import ROOTS


class TorchDistribution(importlib.metadata.Distribution):
    """One of PyTorch's distributions.

    >>> TorchDistribution("torch").version
    '2.13.0+tenfold'
    """

    def __init__(self, name: str) -> None:
        root = ROOTS[name]
        summary = f"{root.target} under PyTorch's name"
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {root.version}\nSummary: {summary}\n"
        self._texts = {"METADATA": metadata, "top_level.txt": f"{name}\n"}

    def read_text(self, filename: str) -> str | None:
        """The text of one of the few files that there are."""
        return self._texts.get(filename)

    def locate_file(self, path: Any) -> Any:
        """No file lies anywhere: FileNotFoundError."""
        raise FileNotFoundError(path)
