"""torchtext's path `torchtext.data.utils`."""

from __future__ import annotations

from tenfold.text.data.ngrams import ngrams_iterator
from tenfold.text.tokenizers import get_tokenizer

__all__ = ["get_tokenizer", "ngrams_iterator"]
