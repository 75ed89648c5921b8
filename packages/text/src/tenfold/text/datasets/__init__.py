"""Text datasets."""

from __future__ import annotations

from tenfold.text.datasets.characters import CharacterDataset, pydoc_topics

__all__ = ["CharacterDataset", "pydoc_topics"]
