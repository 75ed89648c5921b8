"""torchtext's path `torchtext.data`: tokenizers and n-grams under the names that its users import."""

from __future__ import annotations

from tenfold.text.ngrams import ngrams_iterator
from tenfold.text.tokenizers import get_tokenizer

__all__ = ["get_tokenizer", "ngrams_iterator"]
