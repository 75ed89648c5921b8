"""Word vectors from files: GloVe, fastText, word2vec; mapped into memory."""

from __future__ import annotations

from tenfold.text.vectors.published import CharNGram, FastText, GloVe, pretrained_aliases
from tenfold.text.vectors.vectors import Vectors

__all__ = ["CharNGram", "FastText", "GloVe", "Vectors", "pretrained_aliases"]
