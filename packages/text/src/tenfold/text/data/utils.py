"""torchtext's path `torchtext.data.utils`; the code is in `tenfold.text.tokenizers` and `tenfold.text.ngrams`."""

from __future__ import annotations

from tenfold.text.ngrams import ngrams_iterator
from tenfold.text.tokenizers import get_tokenizer

__all__ = ["get_tokenizer", "ngrams_iterator"]
