"""Tokenizers, vocabularies and text datasets."""

from __future__ import annotations

from tenfold.text.ngrams import ngrams_iterator
from tenfold.text.tokenizers import SubwordTokenizer, get_tokenizer
from tenfold.text.vocab import Vocab, build_vocab_from_iterator

__all__ = ["SubwordTokenizer", "Vocab", "build_vocab_from_iterator", "get_tokenizer", "ngrams_iterator"]
