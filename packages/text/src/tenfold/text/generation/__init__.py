"""Writing texts with a model: greedy, by chance, or by beams; token after token or all at once."""

from __future__ import annotations

from tenfold.text.generation.generate import Generative
from tenfold.text.generation.settings import Settings
from tenfold.text.generation.streaming import TextStreamer

__all__ = ["Generative", "Settings", "TextStreamer"]
